import Foundation
import Workloads

/// The rows as a Markdown table.
enum Table {
    static let head = """
        | what | measured | yardstick | ratio | target | |
        |---|---:|---:|---:|---:|---|
        """

    /// Returns a row of the table.
    ///
    /// - Parameter rounds: What each subject took in each round, by its name.
    static func line(_ row: Row, _ rounds: [[String: Double]]) -> String {
        // Both sides of a ratio come from the same round. If something slows the machine down for a while, it slows both.
        let ratio = rounds.map { row.measured.value($0) / row.yardstick.value($0) }.median
        let cells = [
            row.name,
            text(rounds.map(row.measured.value).median, row.measured.unit),
            text(rounds.map(row.yardstick.value).median, row.yardstick.unit),
            String(format: "%.2f", ratio),
            target(row.bound),
            row.bound.map { $0.holds(ratio) ? "ok" : "**over**" } ?? "",
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    private static func target(_ bound: Row.Bound?) -> String {
        switch bound {
        case .atMost(let value): String(format: "≤ %g", value)
        case .atLeast(let value): String(format: "≥ %g", value)
        case nil: ""
        }
    }

    private static func text(_ value: Double, _ unit: Figure.Unit) -> String {
        switch unit {
        case .seconds where abs(value) < 1e-3: String(format: "%.3f µs", value * 1e6)
        case .seconds: String(format: "%.1f ms", value * 1e3)
        case .bytes: String(format: "%.2f MiB", value / Double(1 << 20))
        case .count: String(format: "%.0f", value)
        case .factor: String(format: "%.2f ×", value)
        }
    }
}
