import Foundation

/// An exclusive `flock` on an open file or folder. The system releases it when the process ends, however that happens.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Waits until no other lock is held. A file system without locks counts as if this one had it.
    ///
    /// - Parameter descriptor: Closed by the lock.
    init(waitingFor descriptor: Int32) {
        self.descriptor = descriptor
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    }

    /// Fails at once, with the system's reason in `errno`, if the file can't be locked. Then the caller closes it.
    ///
    /// - Parameter descriptor: Closed by the lock.
    init?(takingNow descriptor: Int32) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        // Closing it isn't enough: a process that is just being started has it open too, until it runs its program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
