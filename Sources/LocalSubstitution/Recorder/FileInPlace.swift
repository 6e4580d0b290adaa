import Foundation

/// A file that a recorder writes in place, such as its lock.
enum FileInPlace {
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
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw error(name, folder, "it isn't a regular file. Remove it.")
        }
        guard status.st_nlink <= 1 else {
            close(descriptor)
            throw error(name, folder, "it's a hard link to another file. Remove it.")
        }
        return descriptor
    }

    private static func error(_ name: String, _ folder: URL, _ reason: String) -> SubstitutionRecorderError {
        SubstitutionRecorderError(.unwritable, folder, "has a file “\(name)” that can't be used: \(reason)")
    }
}
