import Foundation

extension ResourcesFolder {
    /// A name in a folder, and its kind if that's certain; `nil` for a symbolic link, and if the file system doesn't tell.
    struct Listed {
        enum Kind { case regular, folder }

        let name: String
        let kind: Kind?
    }

    /// Returns the contents of a folder in this one; `nil` if it can't be listed. `FileManager` takes ten times as long.
    func entries(ofFolder folder: String) -> [Listed]? {
        guard let stream = opendir(folder.isEmpty ? path : path(of: folder)) else { return nil }
        defer { closedir(stream) }
        var entries: [Listed] = []
        while let entry = readdir(stream) {
            guard let name = Self.name(of: entry), name != ".", name != ".." else { continue }
            switch Int(entry.pointee.d_type) {
            case Int(DT_REG): entries.append(Listed(name: name, kind: .regular))
            case Int(DT_DIR): entries.append(Listed(name: name, kind: .folder))
            default: entries.append(Listed(name: name, kind: nil))
            }
        }
        return entries
    }

    /// Returns the names of the regular files in the folder and below it, sorted. Looks at `limit` names at most.
    ///
    /// Folders behind symbolic links are left out.
    package func names(limit: Int) -> [String] {
        var names: [String] = []
        var folders = [""]
        var seen = 0
        while seen < limit, let folder = folders.popLast() {
            for entry in (entries(ofFolder: folder) ?? []).prefix(limit - seen) {
                seen += 1
                let name = folder.isEmpty ? entry.name : "\(folder)/\(entry.name)"
                switch entry.kind {
                case .folder: folders.append(name)
                case .regular: names.append(name)
                case nil: if isFolder(name) { folders.append(name) } else if isFile(name) { names.append(name) }
                }
            }
        }
        return names.sorted()
    }

    /// Splits a name into its folder, which is empty for this one, and the name in that folder.
    package static func split(_ name: String) -> (folder: String, last: String) {
        guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", name) }
        return (String(name[..<slash]), String(name[name.utf8.index(after: slash)...]))
    }

    /// Returns the folders that a name is in: `a` and `a/b` for `a/b/c`.
    package static func folders(of name: String) -> [String] {
        name.utf8.indices.filter { name.utf8[$0] == UInt8(ascii: "/") }.map { String(name[..<$0]) }
    }

    /// Returns whether a name is that of a folder, and not of a link to one.
    private func isFolder(_ name: String) -> Bool {
        var status = stat()
        return lstat(path(of: name), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func isFile(_ name: String) -> Bool { FileStatus(path: path(of: name))?.kind == .regular }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        // Read through a pointer, since as a value, the array may be longer than the entry that was read.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
        let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
        return String(validatingCString: name)
    }
}
