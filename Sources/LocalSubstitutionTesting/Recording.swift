#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution
import MapTools
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The recording of responses into a map file, if an environment variable turns it on. It adds responses to unanswered
/// requests and, in the mode ``Mode/all``, replaces responses that were recorded before.
struct Recording: Sendable {
    /// What a run records: the environment variable's value.
    enum Mode: String {
        /// Requests that no entry answers are loaded and added to the map.
        case missing
        /// Requests that a recorded entry answers are loaded, too, and their responses replace the entry's.
        case all
    }

    private static let variable = "LOCAL_SUBSTITUTION_RECORD"

    private static let value = ProcessInfo.processInfo.environment[variable]

    /// `nil` in a run that doesn't record.
    static let mode = value.flatMap { Mode(rawValue: $0) }

    static var isOn: Bool { mode != nil }

    /// What's wrong with the variable's value; `nil` if it's valid, or if the variable isn't set.
    static let problem: String? = value.flatMap { value in
        guard !isOn else { return nil }
        let advice = "Set it to “missing” to record what maps are missing, or to “all” to record everything again."
        return "\(variable) is “\(value)”. \(advice) Otherwise, remove it.".printable
    }

    /// Returns the command that records what a test's map is missing.
    static func command(_ test: String) -> String { "\(variable)=missing swift test --filter \(test)" }

    /// Returns why an HTTP archive can't be recorded into, and what to do.
    static func refusal(ofArchive archive: URL) -> String {
        "“\(archive.path)” is an HTTP archive, which can't be recorded into. Import it into a map (substitute import), and name that "
            + "map in the test. Otherwise, remove \(variable)."
    }

    let file: URL
    let resources: URL?
    /// The rules that select the requests to record: those that they fail. So exceptions aren't recorded.
    let unmatched: SessionRules
    let redact: (@Sendable (inout RecordedAnswer) -> Void)?

    /// Returns `nil` in a run that doesn't record, for a map that isn't a file, and for a test with
    /// ``TestSubstitutions/Unmatched/fail(except:)``.
    ///
    /// - Throws: An error if an exception of `unmatched` is neither a URL nor a match pattern.
    init?(_ options: SubstitutionScope.Options) throws(AttachmentError) {
        guard Self.isOn, let file = options.source.file else { return nil }
        switch options.unmatched {
        case .issue: unmatched = try SessionRules(options.unmatched.ofCache)
        case .fail: return nil
        case .load: unmatched = try SessionRules(.fail)
        }
        self.file = file
        resources = options.source.resources
        redact = options.redact
    }

    // MARK: Runs

    /// What this process has recorded, by the paths of the map and its resources folder. The lock lets only one test
    /// record at a time.
    private static let runs = Guarded<[[String]: RecordingRun]>([:])

    private static func withRun<Result>(
        _ file: URL,
        _ resources: URL?,
        _ body: (inout RecordingRun) throws -> Result
    ) rethrows -> Result {
        // Resolved, so that a map with two paths has one run. Otherwise, the second run would take the first one's
        // responses for handwritten ones.
        let new = RecordingRun(file: file, resources: resources)
        let names = [file, new.folder].map { EditedMap.resolved($0).path }
        return try runs.withLock { try body(&$0[names, default: new]) }
    }

    /// Returns a map as it was before this process recorded into it. Returns an empty map if there was none.
    ///
    /// So a test's recording doesn't depend on the tests that ended before it.
    ///
    /// - Parameter isRecorded: Whether the test records into the map. If so, locks the map against recording by other
    ///   processes.
    static func map(
        _ file: URL,
        resources: URL?,
        _ handlers: [String: SubstitutionMap.Handler],
        isRecorded: Bool
    ) throws -> SubstitutionMap {
        if isRecorded { try RecordingLock.take(EditedMap.resolved(file)) }
        return try withRun(file, resources) { try $0.map(handlers, leavesRecorded: false) }
    }

    /// Returns the map for a test that records. In the mode ``Mode/all``, recorded entries leave their requests to the
    /// network.
    func map(_ handlers: [String: SubstitutionMap.Handler]) throws -> SubstitutionMap {
        try Self.withRun(file, resources) { try $0.map(handlers, leavesRecorded: true) }
    }

    /// Begins a test, or a suite whose tests share the map. Call ``end()`` when it has ended.
    func begin() { Self.withRun(file, resources) { $0.underWay += 1 } }

    /// Ends what ``begin()`` began. If no other test or suite is under way, returns an issue for each request to which
    /// tests got different responses, and the place of the test whose response is kept.
    func end() -> [(text: String, place: SourceLocation)] {
        Self.withRun(file, resources) { run in
            run.underWay -= 1
            return run.underWay == 0 ? run.unreportedConflicts() : []
        }
    }

    // MARK: Adding responses

    /// Adds the responses to a test's requests that the map doesn't answer, and replaces responses that were recorded
    /// before. Returns the text of an issue that reports them.
    func add(_ requests: [TestSubstitutions.Request], _ test: SubstitutionScope.TestName) -> String {
        Self.withRun(file, resources) { run in
            do {
                return try add(requests, test, to: &run)
            } catch {
                return "Nothing was recorded in \(file.path): \(error)"
            }
        }
    }

    private func add(
        _ requests: [TestSubstitutions.Request],
        _ name: SubstitutionScope.TestName,
        to run: inout RecordingRun
    ) throws -> String {
        let base = try run.current()
        var test = RecordingRun.Test(name: name)
        var lines: [String] = []
        var leftOut: Set<String> = []
        var asBefore: Set<String> = []
        // A sequence is replaced as a whole or not at all.
        var failed: Set<RecordingAgain.Sequence> = []
        for made in requests {
            guard let request = base.followed(made) else {
                if let sequence = base.sequence(answering: made) { failed.insert(sequence) }
                lines.append("  \(made.signature): not replaced: \(Self.redirectsElsewhere)")
                continue
            }
            let sequence = base.sequence(answering: request)
            let missing = sequence == nil && unmatched.fails(request.request) ? base.missing(for: request) : nil
            guard sequence != nil || missing != nil else {
                if let entry = request.entry, !request.needsOrigin { asBefore.insert("  as before: \(entry)") }
                continue
            }
            if sequence != nil, request.mayBeOfAnotherTest {
                let advice = "Make the request in the test's own task to record it again."
                lines.append("  \(request.signature): not replaced: \(Self.maybeOfAnotherTest). \(advice)")
                continue
            }
            do throws(Obstacle) {
                let (exchange, left) = try exchange(for: request, missing, instead: sequence)
                test.add(exchange, to: request)
                leftOut.formUnion(left)
            } catch {
                if let sequence { failed.insert(sequence) }
                lines.append("  \(request.signature): \(error.text)")
            }
        }
        test.recorded.removeAll { $0.exchange.replaced.map(failed.contains) ?? false }
        if Self.mode == .all { lines += asBefore.sorted() }
        guard !test.recorded.isEmpty || !lines.isEmpty else {
            return "There was nothing to record in \(file.path). Run the test again without \(Self.variable)."
        }
        var recorded: Set<String> = []
        let (outcomes, problem) = try run.add(test)
        for ((request, exchange), outcome) in zip(test.recorded, outcomes) {
            let name = "  \(exchange.method) \(ShownURL(URL(string: exchange.url)).text)"
            switch outcome {
            case .success(let added):
                let place = added.file.isEmpty ? "" : " → \(added.file)"
                let notes = [
                    added.change == .new ? nil : added.change.rawValue, added.note,
                    request.mayBeOfAnotherTest ? Self.maybeOfAnotherTest : nil,
                ].compactMap { $0 }
                recorded.insert(name + place + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"))
            case .failure(let error):
                lines.append("\(name): \(exchange.replaced == nil ? "not recorded" : "not replaced"): \(error)")
            }
        }
        if let problem { lines.append("  \(problem)") }
        let responses = recorded.count.counted("response", "responses")
        lines = recorded.sorted() + lines
        if !leftOut.isEmpty { lines.append("  headers left out: \(leftOut.sorted().joined(separator: ", "))") }
        return
            "Recorded \(responses) in \(file.path). Review the changed entries, then run the test again without \(Self.variable).\n"
            + lines.joined(separator: "\n")
    }

    private static let maybeOfAnotherTest =
        "it may be another test's request, since URLSession.shared doesn't say which test made it"

    private static let redirectsElsewhere =
        "its entry redirects to another URL than the server does. Correct the entry's Location, or remove the entry"

    /// Why a response isn't kept.
    private struct Obstacle: Error {
        let text: String
    }

    /// Returns the exchange to keep, and the headers that it leaves out.
    ///
    /// - Parameters:
    ///   - missing: What the map is missing; `nil` for a request that a recorded entry answers.
    ///   - sequence: The recorded answers that the response replaces; `nil` if it's added.
    private func exchange(
        for request: TestSubstitutions.Request,
        _ missing: MapBeforeRun.Missing?,
        instead sequence: RecordingAgain.Sequence?
    ) throws(Obstacle) -> (RecordedExchange, leftOut: [String]) {
        if let error = request.error {
            let beginning = sequence == nil ? "" : "not replaced, since it was "
            throw Obstacle(text: "\(beginning)not loaded: \(error.localizedDescription)")
        }
        func obstacle(_ reason: String) -> Obstacle {
            Obstacle(text: "\(sequence == nil ? "not recorded" : "not replaced"): \(reason)")
        }
        if request.outcome == .underWay {
            throw obstacle("it hadn't ended when the test did. Wait for it in the test.")
        }
        if missing == .redirect, let target = request.response?.response.url {
            let location = ShownURL(target).text
            let entry = #"{ "status": 302, "headers": { "Location": \#(JSONText.string(location)) } }"#
            let reason = "the server redirects it to \(location), which an entry answers"
            throw obstacle("\(reason). Write the entry by hand: \(entry)")
        }
        if missing == .target { throw obstacle("its entry has no “forwardTo”. Add the URL to load the response from.") }
        guard var answer = RecordedAnswer(request) else {
            throw obstacle("the response is too long, or isn't HTTP. Write the entry by hand.")
        }
        if let reason = sequence?.refusal(ofStatus: answer.status, instead: request.entry) { throw obstacle(reason) }
        redact?(&answer)
        if answer.isRefused { throw obstacle("the closure refused it") }
        var exchange = answer.exchange
        exchange.replaced = sequence
        return (exchange, answer.leftOut)
    }
}
#endif
