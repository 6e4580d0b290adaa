package import Foundation
import LocalSubstitution

/// An exclusive lock on the folders of a map and its files. While this object exists, any other turn for one of the
/// folders waits, in this process and in others.
///
/// The folders themselves are locked, so no lock file is left behind.
package final class FolderTurn: Sendable {
    /// Why a folder couldn't be opened to lock it. The description is a sentence.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let locks: [FileLock]

    /// Waits until no other turn has any of these folders, and locks them all.
    ///
    /// - Parameter folders: The folders to lock. A folder that doesn't exist is skipped.
    /// - Throws: An error if an existing folder can't be opened.
    package init(_ folders: URL...) throws(Failure) {
        var opened: [(status: FileStatus, descriptor: Int32)] = []
        for folder in folders where FileStatus(path: folder.path) != nil {
            let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0, let status = FileStatus(descriptor: descriptor) else {
                let reason = "The folder “\(folder.path)” can't be opened: \(String(cString: strerror(errno)))."
                for descriptor in opened.map(\.descriptor) + [descriptor] where descriptor >= 0 { close(descriptor) }
                throw Failure(description: reason.printable)
            }
            if opened.contains(where: { $0.status.isSameFile(as: status) }) {
                close(descriptor)
            } else {
                opened.append((status, descriptor))
            }
        }
        // All turns lock their folders in the same order, so that no two of them wait for each other.
        locks = opened.ordered { ($0.status.device, $0.status.inode) < ($1.status.device, $1.status.inode) }
            .map { FileLock(waitingFor: $0.descriptor) }
    }
}
