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

    /// Opens a file for reading, without ever waiting for one that is a pipe.
    ///
    /// What counts is the file that was opened: it must be a regular one, and its real path must lie in the real folder.
    func open(_ name: String) throws(FileProblem) -> OpenedFile {
        let path = path(of: name)
        let file = try OpenedFile(path: path)
        guard file.status.kind == .regular else { throw .notRegular(file.status.kind) }
        guard let realFolder = Self.realPath(self.path) else { throw .missing }
        guard let realFile = Self.realPath(path), let status = FileStatus(path: realFile) else { throw .missing }
        guard realFile.hasPrefix(realFolder == "/" ? "/" : realFolder + "/"), status.isSameFile(as: file.status) else {
            throw .outside
        }
        return file
    }

    /// Whether a folder inside this one is one; the empty name is this folder itself.
    func problem(ofFolder name: String) -> FileProblem? {
        let path = name.isEmpty ? path : path(of: name)
        guard let realFolder = Self.realPath(self.path), let real = Self.realPath(path),
            let status = FileStatus(path: real)
        else { return .missing }
        guard real == realFolder || real.hasPrefix(realFolder == "/" ? "/" : realFolder + "/") else { return .outside }
        return status.kind == .folder ? nil : .notFolder
    }

    /// The real folder, and where a file really is in it: without symbolic links. `nil` if it is not there, or outside.
    func realPlace(of name: String) -> (folder: String, name: String)? {
        guard let folder = Self.realPath(path), let file = Self.realPath(path(of: name)) else { return nil }
        let start = folder == "/" ? "/" : folder + "/"
        return file.hasPrefix(start) ? (folder, String(file.dropFirst(start.count))) : nil
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// Why a file of the resources folder can't be served.
enum FileProblem: Error, Hashable, Sendable {
    case missing
    case outside
    case notRegular(FileStatus.Kind)
    case notFolder
    case unreadable(errno: Int32)

    /// What is wrong with the file, to be put after its name.
    var message: String {
        switch self {
        case .missing: "does not exist"
        case .outside: "is outside the resources folder"
        case .notRegular(let kind): "is \(kind.name), not a regular file"
        case .notFolder: "is not a folder"
        case .unreadable(let code): "can't be read: \(String(cString: strerror(code)))"
        }
    }
}

extension ResourcesFolder {
    /// The names of the regular files in the folder and below it, sorted; at most so many are looked at.
    func names(limit: Int) -> [String] {
        guard let walk = FileManager.default.enumerator(atPath: path) else { return [] }
        var names: [String] = []
        var seen = 0
        while seen < limit, let name = walk.nextObject() as? String {
            seen += 1
            if FileStatus(path: path(of: name))?.kind == .regular { names.append(name) }
        }
        return names.sorted()
    }
}
