import Foundation

/// A folder into which files are written: whole or not at all, and never through a symbolic link inside it.
struct WrittenFolder: Sendable {
    let path: String

    /// Why a file could not be written, as the system says it.
    struct Problem: Error {
        let name: String
        let code: Int32

        var message: String { "can't write “\(name)”: \(String(cString: strerror(code)))" }
    }

    /// Writes a file under a temporary name, and renames it. What was there before stays until then.
    func write(_ data: Data, to name: String) throws(Problem) {
        try prepare(data, for: name)
        try finish(name)
    }

    /// Writes what a file is to have under a temporary name. What is there stays until `finish`.
    func prepare(_ data: Data, for name: String) throws(Problem) {
        let folder = try OpenedFolder(of: name, in: path, makingFolders: true)
        let temporary = Self.temporaryName(of: folder.lastName)
        unlinkat(folder.descriptor, temporary, 0)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        // Who may read what is replaced, may read this, and nobody else, at no moment.
        let mode = folder.modeOfFile
        let descriptor = openat(folder.descriptor, temporary, flags, mode ?? 0o644)
        guard descriptor >= 0 else { throw Problem(name: name, code: errno) }
        // Past the process's umask. A file system that has no modes has none to keep.
        if let mode { fchmod(descriptor, mode) }
        var code = Self.write(data, to: descriptor)
        if close(descriptor) != 0, code == 0 { code = errno }
        guard code == 0 else {
            unlinkat(folder.descriptor, temporary, 0)
            throw Problem(name: name, code: code)
        }
    }

    /// Gives what was prepared for a file its name.
    func finish(_ name: String) throws(Problem) {
        let folder = try OpenedFolder(of: name, in: path, makingFolders: false)
        let temporary = Self.temporaryName(of: folder.lastName)
        guard renameat(folder.descriptor, temporary, folder.descriptor, folder.lastName) == 0 else {
            let code = errno
            unlinkat(folder.descriptor, temporary, 0)
            throw Problem(name: name, code: code)
        }
    }

    /// Removes what was prepared for a file; the file stays.
    func cancel(_ name: String) {
        guard let folder = try? OpenedFolder(of: name, in: path, makingFolders: false) else { return }
        unlinkat(folder.descriptor, Self.temporaryName(of: folder.lastName), 0)
    }

    /// Removes a file, and what is left of writing it. That it does not exist is no problem; a folder is left alone.
    func remove(_ name: String) {
        guard let folder = try? OpenedFolder(of: name, in: path, makingFolders: false) else { return }
        unlinkat(folder.descriptor, Self.temporaryName(of: folder.lastName), 0)
        unlinkat(folder.descriptor, folder.lastName, 0)
    }

    /// Whether there is anything of that name, also a link that leads nowhere.
    func contains(_ name: String) -> Bool {
        guard let folder = try? OpenedFolder(of: name, in: path, makingFolders: false) else { return false }
        var status = stat()
        return fstatat(folder.descriptor, folder.lastName, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Hidden, so that nobody takes it for a file of the map; a digest, so that it is not too long where the name is just not.
    private static func temporaryName(of name: String) -> String {
        ".\(Digest.hexadecimal(of: Data(name.utf8))).part"
    }

    /// The system's error number; 0 if all was written.
    static func write(_ data: Data, to descriptor: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : EIO }
                written += count
            }
            return 0
        }
    }
}

/// The folder of a file, open until this value goes.
///
/// Each folder on the way is opened by itself, and none through a symbolic link: so nobody can lead it outside, at no moment.
private struct OpenedFolder: ~Copyable {
    let descriptor: Int32
    let lastName: String

    init(of name: String, in root: String, makingFolders: Bool) throws(WrittenFolder.Problem) {
        var segments = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let last = segments.popLast() ?? ""
        guard !([last] + segments).contains(where: { $0.isEmpty || $0 == "." || $0 == ".." || $0.utf8.contains(0) })
        else {
            throw WrittenFolder.Problem(name: name, code: EINVAL)
        }
        var current = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard current >= 0 else { throw WrittenFolder.Problem(name: name, code: errno) }
        for segment in segments {
            if makingFolders { mkdirat(current, segment, 0o755) }
            let next = openat(current, segment, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let code = errno
            close(current)
            guard next >= 0 else { throw WrittenFolder.Problem(name: name, code: code) }
            current = next
        }
        descriptor = current
        lastName = last
    }

    /// The permissions of the file; `nil` if there is none, or if it is no regular file.
    var modeOfFile: mode_t? {
        var status = stat()
        guard fstatat(descriptor, lastName, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return status.st_mode & 0o777
    }

    deinit {
        close(descriptor)
    }
}
