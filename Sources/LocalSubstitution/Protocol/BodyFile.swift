import Foundation
import Guarded

/// A temporary file with a request's body, which only this user can read. It's deleted with the object.
final class BodyFile: Sendable {
    let url: URL
    private let handle: Guarded<FileHandle>

    init() throws(URLError) {
        let name = "substitution-\(UUID().uuidString)"
        url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(String(cString: strerror(errno))) }
        handle = Guarded(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func append(_ data: Data) throws(URLError) {
        do {
            try handle.withLock { try $0.write(contentsOf: data) }
        } catch {
            throw Self.failure(error.localizedDescription)
        }
    }

    private static func failure(_ reason: String) -> URLError {
        .explained(.cannotWriteToFile, "The request's body can't be stored: \(reason.sentence)", nil)
    }
}
