public import Foundation

/// A value behind a lock.
///
/// `Mutex` needs iOS 18, ThreadSanitizer doesn't understand it on Linux, and its code is copied to each place that takes
/// the lock.
///
/// The type is public, although no product includes it, so that other modules can specialize it. They would call a
/// `package` type's functions in their generic form, even if these are `@inlinable` (Swift 6.3.1).
public struct Guarded<Value: Sendable>: ~Copyable, Sendable {
    // Allocated, since a lock must stay at one address. Safe, although the compiler can't check that: every access to the
    // value goes through `withLock`, which takes the lock.
    @usableFromInline nonisolated(unsafe) let content: UnsafeMutablePointer<(lock: pthread_mutex_t, value: Value)>

    /// Creates a guard for a value.
    @inlinable
    public init(_ value: Value) {
        content = .allocate(capacity: 1)
        content.initialize(to: (pthread_mutex_t(), value))
        pthread_mutex_init(&content.pointee.lock, nil)
    }

    @inlinable
    deinit {
        pthread_mutex_destroy(&content.pointee.lock)
        content.deinitialize(count: 1)
        content.deallocate()
    }

    /// Calls a closure that can read and change the value. Meanwhile, other threads wait for the value.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(&content.pointee.lock)
        defer { pthread_mutex_unlock(&content.pointee.lock) }
        return try body(&content.pointee.value)
    }
}
