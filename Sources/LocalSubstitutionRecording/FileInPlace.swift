import Foundation
import LocalSubstitution
import MapWriting

/// A file that a recorder writes in place in its folder: the lock, or the journal.
enum FileInPlace {
    /// Opens a file in a recorder's folder for reading and writing, and creates it if it's missing. Returns the file's
    /// descriptor, which the caller must close.
    ///
    /// Throws an error if the file can't be opened. Also throws an error for a symbolic link or a file with several
    /// hard links, since writing would change another file.
    ///
    /// - Parameter appending: Whether writes always go to the end of the file; `false` by default.
    static func open(_ name: String, in folder: URL, appending: Bool = false) throws(SubstitutionRecorderError) -> Int32
    {
        let path = folder.appendingPathComponent(name, isDirectory: false).path
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (appending ? O_APPEND : 0)
        let descriptor = Foundation.open(path, flags, 0o644)
        let code = errno
        let status = FileStatus(descriptor: descriptor)
        let reason: String
        if descriptor < 0 {
            let problem = String(cString: strerror(code)).sentence
            reason =
                code == ELOOP
                ? "it's a symbolic link. Remove it." : "\(problem) Allow this user to write it, or use another folder."
        } else if status?.kind != .regular {
            reason = "it isn't a regular file. Remove it."
        } else if let status, status.links > 1 {
            reason = "it's a hard link to another file. Remove it."
        } else {
            return descriptor
        }
        if descriptor >= 0 { close(descriptor) }
        throw SubstitutionRecorderError(.unwritable, folder, "has a file “\(name)” that can't be used: \(reason)")
    }

    /// Locks a folder against all other recorders, in this process and in others. Throws an error if another recorder
    /// has the lock, or if the folder can't be locked.
    static func lock(_ folder: URL) throws(SubstitutionRecorderError) -> FileLock {
        let descriptor = try open(".recorder.lock", in: folder)
        guard let lock = FileLock(takingNow: descriptor) else {
            let code = errno
            let owner = owner(descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else {
                let reason = String(cString: strerror(code))
                throw SubstitutionRecorderError(.unwritable, folder, "can't be locked: \(reason). Use another folder.")
            }
            let message = "is in use by another recorder\(owner). Close that recorder first, or use another folder."
            throw SubstitutionRecorderError(.inUse, folder, message)
        }
        _ = ftruncate(descriptor, 0)
        _ = WrittenFolder.write(Data("\(getpid())\n".utf8), to: descriptor)
        return lock
    }

    /// Returns the end of an error message, which names the process that has the lock; empty if that process isn't
    /// known.
    private static func owner(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0,
            let number = Int32(String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .newlines))
        else { return "" }
        return number == getpid() ? " of this process" : " (process \(number))"
    }
}
