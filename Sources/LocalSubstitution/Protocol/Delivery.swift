/// How far a protocol's one delivery has come.
///
/// A task that is suspended stops its protocol, and starts the same one again when it is resumed. So attempts are counted, and
/// what comes of an earlier one is of no use any more.
struct Delivery: Sendable {
    private var attempt = 0
    private var isUnderWay = false
    private var hasPassedPieces = false
    private var forwarding: Forwarding?

    /// The number of the attempt that begins; `nil` if pieces have been passed on, which can't be taken back.
    mutating func begin() -> Int? {
        guard !hasPassedPieces else { return nil }
        attempt += 1
        isUnderWay = true
        return attempt
    }

    /// Whether an attempt goes on, so that what it has forwarded is of use.
    mutating func follow(_ forwarding: Forwarding, _ attempt: Int) -> Bool {
        guard isUnderWay, attempt == self.attempt else { return false }
        self.forwarding = forwarding
        return true
    }

    /// Gives what was forwarded and is of no use any more.
    mutating func stop() -> Forwarding? {
        isUnderWay = false
        return forwarding.take()
    }

    /// Whether an attempt may pass on a piece of a response.
    mutating func pass(_ attempt: Int) -> Bool {
        guard isUnderWay, attempt == self.attempt else { return false }
        hasPassedPieces = true
        return true
    }

    /// Whether pieces were passed on before an attempt's end; `nil` if it may not end: it has, or it was stopped.
    mutating func end(_ attempt: Int) -> Bool? {
        guard isUnderWay, attempt == self.attempt else { return nil }
        isUnderWay = false
        forwarding = nil
        return hasPassedPieces
    }
}
