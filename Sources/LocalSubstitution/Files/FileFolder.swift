import Foundation

/// The folder of a file to write, open as long as this value exists.
///
/// Existing folders are opened with one call. The system then reports the path that was opened, which must be the
/// expected path in the root. All others are made and opened one by one, and never through a symbolic link. So nothing
/// is written outside, even if another thread makes a link meanwhile.
struct FileFolder: ~Copyable {
    let descriptor: Int32
    /// The file's name in the folder.
    let lastName: String

    init(of name: String, in root: WrittenFolder, makingFolders: Bool) throws(WrittenFolder.Problem) {
        guard Self.isPlain(name) else { throw WrittenFolder.Problem(name: name, code: EINVAL) }
        let (folder, last) = ResourcesFolder.split(name)
        let isMade = makingFolders && root.role == .resources
        var current = Self.open(root.path, in: AT_FDCWD, isMade: isMade, mayBeLink: root.role == .map)
        guard current >= 0 else { throw Self.problem(errno, name, at: root.path, in: AT_FDCWD) }
        var rest = folder.utf8[...]
        if let (deepest, missing) = Self.openDeepest(folder, in: current) {
            close(current)
            current = deepest
            rest = missing
        }
        for segment in rest.split(separator: UInt8(ascii: "/")) {
            let segment = String(Substring(segment))
            let next = Self.open(segment, in: current, isMade: makingFolders)
            let problem = next < 0 ? Self.problem(errno, name, at: segment, in: current) : nil
            close(current)
            if let problem { throw problem }
            current = next
        }
        descriptor = current
        lastName = last
    }

    /// Whether anything has the file's name, even a broken link.
    var hasFile: Bool {
        var status = stat()
        return fstatat(descriptor, lastName, &status, AT_SYMLINK_NOFOLLOW) == 0
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

    /// Returns whether a name is a relative path without null bytes and without empty, `.` or `..` segments.
    private static func isPlain(_ name: String) -> Bool {
        var (length, dots) = (0, 0)
        for byte in name.utf8 {
            switch byte {
            case 0: return false
            case UInt8(ascii: "/"):
                // Empty, `.` or `..`.
                if length == dots, dots < 3 { return false }
                (length, dots) = (0, 0)
            default:
                length += 1
                if byte == UInt8(ascii: ".") { dots += 1 }
            }
        }
        return length != dots || dots > 2
    }

    /// Opens the deepest existing folder on a path, or one above it by at most as many levels as are missing below it.
    /// Returns its descriptor and the rest of the path; `nil` if opening each folder is as fast, or if a link is in the
    /// way.
    private static func openDeepest(_ folder: String, in root: Int32) -> (descriptor: Int32, rest: Substring.UTF8View)?
    {
        var path = folder.utf8[...]
        var left = 1
        while let slash = path.lastIndex(of: UInt8(ascii: "/")) {
            let found = openat(root, String(Substring(path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            if found >= 0 {
                if isPlace(found, path, in: root) { return (found, folder.utf8[path.endIndex...]) }
                close(found)
                return nil
            }
            guard errno == ENOENT else { return nil }
            path = path[..<slash]
            for _ in 1..<left { path = path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)] }
            left *= 2
        }
        return nil
    }

    /// Returns whether an open folder has exactly this path in the root; `false` if the system doesn't know its path.
    private static func isPlace(_ folder: Int32, _ path: Substring.UTF8View, in root: Int32) -> Bool {
        guard let start = OpenedFile.realPath(of: root), let real = OpenedFile.realPath(of: folder) else {
            return false
        }
        let slash = start.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        return real == start + slash + Array(path)
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
