/// The state of a protocol's delivery to its client.
///
/// Suspending a task stops its protocol, and resuming the task starts the same protocol again. The load continues in
/// between, and this type holds the load's events. Linux's loader also starts a protocol that is already running or has
/// ended. That has no effect.
struct Delivery: Sendable {
    private enum Progress: Sendable {
        case idle, underWay, suspended, ended
    }

    private var progress = Progress.idle
    /// The events that arrived while the task was suspended.
    private var held: [RequestLoad.Event] = []
    private var load: Task<Void, Never>?
    /// Whether the response's head, and perhaps bytes of its body, have been delivered before the outcome.
    private(set) var hasPassedPieces = false

    /// Begins the delivery. Returns `false` if the delivery has begun before.
    mutating func begin() -> Bool {
        guard progress == .idle else { return false }
        progress = .underWay
        return true
    }

    /// Keeps the load, so that ``cancel()`` can return it. Does nothing if the delivery has ended.
    mutating func wait(for load: Task<Void, Never>) {
        if progress != .ended { self.load = load }
    }

    /// Holds the events that arrive from now on.
    mutating func suspend() {
        if progress == .underWay { progress = .suspended }
    }

    /// Stops holding events. Returns the held events, which the caller must deliver now.
    mutating func resume() -> [RequestLoad.Event] {
        guard progress == .suspended else { return [] }
        progress = .underWay
        defer { held = [] }
        return held
    }

    /// Ends the delivery. Returns the load that is under way, if any, which the caller must cancel.
    mutating func cancel() -> Task<Void, Never>? {
        progress = .ended
        held = []
        return load.take()
    }

    /// Returns whether to deliver an event now. Holds the event instead if the task is suspended, and drops it after
    /// the end.
    mutating func takes(_ event: RequestLoad.Event) -> Bool {
        switch progress {
        case .idle, .ended:
            return false
        case .suspended:
            held.append(event)
            return false
        case .underWay:
            switch event {
            case .head, .data: hasPassedPieces = true
            case .end: (progress, load) = (.ended, nil)
            }
            return true
        }
    }
}
