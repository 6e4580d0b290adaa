#if canImport(Testing)
import Foundation
import LocalSubstitution

/// What is wrong with a scope: the map, or, in a test of XCTest, what would be issues of a test otherwise.
struct ScopeError: Error, CustomStringConvertible, LocalizedError {
    let problems: [String]

    init(problems: [String]) { self.problems = problems }

    /// - Parameter result: The body's, whose error comes first.
    init<Success>(problems: [String], _ result: Result<Success, any Error>) {
        if case .failure(let error) = result {
            self.problems = ["\(error)"] + problems
        } else {
            self.problems = problems
        }
    }

    var description: String { problems.joined(separator: "\n") }
    var errorDescription: String? { description }
}

extension TestName {
    /// What is wrong with a map and, if there is no such file, how to record one.
    func explanation(of error: any Error, _ source: MapSource) -> String {
        guard let file = source.file, !FileManager.default.fileExists(atPath: file.path) else { return "\(error)" }
        return "\(error)\n  \(SubstitutionScope.advice(source, self))"
    }
}
#endif
