import Foundation

/// The resources folder, open as long as this object exists. Every name is looked up in this same folder, and must lead to a file
/// inside it.
///
/// A file is opened once, and then the system tells where it is. If its path were checked before or after, another thread could put
/// a symbolic link there in between.
package final class OpenedResources: Sendable {
    private let folder: OpenedFile
    /// The folder's real path and a slash. It's in bytes, since strings that are equal in Swift can be different names on disk.
    private let start: [UInt8]

    /// The map, if the folder is the map's own.
    private let map: FileStatus?
    private let servesHidden: Bool

    init(path: String, mapName: String? = nil) throws(FileProblem) {
        let folder = try OpenedFile(placeOf: path)
        guard let real = folder.realPath else { throw .unplaced }
        start = real.last == UInt8(ascii: "/") ? real : real + [UInt8(ascii: "/")]
        map = mapName.flatMap { FileStatus(path: "\(path)/\($0)") }
        servesHidden = mapName == nil
        self.folder = folder
    }

    /// Opens a regular file for reading.
    func open(_ name: String) throws(FileProblem) -> OpenedFile {
        guard servesHidden || !ResourcesFolder.isHidden(name.utf8) else { throw .notServed }
        let file = try OpenedFile(name, in: folder)
        guard let path = file.realPath else { throw .unplaced }
        guard path.starts(with: start) else { throw .outside }
        // A link with a visible name may lead to a hidden file.
        guard servesHidden || !ResourcesFolder.isHidden(path.dropFirst(start.count)) else { throw .notServed }
        guard map?.isSameFile(as: file.status) != true else { throw .notServed }
        return file
    }

    /// Returns the name of an opened file, without symbolic links; `nil` if the file is outside, or has been moved.
    package func name(of file: borrowing OpenedFile) -> String? {
        guard let path = file.realPath, path.starts(with: start),
            let name = String(utf8: path.dropFirst(start.count)),
            FileStatus(path: String(decoding: path, as: UTF8.self))?.isSameFile(as: file.status) == true
        else { return nil }
        return name
    }

    /// Returns what's wrong with a folder inside this one. The empty name is this folder itself.
    func problem(ofFolder name: String) -> FileProblem? {
        if name.isEmpty { return folder.status.kind == .folder ? nil : .notFolder }
        do throws(FileProblem) {
            let file = try OpenedFile(placeOf: name, in: folder)
            guard let path = file.realPath else { return .unplaced }
            guard (path + [UInt8(ascii: "/")]).starts(with: start) else { return .outside }
            return file.status.kind == .folder ? nil : .notFolder
        } catch {
            return error
        }
    }
}
