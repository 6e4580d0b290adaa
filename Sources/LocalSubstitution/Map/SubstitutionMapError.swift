public import Foundation

/// An error that lists every problem with a map, not only the first.
public struct SubstitutionMapError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The map's file; `nil` for a map that wasn't loaded from a file.
    public let file: URL?
    /// The problems, in the order of their lines. Never empty.
    public let problems: [SubstitutionMap.Problem]

    package init(file: URL?, problems: [SubstitutionMap.Problem]) {
        self.file = file
        self.problems = problems
    }

    /// All problems, each on its own line, ready to print: file, line and column, key, what's wrong and how to fix it.
    public var description: String {
        let name = file?.lastPathComponent ?? "map"
        return problems.map { problem in
            let place = [problem.line, problem.column].compactMap { $0.map(String.init) }
            return ([name] + place).joined(separator: ":") + ": error: \(problem)"
        }.joined(separator: "\n")
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
