import Dispatch
import Guarded

/// Runs a closure later, unless it's cancelled or released first. It blocks no thread while it waits.
final class Delay: CancellableWork {
    private let body: Guarded<(@Sendable () -> Void)?>

    init(until time: DispatchTime, _ body: @escaping @Sendable () -> Void) {
        self.body = Guarded(body)
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: time) { [weak self] in
            self?.body.withLock { $0.take() }?()
        }
    }

    /// Cancels the delay and releases the closure.
    func cancel() { body.withLock { $0 = nil } }
}
