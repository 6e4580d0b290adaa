import Foundation

/// The folder in which the files of a map's entries are looked up, and out of which nothing is ever read.
struct ResourcesFolder: Sendable {
    let path: String
    /// Whether large files are mapped into memory: only where nothing changes them, as in an installed bundle.
    let mapsLargeFiles: Bool

    init(_ url: URL, mapsLargeFiles: Bool = false) {
        path = url.path
        self.mapsLargeFiles = mapsLargeFiles
    }

    func path(of name: String) -> String {
        path == "/" ? "/\(name)" : "\(path)/\(name)"
    }

    func url(of name: String) -> URL {
        URL(fileURLWithPath: path(of: name), isDirectory: false)
    }

    /// Opens the folder for looking up several files.
    func opened() throws(FileProblem) -> OpenedResources { try OpenedResources(path: path) }

    /// Returns what's wrong with a folder inside this one. The empty name is this folder itself.
    func problem(ofFolder name: String) -> FileProblem? {
        do throws(FileProblem) {
            return try opened().problem(ofFolder: name)
        } catch {
            return error
        }
    }

    /// Opens a file for reading, without ever waiting for a pipe.
    ///
    /// The check is on the opened file: it must be a regular file, and its real path must be in the real folder.
    func open(_ name: String) throws(FileProblem) -> OpenedFile { try opened().open(name) }

    /// Returns a file's name in the folder without symbolic links; `nil` if the file is missing or outside.
    func realName(of name: String) -> String? {
        guard let folder = try? opened(), let file = try? folder.open(name) else { return nil }
        return folder.name(of: file)
    }
}

/// Why a file of the resources folder can't be served.
enum FileProblem: Error, Hashable, Sendable {
    case missing
    case outside
    case notRegular(FileStatus.Kind)
    case notFolder
    case unreadable(errno: Int32)
    /// The system doesn't know where the opened file is.
    case unplaced

    /// What is wrong with the file, to be put after its name.
    var message: String {
        switch self {
        case .missing: "does not exist"
        case .outside: "is outside the resources folder"
        case .notRegular(let kind): "is \(kind.name), not a regular file"
        case .notFolder: "is not a folder"
        case .unreadable(let code): "can't be read: \(String(cString: strerror(code)))"
        case .unplaced: "can't be read because its real path is unknown: on Linux, mount /proc"
        }
    }
}
