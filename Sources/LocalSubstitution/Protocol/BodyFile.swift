import Foundation
import Guarded

/// A temporary file for a body that's too long for memory. Only the current user can read it. Releasing the object
/// deletes the file.
final class BodyFile: Sendable {
    let url: URL
    private let handle: Guarded<FileHandle>

    init() throws(URLError) {
        let name = "substitution-\(UUID().uuidString)"
        url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(String(cString: strerror(errno))) }
        handle = Guarded(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    /// Returns a file that has no name in its folder any more, so that nothing is left behind if the process is killed.
    /// The file can't be opened at its ``url``.
    static func nameless() throws(URLError) -> BodyFile {
        let file = try BodyFile()
        try? FileManager.default.removeItem(at: file.url)
        return file
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ data: Data, at offset: Int) throws(URLError) {
        do {
            try handle.withLock { handle in
                try handle.seek(toOffset: UInt64(offset))
                try handle.write(contentsOf: data)
            }
        } catch {
            throw Self.failure(error.localizedDescription)
        }
    }

    func read(_ count: Int, at offset: Int) throws(URLError) -> Data {
        let data = try? handle.withLock { handle in
            try handle.seek(toOffset: UInt64(offset))
            return try handle.read(upToCount: count)
        }
        guard let data, data.count == count else { throw Self.failure("The bytes written to it can't be read back") }
        return data
    }

    private static func failure(_ reason: String) -> URLError {
        .explained(
            .cannotWriteToFile,
            "A body can't be stored in a temporary file: \(reason.sentence) "
                + "Check the temporary folder's free space and permissions.",
            nil
        )
    }
}
