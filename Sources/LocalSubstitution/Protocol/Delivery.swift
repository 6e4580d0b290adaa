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
    private var forwarding: Forwarding?

    /// Begins an attempt; returns `nil` if one is running, or if the delivery has ended.
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

    /// Stores an attempt's forwarding; returns `false` if the attempt has ended, so that the forwarding isn't needed.
    mutating func follow(_ forwarding: Forwarding, _ attempt: Int) -> Bool {
        guard isUnderWay(attempt) else { return false }
        self.forwarding = forwarding
        return true
    }

    /// Stops the current attempt. Returns its forwarding, which isn't needed any more.
    mutating func stop() -> Forwarding? {
        if progress == .underWay { progress = .idle }
        return forwarding.take()
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
        forwarding = nil
        return hasPassedPieces
    }

    private func isUnderWay(_ attempt: Int) -> Bool {
        progress == .underWay && attempt == self.attempt
    }
}
