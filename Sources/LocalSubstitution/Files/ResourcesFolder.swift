package import Foundation

/// The folder with the files of a map's entries. Nothing outside it is ever read.
package struct ResourcesFolder: Sendable {
    package let path: String
    /// Whether the folder is in a bundle. Nothing changes it there, so its large files are mapped into memory.
    let isInBundle: Bool
    /// The map's name, if the folder is the map's own. Then neither the map nor hidden files are served.
    package let mapName: String?

    package init(_ url: URL, isInBundle: Bool = false, mapName: String? = nil) {
        path = url.path
        self.isInBundle = isInBundle
        self.mapName = mapName
    }

    package func path(of name: String) -> String {
        path == "/" ? "/\(name)" : "\(path)/\(name)"
    }

    package func url(of name: String) -> URL {
        URL(fileURLWithPath: path(of: name), isDirectory: false)
    }

    /// Opens the folder, to look up several files.
    package func opened() throws(FileProblem) -> OpenedResources { try OpenedResources(path: path, mapName: mapName) }

    /// Returns the status of a file that may be served; `nil` if there's none. Only opening it tells whether it can be read.
    func servedStatus(of name: String) -> FileStatus? {
        guard let status = FileStatus(path: path(of: name)) else { return nil }
        guard let mapName else { return status }
        let isMap = FileStatus(path: path(of: mapName))?.isSameFile(as: status) == true
        return isMap || Self.isHidden(name.utf8) ? nil : status
    }

    /// Returns whether a name, or a folder in it, begins with a period.
    package static func isHidden(_ name: some Collection<UInt8>) -> Bool {
        name.split(separator: UInt8(ascii: "/")).contains { $0.first == UInt8(ascii: ".") }
    }

    /// Opens a file for reading, without ever waiting for a pipe.
    ///
    /// The opened file is checked: it must be a regular file, and its real path must be in the real folder.
    package func open(_ name: String) throws(FileProblem) -> OpenedFile { try opened().open(name) }

    /// Returns a file's name in the folder without symbolic links; `nil` if the file is missing or outside.
    package func realName(of name: String) -> String? {
        guard let folder = try? opened(), let file = try? folder.open(name) else { return nil }
        return folder.name(of: file)
    }
}
