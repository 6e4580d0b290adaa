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
    /// The status of the map's file when this writer last read or wrote the map or, before that, when this value was
    /// created. `nil` if the file didn't exist.
    package private(set) var status: FileStatus?
    /// The names of files in the resources folder, which no new file may have.
    package var names = RecordedFileName.InUse()
    /// The lock of the map's folder and the resources folder, held as long as this value exists; `nil`
    /// if the writer holds it only at times.
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

    /// Reads the map. Returns `nil` if its file doesn't exist.
    ///
    /// If this throws or returns `nil`, ``hasChanged`` stays as it was.
    ///
    /// - Throws: An error if the map can't be read, isn't a JSON object, or has a key twice.
    package mutating func readDocument() throws(SubstitutionMapError) -> MapDocument? {
        guard let now = FileStatus(path: file.path) else { return nil }
        let document = try MapDocument(contentsOf: file)
        status = now
        return document
    }

    /// Writes the map. The files that it uses must already be written.
    package mutating func save(_ data: Data) throws(WrittenFolder.Problem) {
        try writtenFolder.write(data, to: file.lastPathComponent)
        status = FileStatus(path: file.path)
    }

    /// Reserves the names of the files in the resources folder, so that no new file gets one of them.
    ///
    /// - Parameter gone: Names that aren't reserved, since their files are about to be removed.
    /// - Returns: The names of temporary files that a killed writer left behind. They aren't reserved either.
    package mutating func takeNames(except gone: Set<String> = []) -> [String] {
        var leftovers: [String] = []
        for name in ResourcesFolder(resources).names(limit: .max) where !gone.contains(name) {
            if WrittenFolder.isLeftover(name) { leftovers.append(name) } else { names.insert(name) }
        }
        return leftovers
    }
}
