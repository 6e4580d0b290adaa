import Foundation
import Workloads

/// Measures subjects in turn, round by round, and prints the table in `README.md`.
///
/// It uses only a clock, no harness. Usage: `ratios [--rounds COUNT] [TOPIC…]`
@main
enum Ratios {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        var rounds = 15
        if let option = arguments.firstIndex(of: "--rounds"), option + 1 < arguments.count {
            rounds = Int(arguments[option + 1]) ?? rounds
            arguments.removeSubrange(option...(option + 1))
        }
        print(Table.head)
        for topic in Topic.all where arguments.isEmpty || arguments.contains(topic.name) {
            let measured = try await measure(topic, rounds: rounds)
            for row in topic.rows { print(Table.line(row, measured)) }
            fflush(nil)
        }
    }

    /// Returns what each subject took in each round. Every second round runs backwards, so that no subject is always first.
    private static func measure(_ topic: Topic, rounds: Int) async throws -> [[String: Double]] {
        let prepared = try topic.subjects.map { (subject: $0, work: try $0.prepare()) }
        var measured: [[String: Double]] = []
        for round in 0...rounds {
            var took: [String: Double] = [:]
            for (subject, work) in round.isMultiple(of: 2) ? prepared : prepared.reversed() {
                took[subject.name] = try await measure(work, operations: subject.operations)
            }
            // The first round only warms up.
            if round > 0 { measured.append(took) }
        }
        return measured
    }

    /// Returns the seconds for one operation, or bytes.
    private static func measure(_ work: Subject.Work, operations: Int) async throws -> Double {
        switch work {
        case .bytes(let measure):
            return Double(try measure())
        case .operations(let work):
            let duration = try await ContinuousClock().measure { try await work(operations) }
            return duration / .seconds(1) / Double(operations)
        }
    }
}
