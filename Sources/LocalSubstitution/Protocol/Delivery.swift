#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The state of a protocol's delivery to its client.
///
/// Suspending a task stops its protocol, and resuming it starts the same protocol again. Meanwhile, the load goes on,
/// and its events are held. Linux's loader also starts a protocol that is already running or has ended.
struct Delivery: Sendable {
    /// An event of a load.
    enum Event: Sendable {
        case piece(ResponseCollector.Piece)
        case end(RequestOutcome)
    }

    private enum Progress: Sendable {
        case idle, underWay, suspended, ended
    }

    private var progress = Progress.idle
    /// The events that arrived while the task was suspended.
    private var held: [Event] = []
    private var load: Task<Void, Never>?
    /// Whether pieces of the response have been delivered.
    private(set) var hasPassedPieces = false

    /// Begins the delivery. Returns `false` if it has begun before.
    mutating func begin() -> Bool {
        guard progress == .idle else { return false }
        progress = .underWay
        return true
    }

    /// Keeps the load that is under way, so that it's cancelled with the task.
    mutating func wait(for load: Task<Void, Never>) {
        if progress != .ended { self.load = load }
    }

    /// Holds the events that arrive from now on.
    mutating func suspend() {
        if progress == .underWay { progress = .suspended }
    }

    /// Returns the events that arrived while the task was suspended, to be delivered now.
    mutating func resume() -> [Event] {
        guard progress == .suspended else { return [] }
        progress = .underWay
        defer { held = [] }
        return held
    }

    /// Ends the delivery. Returns the load that is under way, to be cancelled.
    mutating func cancel() -> Task<Void, Never>? {
        progress = .ended
        held = []
        return load.take()
    }

    /// Returns whether to deliver an event now. An event that arrives while the task is suspended is held.
    mutating func takes(_ event: Event) -> Bool {
        switch progress {
        case .idle, .ended:
            return false
        case .suspended:
            held.append(event)
            return false
        case .underWay:
            switch event {
            case .piece: hasPassedPieces = true
            case .end: (progress, load) = (.ended, nil)
            }
            return true
        }
    }
}
