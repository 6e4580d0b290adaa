// A substitute for the module `Darwin`, so that Linux's compiler checks the code that only Apple platforms compile. It's declared
// as in Apple's headers, with bodies that never run. Names may be added here, but no conveniences.

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
