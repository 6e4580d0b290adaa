import Foundation

/// An exclusive `flock` on an open file or folder. The system releases it when the process ends, even after a crash.
package final class FileLock: Sendable {
    private let descriptor: Int32

    /// Waits until the file has no other lock, and takes the lock. If the system can't lock the file, for example
    /// because the file system has no locks, returns without a lock. Returns `nil` if the wait is over.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of an open file or folder. The lock closes the descriptor when the lock is
    ///     deallocated, and at once if it couldn't be taken.
    ///   - isOver: Returns whether to wait no longer. Called again and again while the file has another lock.
    init?(waitingFor descriptor: Int32, isOver: () -> Bool) {
        self.descriptor = descriptor
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { return }
            if isOver() { return nil }
            usleep(10_000)
        }
    }

    /// Takes the lock without waiting. Returns `nil` if the file has another lock, or if the system can't lock the
    /// file. In both cases, `errno` has the reason, and the caller must close the descriptor.
    ///
    /// - Parameter descriptor: The descriptor of an open file or folder. If the lock was taken, it closes the
    ///   descriptor when it's deallocated.
    package init?(takingNow descriptor: Int32) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        // Closing the descriptor isn't enough: a child process that's just being started also has it
        // open until it runs its program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
