import Foundation

/// Which names are those of readable files, found by listing folders: much faster than opening each file of a large map.
///
/// A folder is listed once many of its files have been asked for. Before that, and for everything but a plain file in plain
/// folders, only opening the file tells.
struct FolderListing {
    private struct Folder {
        var asked = 0
        /// `nil` before the folder is listed.
        var files: Set<String>?
        var folders: Set<String> = []
    }

    private let root: ResourcesFolder
    private var folders: [String: Folder] = [:]

    /// Opening this many files takes about as long as listing a folder.
    private static let threshold = 16

    init(_ root: ResourcesFolder) { self.root = root }

    /// Whether a name certainly is that of a regular file in the folder that can be read; `false` if only opening it tells.
    mutating func hasFile(_ name: String) -> Bool {
        let (folder, last) = ResourcesFolder.split(name)
        folders[folder, default: Folder()].asked += 1
        guard let asked = folders[folder]?.asked, asked > Self.threshold, isListed(folder) else { return false }
        return folders[folder]?.files?.contains(last) == true && access(root.path(of: name), R_OK) == 0
    }

    /// Whether a folder could be listed, and isn't behind a symbolic link.
    private mutating func isListed(_ name: String) -> Bool {
        if let files = folders[name]?.files { return !files.isEmpty }
        var listed = folders[name] ?? Folder()
        listed.files = []
        if isPlain(name), let entries = root.entries(ofFolder: name) {
            for entry in entries {
                switch entry.kind {
                case .regular: listed.files?.insert(entry.name)
                case .folder: listed.folders.insert(entry.name)
                case nil: break
                }
            }
        }
        folders[name] = listed
        return listed.files?.isEmpty == false
    }

    /// Whether each folder on the way is a real folder, not a link.
    private mutating func isPlain(_ name: String) -> Bool {
        guard !name.isEmpty else { return true }
        let (parent, last) = ResourcesFolder.split(name)
        _ = isListed(parent)
        return folders[parent]?.folders.contains(last) == true
    }
}
