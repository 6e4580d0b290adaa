import Dispatch
package import Foundation
package import LocalSubstitution

/// An exclusive lock on the folders of a map and its files. While this object exists, any other turn for one of the
/// folders waits, in this process and in others.
///
/// The folders themselves are locked, so no lock file is left behind.
package final class FolderTurn: Sendable {
    private let locks: [FileLock]

    /// Waits until no other turn has any of these folders, and locks them all.
    ///
    /// - Parameters:
    ///   - folders: The folders to lock. A folder that doesn't exist is skipped.
    ///   - limit: How long to wait, in seconds; without end by default.
    ///   - onWait: Called with a sentence to show if the wait takes longer than a second.
    /// - Throws: An error if an existing folder can't be opened, or if the wait takes too long.
    package init(
        _ folders: URL...,
        limit: TimeInterval = .infinity,
        onWait: (String) -> Void = { _ in }
    ) throws(Complaint) {
        var opened: [(status: FileStatus, descriptor: Int32)] = []
        for folder in folders where FileStatus(path: folder.path) != nil {
            let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0, let status = FileStatus(descriptor: descriptor) else {
                let reason = "The folder “\(folder.path)” can't be opened: \(String(cString: strerror(errno)))."
                for descriptor in opened.map(\.descriptor) + [descriptor] where descriptor >= 0 { close(descriptor) }
                throw Complaint(printable: reason)
            }
            if opened.contains(where: { $0.status.isSameFile(as: status) }) {
                close(descriptor)
            } else {
                opened.append((status, descriptor))
            }
        }
        // All turns lock their folders in the same order, so that no two of them wait for each other.
        opened = opened.ordered { ($0.status.device, $0.status.inode) < ($1.status.device, $1.status.inode) }
        let start = DispatchTime.now().uptimeNanoseconds
        let name = folders.first?.path ?? ""
        var hasSaid = false
        var locks: [FileLock] = []
        while !opened.isEmpty {
            let lock = FileLock(waitingFor: opened.removeFirst().descriptor) {
                let waited = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
                if waited >= 1, !hasSaid {
                    hasSaid = true
                    onWait("Waiting for another program that is changing the folder “\(name)”.")
                }
                return waited >= limit
            }
            guard let lock else {
                for descriptor in opened.map(\.descriptor) { close(descriptor) }
                let seconds = Int(limit).counted("second", "seconds")
                let problem = "Another program has been changing the folder “\(name)” for \(seconds)."
                throw Complaint(printable: "\(problem) Try again when it has ended.")
            }
            locks.append(lock)
        }
        self.locks = locks
    }
}
