#if canImport(Testing)
public import Foundation
import Guarded
public import LocalSubstitution
public import Testing

/// A trait that makes a map, a cache and a session for a test, or for each test of a suite.
///
/// Make one with `.substituting(…)`. If several apply to a test, the innermost is used.
public struct SubstitutionsTrait: TestTrait, SuiteTrait, TestScoping {
    private let id = UUID()
    private let options: SubstitutionScope.Options

    init(_ options: SubstitutionScope.Options) {
        self.options = options
        // When a test runs, it may be too late: on Linux, `URLSession.shared` asks only the protocols that are registered before any
        // session is used. All traits are made before any test runs.
        if options.sharedSession { _ = LocalSubstitutionCache.reachesSharedSession }
    }

    /// Always `true`: each test of a suite has its own scope.
    public var isRecursive: Bool { true }

    /// Returns the trait itself, for the suite, for each test, and for each of a test's arguments.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> SubstitutionsTrait? { self }

    /// Runs a test with its substitutions and records its issues.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let innermost = test.traits.lazy.compactMap { $0 as? SubstitutionsTrait }.last
        guard innermost?.id == id else { return try await function() }
        guard testCase != nil else { return try await runAll(of: test, function) }
        let use = Use.ofTask.get() ?? Use(id, options)
        try await options.inTurn { try await run(use, function) }
    }

    /// Runs a suite, or a test with all its arguments.
    private func runAll(of test: Test, _ function: @Sendable () async throws -> Void) async throws {
        let inherited = Use.ofTask.get().flatMap { $0.trait == id ? $0 : nil }
        let use = inherited ?? Use(id, options)
        // Checked once, not for each argument. A suite leaves the check to its tests, since it may not have any.
        if !test.isSuite {
            do {
                _ = try use.map()
            } catch {
                return options.record(options.source.explanation(of: error, in: options.test))
            }
        }
        guard inherited == nil else { return try await function() }
        let recording = try? Recording(options)
        recording?.begin()
        defer {
            for conflict in recording?.end() ?? [] {
                Issue.record(Comment(rawValue: conflict.text), sourceLocation: conflict.place)
            }
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await Use.ofTask.withValue(use, operation: function))
        } catch {
            result = .failure(error)
        }
        let unused = options.reportsUnused && !Recording.isOn ? use.unused : []
        if !unused.isEmpty {
            let list = unused.map { "\n  \($0)" }.joined()
            options.record("\(unused.count.counted("entry has", "entries have")) answered no requests:\(list)")
        }
        try result.get()
        // A test that fails early may not have reached its requests.
        if !test.isSuite, !options.sharedSession, use.hasNoRequests {
            options.warn(
                "The test has substitutions, but made no request with URLSession.substituted or "
                    + "TestSubstitutions.current. Pass one of these sessions to the code, or TestSubstitutions.current"
                    + ".configuration if it makes its own. If it uses URLSession.shared, write sharedSession: true."
            )
        }
    }

    /// Runs a test with one of its arguments.
    private func run(_ use: Use, _ function: @Sendable () async throws -> Void) async throws {
        let scope: SubstitutionScope
        do {
            scope = try SubstitutionScope(try use.map(), options)
        } catch {
            return options.record("\(error)")
        }
        defer { use.add(scope.substitutions) }
        try await scope.run(function)
    }
}

extension SubstitutionsTrait {
    /// What a trait shares among all arguments of a test, or among all tests of a suite.
    final class Use: Sendable {
        let trait: UUID
        private let options: SubstitutionScope.Options
        private let state = Guarded(State())

        private struct State: Sendable {
            var map: Result<SubstitutionMap, any Error>?
            /// The entries that no scope has used so far; `nil` until a scope has ended.
            var unused: [SubstitutionMap.EntryReference]?
            var requests = 0
        }

        static let ofTask = TaskLocal<Use?>(wrappedValue: nil)

        init(_ trait: UUID, _ options: SubstitutionScope.Options) {
            self.trait = trait
            self.options = options
        }

        /// Returns the map, which is loaded only once.
        func map() throws -> SubstitutionMap {
            let map = state.withLock { state in
                let map = state.map ?? Result { try options.map() }
                state.map = map
                return map
            }
            return try map.get()
        }

        /// Counts the requests of a scope that has ended, and notes which entries it used.
        func add(_ substitutions: TestSubstitutions) {
            let (unused, count) = (substitutions.unusedEntries, substitutions.requests.count)
            state.withLock { state in
                let still = Set(unused)
                state.unused = state.unused?.filter(still.contains) ?? unused
                state.requests += count
            }
        }

        /// Adds the number of requests made in a scope inside the trait's scope.
        func addRequests(_ count: Int) { state.withLock { $0.requests += count } }

        /// The entries that no scope has used.
        var unused: [SubstitutionMap.EntryReference] { state.withLock { $0.unused ?? [] } }

        /// Whether at least one scope has ended, and none of them had a request.
        var hasNoRequests: Bool { state.withLock { $0.unused != nil && $0.requests == 0 } }
    }
}

extension Trait where Self == SubstitutionsTrait {
    /// Answers a test's requests with a map file.
    ///
    /// Your code gets the session from `URLSession.substituted`, or makes its own with the configuration of
    /// ``TestSubstitutions/current``. Each test, and each argument of a parameterized test, has its own cache and session, so tests
    /// can run in parallel.
    ///
    /// - Parameters:
    ///   - map: The path of the map file, or of an HTTP archive (`.har`). A relative path starts at the folder of the test's file.
    ///   - bundle: The bundle to load the map from if there's no file at the path. Pass `.module` if tests can't read
    ///     their source folder. Add `.copy("Fixtures")` to the target's resources, so that the bundle contains the
    ///     whole folder. The map is found in the bundle with or without its folder. A recording run writes to the path.
    ///   - unmatched: What happens to requests that no entry answers. By default, they fail and are issues of the test.
    ///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file. By default, the
    ///     folder `Resources` beside the map; if there is none, the map's own folder.
    ///   - handlers: The closures that entries name in their field `handler`.
    ///   - sharedSession: Whether the map also answers `URLSession.shared` while the test runs. Such tests run one at a
    ///     time, but in parallel with all other tests. On Linux, the map ignores other tests' requests, except those
    ///     from detached tasks. On Apple platforms, the map answers every use of `URLSession.shared` in the process.
    ///   - reportsUnused: Whether unused entries are reported as an issue. An entry is used if it answers a request
    ///     with at least one of the test's arguments or, in a suite's trait, in at least one of the suite's tests. So
    ///     run the whole suite.
    ///   - redact: Changes what a recording run keeps, for example to remove tokens from a response.
    ///   - filePath: The test's file. Relative paths start at its folder. By default, the caller's file.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location.
    public static func substituting(
        _ map: String,
        in bundle: Bundle? = nil,
        unmatched: TestSubstitutions.Unmatched = .issue,
        resources: String? = nil,
        handlers: [String: SubstitutionMap.Handler] = [:],
        sharedSession: Bool = false,
        reportsUnused: Bool = false,
        redacting redact: (@Sendable (inout RecordedAnswer) -> Void)? = nil,
        filePath: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource.file(map, bundle, resources: resources, testFile: filePath)
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

    /// Answers a test's requests with a map in a bundle. Otherwise, it's like
    /// ``substituting(_:in:unmatched:resources:handlers:sharedSession:reportsUnused:redacting:filePath:sourceLocation:)``. A recording run
    /// can't add to the map.
    ///
    /// - Parameters:
    ///   - name: The map's name, without its extension `json`.
    ///   - bundle: The bundle, such as `.module`.
    ///   - unmatched: What happens to requests that no entry answers. By default, they fail and are issues of the test.
    ///   - handlers: The closures that entries name in their field `handler`.
    ///   - sharedSession: Whether the map also answers `URLSession.shared` while the test runs.
    ///   - reportsUnused: Whether entries that the test uses with none of its arguments are reported as an issue.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location.
    public static func substituting(
        named name: String,
        in bundle: Bundle,
        unmatched: TestSubstitutions.Unmatched = .issue,
        handlers: [String: SubstitutionMap.Handler] = [:],
        sharedSession: Bool = false,
        reportsUnused: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource.bundle(bundle, name: name, module: sourceLocation.moduleName)
        return Self(
            .init(
                source: source,
                unmatched: unmatched,
                handlers: handlers,
                sharedSession: sharedSession,
                reportsUnused: reportsUnused,
                place: sourceLocation
            )
        )
    }

    /// Answers a test's requests with entries in code. Otherwise, it's like
    /// ``substituting(_:in:unmatched:resources:handlers:sharedSession:reportsUnused:redacting:filePath:sourceLocation:)``. A recording run
    /// can't add to the entries.
    ///
    /// - Parameters:
    ///   - entries: Keys and answers, as in a map file.
    ///   - unmatched: What happens to requests that no entry answers. By default, they fail and are issues of the test.
    ///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file.
    ///   - sharedSession: Whether the map also answers `URLSession.shared` while the test runs.
    ///   - reportsUnused: Whether entries that the test uses with none of its arguments are reported as an issue.
    ///   - filePath: The test's file. Relative paths start at its folder. By default, the caller's file.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location.
    public static func substituting(
        _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
        unmatched: TestSubstitutions.Unmatched = .issue,
        resources: String? = nil,
        sharedSession: Bool = false,
        reportsUnused: Bool = false,
        filePath: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource.entries(entries, resources: resources, testFile: filePath)
        return Self(
            .init(
                source: source,
                unmatched: unmatched,
                sharedSession: sharedSession,
                reportsUnused: reportsUnused,
                place: sourceLocation
            )
        )
    }
}
#endif
