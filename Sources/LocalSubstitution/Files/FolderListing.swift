import Foundation

/// A search for readable files that lists their folders. For a large map, it's much faster than opening each file.
///
/// A folder is listed only when many of its files are asked for. Until then, ``hasFile(_:)`` returns `false`. It also
/// returns `false` for a file that isn't regular, or whose path has a symbolic link. So after `false`, the caller must
/// open the file to check it.
final class FolderListing {
    private final class Folder {
        var asked = 0
        /// The regular files; `nil` before the folder is listed.
        var files: Set<String>?
        var folders: Set<String> = []
    }

    private let root: ResourcesFolder
    private var folders: [String: Folder] = [:]

    /// The number of files in a folder that are asked for before the folder is listed. Opening so many files takes
    /// about as long as listing the folder.
    private static let threshold = 16

    init(_ root: ResourcesFolder) { self.root = root }

    /// After `false`, there may still be a readable file: open it to find out.
    func hasFile(_ name: String) -> Bool {
        let (path, last) = ResourcesFolder.split(name)
        let folder = folder(path)
        folder.asked += 1
        guard folder.asked > Self.threshold, isListed(path) else { return false }
        return folder.files?.contains(last) == true && access(root.path(of: name), R_OK) == 0
    }

    private func folder(_ name: String) -> Folder {
        if let known = folders[name] { return known }
        let folder = Folder()
        folders[name] = folder
        return folder
    }

    /// Lists the folder if it isn't listed yet. `false` if it has no regular files or can't be listed, or if its path
    /// has a symbolic link.
    private func isListed(_ name: String) -> Bool {
        let folder = folder(name)
        if let files = folder.files { return !files.isEmpty }
        folder.files = []
        if isPlain(name), let entries = root.entries(ofFolder: name) {
            folder.files = Set(entries.filter { $0.kind == .regular }.map(\.name))
            folder.folders = Set(entries.filter { $0.kind == .folder }.map(\.name))
        }
        return folder.files?.isEmpty == false
    }

    /// Whether no folder on the path is a link.
    private func isPlain(_ name: String) -> Bool {
        guard !name.isEmpty else { return true }
        let (parent, last) = ResourcesFolder.split(name)
        _ = isListed(parent)
        return folder(parent).folders.contains(last)
    }
}

extension ResourcesFolder {
    /// A name in a folder. Its kind is a regular file or a folder; `nil` if the file system reports neither.
    fileprivate struct Listed {
        let name: String
        let kind: FileStatus.Kind?
    }

    /// `nil` if the folder can't be listed. With `FileManager`, this would take ten times as long.
    fileprivate func entries(ofFolder folder: String) -> [Listed]? {
        guard let stream = opendir(folder.isEmpty ? path : path(of: folder)) else { return nil }
        defer { closedir(stream) }
        var entries: [Listed] = []
        while let entry = readdir(stream) {
            guard let name = Self.name(of: entry), name != ".", name != ".." else { continue }
            let type = Int(entry.pointee.d_type)
            let kind: FileStatus.Kind? = type == Int(DT_REG) ? .regular : type == Int(DT_DIR) ? .folder : nil
            entries.append(Listed(name: name, kind: kind))
        }
        return entries
    }

    /// Files and folders; empty if the folder can't be listed.
    var names: [String] { (entries(ofFolder: "") ?? []).map(\.name) }

    /// The regular files in the folder and its subfolders, sorted. Leaves out folders behind symbolic links.
    ///
    /// - Parameter limit: The maximum number of names to look at, those of folders included.
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
                default: if isFolder(name) { folders.append(name) } else if isFile(name) { names.append(name) }
                }
            }
        }
        return names.ordered(by: <)
    }

    /// `false` for a link to a folder.
    private func isFolder(_ name: String) -> Bool {
        var status = stat()
        return lstat(path(of: name), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func isFile(_ name: String) -> Bool { FileStatus(path: path(of: name))?.kind == .regular }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        // Reads the name through a pointer. Copying the whole name array could read past the end of the entry's memory.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
        let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
        return String(validatingCString: name)
    }
}
