/// Work that a protocol waits for: a forwarding, a delay, or the reading of a body.
protocol CancellableWork: Sendable {
    func cancel()
}
