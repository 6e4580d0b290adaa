import Dispatch
import Foundation
import Guarded

/// The schedule of the background requests for newer copies: when, for which URLs, and how many at a time.
final class RefreshSchedule: Sendable {
    /// A closure that asks the network for a URL. It must call `done` once the load has ended.
    typealias Ask = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    private struct Waiting: Sendable {
        let url: String
        let record: Record
        let ask: Ask
    }

    private struct State: Sendable {
        /// The time between two questions for a URL, in seconds.
        var interval = 60.0 * 60
        var records: [String: Record] = [:]
        /// The earliest time at which a record can be removed to make room for another, in nanoseconds on the clock
        /// ``SteadyTime``. Used only while there's no room.
        var fullUntil: Int64 = 0
        var waiting: ArraySlice<Waiting> = []
        /// The URLs that are waiting or being asked for.
        var asking: Set<String> = []
        var running: Int { asking.count - waiting.count }
    }

    /// The maximum number of records. There's a maximum because a pattern matches any number of URLs. To make room,
    /// only due records are removed: if another were removed, the network would be asked for its URL again too early.
    private let limit: Int
    /// The maximum number of questions that are asked at the same time. More would slow down the app's own requests.
    private static let mostRunning = 4

    private let state = Guarded(State())
    let loader = UncachedLoader()

    init(limit: Int = 16_384) {
        self.limit = limit
    }

    deinit {
        loader.end()
    }

    /// The time before the network is asked for a URL again, in seconds; an hour by default.
    var interval: Double {
        get { state.withLock { $0.interval } }
        set { state.withLock { $0.interval = newValue } }
    }

    /// The number of URLs with a record.
    var count: Int { state.withLock { $0.records.count } }
    /// Whether no question is waiting or being asked.
    var isIdle: Bool { state.withLock { $0.asking.isEmpty } }

    // MARK: Records

    func knownRecord(for url: String) -> Record? {
        state.withLock { $0.records[url] }
    }

    /// Returns the record for a URL, and creates it if it's missing. If there's no room, returns a record that isn't
    /// kept, and that isn't due until a kept record can be removed.
    func record(for url: String) -> Record {
        state.withLock { state in
            if let known = state.records[url] { return known }
            makeRoom(&state)
            guard state.records.count < limit else { return Record(dueAt: state.fullUntil) }
            let record = Record(dueAt: .min)
            state.records[url] = record
            return record
        }
    }

    private func makeRoom(_ state: inout State) {
        guard state.records.count >= limit, SteadyTime.now >= state.fullUntil else { return }
        // Responses made under a due record have expired, so nothing needs the record any more.
        state.records = state.records.filter { !$1.isDue || state.asking.contains($0) }
        state.fullUntil = state.records.values.reduce(.max) { min($0, $1.due) }
    }

    /// Removes all records, so that every URL is due again.
    func removeAll() {
        state.withLock { state in
            for record in state.records.values { record.change(to: .unknown) }
            state.records = [:]
            state.fullUntil = 0
        }
    }

    // MARK: Asking

    /// Asks the network for a URL if its record is due and still in the schedule, unless the network is already being
    /// asked for the URL.
    ///
    /// - Parameter ask: Called later, on another thread, because on Linux, the caller of this method may be on the
    ///   queue that all sessions share, where using a session traps (`URLSession.swift`, `sharedQueue`).
    func ask(for url: String, _ record: Record, by ask: @escaping Ask) {
        guard record.isDue else { return }
        state.withLock { state in
            guard record.isDue, state.records[url] === record, state.asking.insert(url).inserted else { return }
            // Postpones the record now, not when the response arrives. Otherwise, the URL's retained responses would
            // count as expired until then.
            record.postpone(to: nextTime(state))
            state.waiting.append(Waiting(url: url, record: record, ask: ask))
        }
        start()
    }

    private func start() {
        let next = state.withLock { state -> Waiting? in
            guard state.running < Self.mostRunning, let next = state.waiting.popFirst() else { return nil }
            next.record.postpone(to: nextTime(state))
            return next
        }
        guard let next else { return }
        // Weak, so that a response that never arrives doesn't keep the schedule alive.
        DispatchQueue.global(qos: .utility).async { [weak self] in
            next.ask { [weak self] in self?.finish(next.url) }
        }
    }

    private func finish(_ url: String) {
        state.withLock { _ = $0.asking.remove(url) }
        start()
    }

    private func nextTime(_ state: State) -> Int64 {
        SteadyTime.now &+ Int64(state.interval * 1e9)
    }
}

extension RefreshSchedule {
    /// What is known about the newer copy for one URL of an `untilUpdated` entry, and when to ask again.
    final class Record: Sendable {
        enum Copy: Sendable {
            /// The default cache hasn't been searched yet.
            case unknown
            case absent
            case kept(NewerCopies.Copy)

            var kept: NewerCopies.Copy? { if case .kept(let copy) = self { copy } else { nil } }
        }

        private struct State: Sendable {
            var copy = Copy.unknown
            /// The number of changes to the copy. A response made before a change isn't returned after the change.
            var changes = 0
            /// When the network may be asked again, in nanoseconds on the clock ``SteadyTime``.
            var dueAt: Int64
        }

        private let state: Guarded<State>

        init(dueAt: Int64) {
            state = Guarded(State(dueAt: dueAt))
        }

        var due: Int64 { state.withLock { $0.dueAt } }
        var isDue: Bool { SteadyTime.now >= due }

        func postpone(to time: Int64) {
            state.withLock { $0.dueAt = time }
        }

        // MARK: The copy

        var copy: Copy { state.withLock { $0.copy } }

        /// Notes what a search of the default cache found, unless the copy has changed since the stamp.
        func learn(_ copy: Copy, at stamp: Stamp) {
            state.withLock { if stamp.change == $0.changes { $0.copy = copy } }
        }

        /// Replaces or removes the copy. Returns the old copy; `nil` if there was none, or if nothing changed.
        ///
        /// - Parameter stamp: The copy changes only if it hasn't changed since this stamp; `nil` to change it in any
        ///   case.
        @discardableResult
        func change(to copy: Copy, unlessSince stamp: Stamp? = nil) -> NewerCopies.Copy? {
            state.withLock { state in
                if let stamp, stamp.change != state.changes { return nil }
                state.changes += 1
                defer { state.copy = copy }
                return state.copy.kept
            }
        }

        // MARK: Stamps

        /// The state of a record at one moment.
        struct Stamp: Sendable {
            let record: Record
            fileprivate let change: Int

            /// Whether a response made at that moment is outdated: the copy has changed since then, or the record is
            /// due.
            var hasExpired: Bool {
                let (changes, dueAt) = record.state.withLock { ($0.changes, $0.dueAt) }
                return change != changes || SteadyTime.now >= dueAt
            }
        }

        var stamp: Stamp { Stamp(record: self, change: state.withLock { $0.changes }) }
    }
}

/// A clock that never goes back and that keeps running while the device sleeps. Setting the system's clock doesn't
/// change it.
private enum SteadyTime {
    /// The time in nanoseconds since a moment before the process began.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    // Linux's CLOCK_MONOTONIC stops while the device sleeps. Darwin's doesn't, and Darwin has no CLOCK_BOOTTIME.
    #if canImport(Darwin)
    private static let clock = CLOCK_MONOTONIC
    #else
    private static let clock = CLOCK_BOOTTIME
    #endif
}
