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
    /// The status of the map's file when this value was created, or when the map was last read or written since; `nil`
    /// if the file didn't exist.
    package private(set) var status: FileStatus?
    /// Names that no new file may have.
    package var names = RecordedFileName.InUse()
    /// The lock of the map's folder and the resources folder; `nil` if the writer doesn't hold it from beginning to
    /// end.
    private let turn: FolderTurn?

    package init(_ file: URL, resources: URL, turn: FolderTurn? = nil) {
        (self.file, self.resources, self.turn) = (file, resources, turn)
        status = FileStatus(path: file.path)
    }

    /// The folder to which the entries' files are written.
    package var writtenResources: WrittenFolder { WrittenFolder(path: resources.path, holdsTurn: turn != nil) }

    /// The folder to which the map is written, and a recorder's notes.
    package var writtenFolder: WrittenFolder {
        WrittenFolder(path: file.deletingLastPathComponent().path, role: .map, holdsTurn: turn != nil)
    }

    /// Whether the map was changed or removed since this writer last read or wrote it.
    package var hasChanged: Bool { FileStatus(path: file.path) != status }

    /// Reads the map. Returns `nil` if its file doesn't exist.
    ///
    /// If this throws or returns `nil`, ``hasChanged`` stays as it was.
    ///
    /// - Throws: An error if the map is broken.
    package mutating func readDocument() throws(SubstitutionMapError) -> MapDocument? {
        guard let now = FileStatus(path: file.path) else { return nil }
        let document = try MapDocument(contentsOf: file)
        status = now
        return document
    }

    /// Writes the map. The files that it uses must exist.
    package mutating func save(_ data: Data) throws(WrittenFolder.Problem) {
        try writtenFolder.write(data, to: file.lastPathComponent)
        status = FileStatus(path: file.path)
    }

    /// Reserves the names of the files in the resources folder, so that no new file gets one of them.
    ///
    /// - Parameter gone: The names of files that are about to be removed. They aren't reserved.
    /// - Returns: The names of temporary files that a killed writer left behind. They aren't reserved either.
    package mutating func takeNames(except gone: Set<String> = []) -> [String] {
        var leftovers: [String] = []
        for name in ResourcesFolder(resources).names(limit: .max) where !gone.contains(name) {
            if WrittenFolder.isLeftover(name) { leftovers.append(name) } else { names.insert(name) }
        }
        return leftovers
    }
}
