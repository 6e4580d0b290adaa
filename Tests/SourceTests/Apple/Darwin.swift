// Stands in for the module `Darwin`, so that Linux's compiler checks the code that only Apple platforms compile.
// Declared as in Apple's headers, with bodies that are never run. A name may be added here, never a convenience.

@_exported public import Glibc

/// `os/lock.h`.
public struct os_unfair_lock {
    /// `OS_UNFAIR_LOCK_INIT`.
    public init() {}
}

/// `os/lock.h`.
public func os_unfair_lock_lock(_ lock: UnsafeMutablePointer<os_unfair_lock>) {}

/// `os/lock.h`.
public func os_unfair_lock_unlock(_ lock: UnsafeMutablePointer<os_unfair_lock>) {}

/// `sys/socket.h`.
public let SO_NOSIGPIPE: Int32 = 0x1022
