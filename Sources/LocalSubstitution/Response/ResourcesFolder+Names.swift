import Foundation

extension ResourcesFolder {
    /// Returns the names of the regular files in the folder and below it, sorted. Looks at no more than `limit` entries.
    ///
    /// Doesn't follow symbolic links to folders. `FileManager` takes ten times as long.
    func names(limit: Int) -> [String] {
        var names: [String] = []
        var folders = [""]
        var seen = 0
        while seen < limit, let folder = folders.popLast() {
            guard let stream = opendir(folder.isEmpty ? path : path(of: folder)) else { continue }
            defer { closedir(stream) }
            while seen < limit, let entry = readdir(stream) {
                guard let last = Self.name(of: entry), last != ".", last != ".." else { continue }
                seen += 1
                let name = folder.isEmpty ? last : "\(folder)/\(last)"
                switch kind(of: entry, name) {
                case .folder: folders.append(name)
                case .regular: names.append(name)
                default: break
                }
            }
        }
        return names.sorted()
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        // By address, since as a value the array may be longer than what was read.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
        let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
        return String(validatingCString: name)
    }

    /// Returns the kind of a file. A link to a folder isn't a folder.
    private func kind(of entry: UnsafeMutablePointer<dirent>, _ name: String) -> FileStatus.Kind? {
        switch Int(entry.pointee.d_type) {
        case Int(DT_REG): return .regular
        case Int(DT_DIR): return .folder
        case Int(DT_LNK): break
        default:
            // Some file systems don't report the kind.
            var status = stat()
            if lstat(path(of: name), &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return .folder }
        }
        let kind = FileStatus(path: path(of: name))?.kind
        return kind == .folder ? nil : kind
    }
}
