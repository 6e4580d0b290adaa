import Foundation

/// An exclusive `flock` on an open file or folder. The system releases it when the process ends, even after a crash.
package final class FileLock: Sendable {
    private let descriptor: Int32

    /// Waits until no other lock is held, and takes the lock. On a file system without locks, it succeeds at once.
    ///
    /// - Parameter descriptor: The lock closes it.
    init(waitingFor descriptor: Int32) {
        self.descriptor = descriptor
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    }

    /// Takes the lock, or fails at once if the file can't be locked. The system's reason is then in `errno`, and the caller must
    /// close the descriptor.
    ///
    /// - Parameter descriptor: The lock closes it.
    package init?(takingNow descriptor: Int32) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        // Closing it isn't enough: a child process that is just being started also has it open until it runs its program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
