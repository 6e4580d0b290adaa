import Guarded

/// A value that a callback sets and an async function waits for. Once it's set, later values are ignored.
final class FirstValue<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case unset
        case awaited(CheckedContinuation<Value, Never>)
        case set(Value)
    }

    private let state = Guarded(State.unset)

    /// Sets the value if it isn't set yet.
    func set(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .set:
                return nil
            case .unset:
                state = .set(value)
                return nil
            case .awaited(let continuation):
                state = .set(value)
                return continuation
            }
        }
        continuation?.resume(returning: value)
    }

    /// Waits for the value. Call this once.
    ///
    /// - Parameter cancel: Called if the Swift task is cancelled first. The closure must set a value, or the wait never ends.
    func wait(onCancel cancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    if case .set(let value) = state { return value }
                    state = .awaited(continuation)
                    return nil
                }
                if let value { continuation.resume(returning: value) }
            }
        } onCancel: {
            cancel()
        }
    }
}
