import Foundation

/// The current folder, as the user's shell names it.
///
/// The system's name for it has no symbolic links, so a message with that name would show a path that the user never typed.
struct CurrentFolder: Sendable {
    /// `PWD` if it names the current folder; otherwise, the system's name for it.
    let url: URL

    static let current = CurrentFolder(
        FileManager.default.currentDirectoryPath,
        shown: ProcessInfo.processInfo.environment["PWD"]
    )

    /// - Parameters:
    ///   - path: The system's name for the folder.
    ///   - shown: The value of `PWD`, which names another folder if the command wasn't started by a shell.
    init(_ path: String, shown: String?) {
        let folder = URL(fileURLWithPath: path, isDirectory: true)
        let other = URL(fileURLWithPath: shown ?? "", isDirectory: true)
        let isSame =
            shown?.hasPrefix("/") == true && !Self.leavesFolders(other.path)
            && other.resolvingSymlinksInPath().path == folder.resolvingSymlinksInPath().path
        url = isSame ? other : folder
    }

    /// Returns the file or folder that a user names.
    ///
    /// The system follows a symbolic link before `..`, but `URL` doesn't. So a path with `..` begins at the system's name.
    func file(_ path: String, isDirectory: Bool? = nil) -> URL {
        let base = Self.leavesFolders(path) ? url.resolvingSymlinksInPath() : url
        let file =
            isDirectory.map { URL(fileURLWithPath: path, isDirectory: $0, relativeTo: base) }
            ?? URL(fileURLWithPath: path, relativeTo: base)
        return file.absoluteURL
    }

    private static func leavesFolders(_ path: String) -> Bool { path.split(separator: "/").contains("..") }
}
