package import Foundation
package import LocalSubstitution

/// A map's file and its resources folder, as one writer changes them: a recorder, a command, or a test's recording.
///
/// Writers write the files before the map that names them. So even if a process is killed, the map never names a
/// missing file.
package struct MapFolder: Sendable {
    /// The map.
    package let file: URL
    package let resources: URL
    /// The map's status when it was last read or written or, before that, when this was made; `nil` if there was none.
    package private(set) var status: FileStatus?
    /// Names that no new file may have.
    package var names = RecordedFileName.InUse()
    /// Both folders' lock, if the writer holds it from beginning to end.
    private let turn: FolderTurn?

    package init(_ file: URL, resources: URL, turn: FolderTurn? = nil) {
        (self.file, self.resources, self.turn) = (file, resources, turn)
        status = FileStatus(path: file.path)
    }

    /// Where the files are written.
    package var writtenResources: WrittenFolder { WrittenFolder(path: resources.path, holdsTurn: turn != nil) }

    /// Where the map is written, and notes beside it.
    package var writtenFolder: WrittenFolder {
        WrittenFolder(path: file.deletingLastPathComponent().path, role: .map, holdsTurn: turn != nil)
    }

    /// Whether something else has changed or removed the map since it was last read or written.
    package var hasChanged: Bool { FileStatus(path: file.path) != status }

    /// Reads the map; returns `nil` if there is none.
    ///
    /// - Throws: An error if the map is broken. If it was changed or removed, ``hasChanged`` then stays true.
    package mutating func readDocument() throws(SubstitutionMapError) -> MapDocument? {
        guard let now = FileStatus(path: file.path) else { return nil }
        let document = try MapDocument(contentsOf: file)
        status = now
        return document
    }

    /// Writes the map. The files that it names must be there.
    package mutating func save(_ data: Data) throws(WrittenFolder.Problem) {
        try writtenFolder.write(data, to: file.lastPathComponent)
        status = FileStatus(path: file.path)
    }

    /// Takes the names of the files in the resources folder, so that no new file gets one of them.
    ///
    /// - Parameter gone: Files that are about to be removed.
    /// - Returns: The files that a killed writer left behind.
    package mutating func takeNames(except gone: Set<String> = []) -> [String] {
        var leftovers: [String] = []
        for name in ResourcesFolder(resources).names(limit: .max) where !gone.contains(name) {
            if WrittenFolder.isLeftover(name) { leftovers.append(name) } else { names.insert(name) }
        }
        return leftovers
    }
}
