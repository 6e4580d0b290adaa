#if canImport(Testing)
import Foundation
import LocalSubstitution

/// The problems of a scope: those of its map, or, in XCTest, those that Swift Testing would report as issues.
struct ScopeError: Error, CustomStringConvertible, LocalizedError {
    let problems: [String]

    init(problems: [String]) { self.problems = problems }

    /// - Parameter result: The body's result. Its error, if any, comes first.
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
    /// Describes what's wrong with a map and, if its file doesn't exist, how to record one.
    func explanation(of error: any Error, _ source: MapSource) -> String {
        guard Recording.problem == nil, let file = source.file, !FileManager.default.fileExists(atPath: file.path)
        else { return "\(error)" }
        let record = "record it:    \(Recording.command(filter))"
        guard let nearest = source.nearest() else { return "\(error)\n  \(record)" }
        let question = "\(error)\n  Did you mean “\(nearest.path)”?"
        // Recording would start a new map in a folder that was probably not meant.
        guard nearest.isMisspelled else {
            return "\(question) Otherwise, first start a new map: write {} into the missing file."
        }
        return "\(question) Otherwise, start a new map.\n  \(record)"
    }
}
#endif
