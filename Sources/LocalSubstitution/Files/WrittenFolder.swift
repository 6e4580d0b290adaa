package import Foundation

/// A folder to write files to: whole or not at all, and never through a symbolic link.
package struct WrittenFolder: Sendable {
    /// The kind of folder.
    package enum Role {
        /// A resources folder. It's made if it's missing, and can't be a link.
        case resources
        /// The folder of a map. It must exist, and can be a link.
        case map
    }

    let path: String
    let role: Role
    /// Whether the writer holds the folder's ``FolderTurn`` from beginning to end. Then the next holder can remove the files that
    /// a killed writer left: see ``isLeftover(_:)``.
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

        package var message: String { "can't write “\(name)”: \(reason)" }

        private var reason: String {
            if let link { return "“\(link)” is a symbolic link; replace it with a folder" }
            let text = String(cString: strerror(code))
            return code == EACCES ? "\(text); allow this user to write there" : text
        }
    }

    /// Writes a file under a temporary name, and renames it. What was there before stays until then.
    package func write(_ data: Data, to name: String) throws(Problem) {
        let folder = try opened(for: name, makingFolders: true)
        try prepare(data, for: name, in: folder)
        try finish(name, in: folder)
    }

    /// Writes what a file is to have under a temporary name. What is there stays until `finish`.
    package func prepare(_ data: Data, for name: String) throws(Problem) {
        try prepare(data, for: name, in: opened(for: name, makingFolders: true))
    }

    private func prepare(_ data: Data, for name: String, in folder: borrowing FileFolder) throws(Problem) {
        let temporary = temporaryName(of: folder.lastName)
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
    package func finish(_ name: String) throws(Problem) {
        try finish(name, in: opened(for: name))
    }

    private func finish(_ name: String, in folder: borrowing FileFolder) throws(Problem) {
        let temporary = temporaryName(of: folder.lastName)
        guard renameat(folder.descriptor, temporary, folder.descriptor, folder.lastName) == 0 else {
            let code = errno
            unlinkat(folder.descriptor, temporary, 0)
            throw Problem(name: name, code: code)
        }
    }

    /// Removes what was prepared for a file; the file stays.
    package func cancel(_ name: String) {
        guard let folder = try? opened(for: name) else { return }
        unlinkat(folder.descriptor, temporaryName(of: folder.lastName), 0)
    }

    /// Removes a file, and what is left of writing it. That it does not exist is no problem; a folder is left alone.
    package func remove(_ name: String) {
        guard let folder = try? opened(for: name) else { return }
        unlinkat(folder.descriptor, temporaryName(of: folder.lastName), 0)
        unlinkat(folder.descriptor, folder.lastName, 0)
    }

    /// Whether there is anything of that name, also a link that leads nowhere.
    package func contains(_ name: String) -> Bool {
        guard let folder = try? opened(for: name) else { return false }
        var status = stat()
        return fstatat(folder.descriptor, folder.lastName, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Checks that the folder is writable, by making a file and removing it.
    func checkIsWritable() throws(Problem) {
        let name = "write-test"
        do throws(Problem) {
            try prepare(Data(), for: name)
        } catch {
            let folder = path.split(separator: "/").last.map(String.init) ?? path
            throw Problem(name: folder, code: error.code, link: error.link)
        }
        cancel(name)
    }

    /// Returns whether a name is the temporary name of a file whose writer holds the folder's turn. If the caller holds the turn
    /// now, that writer was killed, and the file isn't needed.
    package static func isLeftover(_ name: String) -> Bool {
        guard name.hasSuffix(".\(extensionInTurn)"), let last = name.split(separator: "/").last else { return false }
        let parts = last.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].isEmpty && parts[1].utf8.count == 32
            && parts[1].utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// The temporary name. It's hidden, so that it isn't mistaken for a file of the map. It's a digest, so that it's never too
    /// long.
    private func temporaryName(of name: String) -> String {
        ".\(Digest.hexadecimal(of: Data(name.utf8))).\(holdsTurn ? Self.extensionInTurn : "part")"
    }

    private static let extensionInTurn = "edit"

    private func opened(for name: String, makingFolders: Bool = false) throws(Problem) -> FileFolder {
        try FileFolder(of: name, in: self, makingFolders: makingFolders)
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
