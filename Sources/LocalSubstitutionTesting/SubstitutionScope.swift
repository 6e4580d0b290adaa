#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
            explainsUnmatched: options.unmatched.isIssue,
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
        recording?.begin()
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
        if let recording {
            let added = recording.add(requests, Recording.Contribution.Name(test.filter, scope: options.place))
            return [added].compactMap { $0 } + recording.end().map(\.text)
        }
        guard options.unmatched.isIssue else { return [] }
        var seen: Set<String> = []
        // Compares explanations, since two bodies sent to one URL may be unmatched for different reasons.
        return requests.filter { $0.outcome == .unmatched }
            .map { "\($0.error?.localizedDescription ?? $0.description)\n  \(advice(on: $0, test))" }
            .filter { seen.insert($0).inserted }
    }

    /// Returns advice about a request that the map doesn't answer.
    private func advice(on request: TestSubstitutions.Request, _ test: TestName) -> String {
        guard !request.isHiddenUpload else {
            return "Use a data task with httpBody: on Linux, Foundation hides an upload task's body."
        }
        guard options.source.file != nil else {
            return "Add an entry. (Only a map that is named by its path can be recorded.)"
        }
        return request.obstacleToRecording ?? "record it:    \(Recording.command(test.filter))"
    }
}

extension TestSubstitutions.Request {
    /// Why a recording run wouldn't record the request, and what to do instead; `nil` if it probably would.
    fileprivate var obstacleToRecording: String? {
        guard let url = request.url else { return nil }
        if let obstacle = EditedMap.obstacle(toRecording: url) { return "It can't be recorded: \(obstacle)" }
        guard let explanation, let winner = explanation.winner else { return nil }
        if explanation.verdict == .excluded { return "It can't be recorded: the entry “\(winner.key)” is null." }
        return needsOrigin ? "It can't be recorded. Add “forwardTo” to the entry “\(winner.key)”." : nil
    }
}
#endif
