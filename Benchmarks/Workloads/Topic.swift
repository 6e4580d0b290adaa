/// Subjects that are measured in turn in one run, and the table rows made from them.
package struct Topic: Sendable {
    package let name: String
    package let subjects: [Subject]
    package let rows: [Row]

    package static let all =
        [
            hits, otherHits, manyEntries, patterns, misses, threads, loading, fetches, answers, pieces, tests, serving,
            recording, largeFile,
        ] + counts
}

/// A row of the table: a figure, and the yardstick measured in the same run.
package struct Row: Sendable {
    package enum Bound: Sendable {
        case atMost(Double)
        case atLeast(Double)

        package func holds(_ ratio: Double) -> Bool {
            switch self {
            case .atMost(let bound): ratio <= bound
            case .atLeast(let bound): ratio >= bound
            }
        }
    }

    package let name: String
    package let measured: Figure
    package let yardstick: Figure
    /// The bound for the figure divided by the yardstick; `nil` if the row is only for information.
    package let bound: Bound?

    init(_ name: String, _ measured: Figure, per yardstick: Figure, _ bound: Bound? = nil) {
        self.name = name
        self.measured = measured
        self.yardstick = yardstick
        self.bound = bound
    }
}

/// A number computed from one round of measurements.
package struct Figure: Sendable {
    package enum Unit: Sendable {
        case seconds, bytes, count, factor
    }

    package let name: String
    package let unit: Unit
    /// Computes the number from what each subject took, by name: seconds for one operation, or bytes.
    package let value: @Sendable ([String: Double]) -> Double

    static func time(_ subject: Subject) -> Figure {
        Figure(name: subject.name, unit: .seconds) { $0[subject.name] ?? .nan }
    }

    static func bytes(_ subject: Subject) -> Figure {
        Figure(name: subject.name, unit: .bytes) { $0[subject.name] ?? .nan }
    }

    static func count(_ subject: Subject) -> Figure {
        Figure(name: subject.name, unit: .count) { $0[subject.name] ?? .nan }
    }

    /// Returns how many times as much is done in the same time.
    static func gain(of subject: Subject, over other: Subject) -> Figure {
        Figure(name: "\(subject.name), gain", unit: .factor) { ($0[other.name] ?? .nan) / ($0[subject.name] ?? .nan) }
    }

    static func limit(_ value: Double, _ unit: Unit) -> Figure {
        Figure(name: "limit", unit: unit) { _ in value }
    }
}
