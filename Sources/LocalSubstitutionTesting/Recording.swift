#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Adds the responses to unanswered requests to a map file, if the process was started for that.
struct Recording: Sendable {
    private static let variable = "LOCAL_SUBSTITUTION_RECORD"

    /// The variable's value; `nil` in a run that doesn't record.
    private static let value = ProcessInfo.processInfo.environment[variable]

    /// Whether requests that no entry answers are loaded and added to the map.
    static let isOn = value == "missing"

    /// What's wrong with the variable's value; `nil` if nothing is.
    static let problem: String? = value.flatMap { value in
        guard !isOn else { return nil }
        return "\(variable) is “\(value)”. To record what maps are missing, set it to “missing”. Otherwise, remove it."
            .printable
    }

    /// Returns the command that records what a test's map is missing.
    static func command(_ test: String) -> String { "\(variable)=missing swift test --filter \(test)" }

    /// Lets one test record at a time: tests that run in parallel may share a map.
    private static let turn = Guarded(())

    let file: URL
    let resources: URL?
    /// Says which requests are recorded: all that it fails, which are all but the exceptions.
    let unmatched: UnmatchedRule
    let redact: (@Sendable (inout RecordedAnswer) -> Void)?

    /// Returns `nil` in a run that doesn't record, for a map that isn't a file, and for a test that wants requests to fail.
    ///
    /// - Throws: An error if an exception of `unmatched` is neither a URL nor a match pattern.
    init?(_ options: ScopeOptions) throws(AttachmentError) {
        guard Self.isOn, let file = options.source.file else { return nil }
        switch options.unmatched {
        case .issue: unmatched = try UnmatchedRule(options.unmatched.ofCache)
        case .fail: return nil
        case .load: unmatched = try UnmatchedRule(.fail)
        }
        self.file = file
        resources = options.source.resources
        redact = options.redact
    }

    /// Adds responses to the requests that the map doesn't answer. Returns what to report; `nil` if nothing was missing.
    func add(_ requests: [TestSubstitutions.Request]) -> String? {
        Self.turn.withLock { _ in
            do {
                return try addInTurn(requests)
            } catch {
                return "Nothing was recorded in \(file.path): \(error)"
            }
        }
    }

    private func addInTurn(_ requests: [TestSubstitutions.Request]) throws -> String? {
        // Loads the map's current file, since another test may have added to it.
        let exists = FileManager.default.fileExists(atPath: file.path)
        let map = exists ? try SubstitutionMap(contentsOf: file, resources: resources) : .empty
        let cache = LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0)
        var answers: [RecordedAnswer] = []
        var lines: [String] = []
        for request in requests where unmatched.fails(request.request) {
            guard let missing = Self.missing(cache.explain(request.request), request) else { continue }
            if let error = request.error {
                lines.append("  \(request.signature): not loaded: \(error.localizedDescription)")
            } else if request.outcome == .underWay {
                lines.append("  \(request.signature): not recorded: it hadn't ended when the test did")
            } else if missing == .target {
                lines.append("  \(request.signature): not recorded: its entry has no “forwardTo”")
            } else if var answer = RecordedAnswer(request) {
                redact?(&answer)
                if answer.isRefused {
                    lines.append("  \(request.signature): not recorded: the closure refused it")
                } else {
                    answers.append(answer)
                }
            } else {
                lines.append("  \(request.signature): not recorded: the response is too long, or isn't HTTP")
            }
        }
        guard !answers.isEmpty || !lines.isEmpty else { return nil }
        let folder = SubstitutionMap.folder(beside: file, or: resources)
        var edited = try EditedMap(file, resources: URL(fileURLWithPath: folder.path, isDirectory: true))
        let outcomes = edited.add(answers.map(\.exchange))
        try edited.save()
        var recorded: Set<String> = []
        for (answer, outcome) in zip(answers, outcomes) {
            let name = "  \(answer.method) \(ShownURL(answer.url).text)"
            switch outcome {
            case .success(let added):
                let place = added.file.isEmpty ? "" : " → \(added.file)"
                let notes = [added.note, answer.headerNote].compactMap { $0 }.joined(separator: "; ")
                recorded.insert(name + place + (notes.isEmpty ? "" : " (\(notes))"))
            case .failure(let error): lines.append("\(name): not recorded: \(error)")
            }
        }
        let responses = recorded.count.counted("response", "responses")
        lines = recorded.sorted() + lines
        return
            "Recorded \(responses) in \(file.path). Review the new entries, then run the test again without \(Self.variable).\n"
            + lines.joined(separator: "\n")
    }

    /// What the map is missing to answer a request.
    private enum Missing {
        case answer
        /// A URL to send the request to.
        case target
    }

    /// Returns what the map was missing for a request of this run; `nil` if nothing, or if another test has added it since.
    ///
    /// - Parameter explanation: How the map's current file answers the request, before any alternative is used up.
    private static func missing(_ explanation: Explanation, _ request: TestSubstitutions.Request) -> Missing? {
        guard request.outcome != .answered else { return nil }
        if unanswered.contains(explanation.verdict) { return .answer }
        guard request.needsOrigin, let winner = explanation.winner else { return nil }
        let isWinner: (SubstitutionMap.EntryReference) -> Bool = {
            $0.key == winner.key && $0.alternative == winner.alternative
        }
        if request.usedUp.contains(where: isWinner) { return .answer }
        return request.entry.map(isWinner) == true ? .target : nil
    }

    private static let unanswered: Set<Explanation.Verdict> = [
        .noEntry, .methodNotListed, .ruledOut, .excluded, .notHTTP, .unreadableFile,
    ]
}
#endif
