#if canImport(Darwin)
import Darwin

/// A value behind a lock.
///
/// `Mutex` needs iOS 18, so this is a class around an `os_unfair_lock`. The lock is allocated separately, because it
/// must stay at one address, and Swift doesn't promise that for a stored property.
public final class Guarded<Value: Sendable>: Sendable {
    // Safe, although the compiler can't check that: every access goes through `withLock`, which takes the lock.
    private nonisolated(unsafe) var value: Value
    private nonisolated(unsafe) let lock: UnsafeMutablePointer<os_unfair_lock>

    /// Creates a guard for a value.
    public init(_ value: Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        lock.initialize(to: os_unfair_lock())
    }

    deinit {
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    /// Calls a closure that can read and change the value. Meanwhile, other threads wait for the value.
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        os_unfair_lock_lock(lock)
        defer { os_unfair_lock_unlock(lock) }
        return try body(&value)
    }
}
#else
public import Synchronization

/// A value behind a `Mutex` that ThreadSanitizer understands.
///
/// The toolchain's `Mutex` is a bare futex in a library that isn't instrumented, so ThreadSanitizer sees no lock and
/// reports a race for every use. In debug builds, this type tells ThreadSanitizer when the lock is taken and released.
/// In release builds, the type is only the `Mutex`.
///
/// The type is public, although no product includes it, so that other modules can specialize it. They would call a
/// `package` type's functions in their generic form, even if these are `@inlinable` (Swift 6.3.1).
public struct Guarded<Value>: ~Copyable, Sendable where Value: Sendable {
    @usableFromInline let mutex: Mutex<Value>

    /// Creates a guard for a value.
    @inlinable
    public init(_ value: Value) {
        mutex = Mutex(value)
    }

    /// Calls a closure that can read and change the value. Meanwhile, other threads wait for the value.
    @inlinable @inline(__always)
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            #if DEBUG
            withUnsafePointer(to: mutex) { ThreadSanitizer.acquire?(UnsafeMutableRawPointer(mutating: $0)) }
            defer { withUnsafePointer(to: mutex) { ThreadSanitizer.release?(UnsafeMutableRawPointer(mutating: $0)) } }
            #endif
            return try body(&value)
        }
    }
}
#endif
