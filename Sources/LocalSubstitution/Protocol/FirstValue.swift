/// A value that a callback sets and an async function waits for. Once it's set, later values are ignored.
final class FirstValue<Value: Sendable>: Sendable {
    private let values = AsyncStream.makeStream(of: Value.self)

    func set(_ value: Value) {
        values.continuation.yield(value)
        values.continuation.finish()
    }

    /// Call this once. Returns `nil` if the Swift task is cancelled first.
    func wait() async -> Value? {
        for await value in values.stream { return value }
        return nil
    }
}
