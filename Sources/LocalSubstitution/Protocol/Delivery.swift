/// The state of a protocol's delivery to its client.
///
/// Suspending a task stops its protocol, and resuming it starts the same protocol again. So attempts are numbered, and results of
/// earlier attempts are ignored. Linux's loader also starts a protocol that is already running or has ended.
struct Delivery: Sendable {
    /// The result of starting a protocol.
    enum Start: Sendable, Equatable {
        /// A new attempt, with its number.
        case attempt(Int)
        /// A failure, because pieces that have been passed on can't be taken back.
        case failure
    }

    private enum Progress: Sendable {
        case idle, underWay, ended
    }

    private var attempt = 0
    private var progress = Progress.idle
    private var hasPassedPieces = false
    /// The load that the attempt waits for.
    private var load: Task<Void, Never>?
    /// The chain of the current attempt, with its decisions.
    private var chain: RequestChain?

    /// Begins an attempt. Returns `nil` if one is running or the delivery has ended.
    mutating func begin() -> Start? {
        guard progress == .idle else { return nil }
        guard !hasPassedPieces else {
            progress = .ended
            return .failure
        }
        attempt += 1
        progress = .underWay
        return .attempt(attempt)
    }

    /// Keeps the load that an attempt waits for. Returns `false` if the attempt has ended, so the load must be cancelled.
    mutating func wait(for load: Task<Void, Never>, _ attempt: Int) -> Bool {
        guard isUnderWay(attempt) else { return false }
        self.load = load
        return true
    }

    /// Begins the chain of an attempt. It follows what an earlier attempt has decided.
    mutating func beginChain(_ attachment: Attachment) -> RequestChain {
        let made = RequestChain(attachment, after: chain)
        chain = made
        return made
    }

    /// Stops the current attempt. Returns the load that it waits for, to be cancelled.
    mutating func stop() -> Task<Void, Never>? {
        if progress == .underWay { progress = .idle }
        return load.take()
    }

    /// Notes that an attempt passes on a piece of a response. Returns `false` if it isn't allowed to.
    mutating func pass(_ attempt: Int) -> Bool {
        guard isUnderWay(attempt) else { return false }
        hasPassedPieces = true
        return true
    }

    /// Ends an attempt. Returns whether it has passed on pieces; `nil` if it had already ended or was stopped.
    mutating func end(_ attempt: Int) -> Bool? {
        guard isUnderWay(attempt) else { return nil }
        progress = .ended
        load = nil
        return hasPassedPieces
    }

    private func isUnderWay(_ attempt: Int) -> Bool {
        progress == .underWay && attempt == self.attempt
    }
}
