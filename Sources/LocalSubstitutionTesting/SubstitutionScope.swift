#if canImport(Testing)
import Foundation
import LocalSubstitution
import Testing

/// A part of a test whose requests a map answers.
struct SubstitutionScope: Sendable {
    let substitutions: TestSubstitutions
    private let options: ScopeOptions
    private let recording: Recording?

    /// - Throws: An error if an exception of `unmatched` is neither a URL nor a match pattern.
    init(_ map: SubstitutionMap, _ options: ScopeOptions) throws(AttachmentError) {
        self.options = options
        recording = try Recording(options)
        substitutions = try TestSubstitutions(
            map,
            unmatched: recording == nil ? options.unmatched.ofCache : .load,
            recording: recording
        )
    }

    /// Runs a body in the scope, then ends the scope.
    ///
    /// - Returns: The body's result, and the scope's other problems.
    func run<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ test: TestName,
        _ body: () async throws -> Result
    ) async -> (result: Swift.Result<Result, any Error>, problems: [String]) {
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await TestSubstitutions.ofTask.withValue(substitutions, operation: body))
        } catch {
            result = .failure(error)
        }
        substitutions.end()
        return (result, problems(test))
    }

    /// Returns a problem for each unanswered request, or, in a recording run, one for everything that was recorded.
    private func problems(_ test: TestName) -> [String] {
        let requests = substitutions.requests
        if let recording { return recording.add(requests).map { [$0] } ?? [] }
        guard options.unmatched.isIssue else { return [] }
        var seen: Set<String> = []
        // Compares explanations, since two bodies sent to one URL may be unmatched for different reasons.
        return requests.filter { $0.outcome == .unmatched }
            .map { $0.error?.localizedDescription ?? $0.description }
            .filter { seen.insert($0).inserted }
            .map { "\($0)\n  \(Self.advice(options.source, test))" }
    }

    /// Returns advice about a request that the map doesn't answer.
    static func advice(_ source: MapSource, _ test: TestName) -> String {
        guard source.file != nil else { return "Add an entry. (Only a map that is named by its path can be recorded.)" }
        return "record it:    \(Recording.command(test.filter))"
    }
}
#endif
