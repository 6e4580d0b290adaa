import Foundation
public import Synchronization

/// A value behind a `Mutex`, and a `Mutex` that ThreadSanitizer understands.
///
/// On Linux the toolchain's `Mutex` is a bare futex inside a library that is not instrumented, so ThreadSanitizer sees no lock
/// and reports a race for every use of one. In debug builds there, this tells it what happens; in release builds it is the
/// `Mutex` and nothing else.
///
/// It is public, though in no product, since only then is it specialised where it is used: a `package` declaration is called
/// in its generic form there, `@inlinable` or not (Swift 6.3.1).
public struct Guarded<Value>: ~Copyable, Sendable where Value: Sendable {
    @usableFromInline let mutex: Mutex<Value>

    /// Guards a value.
    @inlinable
    public init(_ value: Value) {
        mutex = Mutex(value)
    }

    /// Runs a closure with the value, while nobody else can.
    @inlinable @inline(__always)
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            #if DEBUG && os(Linux)
            withUnsafePointer(to: mutex) { ThreadSanitizer.acquire?(UnsafeMutableRawPointer(mutating: $0)) }
            defer { withUnsafePointer(to: mutex) { ThreadSanitizer.release?(UnsafeMutableRawPointer(mutating: $0)) } }
            #endif
            return try body(&value)
        }
    }
}

#if DEBUG && os(Linux)
/// ThreadSanitizer's own words for "taken" and "given back" (its header `tsan_interface.h`); absent where it does not run.
@usableFromInline enum ThreadSanitizer {
    @usableFromInline typealias Annotation = @convention(c) (UnsafeMutableRawPointer?) -> Void

    @usableFromInline static let acquire = annotation("__tsan_acquire")
    @usableFromInline static let release = annotation("__tsan_release")

    private static func annotation(_ name: String) -> Annotation? {
        dlsym(nil, name).map { unsafeBitCast($0, to: Annotation.self) }
    }
}
#endif
