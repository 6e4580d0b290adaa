#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution
import MapTools
import Testing

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

    let file: URL
    let resources: URL?
    /// Says which requests are recorded: all that it fails, which are all but the exceptions.
    let unmatched: SessionRules
    let redact: (@Sendable (inout RecordedAnswer) -> Void)?

    /// Returns `nil` in a run that doesn't record, for a map that isn't a file, and for a test that wants requests to fail.
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

    /// What this process has recorded, by the paths of the map and of its files. Lets one test record at a time.
    private static let runs = Guarded<[[String]: RecordingRun]>([:])

    private static func withRun<Result>(
        _ file: URL,
        _ resources: URL?,
        _ body: (inout RecordingRun) throws -> Result
    ) rethrows -> Result {
        // However they're spelled, since a second run for one map would take the first one's responses for a person's.
        let new = RecordingRun(file: file, resources: resources)
        let names = [resolved(file).path, resolved(new.folder).path]
        return try runs.withLock { try body(&$0[names, default: new]) }
    }

    /// Returns a file or folder without symbolic links. What doesn't exist yet gets the same place as when it does.
    private static func resolved(_ url: URL) -> URL {
        let parent = url.deletingLastPathComponent()
        guard !FileManager.default.fileExists(atPath: url.path), parent.path != url.path else {
            return url.resolvingSymlinksInPath()
        }
        return resolved(parent).appendingPathComponent(url.lastPathComponent)
    }

    /// Returns a map as it was before this process recorded into it; an empty one if there was none.
    ///
    /// So what a test records doesn't depend on which tests have ended before it.
    static func map(
        _ file: URL,
        resources: URL?,
        _ handlers: [String: SubstitutionMap.Handler]
    ) throws -> SubstitutionMap {
        try withRun(file, resources) { run in
            // Tests that share the map share its handlers, too.
            run.handlers.merge(handlers) { $1 }
            return try run.current()
        }
    }

    /// Begins a test, or a suite whose tests share the map. Call ``end()`` when it has ended.
    func begin() { Self.withRun(file, resources) { $0.underWay += 1 } }

    /// Ends what ``begin()`` began. If nothing else is under way, returns the requests to which tests got different responses.
    func end() -> [Conflict] {
        Self.withRun(file, resources) { run in
            run.underWay -= 1
            return run.underWay == 0 ? run.unreportedConflicts() : []
        }
    }

    /// A request to which tests got different responses.
    struct Conflict: Sendable {
        /// What to report.
        let text: String
        /// The place of the test whose response is kept.
        let place: SourceLocation
    }

    // MARK: Adding responses

    /// Adds responses to a test's requests that the map doesn't answer. Returns what to report; `nil` if nothing was missing.
    func add(_ requests: [TestSubstitutions.Request], _ test: SubstitutionScope.TestName) -> String? {
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
    ) throws -> String? {
        let cache = MissingAnswer.cache(try run.current())
        var test = RecordedTest(name: name)
        var lines: [String] = []
        var leftOut: Set<String> = []
        for request in requests where unmatched.fails(request.request) {
            guard let missing = MissingAnswer(to: request, in: cache) else { continue }
            let obstacle: String
            if let error = request.error {
                obstacle = "not loaded: \(error.localizedDescription)"
            } else if request.outcome == .underWay {
                obstacle = "not recorded: it hadn't ended when the test did"
            } else if missing == .target {
                obstacle = "not recorded: its entry has no “forwardTo”"
            } else if var answer = RecordedAnswer(request) {
                redact?(&answer)
                if !answer.isRefused {
                    test.add(answer.exchange, to: request)
                    leftOut.formUnion(answer.leftOut)
                    continue
                }
                obstacle = "not recorded: the closure refused it"
            } else {
                obstacle = "not recorded: the response is too long, or isn't HTTP"
            }
            lines.append("  \(request.signature): \(obstacle)")
        }
        guard !test.recorded.isEmpty || !lines.isEmpty else { return nil }
        var recorded: Set<String> = []
        for (exchange, outcome) in zip(test.exchanges, try run.add(test)) {
            let name = "  \(exchange.method) \(ShownURL(URL(string: exchange.url)).text)"
            switch outcome {
            case .success(let added):
                let place = added.file.isEmpty ? "" : " → \(added.file)"
                recorded.insert(name + place + (added.note.map { " (\($0))" } ?? ""))
            case .failure(let error): lines.append("\(name): not recorded: \(error)")
            }
        }
        let responses = recorded.count.counted("response", "responses")
        lines = recorded.sorted() + lines
        if !leftOut.isEmpty { lines.append("  headers left out: \(leftOut.sorted().joined(separator: ", "))") }
        return
            "Recorded \(responses) in \(file.path). Review the new entries, then run the test again without \(Self.variable).\n"
            + lines.joined(separator: "\n")
    }
}

/// What a map is missing to answer a request of a recording run.
private enum MissingAnswer {
    case entry
    /// A URL to send the request to.
    case target

    /// Returns a cache that says how a map answers a request before any alternative is used up.
    static func cache(_ map: SubstitutionMap) -> LocalSubstitutionCache {
        LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0)
    }

    /// Returns `nil` if the map is missing nothing.
    init?(to request: TestSubstitutions.Request, in cache: LocalSubstitutionCache) {
        guard request.outcome != .answered else { return nil }
        let explanation = cache.explain(request.request)
        switch explanation.verdict {
        case .noEntry, .methodNotListed, .ruledOut, .excluded, .notHTTP, .unreadableFile: self = .entry
        default:
            guard request.needsOrigin, let winner = explanation.winner else { return nil }
            func isWinner(_ entry: SubstitutionMap.EntryReference) -> Bool {
                entry.key == winner.key && entry.alternative == winner.alternative
            }
            if request.usedUp.contains(where: isWinner) {
                self = .entry
            } else if request.entry.map(isWinner) == true {
                self = .target
            } else {
                return nil
            }
        }
    }
}

/// What one test, or a test with one of its arguments, has recorded.
private struct RecordedTest: Sendable {
    let name: SubstitutionScope.TestName
    /// The requests, without their responses, and what is kept of both.
    var recorded: [(request: TestSubstitutions.Request, exchange: RecordedExchange)] = []

    var exchanges: [RecordedExchange] { recorded.map(\.exchange) }

    mutating func add(_ exchange: RecordedExchange, to request: TestSubstitutions.Request) {
        var request = request
        request.response = nil
        recorded.append((request, exchange))
    }

    /// Returns whether a test comes before another in the source code. Of one test's arguments, the order is that of their responses.
    static func < (one: Self, other: Self) -> Bool {
        for (first, second) in [(one.name.location, other.name.location), (one.name.scope, other.name.scope)] {
            let (first, second) = (
                (first.fileID, first.line, first.column), (second.fileID, second.line, second.column)
            )
            if first != second { return first < second }
        }
        return one.exchanges.lexicographicallyPrecedes(other.exchanges) { $0.precedes($1) }
    }
}

/// What the tests of this process have recorded into one map.
///
/// Whenever a test has ended, the map is made again: from what it was before, and from the responses of all tests in the order of their
/// source code. So it doesn't matter which test ends first.
private struct RecordingRun: Sendable {
    let file: URL
    let resources: URL?
    var handlers: [String: SubstitutionMap.Handler] = [:]
    /// The number of tests and suites that haven't ended.
    var underWay = 0
    /// The map before the run; `nil` if it hasn't been loaded.
    private var base: SubstitutionMap?
    /// The status of the map's file when it was last read or written.
    private var status: FileStatus?
    private var draft: EditedMap.Draft?
    private var tests: [RecordedTest] = []
    private var conflicts: [Recording.Conflict] = []
    private var reported: Set<String> = []

    init(file: URL, resources: URL?) {
        (self.file, self.resources) = (file, resources)
    }

    /// The folder with the entries' files, at this moment.
    var folder: URL {
        URL(fileURLWithPath: SubstitutionMap.folder(beside: file, or: resources).path, isDirectory: true)
    }

    /// Returns the map before the run. If something else has changed its file meanwhile, the run begins again with that.
    mutating func current() throws -> SubstitutionMap {
        let now = FileStatus(path: file.path)
        if let base, now == status { return base }
        let map = now == nil ? .empty : try SubstitutionMap(contentsOf: file, resources: resources, handlers: handlers)
        (base, status, draft) = (map, now, nil)
        let cache = MissingAnswer.cache(map)
        for index in tests.indices {
            tests[index].recorded.removeAll { MissingAnswer(to: $0.request, in: cache) == nil }
        }
        return map
    }

    /// Adds a test's responses, and saves the map. Returns what was added for each.
    mutating func add(_ test: RecordedTest) throws -> [Result<EditedMap.AddedExchange, MapToolError>] {
        let place = tests.firstIndex { test < $0 } ?? tests.endIndex
        tests.insert(test, at: place)
        var edited = try EditedMap(file, resources: folder, replacing: draft)
        let (outcomes, conflicts) = edited.add(tests: tests.map(\.exchanges))
        try edited.save()
        let added = edited.added
        // The status as the map was saved, so that later changes by others are noticed.
        (draft, status) = (added, added.status)
        self.conflicts = conflicts.compactMap { conflict($0) }
        return outcomes[place]
    }

    /// Returns what to report of a conflict; `nil` if no test's response is kept.
    private func conflict(_ conflict: EditedMap.Conflict) -> Recording.Conflict? {
        guard let kept = conflict.tests.first(where: \.isKept) else { return nil }
        let reason = conflict.isRedacted ? ", since they differ only in what may be credentials" : ""
        let condition = conflict.when.map { " when \($0.count > 200 ? $0.prefix(200) + "…" : $0)" } ?? ""
        let list = conflict.tests.map { test in
            let name = tests[test.number].name
            let statuses = test.statuses.map(String.init).joined(separator: ", ")
            let place = "\(name.location.fileName):\(name.location.line)"
            return "\n  \(name.text), \(place): \(statuses)\(test.isKept ? " (kept)" : "")"
        }
        return Recording.Conflict(
            text:
                "\(conflict.method) \(conflict.url)\(condition) got different responses in these tests, and a map can't tell the "
                + "requests apart\(reason). \(file.lastPathComponent) keeps the response of the first test. "
                + "Give the other tests their own map." + list.joined(),
            place: tests[kept.number].name.location
        )
    }

    /// Returns the conflicts that weren't reported yet, or not with all of their tests.
    mutating func unreportedConflicts() -> [Recording.Conflict] {
        conflicts.filter { reported.insert($0.text).inserted }
    }
}
#endif
