#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution
import MapTools
import MapWriting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A test's recording of responses into its map file. The environment variable `LOCAL_SUBSTITUTION_RECORD` turns it on.
///
/// A recording adds the responses to requests that the map doesn't answer. In the mode ``Mode/all``, it also replaces
/// the responses that were recorded before.
struct Recording: Sendable {
    /// Which responses a run records. The raw values are the values of the environment variable.
    enum Mode: String {
        /// The run loads requests that no entry answers, and adds their responses to the map.
        case missing
        /// The run also loads requests that a recorded entry answers, and replaces the entry's response.
        case all
    }

    private static let variable = "LOCAL_SUBSTITUTION_RECORD"

    /// The environment variable's value; `nil` if it isn't set, or is empty.
    private static let value = ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }

    /// The mode of this run; `nil` if the environment variable isn't set, or has an invalid value.
    static let mode = value.flatMap { Mode(rawValue: $0) }

    /// Whether this run records.
    static var isOn: Bool { mode != nil }

    /// A message that says what's wrong with the environment variable's value; `nil` if the value is valid, or if the
    /// variable isn't set.
    static let problem: String? = value.flatMap { value in
        guard !isOn else { return nil }
        let advice = "Set it to “missing” to record what maps are missing, or to “all” to record everything again."
        return "\(variable) is “\(value)”. \(advice) Otherwise, remove the variable.".printable
    }

    /// Returns the shell command that records the responses that a test's map is missing.
    ///
    /// - Parameter test: The value of the option `--filter`, in quotes for a shell.
    static func command(_ test: String) -> String { "\(variable)=missing swift test --filter \(test)" }

    /// Returns a message that a run can't record into an HTTP archive, and what to do instead.
    static func refusal(ofArchive archive: URL) -> String {
        "“\(archive.path)” is an HTTP archive, which can't be recorded into. Import it into a map "
            + "(substitute import), and name that map in the test. Otherwise, run the test without \(variable)."
    }

    /// The map's file, which may not exist yet.
    let file: URL
    /// The folder with the entries' files. If it's `nil`, the folder `Resources` beside the map; if that doesn't exist,
    /// the map's own folder.
    let resources: URL?
    /// The session rules that decide which responses are added to the map. A response is added only if its request
    /// would fail by these rules. A request that matches one of the test's exceptions wouldn't fail, so its response
    /// isn't added.
    let unmatched: SessionRules
    /// Changes or excludes a response before it's recorded; `nil` to record responses unchanged.
    let redact: (@Sendable (inout RecordedResponse) -> Void)?

    /// Creates the recording of a test.
    ///
    /// Returns `nil` if the test isn't recorded: in a run that doesn't record, for a map that isn't a map file, and for
    /// a test with ``TestSubstitutions/Unmatched/fail(except:)``.
    ///
    /// - Throws: An error if an exception of the test's `unmatched` is neither a URL nor a match pattern.
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

    /// What this process has recorded, by the resolved paths of the map and its resources folder. A test that adds
    /// responses holds the lock, so only one test at a time adds them.
    private static let runs = Guarded<[[String]: RecordingRun]>([:])

    /// Calls a body with the run of a map. While the body runs, no other test can record.
    private static func withRun<Result>(
        _ file: URL,
        _ resources: URL?,
        _ body: (inout RecordingRun) throws -> Result
    ) rethrows -> Result {
        // Two paths may lead to the same map, for example through a symbolic link. The map needs one run for both: a
        // second run would treat the first run's responses as written by hand.
        let new = RecordingRun(file: file, resources: resources)
        let names = [file, new.folder].map { EditedMap.resolved($0).path }
        return try runs.withLock { try body(&$0[names, default: new]) }
    }

    /// Returns a map as it was before this process recorded into it. Returns an empty map if the file didn't exist
    /// then.
    ///
    /// A test gets no responses that earlier tests recorded, so the recording doesn't depend on the order of tests.
    ///
    /// - Parameters:
    ///   - resources: The folder with the entries' files. If it's `nil`, the folder `Resources` beside the map; if that
    ///     doesn't exist, the map's own folder.
    ///   - handlers: The closures that entries name in their field `handler`.
    ///   - isRecorded: Whether the test records into the map. If so, locks the map, so that no other process records
    ///     into it.
    /// - Throws: An error if the map is invalid, or if another process has locked it.
    static func map(
        _ file: URL,
        resources: URL?,
        _ handlers: [String: SubstitutionMap.Handler],
        isRecorded: Bool
    ) throws -> SubstitutionMap {
        if isRecorded { try RecordingLock.take(EditedMap.resolved(file)) }
        return try withRun(file, resources) { try $0.map(handlers, leavesRecorded: false) }
    }

    /// Returns the map for a test that records. In the mode ``Mode/all``, the map doesn't answer with recorded entries,
    /// so their requests reach the network.
    func map(_ handlers: [String: SubstitutionMap.Handler]) throws -> SubstitutionMap {
        try Self.withRun(file, resources) { try $0.map(handlers, leavesRecorded: true) }
    }

    /// Begins a test, or a suite whose tests share the map. Call ``end()`` when the test or suite has ended.
    func begin() { Self.withRun(file, resources) { $0.underWay += 1 } }

    /// Ends a test or suite for which ``begin()`` was called.
    ///
    /// Returns an issue for each request to which tests got different responses, with the place of the test whose
    /// response is kept. Returns no issues while another test or suite with this map is under way, and none that were
    /// returned before.
    func end() -> [(text: String, place: SourceLocation)] {
        Self.withRun(file, resources) { run in
            run.underWay -= 1
            return run.underWay == 0 ? run.unreportedConflicts() : []
        }
    }

    // MARK: Adding responses

    /// For each of a test's requests that the map doesn't answer, adds the response to the map. In the mode
    /// ``Mode/all``, also replaces responses that were recorded before.
    ///
    /// Returns the text of an issue that lists the recorded responses, and those that couldn't be recorded. If the map
    /// can't be saved, the text says why.
    func add(_ requests: [TestSubstitutions.Request], _ test: SubstitutionScope.TestName) -> String {
        Self.withRun(file, resources) { run in
            do {
                return try add(requests, test, to: &run)
            } catch {
                return "Nothing was recorded in \(file.path): \(error)"
            }
        }
    }

    /// Adds a test's responses to a run, and replaces recorded ones. Returns the text of an issue that lists them.
    ///
    /// - Throws: An error if nothing was recorded, since the map can't be read or saved.
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
        // The run replaces all answers of a sequence, or none. One failed request keeps the whole sequence unchanged.
        var failed: Set<RecordingAgain.Sequence> = []
        for made in requests {
            guard let request = base.followed(made) else {
                if let sequence = base.sequence(answering: made) { failed.insert(sequence) }
                lines.append("  \(made.signature): not replaced: \(Self.redirectsElsewhere)")
                continue
            }
            let sequence = base.sequence(answering: request)
            let isMissing = sequence == nil && unmatched.forbidsNetwork(to: request.request)
            let missing = isMissing ? base.missing(for: request) : nil
            guard sequence != nil || missing != nil else {
                if Self.mode == .all, let entry = request.entry, !request.needsOrigin {
                    asBefore.insert("  as before: \(entry)")
                }
                continue
            }
            if sequence != nil, request.mayBeOfAnotherTest {
                let advice = "Make the request in the test's own task to record it again."
                lines.append("  \(request.signature): not replaced: \(Self.maybeOfAnotherTest). \(advice)")
                continue
            }
            do throws(SubstitutionScope.Failure) {
                let (exchange, left) = try exchange(for: request, missing, instead: sequence)
                test.add(exchange, to: request)
                leftOut.formUnion(left)
            } catch {
                if let sequence { failed.insert(sequence) }
                lines.append("  \(request.signature): \(error)")
            }
        }
        test.recorded.removeAll { $0.exchange.replaced.map(failed.contains) ?? false }
        lines += asBefore.sorted()
        guard !test.recorded.isEmpty || !lines.isEmpty else {
            return "There was nothing to record in \(file.path). Run the test again without \(Self.variable)."
        }
        var recorded: Set<String> = []
        var hasChanged = false
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
                hasChanged = hasChanged || added.change != .unchanged
                recorded.insert(name + place + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"))
            case .failure(let error):
                lines.append("\(name): \(exchange.replaced == nil ? "not recorded" : "not replaced"): \(error)")
            }
        }
        if let problem { lines.append("  \(problem)") }
        let responses = recorded.count.counted("response", "responses")
        let beginning = recorded.isEmpty ? "Nothing was recorded" : "Recorded \(responses)"
        let result = "\(beginning) in \(file.path).\(recorded.isEmpty || hasChanged ? "" : " Nothing changed.")"
        let advice =
            if hasChanged {
                "Review the changed entries, then run the test again"
            } else if lines.count > asBefore.count {
                "Fix the problems below and record again, or run the test"
            } else {
                "Run the test again"
            }
        lines = recorded.sorted() + lines
        if !leftOut.isEmpty { lines.append("  headers left out: \(leftOut.sorted().joined(separator: ", "))") }
        return (["\(result) \(advice) without \(Self.variable)."] + lines).joined(separator: "\n")
    }

    private static let maybeOfAnotherTest =
        "it may be another test's request, since URLSession.shared doesn't say which test made it"

    private static let redirectsElsewhere =
        "its entry redirects to another URL than the server does. Correct the entry's Location, or remove the entry."

    /// Returns the exchange to record for a request, and the names of the response's headers that the exchange leaves
    /// out.
    ///
    /// - Parameters:
    ///   - missing: What the map needs before it can answer the request; `nil` if the response replaces recorded
    ///     answers.
    ///   - sequence: The recorded answers that the response replaces; `nil` for a response that the map doesn't have
    ///     yet.
    /// - Throws: The reason, as the issue shows it after the request, if the response can't be recorded, or if the
    ///   `redacting` closure discards it.
    private func exchange(
        for request: TestSubstitutions.Request,
        _ missing: RecordingChoice.Missing?,
        instead sequence: RecordingAgain.Sequence?
    ) throws(SubstitutionScope.Failure) -> (RecordedExchange, leftOut: [String]) {
        if let error = request.error {
            let beginning = sequence == nil ? "" : "not replaced, since it was "
            throw SubstitutionScope.Failure(["\(beginning)not loaded: \(error.localizedDescription)"])
        }
        func obstacle(_ reason: String) -> SubstitutionScope.Failure {
            SubstitutionScope.Failure(["\(sequence == nil ? "not recorded" : "not replaced"): \(reason)"])
        }
        if request.outcome == .underWay {
            throw obstacle("the request hadn't ended when the test ended. Wait for it in the test.")
        }
        if missing == .redirect, let target = request.response?.response.url {
            let location = ShownURL(target).text
            let entry = #"{ "status": 302, "headers": { "Location": \#(JSONText.string(location)) } }"#
            let reason = "the server redirects the request to \(location), which an entry answers"
            throw obstacle("\(reason). Write the redirect's entry by hand: \(entry)")
        }
        if missing == .target {
            throw obstacle("its entry has no “forwardTo”. Set it to the URL to load the response from.")
        }
        guard var (recorded, leftOut) = request.recorded else {
            throw obstacle("the response is too long, or isn't HTTP. Write the entry by hand.")
        }
        if let reason = sequence?.refusal(ofStatus: recorded.status, instead: request.entry) { throw obstacle(reason) }
        if let redact {
            do throws(RecordingRules.Refusal) {
                leftOut += try recorded.redact(redact)
            } catch {
                throw obstacle(error.description)
            }
        }
        var exchange = RecordedExchange(
            recorded,
            requestType: request.request.value(forHTTPHeaderField: "Content-Type")
        )
        exchange.replaced = sequence
        return (exchange, leftOut)
    }
}
#endif
