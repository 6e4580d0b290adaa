import Foundation

/// A file's status in the file system: its kind, and the attributes that change when its bytes change.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable {
        case regular, folder, pipe, device, socket

        var name: String {
            switch self {
            case .regular: "a regular file"
            case .folder: "a folder"
            case .pipe: "a named pipe"
            case .device: "a device"
            case .socket: "a socket"
            }
        }
    }

    package let kind: Kind
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    package let links: Int
    /// In nanoseconds since 1970.
    package let modified: Int64
    /// When the inode last changed, in nanoseconds since 1970. Setting the modification time back updates this time.
    let changed: Int64

    /// Follows symbolic links.
    @inline(never)  // Otherwise, some twenty callers would each contain a copy.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    package func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }

    /// Whether the file was written so recently that another write might leave this status unchanged: within one tick
    /// of the file system's clock. On Linux, a tick takes at most 10 ms. Some file systems record only whole seconds,
    /// and FAT only even ones.
    ///
    /// A modification time in the future was set on purpose, so `changed` is used instead.
    ///
    /// - Parameter now: The current time, in nanoseconds since 1970.
    func isTooFresh(at now: Int64) -> Bool {
        let written = modified > now ? changed : max(modified, changed)
        return now - written < (written % 1_000_000_000 == 0 ? 2_020_000_000 : 20_000_000)
    }

    /// Whether a file that now has this status certainly has the bytes that were read earlier.
    ///
    /// - Parameters:
    ///   - earlier: The file's status when the bytes were read.
    ///   - readAt: When reading the bytes began, in nanoseconds since 1970.
    func isUnchanged(since earlier: FileStatus, readAt: Int64) -> Bool {
        self == earlier && !isTooFresh(at: readAt)
    }

    private init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            default: .device
            }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        links = Int(status.st_nlink)
        (modified, changed) = System.times(of: status)
    }
}
