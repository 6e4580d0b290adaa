import Dispatch

/// The state of a protocol's delivery to its client.
///
/// Suspending a task stops its protocol, and resuming it starts the same protocol again. So attempts are counted, and results
/// of earlier ones are ignored. Linux's loader also starts a protocol that is already running or has ended.
struct Delivery: Sendable {
    /// The result of starting a protocol.
    enum Start: Sendable, Equatable {
        /// A new attempt, with its number.
        case attempt(Int)
        /// A failure, because pieces that were passed on can't be taken back.
        case failure
    }

    private enum Progress: Sendable {
        case idle, underWay, ended
    }

    private var attempt = 0
    private var progress = Progress.idle
    private var hasPassedPieces = false
    private var work: (any CancellableWork)?
    /// When the attempt began.
    private var began = DispatchTime.now()
    /// What the current attempt has decided.
    private(set) var chain: RequestChain?
    /// The body of the request, if it had to be read from a stream.
    var read: ReadBody?

    /// Begins an attempt; returns `nil` if one is running, or if the delivery has ended.
    mutating func begin() -> Start? {
        guard progress == .idle else { return nil }
        guard !hasPassedPieces else {
            progress = .ended
            return .failure
        }
        attempt += 1
        began = .now()
        progress = .underWay
        return .attempt(attempt)
    }

    /// Stores what an attempt waits for; returns `false` if the attempt has ended, so that it isn't needed.
    mutating func follow(_ work: any CancellableWork, _ attempt: Int) -> Bool {
        guard isUnderWay(attempt) else { return false }
        self.work = work
        return true
    }

    /// Begins the chain of an attempt, which goes by what an attempt before has decided.
    mutating func beginChain(_ attachment: Attachment) -> RequestChain {
        let made = RequestChain(attachment, after: chain)
        chain = made
        return made
    }

    /// When an attempt has taken so many seconds.
    func time(after seconds: Double) -> DispatchTime { began + seconds }

    /// Stops the current attempt. Returns what it waits for, which isn't needed any more.
    mutating func stop() -> (any CancellableWork)? {
        if progress == .underWay { progress = .idle }
        return work.take()
    }

    /// Notes that an attempt passes on a piece of a response; returns `false` if it may not.
    mutating func pass(_ attempt: Int) -> Bool {
        guard isUnderWay(attempt) else { return false }
        hasPassedPieces = true
        return true
    }

    /// Ends an attempt. Returns whether it has passed on pieces; `nil` if it had ended or was stopped already.
    mutating func end(_ attempt: Int) -> Bool? {
        guard isUnderWay(attempt) else { return nil }
        progress = .ended
        work = nil
        return hasPassedPieces
    }

    func isUnderWay(_ attempt: Int) -> Bool {
        progress == .underWay && attempt == self.attempt
    }
}
