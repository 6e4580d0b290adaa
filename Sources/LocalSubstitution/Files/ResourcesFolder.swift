package import Foundation
import HTTPSyntax

/// The folder with the files of a map's entries. Files outside it are never read.
package final class ResourcesFolder: Sendable {
    /// The names of the folder beside a map that has the map's files. The first one that exists is used.
    package static let standardNames = ["Substitutes", "Resources"]

    package let path: String
    /// Whether the folder is in a bundle. A bundle's files don't change, so large ones are mapped into memory.
    let isInBundle: Bool
    /// The map's file name if the folder is the map's own; otherwise `nil`. In the map's own folder, neither the map
    /// nor hidden files are served.
    package let mapName: String?
    /// The map's file if this folder was found from there; `nil` if the folder was named.
    let map: URL?

    package init(_ url: URL, isInBundle: Bool = false, mapName: String? = nil) {
        path = url.path
        self.isInBundle = isInBundle
        self.mapName = mapName
        map = nil
    }

    /// The folder is `resources`, unless it's `nil`; or else the first of ``standardNames`` that exists beside the map;
    /// or else the map's own folder.
    package init(beside map: URL, or resources: URL?, isInBundle: Bool = false) {
        let own = map.deletingLastPathComponent()
        let beside = resources == nil ? Self.standardNames.first { Self.hasFolder($0, in: own) } : nil
        path = (resources ?? beside.map { own.appendingPathComponent($0, isDirectory: true) } ?? own).path
        self.isInBundle = isInBundle
        mapName = resources == nil && beside == nil ? map.lastPathComponent : nil
        self.map = resources == nil ? map : nil
    }

    /// Compares letter case. On a disk that ignores letter case, the system also finds `substitutes` by the name
    /// `Substitutes`.
    static func hasFolder(_ name: String, in folder: URL) -> Bool {
        let folder = ResourcesFolder(folder)
        guard let status = FileStatus(path: folder.path(of: name)), status.kind == .folder else { return false }
        let other = FileStatus(path: folder.path(of: name.lowercased()))
        return other?.isSameFile(as: status) != true || folder.names.contains(name)
    }

    /// A folder beside the map whose name differs from one of ``standardNames`` only in letter case, and that name.
    /// `nil` if there's none, or if the map's own folder doesn't have the map's files.
    var misspelled: (name: String, standard: String)? {
        guard map != nil, mapName != nil else { return nil }
        let names = names.ordered(by: <)
        return Self.standardNames.lazy.compactMap { standard in
            names.first { name in
                name.asciiLowercased == standard.asciiLowercased && name != standard
                    && FileStatus(path: self.path(of: name))?.kind == .folder
            }.map { ($0, standard) }
        }.first
    }

    /// What to do about a folder beside the map whose name is misspelled.
    ///
    /// - Parameter name: The right name; by default, any of ``standardNames``.
    package func misspelling(of name: String? = nil) -> String? {
        guard let misspelled, name == nil || name == misspelled.standard else { return nil }
        return "The folder “\(path(of: misspelled.name))” isn't used, since letter case matters. "
            + "Rename it to \(misspelled.standard)."
    }

    package var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

    @inline(never)  // Otherwise, each of its callers would contain a copy.
    package func path(of name: String) -> String {
        path == "/" ? "/\(name)" : "\(path)/\(name)"
    }

    package func url(of name: String) -> URL {
        URL(fileURLWithPath: path(of: name), isDirectory: false)
    }

    /// Open the folder once to look up several files.
    package func opened() throws(Complaint) -> Opened { try Opened(path: path, mapName: mapName) }

    /// `nil` if the file doesn't exist or is never served. Doesn't check whether the file can be read.
    func servedStatus(of name: String) -> FileStatus? {
        guard let status = FileStatus(path: path(of: name)) else { return nil }
        guard let mapName else { return status }
        let isMap = FileStatus(path: path(of: mapName))?.isSameFile(as: status) == true
        return isMap || Self.isHidden(name) ? nil : status
    }

    /// A name is hidden if its last part or a folder's name begins with a period.
    package static func isHidden(_ name: String) -> Bool {
        name.utf8.split(separator: UInt8(ascii: "/")).contains { $0.first == UInt8(ascii: ".") }
    }

    /// Splits the name at its last slash. The folder is empty for a file directly in this folder.
    package static func split(_ name: String) -> (folder: String, last: String) {
        guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", name) }
        return (String(name[..<slash]), String(name[name.utf8.index(after: slash)...]))
    }

    /// `a` and `a/b` for `a/b/c`.
    package static func folders(of name: String) -> [String] {
        name.utf8.indices.filter { name.utf8[$0] == UInt8(ascii: "/") }.map { String(name[..<$0]) }
    }

    /// Throws an error unless the file is regular and its real path is inside the folder's real path. Never waits for a
    /// named pipe.
    @inline(never)  // Otherwise, each of its callers would contain a copy.
    package func open(_ name: String) throws(Complaint) -> OpenedFile { try opened().open(name) }

    /// The name with symbolic links resolved; `nil` if the file is missing or outside the folder.
    package func realName(of name: String) -> String? {
        guard let folder = try? opened(), let file = try? folder.open(name) else { return nil }
        return folder.name(of: file)
    }
}

extension ResourcesFolder {
    /// The resources folder, open as long as this object exists. Every name is looked up in the opened folder, even if
    /// the folder's path leads elsewhere later. Files outside the folder are refused.
    ///
    /// A file behind a symbolic link is opened first. Then the system reports the opened file's path, which must be in
    /// the folder. Resolving the link before opening the file wouldn't be safe: another thread could replace the link
    /// in between.
    package final class Opened: Sendable {
        private let folder: OpenedFile
        /// The status of the map's file, if the folder is the map's own.
        private let map: FileStatus?
        private let servesHidden: Bool

        init(path: String, mapName: String? = nil) throws(Complaint) {
            folder = try OpenedFile(placeOf: path)
            map = mapName.flatMap { FileStatus(path: "\(path)/\($0)") }
            servesHidden = mapName == nil
        }

        /// The folder's real path with a slash at its end. It's in bytes, since equal strings in Swift can be different
        /// names on disk.
        private func start() throws(Complaint) -> [UInt8] {
            guard let real = folder.realPath else { throw .unplacedFile }
            return real.last == UInt8(ascii: "/") ? real : real + [UInt8(ascii: "/")]
        }

        func open(_ name: String) throws(Complaint) -> OpenedFile {
            guard servesHidden || !ResourcesFolder.isHidden(name) else { throw .unservedFile }
            let file = try openInside(name)
            guard map?.isSameFile(as: file.status) != true else { throw .unservedFile }
            return file
        }

        /// Without a symbolic link in its path, a file is always inside. Otherwise, the file's real path is checked,
        /// which takes longer.
        private func openInside(_ name: String) throws(Complaint) -> OpenedFile {
            // Some file systems ignore some characters outside ASCII. With such a character before its period, a hidden
            // file wouldn't look hidden.
            if servesHidden || name.utf8.allSatisfy({ $0 < 0x80 }) {
                do throws(Complaint) { return try OpenedFile(withoutLinks: name, in: folder) } catch {}
            }
            let file = try OpenedFile(name, in: folder)
            let start = try start()
            guard let path = file.realPath else { throw .unplacedFile }
            guard path.starts(with: start) else { throw .outsideFolder }
            // A link with a visible name may lead to a hidden file.
            let realName = path.dropFirst(start.count)
            guard servesHidden || !ResourcesFolder.isHidden(String(decoding: realName, as: UTF8.self)) else {
                throw .unservedFile
            }
            return file
        }

        /// The name with symbolic links resolved; `nil` if the file was moved out of the folder or deleted.
        package func name(of file: borrowing OpenedFile) -> String? {
            guard let start = try? start(), let path = file.realPath, path.starts(with: start),
                let name = String(utf8: path.dropFirst(start.count)),
                FileStatus(path: String(decoding: path, as: UTF8.self))?.isSameFile(as: file.status) == true
            else { return nil }
            return name
        }

        /// The empty name means this folder itself.
        func problem(ofFolder name: String) -> Complaint? {
            if name.isEmpty { return folder.status.kind == .folder ? nil : .notFolder }
            do throws(Complaint) {
                let file = try OpenedFile(placeOf: name, in: folder)
                let start = try start()
                guard let path = file.realPath else { return .unplacedFile }
                guard (path + [UInt8(ascii: "/")]).starts(with: start) else { return .outsideFolder }
                return file.status.kind == .folder ? nil : .notFolder
            } catch {
                return error
            }
        }
    }
}
