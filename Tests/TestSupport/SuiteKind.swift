import Foundation
import Guarded
package import Testing

/// What the tests of a suite use. It says how many such suites run at once, and whether ThreadSanitizer runs them.
///
/// Swift Testing starts all tests at once, and each would hold its sessions' descriptors meanwhile. So a suite waits for a place
/// before its tests start, and they run one after another. A test's time limit and its duration don't include the waiting.
///
/// Only a suite takes a place, not the suites in it, so no holder of a place waits for another.
package struct SuiteKind: SuiteTrait, TestScoping, Sendable {
    /// The name, as in a suite's traits.
    package let name: String
    private let places: Places
    private let isBusy: Bool

    /// - Parameter places: How many suites of this kind run at once.
    package init(name: String, places: Int) {
        self.init(name: name, places: Places(places))
    }

    private init(name: String, places: Places, isBusy: Bool = false) {
        (self.name, self.places, self.isBusy) = (name, places, isBusy)
    }

    /// Returns one kind for suites that keep a processor busy, and one for others.
    ///
    /// - Parameters:
    ///   - places: How many suites of both run at once.
    ///   - busy: How many of them may be busy ones, which go first.
    package static func pair(places: Int, busy: Int) -> (busy: SuiteKind, other: SuiteKind) {
        let places = Places(places, busy: busy)
        return (SuiteKind(name: "busy", places: places, isBusy: true), SuiteKind(name: "other", places: places))
    }

    /// Waits for a place, and then runs the suite's tests one after another.
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        _ = OpenFiles.raisedLimit
        await places.take(isBusy: isBusy)
        defer { places.leave(isBusy: isBusy) }
        guard !test.traits.contains(where: { $0 is CasesAtOnce }) else { return try await function() }
        try await ParallelizationTrait.serialized.provideScope(for: test, testCase: testCase, performing: function)
    }

    /// Skips the suite if only another kind is wanted.
    package func prepare(for test: Test) async throws {
        let wanted = ProcessInfo.processInfo.environment[Self.variable]
        guard !isWanted(wanted) else { return }
        try await ConditionTrait.disabled("\(Self.variable) is \(wanted ?? "").").prepare(for: test)
    }

    /// Returns whether suites of this kind run with a value of ``variable``; `nil` if it isn't set.
    package func isWanted(_ value: String?) -> Bool { value == nil || value == "" || value == name }

    /// The environment variable that names the only kind to run. If it's empty, all kinds run.
    package static let variable = "LOCAL_SUBSTITUTION_TESTS"

    /// All kinds.
    package static let all = [values, sessions, threads, sources, waits]

    // Values and the compiler keep a processor busy. The others also wait, for the loader, a delay, or a child process, so there
    // are a few more of them than processors are left. With more places, each test would take longer than alone.
    private static let places: Places = {
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let busy = max(1, processors / 2)
        return Places(processors + busy, busy: busy)
    }()
    fileprivate static let values = SuiteKind(name: "values", places: places, isBusy: true)
    fileprivate static let sessions = SuiteKind(name: "sessions", places: places)
    fileprivate static let threads = SuiteKind(name: "threads", places: places)
    fileprivate static let sources = SuiteKind(name: "sources", places: places, isBusy: true)
    fileprivate static let waits = SuiteKind(name: "waits", places: 1)
}

extension Trait where Self == SuiteKind {
    /// Values and files, without sessions, servers or child processes.
    package static var values: Self { SuiteKind.values }

    /// Sessions, servers or child processes, which hold descriptors.
    package static var sessions: Self { SuiteKind.sessions }

    /// The package's sources, as the compiler reads them. The first suite compiles them for the others.
    package static var sources: Self { SuiteKind.sources }

    /// Time limits of many seconds that have to pass. Such suites have a place beside the others', since they need little meanwhile.
    package static var waits: Self { SuiteKind.waits }

    /// Code that several threads use at once. ThreadSanitizer runs these suites.
    package static var threads: Self { SuiteKind.threads }
}

/// How many cases of a suite run at once, instead of one after another.
package struct CasesAtOnce: SuiteTrait, TestTrait, TestScoping, Sendable {
    private let places: Places

    package var isRecursive: Bool { true }

    fileprivate init(_ count: Int) { places = Places(count) }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        await places.take()
        defer { places.leave() }
        try await function()
    }
}

extension Trait where Self == CasesAtOnce {
    /// For tests that have to run beside each other.
    package static func atOnce(_ count: Int) -> Self { CasesAtOnce(count) }
}

/// A number of places, and the suites that wait for one in the order in which they came. Those that keep a processor busy get at
/// most some of the places, and go before the others.
private final class Places: Sendable {
    private typealias Waiting = CheckedContinuation<Void, Never>

    private struct State {
        var free: Int
        var freeForBusy: Int
        var waiting: [Waiting] = []
        var waitingBusy: [Waiting] = []

        /// Gives a place to the next that may have one.
        mutating func next() -> Waiting? {
            guard free > 0 else { return nil }
            if freeForBusy > 0, !waitingBusy.isEmpty {
                (free, freeForBusy) = (free - 1, freeForBusy - 1)
                return waitingBusy.removeFirst()
            }
            guard !waiting.isEmpty else { return nil }
            free -= 1
            return waiting.removeFirst()
        }
    }

    private let state: Guarded<State>

    init(_ count: Int, busy: Int = 0) { state = Guarded(State(free: count, freeForBusy: busy)) }

    func take(isBusy: Bool = false) async {
        await withCheckedContinuation { continuation in
            let next = state.withLock { state in
                if isBusy { state.waitingBusy.append(continuation) } else { state.waiting.append(continuation) }
                return state.next()
            }
            next?.resume()
        }
    }

    func leave(isBusy: Bool = false) {
        let next = state.withLock { state in
            state.free += 1
            if isBusy { state.freeForBusy += 1 }
            return state.next()
        }
        next?.resume()
    }
}

/// The limit for open files.
private enum OpenFiles {
    /// The soft limit, raised once to the hard one, but to no more than a run needs.
    ///
    /// A Mac's usual limit is 256. There, the system also refuses more than `OPEN_MAX`, which is higher.
    static let raisedLimit: rlim_t = {
        #if canImport(Darwin) || canImport(Musl)
        let resource = RLIMIT_NOFILE
        #else
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        let wanted = min(limit.rlim_max, 4_096)
        guard limit.rlim_cur < wanted else { return limit.rlim_cur }
        limit.rlim_cur = wanted
        return setrlimit(resource, &limit) == 0 ? wanted : 0
    }()
}
