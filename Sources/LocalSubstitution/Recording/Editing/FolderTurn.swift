import Foundation

/// A turn to change the map in a folder: others that want one wait until it goes, in this process and others.
///
/// It leaves no file behind: what is locked is the folder itself.
final class FolderTurn: Sendable {
    private let descriptor: Int32

    init(_ folder: URL) throws(MapEditError) {
        descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw MapEditError("can't open the folder \(folder.path): \(String(cString: strerror(errno)))")
        }
        // A file system without locks is no reason to refuse.
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    }

    deinit {
        close(descriptor)
    }
}

/// Why a map can't be changed, and what to do.
package struct MapEditError: Error, CustomStringConvertible {
    package let description: String

    init(_ message: String) { description = message.printable }

    init(_ problem: WrittenFolder.Problem) { self.init(problem.message) }
}
