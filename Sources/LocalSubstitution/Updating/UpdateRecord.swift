import Guarded

/// What is known about the newer copy of a file, for one URL of an `untilUpdated` entry.
final class UpdateRecord: Sendable {
    enum Copy: Sendable {
        /// The default cache hasn't been searched yet.
        case unknown
        case absent
        case kept(NewerCopy.Facts)

        var facts: NewerCopy.Facts? {
            if case .kept(let facts) = self { facts } else { nil }
        }
    }

    private struct State: Sendable {
        var copy = Copy.unknown
        /// The number of changes to the copy. A response made before a change isn't returned after it.
        var changes = 0
        /// When the network may be asked again; see ``SteadyTime``.
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

    /// Notes what was found in the default cache, unless the copy has changed since the stamp.
    func learn(_ copy: Copy, at stamp: Stamp) {
        state.withLock { if stamp.change == $0.changes { $0.copy = copy } }
    }

    /// Replaces or removes the copy, unless it has changed since a stamp. Returns the former copy.
    ///
    /// - Parameter stamp: The stamp; `nil` to change the copy in any case.
    @discardableResult
    func change(to copy: Copy, unlessSince stamp: Stamp? = nil) -> NewerCopy.Facts? {
        state.withLock { state in
            if let stamp, stamp.change != state.changes { return nil }
            state.changes += 1
            defer { state.copy = copy }
            return state.copy.facts
        }
    }

    // MARK: Stamps

    /// The state of a record at one moment.
    struct Stamp: Sendable {
        let record: UpdateRecord
        fileprivate let change: Int

        /// Whether a response made at that moment is outdated: the copy has changed since, or it's time to ask the network.
        var hasExpired: Bool {
            let (changes, dueAt) = record.state.withLock { ($0.changes, $0.dueAt) }
            return change != changes || SteadyTime.now >= dueAt
        }
    }

    var stamp: Stamp { Stamp(record: self, change: state.withLock { $0.changes }) }
}
