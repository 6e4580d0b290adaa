import Foundation

/// The names of readable files, found by listing folders. For a large map, this is much faster than opening each file.
///
/// A folder is listed once many of its files have been asked for. Before that, and for anything but a plain file in plain folders,
/// only opening the file tells.
struct FolderListing {
    private struct Folder {
        var asked = 0
        /// `nil` before the folder is listed.
        var files: Set<String>?
        var folders: Set<String> = []
    }

    private let root: ResourcesFolder
    private var folders: [String: Folder] = [:]

    /// The number of files that take about as long to open as a folder takes to list.
    private static let threshold = 16

    init(_ root: ResourcesFolder) { self.root = root }

    /// Returns whether a name is certainly that of a regular file in the folder that can be read; `false` if only opening it tells.
    mutating func hasFile(_ name: String) -> Bool {
        let (folder, last) = ResourcesFolder.split(name)
        folders[folder, default: Folder()].asked += 1
        guard let asked = folders[folder]?.asked, asked > Self.threshold, isListed(folder) else { return false }
        return folders[folder]?.files?.contains(last) == true && access(root.path(of: name), R_OK) == 0
    }

    /// Returns whether a folder isn't behind a symbolic link, could be listed, and has files.
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

    /// Returns whether each folder on the path is a real folder, not a link.
    private mutating func isPlain(_ name: String) -> Bool {
        guard !name.isEmpty else { return true }
        let (parent, last) = ResourcesFolder.split(name)
        _ = isListed(parent)
        return folders[parent]?.folders.contains(last) == true
    }
}
