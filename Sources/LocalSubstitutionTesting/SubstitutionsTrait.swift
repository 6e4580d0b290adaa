#if canImport(Testing)
public import Foundation
import Guarded
public import LocalSubstitution
public import Testing

/// A trait that responds to the requests of a test, or of each test of a suite, with a map.
///
/// ```swift
/// @Test(.substituting("Fixtures/checkout.json"))
/// func refusedOrder() async throws {
///     let refusal = try await Shop(session: .substituted).order("socks")
///     #expect(refusal == "sold out\n")
/// }
/// ```
///
/// Create a trait with `.substituting(…)`. Each test gets its own cache and session. If several of these traits apply
/// to a test, the innermost one takes effect.
public struct SubstitutionsTrait: TestTrait, SuiteTrait, TestScoping {
    private let id = UUID()
    private let options: SubstitutionScope.Options

    init(_ options: SubstitutionScope.Options) {
        self.options = options
        // Also without `sharedSession`, so that a forgotten one is noticed. On Linux, `URLSession.shared` asks only the
        // protocols that were registered before the first use of any session. Swift Testing creates all traits before
        // it runs a test, so this is early enough. The start of a test may be too late.
        _ = LocalSubstitutionCache.reachesSharedSession
    }

    /// Whether a suite's trait applies to each of the suite's tests; always `true`.
    public var isRecursive: Bool { true }

    /// Returns the trait itself, never `nil`. Swift Testing calls this for a suite, for a test, and for each of a
    /// test's arguments.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> SubstitutionsTrait? { self }

    /// Runs a test with the map, and records issues for unmatched requests and other problems. Swift Testing calls
    /// this.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let innermost = test.traits.lazy.compactMap { $0 as? SubstitutionsTrait }.last
        guard innermost?.id == id else { return try await function() }
        guard testCase != nil else { return try await runAll(of: test, function) }
        let use = Use.ofTask.get() ?? Use(id, options)
        let options = use.options(for: test)
        let recording: Recording.Argument?
        do {
            // Before the turn, so that the recording knows of an argument that's cancelled before its turn.
            recording = try Recording.argument(for: options)
        } catch {
            return options.record("\(error)")
        }
        try await options.inTurn { try await run(use, options, recording, function) }
    }

    /// Runs a suite, or a test with all its arguments. Then reports what concerns all of them: unused entries, what was
    /// recorded, and a test without requests.
    private func runAll(of test: Test, _ function: @Sendable () async throws -> Void) async throws {
        let inherited = Use.ofTask.get().flatMap { $0.trait == id ? $0 : nil }
        let use = inherited ?? Use(id, options, isOfSuite: test.isSuite)
        // The test loads the map before its arguments run, so a bad map is one issue, not one for each argument. A
        // suite doesn't load the map: it may have no tests.
        let recording: Recording?
        do {
            recording = test.isSuite ? nil : try Recording.begin(options)
            if !test.isSuite { _ = try use.map(recording) }
        } catch {
            return options.record(options.source.explanation(of: error, in: options.test))
        }
        defer {
            if let issue = recording?.write() { use.options(for: test).record(issue) }
            recording?.close()
        }
        guard inherited == nil else { return try await function() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await Use.ofTask.withValue(use, operation: function))
        } catch {
            result = .failure(error)
        }
        let selection = test.isSuite ? TestSelection.ofProcess : .all
        let reportsUnused = options.reportsUnused && !RecordingMode.isOn && selection.showsUnusedInSuites
        let unused = reportsUnused ? use.unused : []
        if !unused.isEmpty {
            let list = unused.map { "\n  \($0)" }.joined() + selection.note
            options.record(
                "\(unused.count.counted("entry has", "entries have")) matched no requests. "
                    + "Remove each entry that isn't needed:\(list)"
            )
        }
        try result.get()
        // A test that threw an error doesn't get here. It may have failed before its first request.
        if !test.isSuite, use.hasNoRequests, let warning = try warningOfNoRequests(use.map(recording)) {
            options.warn(warning)
        }
    }

    /// Returns a warning for a test that made no requests. Returns `nil` for a map without entries: such a map is only
    /// there so that the code can't use the network.
    private func warningOfNoRequests(_ map: SubstitutionMap) -> String? {
        guard map.count > 0 else { return nil }
        guard options.sharedSession else {
            return "The test has substitutions, but made no request with URLSession.substituted. Pass this session to "
                + "the code. If the code makes its own session, pass TestSubstitutions.current.configuration instead. "
                + "If the code uses URLSession.shared, add sharedSession: true to the trait. If the request comes after "
                + "the test's end, wait for the request in the test."
        }
        return "The test has substitutions, but made no request with URLSession.shared. If the code makes its own "
            + "session, pass TestSubstitutions.current.configuration to the code."
    }

    /// Runs a test with one of its arguments, or a test without arguments. If the scope can't be created, records an
    /// issue instead.
    private func run(
        _ use: Use,
        _ options: SubstitutionScope.Options,
        _ recording: Recording.Argument?,
        _ function: @Sendable () async throws -> Void
    ) async throws {
        let scope: SubstitutionScope
        do {
            scope = try SubstitutionScope(try use.map(recording?.recording), options, recording)
        } catch {
            return options.record("\(error)")
        }
        defer { use.add(scope.substitutions) }
        try await scope.run(function)
    }
}

extension SubstitutionsTrait {
    /// The map and the counts of one trait. All tests of a suite share a suite's trait, and all arguments of a test
    /// share a test's trait.
    final class Use: Sendable {
        let trait: UUID
        private let isOfSuite: Bool
        private let options: SubstitutionScope.Options
        private let state = Guarded(State())

        private struct State: Sendable {
            /// The loaded map, or the error from loading it; `nil` until a test needs the map.
            var map: Result<SubstitutionMap, any Error>?
            /// The entries that at least one of the ended scopes didn't use.
            var notUsed: [SubstitutionMap.EntryReference] = []
            var used: Set<SubstitutionMap.EntryReference> = []
            /// Whether a scope had several maps, so that entries are shown with their map's file.
            var hasSeveralMaps = false
            var hasScopes = false
            /// Whether a request was made in a scope that has ended.
            var hasRequests = false
        }

        /// The current task's value; `nil` outside a test or suite with the trait.
        static let ofTask = TaskLocal<Use?>(wrappedValue: nil)

        init(_ trait: UUID, _ options: SubstitutionScope.Options, isOfSuite: Bool = false) {
            self.trait = trait
            self.options = options
            self.isOfSuite = isOfSuite
        }

        /// Returns the trait's arguments for one test. If the trait is a suite's, issues are shown at the test.
        func options(for test: Test) -> SubstitutionScope.Options {
            var options = options
            if isOfSuite { options.place = test.sourceLocation }
            return options
        }

        /// The first call loads the map. If that fails, each call throws the same error.
        ///
        /// - Parameter recording: The test's recording; `nil` if the test isn't recorded.
        func map(_ recording: Recording?) throws -> SubstitutionMap {
            if options.source.isDispensable(recording) { return .empty }
            let map = state.withLock { state in
                let map = state.map ?? Result { try options.map(recording) }
                state.map = map
                return map
            }
            return try map.get()
        }

        /// Adds the requests of a scope that has ended, and the entries that it used.
        func add(_ substitutions: TestSubstitutions) {
            let (layers, isUsed) = (substitutions.cache.layers, substitutions.isUsed)
            let (used, notUsed) = (layers.entries(used: true), layers.entries(used: false))
            state.withLock { state in
                state.used.formUnion(used)
                let known = Set(state.notUsed)
                state.notUsed += notUsed.filter { !known.contains($0) }
                state.hasSeveralMaps = state.hasSeveralMaps || layers.hasSeveral
                state.hasScopes = true
                state.hasRequests = state.hasRequests || isUsed
            }
        }

        /// `withSubstitutions` calls this when it runs inside a test with the trait.
        func noteRequest() { state.withLock { $0.hasRequests = true } }

        /// The entries that no scope has used; empty until the first scope has ended.
        var unused: [SubstitutionMap.EntryReference] {
            state.withLock { state in
                let unused = state.notUsed.filter { !state.used.contains($0) }
                return state.hasSeveralMaps ? unused : unused.map(\.withoutFile)
            }
        }

        /// Whether at least one scope has ended, but no scope has made a request.
        var hasNoRequests: Bool { state.withLock { $0.hasScopes && !$0.hasRequests } }
    }
}

extension Trait where Self == SubstitutionsTrait {
    /// Responds to a test's requests with a map file.
    ///
    /// ```swift
    /// @Test(.substituting("Fixtures/checkout.json"))
    /// func refusedOrder() async throws {
    ///     let refusal = try await Shop(session: .substituted).order("socks")
    ///     #expect(refusal == "sold out\n")
    /// }
    /// ```
    ///
    /// Pass `URLSession.substituted` to your code. If your code makes its own session, pass it the `configuration` of
    /// ``TestSubstitutions/current``. Each test, and each argument of a parameterized test, has its own cache and
    /// session, so tests can run in parallel.
    ///
    /// - Parameters:
    ///   - map: The path of the map file, or of an HTTP archive (`.har`). A relative path starts at the folder of the
    ///     test's file.
    ///   - bundle: The bundle to load the map from if there's no file at the path. By default, the map is only looked for
    ///     at the path. Pass `.module` if tests can't read their source folder, and add `.copy("Fixtures")` to the
    ///     target's resources, so that the bundle contains the whole folder. The bundle may contain the map with or
    ///     without its folder. Recordings are written to the folder `recorded` beside the path. If a recording isn't there,
    ///     it's loaded from the bundle.
    ///   - unmatched: What happens to requests that no entry matches. By default, they fail and are issues of the test.
    ///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file. By
    ///     default, the folder `Substitutes` beside the map, or else the folder `Resources` there. If neither exists, the
    ///     map's own folder is used.
    ///   - handlers: The closures that entries name in their field `handler`. By default, none.
    ///   - sharedSession: Whether `URLSession.shared` also uses the map while the test runs; `false` by default. Tests
    ///     with this option run one at a time, but in parallel with all other tests. On Linux, the map ignores the
    ///     requests of other tests, unless a detached task makes them. On Apple platforms, the map is used for every
    ///     request with `URLSession.shared` in the process.
    ///   - reportsUnused: Whether the test gets an issue that lists unused entries; `false` by default. An entry or an
    ///     alternative is used if it responds with at least one of the test's arguments. With a suite's trait, it's used
    ///     if it responds in at least one of the suite's tests. With the options `--filter` and `--skip` of `swift test`,
    ///     a suite gets no such issue.
    ///   - redact: Changes or excludes each response before a recording run (with `LOCAL_SUBSTITUTION_RECORD` set)
    ///     writes it, for example to remove tokens; see `LocalSubstitution.RecordedResponse`. By default, responses
    ///     aren't changed.
    ///   - filePath: The test's file. Relative paths start at its folder. By default, the caller's file.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location. If the trait is a suite's, a test's
    ///     issues are shown at the test.
    public static func substituting(
        // Not `String`: the compiler would also try it for a literal of entries, and then hide the error in an entry's
        // closure.
        _ map: some StringProtocol,
        in bundle: Bundle? = nil,
        unmatched: TestSubstitutions.Unmatched = .issue,
        resources: String? = nil,
        handlers: [String: SubstitutionMap.Handler] = [:],
        sharedSession: Bool = false,
        reportsUnused: Bool = false,
        redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
        filePath: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource.file(String(map), bundle, resources: resources, testFile: filePath)
        return Self(
            .init(
                source: source,
                unmatched: unmatched,
                handlers: handlers,
                sharedSession: sharedSession,
                redact: redact,
                reportsUnused: reportsUnused,
                place: sourceLocation
            )
        )
    }

    /// Responds to a test's requests with a map in a bundle.
    ///
    /// ```swift
    /// @Test(.substituting(named: "checkout", in: .module))
    /// ```
    ///
    /// For more about the parameters, see
    /// ``substituting(_:in:unmatched:resources:handlers:sharedSession:reportsUnused:redacting:filePath:sourceLocation:)``.
    ///
    /// - Parameters:
    ///   - name: The map's name, without its extension `json`.
    ///   - bundle: The bundle that contains the map, such as `.module`.
    ///   - unmatched: What happens to requests that no entry matches. By default, they fail and are issues of the test.
    ///   - handlers: The closures that entries name in their field `handler`. By default, none.
    ///   - sharedSession: Whether `URLSession.shared` also uses the map while the test runs; `false` by default.
    ///   - reportsUnused: Whether the test gets an issue that lists unused entries; `false` by default.
    ///   - redact: Changes or excludes each response before a recording run writes it. By default, responses aren't changed.
    ///   - filePath: The test's file. Its recording is in the folder `Fixtures` beside it. By default, the caller's
    ///     file.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location.
    public static func substituting(
        named name: String,
        in bundle: Bundle,
        unmatched: TestSubstitutions.Unmatched = .issue,
        handlers: [String: SubstitutionMap.Handler] = [:],
        sharedSession: Bool = false,
        reportsUnused: Bool = false,
        redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
        filePath: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource.bundle(bundle, name: name, testFile: filePath)
        return Self(
            .init(
                source: source,
                unmatched: unmatched,
                handlers: handlers,
                sharedSession: sharedSession,
                redact: redact,
                reportsUnused: reportsUnused,
                place: sourceLocation
            )
        )
    }

    /// Responds to a test's requests with entries in code.
    ///
    /// ```swift
    /// @Test(.substituting(["https://www.example.com/user": .json(["name": "Ada"])]))
    /// func userName() async throws {
    ///     let url = try #require(URL(string: "https://www.example.com/user"))
    ///     let (body, _) = try await URLSession.substituted.data(from: url)
    ///     #expect(String(decoding: body, as: UTF8.self).contains("Ada"))
    /// }
    /// ```
    ///
    /// The test's recording is in the folder `Fixtures` beside its file. For more about the parameters, see
    /// ``substituting(_:in:unmatched:resources:handlers:sharedSession:reportsUnused:redacting:filePath:sourceLocation:)``.
    ///
    /// - Parameters:
    ///   - entries: The entries' keys, such as URLs and match patterns, and their answers.
    ///   - unmatched: What happens to requests that no entry matches. By default, they fail and are issues of the test.
    ///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file. Not
    ///     needed if no entry names a file.
    ///   - sharedSession: Whether `URLSession.shared` also uses the map while the test runs; `false` by default.
    ///   - reportsUnused: Whether the test gets an issue that lists unused entries; `false` by default.
    ///   - redact: Changes or excludes each response before a recording run writes it. By default, responses aren't changed.
    ///   - filePath: The test's file. Relative paths start at its folder. By default, the caller's file.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location.
    public static func substituting(
        _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
        unmatched: TestSubstitutions.Unmatched = .issue,
        resources: String? = nil,
        sharedSession: Bool = false,
        reportsUnused: Bool = false,
        redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
        filePath: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource.entries(entries, resources: resources, testFile: filePath)
        return Self(
            .init(
                source: source,
                unmatched: unmatched,
                sharedSession: sharedSession,
                redact: redact,
                reportsUnused: reportsUnused,
                place: sourceLocation
            )
        )
    }
}
#endif
