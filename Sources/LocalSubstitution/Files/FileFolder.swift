import Foundation

/// The folder of a file to write, open as long as this value exists.
///
/// Each folder on the path is opened separately, and never through a symbolic link. So nothing is written outside, even if another
/// thread makes a link meanwhile.
struct FileFolder: ~Copyable {
    let descriptor: Int32
    /// The file's name in the folder.
    let lastName: String

    init(of name: String, in root: WrittenFolder, makingFolders: Bool) throws(WrittenFolder.Problem) {
        var segments = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let last = segments.popLast() ?? ""
        guard !([last] + segments).contains(where: { $0.isEmpty || $0 == "." || $0 == ".." || $0.utf8.contains(0) })
        else {
            throw WrittenFolder.Problem(name: name, code: EINVAL)
        }
        let isMade = makingFolders && root.role == .resources
        var current = Self.open(root.path, in: AT_FDCWD, isMade: isMade, mayBeLink: root.role == .map)
        guard current >= 0 else { throw Self.problem(errno, name, at: root.path, in: AT_FDCWD) }
        for segment in segments {
            let next = Self.open(segment, in: current, isMade: makingFolders)
            let problem = next < 0 ? Self.problem(errno, name, at: segment, in: current) : nil
            close(current)
            if let problem { throw problem }
            current = next
        }
        descriptor = current
        lastName = last
    }

    /// The permissions of the file; `nil` if it doesn't exist or isn't a regular file.
    var modeOfFile: mode_t? {
        var status = stat()
        guard fstatat(descriptor, lastName, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return status.st_mode & 0o777
    }

    deinit {
        close(descriptor)
    }

    /// Returns the descriptor of a folder, and makes the folder first if asked to. Returns a negative number if that fails.
    private static func open(_ name: String, in parent: Int32, isMade: Bool, mayBeLink: Bool = false) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (mayBeLink ? 0 : O_NOFOLLOW)
        let found = openat(parent, name, flags)
        guard found < 0, errno == ENOENT, isMade else { return found }
        // Report why the folder can't be made, unless another thread has just made it.
        guard mkdirat(parent, name, 0o755) == 0 || errno == EEXIST else { return -1 }
        return openat(parent, name, flags)
    }

    private static func problem(_ code: Int32, _ name: String, at folder: String, in parent: Int32)
        -> WrittenFolder.Problem
    {
        var status = stat()
        let isLink =
            fstatat(parent, folder, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
        return WrittenFolder.Problem(name: name, code: code, link: isLink ? folder : nil)
    }
}
