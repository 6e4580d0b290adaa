package import Foundation
package import LocalSubstitution

/// A map's file and its resources folder, for one writer: a recorder, a command, or a test's recording.
///
/// A writer writes files before the map that uses them. So even if a process is killed, the map never uses a missing
/// file.
package struct MapFolder: Sendable {
    /// The map's file.
    package let file: URL
    package let resources: URL
    /// The status of the map's file when this writer last read or wrote it. Before that, the status when this value was
    /// created. `nil` if the file didn't exist.
    package private(set) var status: FileStatus?
    /// The reserved names in the resources folder. A new file gets none of them.
    package var names = RecordedFileName.InUse()
    /// The lock of the map's folder and the resources folder, if the writer holds it as long as this value exists;
    /// `nil` if the writer takes the lock only for single steps.
    private let turn: FolderTurn?

    package init(_ file: URL, resources: URL, turn: FolderTurn? = nil) {
        (self.file, self.resources, self.turn) = (file, resources, turn)
        status = FileStatus(path: file.path)
    }

    /// The resources folder, to write the entries' files.
    package var writtenResources: WrittenFolder { WrittenFolder(path: resources.path, holdsTurn: turn != nil) }

    /// The map's folder, to write the map and a recorder's notes.
    package var writtenFolder: WrittenFolder {
        WrittenFolder(path: file.deletingLastPathComponent().path, role: .map, holdsTurn: turn != nil)
    }

    /// Whether the map's file was changed, created or removed since this writer last read or wrote it.
    package var hasChanged: Bool { FileStatus(path: file.path) != status }

    /// Reads the map, and notes its file's status for ``hasChanged``. Returns `nil` if the map's file doesn't exist.
    ///
    /// - Throws: An error if the map can't be read, isn't a JSON object, or has a key twice. After an error, and if the
    ///   file doesn't exist, ``hasChanged`` stays the same.
    package mutating func readDocument() throws(SubstitutionMapError) -> MapDocument? {
        guard let now = FileStatus(path: file.path) else { return nil }
        let document = try MapDocument(contentsOf: file)
        status = now
        return document
    }

    /// Writes the map's file. Write the files that the map uses first, so that a map on disk never uses a missing file.
    package mutating func save(_ data: Data) throws(WrittenFolder.Problem) {
        try writtenFolder.write(data, to: file.lastPathComponent)
        status = FileStatus(path: file.path)
    }

    /// Reserves the names of all files in the resources folder, so that no new file gets one of them.
    ///
    /// - Parameter gone: Names to leave out, since their files are about to be removed; none by default.
    /// - Returns: The names of temporary files that a killed writer left behind. These aren't reserved either.
    package mutating func takeNames(except gone: Set<String> = []) -> [String] {
        var leftovers: [String] = []
        for name in ResourcesFolder(resources).names(limit: .max) where !gone.contains(name) {
            if WrittenFolder.isLeftover(name) { leftovers.append(name) } else { names.insert(name) }
        }
        return leftovers
    }
}
