package import Foundation
package import LocalSubstitution

/// A folder to write files to. A symbolic link inside the folder is never followed. Each function but
/// ``Batch/create(_:as:)`` writes a file completely or not at all, even if the process is killed.
package struct WrittenFolder: Sendable {
    /// The kind of folder.
    package enum Role {
        /// A resources folder. If it doesn't exist, it's created with the first file. If it's a symbolic link, writing
        /// fails.
        case resources
        /// The folder of a map. If it doesn't exist, writing fails. It can be a symbolic link.
        case map
    }

    let path: String
    let role: Role
    /// Whether the writer holds the folder's ``FolderTurn`` the whole time that it writes there. If the writer is then
    /// killed, the turn's next holder recognizes the writer's temporary files by their names: see ``isLeftover(_:)``.
    let holdsTurn: Bool

    package init(path: String, role: Role = .resources, holdsTurn: Bool = false) {
        self.path = path
        self.role = role
        self.holdsTurn = holdsTurn
    }

    /// Writes a file, and replaces an existing one. The new bytes go to a temporary file first, so the old file stays
    /// until they're complete.
    package func write(_ data: Data, to name: String) throws(Complaint) {
        let place = try place(of: name, makingFolders: true)
        try place.prepare(data)
        try place.finish()
    }

    /// Writes a new file, unless something already has its name, even a broken link. The bytes are in a temporary file
    /// until they're complete. Returns whether the file was written.
    package func writeNew(_ data: Data, to name: String) throws(Complaint) -> Bool {
        let place = try place(of: name, makingFolders: true)
        guard !place.isTaken else { return false }
        try place.prepare(data)
        try place.finish()
        return true
    }

    /// Writes a file's new bytes under a temporary name. The old file stays until ``finish(_:)`` is called.
    package func prepare(_ data: Data, for name: String) throws(Complaint) {
        try place(of: name, makingFolders: true).prepare(data)
    }

    /// Renames the temporary file of ``prepare(_:for:)`` to its final name, which replaces the old file. If that fails,
    /// removes the temporary file, and throws a problem.
    package func finish(_ name: String) throws(Complaint) { try place(of: name).finish() }

    /// Removes the bytes that ``prepare(_:for:)`` wrote for a file. The old file stays.
    package func cancel(_ name: String) {
        guard let place = try? place(of: name) else { return }
        place.remove(place.temporaryName)
    }

    /// Removes a file and its temporary file, if they exist. A folder with that name stays.
    package func remove(_ name: String) {
        guard let place = try? place(of: name) else { return }
        place.remove(place.temporaryName)
        place.remove(place.lastName)
    }

    /// Returns whether anything in the folder has a name, even a broken link.
    package func contains(_ name: String) -> Bool { (try? place(of: name))?.isTaken ?? false }

    fileprivate func place(of name: String, makingFolders: Bool = false) throws(Complaint) -> FilePlace {
        try FilePlace(of: name, in: self, makingFolders: makingFolders)
    }

    /// Checks that files can be written to the folder, by creating and removing one. If that fails, throws a problem
    /// with the folder's name, unless the disk is full: there may be space later.
    package func checkIsWritable() throws(Complaint) {
        let folder = path.split(separator: "/").last.map(String.init) ?? path
        let place: FilePlace
        do throws(Complaint) {
            place = try FilePlace(of: "write-test", in: self, makingFolders: true, shownAs: folder)
            try place.prepare(Data())
        } catch {
            if error.isDiskFull { return }
            throw error
        }
        place.remove(place.temporaryName)
    }

    /// Returns whether a name belongs to a temporary file that was written under the folder's turn. If the caller holds
    /// the turn now, the file's writer was killed, so the file can be removed.
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

extension WrittenFolder {
    /// Files that are written or removed one after another. The folder of one file stays open for the next one, so
    /// files of the same folder should follow each other.
    ///
    /// Don't hold a batch for long: if its open folder is moved, the next files of that folder follow it.
    package final class Batch {
        private let root: WrittenFolder
        private var place: FilePlace?

        package init(in root: WrittenFolder) { self.root = root }

        /// Returns whether anything in the folder has a name, even a broken link.
        package func contains(_ name: String) -> Bool {
            (try? open(name)) != nil && place?.isTaken == true
        }

        /// Writes a new file directly under its name. If the process is killed meanwhile, the file stays incomplete.
        ///
        /// - Throws: An error if something already has the name. That file or folder stays unchanged.
        package func create(_ data: Data, as name: String) throws(Complaint) {
            try open(name, makingFolders: true)
            do throws(Complaint) {
                try place?.create(data)
            } catch {
                guard error.isOfMissingFolder else { throw error }
                // The open folder was removed, so it's made again.
                place = try root.place(of: name, makingFolders: true)
                try place?.create(data)
            }
        }

        /// A folder with that name stays.
        package func remove(_ name: String) {
            guard (try? open(name)) != nil, let lastName = place?.lastName else { return }
            place?.remove(lastName)
        }

        private func open(_ name: String, makingFolders: Bool = false) throws(Complaint) {
            if place?.move(to: name) != true { place = try root.place(of: name, makingFolders: makingFolders) }
        }
    }
}

/// A file to write: its name, and its folder, which is open as long as this object exists.
///
/// One call opens the folders that exist, and the system reports the opened folder's path. If that isn't the expected
/// path in the root, this folder is closed. All remaining folders are opened one by one, never through a symbolic link,
/// and created if that's requested. So nothing is written outside the root, even if another thread creates a link
/// meanwhile, unless the open folder itself is moved out.
private final class FilePlace {
    private let descriptor: Int32
    /// The file's name in the root, with its folders.
    private var name: String
    /// The last segment of the file's name.
    private(set) var lastName: String
    /// Whether the writer holds the folder's turn: see ``WrittenFolder/holdsTurn``.
    private let holdsTurn: Bool

    /// - Parameter shown: The file's name in complaints, if it isn't `name`. Don't call ``move(to:)`` then.
    init(
        of name: String,
        in root: WrittenFolder,
        makingFolders: Bool,
        shownAs shown: String? = nil
    ) throws(Complaint) {
        guard Self.isPlain(name) else { throw .unwritableFile(name, EINVAL) }
        let (folder, last) = ResourcesFolder.split(name)
        let isMade = makingFolders && root.role == .resources
        var current = Self.open(root.path, in: AT_FDCWD, isMade: isMade, mayBeLink: root.role == .map)
        guard current >= 0 else { throw Self.problem(errno, shown ?? name, at: root.path, in: AT_FDCWD) }
        var rest = folder.utf8[...]
        if let (deepest, missing) = Self.openDeepest(folder, in: current) {
            close(current)
            current = deepest
            rest = missing
        }
        for segment in rest.split(separator: UInt8(ascii: "/")) {
            let segment = String(Substring(segment))
            let next = Self.open(segment, in: current, isMade: makingFolders)
            let problem = next < 0 ? Self.problem(errno, shown ?? name, at: segment, in: current) : nil
            close(current)
            if let problem { throw problem }
            current = next
        }
        (descriptor, self.name, lastName, holdsTurn) = (current, shown ?? name, last, root.holdsTurn)
    }

    /// Changes the name to that of another file in the same folder. Returns `false`, and changes nothing, if the file is
    /// in another folder or has an invalid name.
    func move(to name: String) -> Bool {
        let folder = self.name.utf8.dropLast(lastName.utf8.count)
        let last = name.utf8.dropFirst(folder.count)
        guard name.utf8.starts(with: folder), Self.isPlain(String(Substring(last))), !last.contains(UInt8(ascii: "/"))
        else { return false }
        (self.name, lastName) = (name, String(Substring(last)))
        return true
    }

    /// The file's temporary name in its folder. It begins with a period, so it isn't mistaken for a file of the map. It
    /// contains a digest instead of the name, so it's never too long.
    var temporaryName: String {
        let ending = holdsTurn ? WrittenFolder.extensionInTurn : "part"
        return ".\(Digest.hexadecimal(of: Data(lastName.utf8))).\(ending)"
    }

    /// Whether anything already has the file's name, even a broken link.
    var isTaken: Bool { Self.mode(of: lastName, in: descriptor) != nil }

    func prepare(_ data: Data) throws(Complaint) {
        let temporary = temporaryName
        remove(temporary)
        // The new file has the old file's permissions from the start, so it's never readable by more users.
        let mode = Self.mode(of: lastName, in: descriptor).flatMap { $0 & S_IFMT == S_IFREG ? $0 & 0o777 : nil }
        try create(data, as: temporary, mode: mode)
    }

    /// Writes the file directly under its name. Throws a problem if anything already has that name.
    func create(_ data: Data) throws(Complaint) { try create(data, as: lastName, mode: nil) }

    private func create(_ data: Data, as lastName: String, mode: mode_t?) throws(Complaint) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = openat(descriptor, lastName, flags, mode ?? 0o644)
        guard file >= 0 else { throw .unwritableFile(name, errno) }
        // Overrides the process's umask. A failure is fine: some file systems don't have permissions.
        if let mode { fchmod(file, mode) }
        var code = WrittenFolder.write(data, to: file)
        if close(file) != 0, code == 0 { code = errno }
        guard code == 0 else {
            remove(lastName)
            throw .unwritableFile(name, code)
        }
    }

    /// Renames the prepared file to its final name. If that fails, removes the prepared file.
    func finish() throws(Complaint) {
        let temporary = temporaryName
        guard renameat(descriptor, temporary, descriptor, lastName) == 0 else {
            let code = errno
            remove(temporary)
            throw .unwritableFile(name, code)
        }
    }

    /// Does nothing if the file doesn't exist.
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

    /// Opens a folder and returns its descriptor. If that fails, returns a negative number, and the
    /// reason is in `errno`.
    ///
    /// - Parameters:
    ///   - isMade: Whether to create the folder if it doesn't exist.
    ///   - mayBeLink: Whether the folder can be a symbolic link; `false` by default.
    private static func open(_ name: String, in parent: Int32, isMade: Bool, mayBeLink: Bool = false) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (mayBeLink ? 0 : O_NOFOLLOW)
        let found = openat(parent, name, flags)
        guard found < 0, errno == ENOENT, isMade else { return found }
        // If the folder can't be made, the caller reports why, unless another thread has just made it.
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

    /// Opens the deepest existing folder on a path, or a folder a few levels above it, with few calls. Returns the
    /// folder's descriptor and the rest of the path. Returns `nil` if the path has a link, if few or none of its
    /// folders exist, or if the system reports another error. Then the caller must open the folders one by one.
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

    /// Returns whether an open folder has exactly this path in the root; `false` if the system can't report its path.
    private static func isPlace(_ folder: Int32, _ path: Substring.UTF8View, in root: Int32) -> Bool {
        guard let start = System.realPath(of: root), let real = System.realPath(of: folder) else {
            return false
        }
        let slash = start.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        return real == start + slash + Array(path)
    }

    private static func problem(_ code: Int32, _ name: String, at folder: String, in parent: Int32) -> Complaint {
        let isLink = mode(of: folder, in: parent).map { $0 & S_IFMT == S_IFLNK } ?? false
        return .unwritableFile(name, code, link: isLink ? folder : nil)
    }
}

extension WrittenFolder {
    /// Returns the path of the file that's where a folder, or a folder around it, must be; `nil` if there's none.
    package static func fileInPlace(of folder: URL) -> String? {
        var place = folder.standardizedFileURL
        while place.path != "/" {
            // A path through a file doesn't exist.
            if let status = FileStatus(path: place.path) { return status.kind == .folder ? nil : place.path }
            place.deleteLastPathComponent()
        }
        return nil
    }
}

/// Why a file can't be written.
extension Complaint {
    /// - Parameters:
    ///   - name: The file's name.
    ///   - code: The system's error number, such as `EACCES`.
    ///   - link: The name of the symbolic link where a folder must be, if that's the reason; otherwise `nil`, the default.
    package static func unwritableFile(_ name: String, _ code: Int32, link: String? = nil) -> Complaint {
        let reason = link.map { "“\($0)” is a symbolic link" } ?? String(cString: strerror(code))
        let fix =
            switch code {
            case _ where link != nil: "Replace it with a folder."
            case EACCES: "Allow this user to write there."
            case ENOSPC, EDQUOT: "Free some space."
            case EROFS: "Use another folder."
            default: ""
            }
        let kind =
            switch code {
            case ENOSPC, EDQUOT, EFBIG: diskFull
            case ENOENT: missingFolder
            default: ""
            }
        return Complaint(kind: kind, "“\(name)” can't be written: \(reason)".printable, fix: fix)
    }

    private static let diskFull = "diskFull"
    private static let missingFolder = "missingFolder"

    /// Whether there's no space for a file, on the disk or for the user, so that writing may succeed later.
    package var isDiskFull: Bool { kind == Self.diskFull }
    fileprivate var isOfMissingFolder: Bool { kind == Self.missingFolder }
}
