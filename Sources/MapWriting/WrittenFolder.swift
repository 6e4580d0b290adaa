package import Foundation
import LocalSubstitution

/// A folder to write files to. Each is written completely or not at all, and never through a symbolic link.
package struct WrittenFolder: Sendable {
    /// The kind of folder.
    package enum Role {
        /// A resources folder. It's created if it doesn't exist, and can't be a symbolic link.
        case resources
        /// The folder of a map. It must exist, and can be a symbolic link.
        case map
    }

    let path: String
    let role: Role
    /// Whether the writer holds the folder's ``FolderTurn`` from beginning to end. If so, and the writer is killed, the
    /// next holder can remove its temporary files: see ``isLeftover(_:)``.
    let holdsTurn: Bool

    package init(path: String, role: Role = .resources, holdsTurn: Bool = false) {
        self.path = path
        self.role = role
        self.holdsTurn = holdsTurn
    }

    /// The reason why a file couldn't be written.
    package struct Problem: Error {
        let name: String
        let code: Int32
        /// The symbolic link in the path, if that's the reason.
        var link: String?

        package init(name: String, code: Int32, link: String? = nil) {
            (self.name, self.code, self.link) = (name, code, link)
        }

        /// What went wrong and what to do, in full sentences. The first begins with the name in quotes.
        package var message: String { statement.sentences(withAdvice: advice) }

        /// The message as a fragment for a label, without a period.
        package var fragment: String { statement.fragment(withAdvice: advice) }

        private var statement: String {
            let reason = link.map { "“\($0)” is a symbolic link" } ?? String(cString: strerror(code))
            return "“\(name)” can't be written: \(reason)"
        }

        private var advice: String? {
            if link != nil { return "replace it with a folder" }
            return code == EACCES ? "allow this user to write there" : nil
        }
    }

    /// Writes a file under a temporary name, and renames it. The old file stays until then.
    package func write(_ data: Data, to name: String) throws(Problem) {
        let place = try place(of: name, makingFolders: true)
        try place.prepare(data)
        try place.finish()
    }

    /// Writes a file under a temporary name and renames it, unless anything already has the final name, even a broken
    /// link. Returns whether the file was written.
    package func writeNew(_ data: Data, to name: String) throws(Problem) -> Bool {
        let place = try place(of: name, makingFolders: true)
        guard !place.isTaken else { return false }
        try place.prepare(data)
        try place.finish()
        return true
    }

    /// Writes a file's new bytes under a temporary name. The old file stays until `finish`.
    package func prepare(_ data: Data, for name: String) throws(Problem) {
        try place(of: name, makingFolders: true).prepare(data)
    }

    /// Writes a new file under its own name. It isn't complete until this returns.
    ///
    /// - Throws: A problem with the code `EEXIST` if anything has that name. It isn't changed.
    package func create(_ data: Data, as name: String) throws(Problem) {
        try place(of: name, makingFolders: true).create(data)
    }

    /// Renames a prepared file to its final name.
    package func finish(_ name: String) throws(Problem) { try place(of: name).finish() }

    /// Removes the new bytes that were prepared for a file. The old file stays.
    package func cancel(_ name: String) {
        guard let place = try? place(of: name) else { return }
        place.remove(place.temporaryName)
    }

    /// Removes a file and its temporary file, if they exist. Leaves a folder alone.
    package func remove(_ name: String) {
        guard let place = try? place(of: name) else { return }
        place.remove(place.temporaryName)
        place.remove(place.lastName)
    }

    /// Returns whether anything has a name, even a broken link.
    package func contains(_ name: String) -> Bool { (try? place(of: name))?.isTaken ?? false }

    private func place(of name: String, makingFolders: Bool = false) throws(Problem) -> FilePlace {
        try FilePlace(of: name, in: self, makingFolders: makingFolders)
    }

    /// Checks that the folder is writable by creating and removing a file. Throws the problem if it isn't.
    package func checkIsWritable() throws(Problem) {
        let name = "write-test"
        do throws(Problem) {
            try prepare(Data(), for: name)
        } catch {
            let folder = path.split(separator: "/").last.map(String.init) ?? path
            throw Problem(name: folder, code: error.code, link: error.link)
        }
        cancel(name)
    }

    /// Returns whether a name is that of a temporary file whose writer held the folder's turn. If the caller holds the
    /// turn now, that writer was killed, and the file isn't needed.
    package static func isLeftover(_ name: String) -> Bool {
        guard name.hasSuffix(".\(extensionInTurn)"), let last = name.split(separator: "/").last else { return false }
        let parts = last.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].isEmpty && parts[1].utf8.count == 32
            && parts[1].utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// The extension of a temporary file whose writer holds the folder's turn.
    fileprivate static let extensionInTurn = "edit"

    /// Writes data to a descriptor. Returns the system's error number, or 0 if everything was written.
    package static func write(_ data: Data, to descriptor: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    // Another program has made this terminal or pipe nonblocking.
                    var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&writable, 1, -1)
                    continue
                }
                guard count > 0 else { return count < 0 ? errno : EIO }
                written += count
            }
            return 0
        }
    }
}

/// The place of a file to write: its name, and its folder, open as long as this value exists.
///
/// Existing folders are opened with one call. The system then reports the path that was opened, which must be the
/// expected path in the root. All other folders are created and opened one by one, and never through a symbolic link.
/// So nothing is written outside the root, even if another thread creates a link meanwhile.
private struct FilePlace: ~Copyable {
    /// The open folder.
    private let descriptor: Int32
    /// The file's name in the root.
    private let name: String
    /// The file's name in its folder.
    let lastName: String
    /// See ``WrittenFolder/holdsTurn``.
    private let holdsTurn: Bool

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
        (descriptor, self.name, lastName, holdsTurn) = (current, name, last, root.holdsTurn)
    }

    /// The file's temporary name in its folder. It begins with a period, so it isn't mistaken for a file of the map. It
    /// contains a digest instead of the name, so it's never too long.
    var temporaryName: String {
        let ending = holdsTurn ? WrittenFolder.extensionInTurn : "part"
        return ".\(Digest.hexadecimal(of: Data(lastName.utf8))).\(ending)"
    }

    /// Whether anything has the file's name, even a broken link.
    var isTaken: Bool { Self.mode(of: lastName, in: descriptor) != nil }

    /// Writes the file's new bytes under its temporary name.
    func prepare(_ data: Data) throws(WrittenFolder.Problem) {
        let temporary = temporaryName
        remove(temporary)
        // The new file has the old file's permissions from the start, so it's never readable by more users.
        let mode = Self.mode(of: lastName, in: descriptor).flatMap { $0 & S_IFMT == S_IFREG ? $0 & 0o777 : nil }
        try create(data, as: temporary, mode: mode)
    }

    /// Writes the file under its own name, which must be free.
    func create(_ data: Data) throws(WrittenFolder.Problem) { try create(data, as: lastName, mode: nil) }

    private func create(_ data: Data, as lastName: String, mode: mode_t?) throws(WrittenFolder.Problem) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = openat(descriptor, lastName, flags, mode ?? 0o644)
        guard file >= 0 else { throw WrittenFolder.Problem(name: name, code: errno) }
        // Overrides the process's umask. A failure is fine: some file systems don't have permissions.
        if let mode { fchmod(file, mode) }
        var code = WrittenFolder.write(data, to: file)
        if close(file) != 0, code == 0 { code = errno }
        guard code == 0 else {
            remove(lastName)
            throw WrittenFolder.Problem(name: name, code: code)
        }
    }

    /// Renames the prepared file to its final name.
    func finish() throws(WrittenFolder.Problem) {
        let temporary = temporaryName
        guard renameat(descriptor, temporary, descriptor, lastName) == 0 else {
            let code = errno
            remove(temporary)
            throw WrittenFolder.Problem(name: name, code: code)
        }
    }

    /// Removes a file in the folder, if it exists.
    func remove(_ lastName: String) { unlinkat(descriptor, lastName, 0) }

    /// Returns the type and permissions of the file, folder or link with a name, even of a broken link. Returns `nil`
    /// if nothing has that name.
    private static func mode(of name: String, in folder: Int32) -> mode_t? {
        var status = stat()
        return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_mode : nil
    }

    deinit {
        close(descriptor)
    }

    /// Opens a folder and returns its descriptor; a negative number if that fails.
    ///
    /// - Parameter isMade: Whether to create the folder if it doesn't exist.
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
        !name.utf8.contains(0)
            && name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
            }
    }

    /// Opens the deepest existing folder on a path, or a folder that is higher by at most the number of missing levels.
    /// Returns its descriptor and the remaining path. Returns `nil` if opening each folder is as fast, or if a link is
    /// in the path.
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
        let isLink = mode(of: folder, in: parent).map { $0 & S_IFMT == S_IFLNK } ?? false
        return WrittenFolder.Problem(name: name, code: code, link: isLink ? folder : nil)
    }
}
