import Foundation
import Guarded
import LocalSubstitution
import MapWriting

/// The names of files that are about to be written or removed. They're on disk before that happens, so that the next recorder finds
/// the files that a killed process left behind.
final class RecordingJournal: Sendable {
    private let descriptor: Int32
    /// The names that were added since the journal was empty.
    private let added = Guarded<Set<String>>([])

    static let name = ".recorder.journal"
    private static let longest = 16 << 20

    init(in folder: URL) throws(SubstitutionRecorderError) {
        descriptor = try FileInPlace.open(Self.name, in: folder, appending: true)
    }

    deinit {
        close(descriptor)
    }

    /// Returns the names in a folder's journal.
    static func names(in folder: URL) -> [String] {
        let path = folder.appendingPathComponent(name, isDirectory: false).path
        let text = (try? OpenedFile(path: path).prefix(longest)) ?? Data()
        return text.split(separator: UInt8(ascii: "\n")).compactMap { String(utf8: $0) }.filter(isName)
    }

    /// Adds the names of files that are about to be written, or that no map will name any more.
    func add(_ names: some Sequence<String>) throws(WrittenFolder.Problem) {
        let code = added.withLock { added in
            let new = names.filter { !added.contains($0) }
            let length = FileStatus(descriptor: descriptor)?.size
            let code = WrittenFolder.write(Data(new.map { "\($0)\n" }.joined().utf8), to: descriptor)
            if code == 0 {
                added.formUnion(new)
            } else if let length {
                // A name that is cut off could be another file's, or spoil the next name.
                _ = ftruncate(descriptor, off_t(length))
            }
            return code
        }
        guard code == 0 else { throw WrittenFolder.Problem(name: Self.name, code: code) }
    }

    /// Removes all names. Call this when the map on disk matches the files in the folder.
    func clear() {
        added.withLock { added in
            if ftruncate(descriptor, 0) == 0 { added = [] }
        }
    }

    /// Returns whether a line can be the name of a recorder's file in a host's folder, as ``RecordedFileName`` makes them.
    private static func isName(_ line: String) -> Bool {
        let segments = line.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return segments.count > 1 && FileName(text: line).problem == nil
            && segments.allSatisfy { !$0.isEmpty && $0.first != UInt8(ascii: ".") && $0.count <= 255 }
    }
}

/// A file that a recorder writes in place, such as its lock.
private enum FileInPlace {
    /// Opens a file in a recorder's folder for reading and writing. Creates it if it's missing.
    ///
    /// Refuses symbolic and hard links, since writing to one would change another file.
    static func open(_ name: String, in folder: URL, appending: Bool = false) throws(SubstitutionRecorderError) -> Int32
    {
        let path = folder.appendingPathComponent(name, isDirectory: false).path
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (appending ? O_APPEND : 0)
        let descriptor = Foundation.open(path, flags, 0o644)
        guard descriptor >= 0 else {
            let isLink = errno == ELOOP
            throw error(
                name,
                folder,
                isLink ? "it's a symbolic link. Remove it." : "\(String(cString: strerror(errno)))."
            )
        }
        guard let status = FileStatus(descriptor: descriptor), status.kind == .regular else {
            close(descriptor)
            throw error(name, folder, "it isn't a regular file. Remove it.")
        }
        guard status.links <= 1 else {
            close(descriptor)
            throw error(name, folder, "it's a hard link to another file. Remove it.")
        }
        return descriptor
    }

    private static func error(_ name: String, _ folder: URL, _ reason: String) -> SubstitutionRecorderError {
        SubstitutionRecorderError(.unwritable, folder, "has a file “\(name)” that can't be used: \(reason)")
    }
}

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
