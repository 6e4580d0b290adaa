import Foundation

/// A turn to change a map and its files. While it lasts, others that want one in any of its folders
/// wait, in this process and others.
///
/// It leaves no file behind: the folders themselves are locked.
final class FolderTurn: Sendable {
    private let descriptors: [Int32]

    /// - Parameter folders: Those that don't exist are left out.
    init(_ folders: URL...) throws(MapEditError) {
        var opened: [(status: FileStatus, descriptor: Int32)] = []
        for folder in folders where FileStatus(path: folder.path) != nil {
            let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0, let status = FileStatus(descriptor: descriptor) else {
                let reason = String(cString: strerror(errno))
                for descriptor in opened.map(\.descriptor) + [descriptor] where descriptor >= 0 { close(descriptor) }
                throw MapEditError("can't open the folder \(folder.path): \(reason)")
            }
            if opened.contains(where: { $0.status.isSameFile(as: status) }) {
                close(descriptor)
            } else {
                opened.append((status, descriptor))
            }
        }
        // In one order, so that no two wait for each other.
        descriptors = opened.sorted { ($0.status.device, $0.status.inode) < ($1.status.device, $1.status.inode) }
            .map(\.descriptor)
        for descriptor in descriptors {
            // A file system without locks is no reason to refuse.
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}

/// Why a map can't be changed, and what to do.
package struct MapEditError: Error, CustomStringConvertible {
    package let description: String

    init(_ message: String) { description = message.printable }

    init(_ problem: WrittenFolder.Problem) { self.init(problem.message) }
}
