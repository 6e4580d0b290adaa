import Guarded
import Synchronization

/// What is known of a URL whose entry's file answers until the network has a newer copy.
final class UpdateRecord: Sendable {
    enum Copy: Sendable {
        /// Nobody has looked into the default cache yet.
        case unknown
        case absent
        case kept(NewerCopy.Facts)

        var facts: NewerCopy.Facts? {
            if case .kept(let facts) = self { facts } else { nil }
        }
    }

    private let state = Guarded<Copy>(.unknown)
    /// Counts what has come of the copy, so that no response made before a change is handed out after it.
    private let changes = Atomic(0)
    /// When the network may be asked; see ``SteadyTime``.
    private let dueAt: Atomic<Int64>

    init(dueAt: Int64) {
        self.dueAt = Atomic(dueAt)
    }

    var isDue: Bool { SteadyTime.now >= dueAt.load(ordering: .relaxed) }
    var due: Int64 { dueAt.load(ordering: .relaxed) }

    func postpone(to time: Int64) {
        dueAt.store(time, ordering: .relaxed)
    }

    // MARK: The copy

    var copy: Copy { state.withLock { $0 } }

    /// Notes what was found in the default cache, unless it has changed since.
    func learn(_ copy: Copy, at stamp: Stamp) {
        state.withLock { if stamp.change == changes.load(ordering: .acquiring) { $0 = copy } }
    }

    /// Puts another copy in place, or none, unless that has been done since; gives the one that went.
    ///
    /// - Parameter stamp: `nil` to do it in any case.
    @discardableResult
    func change(to copy: Copy, unlessSince stamp: Stamp? = nil) -> NewerCopy.Facts? {
        state.withLock { state in
            if let stamp, stamp.change != changes.load(ordering: .acquiring) { return nil }
            changes.add(1, ordering: .acquiringAndReleasing)
            defer { state = copy }
            return state.facts
        }
    }

    // MARK: What was made of it

    /// A moment in what is known of a URL.
    struct Stamp: Sendable {
        let record: UpdateRecord
        fileprivate let change: Int

        /// Whether a response made then is to be made again: the copy has changed, or the network is to be asked.
        var hasExpired: Bool {
            change != record.changes.load(ordering: .acquiring) || record.isDue
        }
    }

    var stamp: Stamp { Stamp(record: self, change: changes.load(ordering: .acquiring)) }
}
