import Dispatch
import Guarded

/// Runs a closure later, unless it's cancelled or released before. It holds up no thread until then.
final class Delay: CancellableWork {
    private let body: Guarded<(@Sendable () -> Void)?>

    init(until time: DispatchTime, _ body: @escaping @Sendable () -> Void) {
        self.body = Guarded(body)
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: time) { [weak self] in
            self?.body.withLock { $0.take() }?()
        }
    }

    /// Lets go of the closure too.
    func cancel() { body.withLock { $0 = nil } }
}
