import Dispatch

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

    /// Work that an attempt waits for: a forwarding, a delay, or the reading of a body.
    protocol Work: Sendable {
        func cancel()
    }

    private enum Progress: Sendable {
        case idle, underWay, ended
    }

    private var attempt = 0
    private var progress = Progress.idle
    private var hasPassedPieces = false
    private var work: (any Work)?
    /// When the attempt began.
    private var began = DispatchTime.now()
    /// The chain of the current attempt, with its decisions.
    private(set) var chain: RequestChain?
    /// The request's body, if it had to be read from a stream.
    var read: BodyReader.Body?

    /// Begins an attempt. Returns `nil` if one is running or the delivery has ended.
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

    /// Stores the work that an attempt waits for. Returns `false` if the attempt has ended, so the work isn't needed.
    mutating func follow(_ work: any Work, _ attempt: Int) -> Bool {
        guard isUnderWay(attempt) else { return false }
        self.work = work
        return true
    }

    /// Begins the chain of an attempt. It follows what an earlier attempt has decided.
    mutating func beginChain(_ attachment: Attachment) -> RequestChain {
        let made = RequestChain(attachment, after: chain)
        chain = made
        return made
    }

    /// Returns the time at which the attempt will have taken so many seconds.
    func time(after seconds: Double) -> DispatchTime { began + seconds }

    /// Stops the current attempt. Returns the work that it waits for, which isn't needed any more.
    mutating func stop() -> (any Work)? {
        if progress == .underWay { progress = .idle }
        return work.take()
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
        work = nil
        return hasPassedPieces
    }

    func isUnderWay(_ attempt: Int) -> Bool {
        progress == .underWay && attempt == self.attempt
    }
}
