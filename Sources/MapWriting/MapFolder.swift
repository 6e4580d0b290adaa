package import Foundation
import HTTPSyntax
package import LocalSubstitution

/// A map's file and its resources folder, for one writer: a recorder, a command, or a test's recording.
///
/// A command or a test's recording makes one change with these steps: it writes new files and prepares new bytes for existing
/// ones, then saves the map, and only then removes what the new map doesn't use. A recorder has the same order, but goes on as
/// long as its app runs. So it writes new files itself, in batches and with their names in a journal, and takes only the last
/// two steps from here. Even if a process is killed, the map never uses a missing file.
package struct MapFolder: Sendable {
    package let file: URL
    package let resources: URL
    /// The status of the map's file when this writer last read or wrote it. Before that, the status when this value was
    /// created. `nil` if the file didn't exist.
    package private(set) var status: FileStatus?
    /// The reserved names in the resources folder. A new file gets none of them.
    package var names = RecordedFileName.InUse()
    /// The lock of the map's folder and the resources folder, if the writer holds it as long as this value exists;
    /// `nil` if the writer takes the lock only for single steps.
    private var turn: FolderTurn?
    /// The names of the new files that no saved map uses yet.
    private var made: [String] = []
    /// The names of existing files for which new bytes are prepared.
    private var prepared: [String] = []

    package init(_ file: URL, resources: URL, turn: FolderTurn? = nil) {
        (self.file, self.resources, self.turn) = (file, resources, turn)
        status = FileStatus(path: file.path)
    }

    /// To write the entries' files.
    package var writtenResources: WrittenFolder {
        let isOwn = resources.path == file.deletingLastPathComponent().path
        return WrittenFolder(path: resources.path, role: isOwn ? .map : .resources, holdsTurn: turn != nil)
    }

    /// To write the map and a recorder's notes.
    package var writtenFolder: WrittenFolder {
        WrittenFolder(path: file.deletingLastPathComponent().path, role: .map, holdsTurn: turn != nil)
    }

    /// Whether the map's file was changed, created or removed since this writer last read or wrote it.
    package var hasChanged: Bool { FileStatus(path: file.path) != status }

    /// Reads the map, and notes its file's status for ``hasChanged``. Returns `nil` if the map's file doesn't exist.
    ///
    /// - Throws: An error if the map can't be read, isn't a JSON object, has a key twice, or needs a newer version of the
    ///   library. After an error, and if the file doesn't exist, ``hasChanged`` stays the same.
    package mutating func readDocument() throws(SubstitutionMapError) -> MapDocument? {
        guard let now = FileStatus(path: file.path) else { return nil }
        let document = try MapDocument(contentsOf: file)
        if let problem = document.versionProblem { throw SubstitutionMapError(file: file, problems: [problem]) }
        status = now
        return document
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

/// The steps of a change: files, then the map, then what the new map doesn't use.
extension MapFolder {
    /// `false` if the file is missing or can't be read.
    package func hasFile(_ name: String, _ body: Data) -> Bool {
        guard let file = try? ResourcesFolder(resources).open(name), file.status.size == body.count,
            let contents = try? file.contents()
        else { return false }
        return contents == body
    }

    /// Writes a new file to the resources folder, unless something already has its name, even a broken link. Returns
    /// whether the file was written.
    package mutating func writeNew(_ body: Data, to name: String) throws(Complaint) -> Bool {
        guard try writtenResources.writeNew(body, to: name) else { return false }
        made.append(name)
        return true
    }

    /// Writes new bytes for an existing file under a temporary name. The file gets them once the map is saved.
    package mutating func prepare(_ body: Data, for name: String) throws(Complaint) {
        try writtenResources.prepare(body, for: name)
        prepared.append(name)
    }

    /// A point in a change, to which ``undo(to:)`` can return.
    package struct Mark {
        fileprivate var made = 0
        fileprivate var prepared = 0

        package static let beginning = Mark()
    }

    package var mark: Mark { Mark(made: made.count, prepared: prepared.count) }

    /// Removes the new files and the prepared bytes that were written after a point, since no map will use them. Returns
    /// their names.
    @discardableResult
    package mutating func undo(to mark: Mark = .beginning) -> [String] {
        let (files, bytes) = (made.dropFirst(mark.made), prepared.dropFirst(mark.prepared))
        for name in files {
            writtenResources.remove(name)
            names.release(name)
        }
        for name in bytes { writtenResources.cancel(name) }
        made.removeLast(files.count)
        prepared.removeLast(bytes.count)
        return Array(files + bytes)
    }

    /// Writes the map, and then gives existing files the bytes that were prepared. If a file can't get its bytes, goes on
    /// with the others.
    ///
    /// - Returns: The files that still have their old bytes, and why.
    /// - Throws: A problem if the map can't be written. Nothing has changed then, and the change can be undone.
    @discardableResult
    package mutating func save(_ data: Data) throws(Complaint) -> [(name: String, Complaint)] {
        try writtenFolder.write(data, to: file.lastPathComponent)
        status = FileStatus(path: file.path)
        made = []
        var failed: [(name: String, Complaint)] = []
        for name in prepared {
            do throws(Complaint) {
                try writtenResources.finish(name)
            } catch {
                failed.append((name, error))
            }
        }
        prepared = []
        return failed
    }

    /// Removes files that the saved map doesn't use. Call this only after the map on disk is the new one, or is gone.
    package func removeUnused(_ unused: [String]) {
        let files = WrittenFolder.Batch(in: writtenResources)
        for name in unused.sorted() { files.remove(name) }
    }

    /// Lets other writers have the folders, before this value goes.
    package mutating func endTurn() { turn = nil }
}

extension MapFolder {
    /// Returns the folder for new files of a map whose resources folder isn't named: the folder that has the map's
    /// files now. Only if no entry can lose its file by that, it's a new folder `Substitutes` beside the map.
    ///
    /// Another map in the same folder finds its files in the same place, so its entries are taken into account.
    ///
    /// - Parameters:
    ///   - isNew: Whether the map is about to be created by a person. Then an existing folder `Resources` is probably
    ///     for something else, and isn't used unless another map uses it. By default, `false`.
    ///   - lost: The names of files that don't exist any more, so that their entries are ignored; none by default.
    package static func resources(
        of file: URL,
        isNew: Bool = false,
        without lost: @autoclosure () -> Set<String> = []
    ) -> URL {
        let now = ResourcesFolder(beside: file, or: nil)
        let canChange = isNew || now.mapName != nil
        guard canChange, !hasFiles(file, without: lost()), !otherMaps(beside: file).contains(where: hasValidFiles)
        else { return now.url }
        let name = ResourcesFolder.standardNames[0]
        return file.deletingLastPathComponent().appendingPathComponent(name, isDirectory: true)
    }

    /// Returns the files in a map's folder that may be other maps.
    package static func otherMaps(beside file: URL) -> [URL] {
        let place = file.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        return names.filter { $0.asciiLowercased.hasSuffix(".json") && $0 != file.lastPathComponent }
            .map { place.appendingPathComponent($0, isDirectory: false) }
    }

    /// Returns whether any entry of a map names a file, even an entry with mistakes.
    private static func hasFiles(_ file: URL, without lost: Set<String>) -> Bool {
        guard let document = try? MapDocument(contentsOf: file) else { return false }
        return document.values.keys.contains { key in
            !key.hasPrefix("$") && !document.files(of: key).allSatisfy(lost.contains)
        }
    }

    /// Returns whether any valid entry of a map names a file. In a JSON file that isn't a map, no entry is valid. A map that
    /// needs a newer version of the library may name files in ways that aren't known.
    private static func hasValidFiles(_ file: URL) -> Bool {
        guard let json = try? MapFile(file).json,
            let map = try? SubstitutionMap(json: Data(json), invalidEntries: .skip, handlers: .any)
        else { return false }
        return map.newerVersion != nil || map.entries.contains { $0.responding.contains { !$0.files.isEmpty } }
    }

    /// What's wrong if the resources folder has yet to be created, but one exists whose name differs only in letter case:
    /// some disks can't have both. Otherwise, `nil`.
    package var misspelling: String? {
        guard ResourcesFolder.standardNames.contains(resources.lastPathComponent) else { return nil }
        let place = resources.deletingLastPathComponent().appendingPathComponent(file.lastPathComponent)
        return ResourcesFolder(beside: place, or: nil).misspelling(of: resources.lastPathComponent)
    }
}
