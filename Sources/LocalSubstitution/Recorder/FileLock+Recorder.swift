import Foundation

extension FileLock {
    /// The name of the file in a recorder's folder that is locked.
    static let recorderName = ".recorder.lock"

    /// Locks a folder against all other recorders, in this process and others.
    static func ofRecorder(in folder: URL) throws(SubstitutionRecorderError) -> FileLock {
        let descriptor = try FileInPlace.open(recorderName, in: folder)
        guard let lock = FileLock(takingNow: descriptor) else {
            let code = errno
            let owner = owner(descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else {
                let reason = String(cString: strerror(code))
                throw SubstitutionRecorderError(.unwritable, folder, "can't be locked: \(reason).")
            }
            throw SubstitutionRecorderError(
                .inUse,
                folder,
                "is in use by another recorder\(owner). Close that one first, or use another folder."
            )
        }
        _ = ftruncate(descriptor, 0)
        _ = WrittenFolder.write(Data("\(getpid())\n".utf8), to: descriptor)
        return lock
    }

    /// Returns which process has the lock, as its recorder wrote it, for the error message.
    private static func owner(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0,
            let number = Int32(String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .newlines))
        else { return "" }
        return number == getpid() ? " of this process" : " (process \(number))"
    }
}
