package import Foundation
package import LocalSubstitution
import MapWriting

/// A test's recording: a map that's written whole, and a folder beside it with the bodies that its entries name.
///
/// The bodies are written first, the map next, and at last, what the new map doesn't use is removed. So if the process is
/// killed, the old recording is whole.
package struct RecordedMap {
    /// The recording on disk; `nil` if there's none.
    let old: ForeignEntries?
    private(set) var document: MapDocument
    let keepsEntries: Bool
    /// A later writing of the same test begins with these entries.
    package let beginning: Beginning
    /// The map's file and the folder with the bodies. Both are locked until the recording is saved. Another process that
    /// records the same test waits for that.
    private(set) var folder: MapFolder
    /// The bodies to write, by their files' names.
    private var bodies: [String: Data] = [:]

    /// Reads a recording, or begins one if the file doesn't exist.
    ///
    /// - Parameters:
    ///   - file: The map's file. Its folder is created if it doesn't exist.
    ///   - folder: The folder with the bodies.
    ///   - keepsEntries: Whether the entries on disk stay. If `false`, ``save()`` replaces them all.
    ///   - beginning: The entries that stay instead of those on disk; `nil`, the default, if this test hasn't written the
    ///     recording yet.
    /// - Throws: An error if the recording can't be read, or if its folder can't be used.
    package init(
        _ file: URL,
        bodies folder: URL,
        keepsEntries: Bool,
        since beginning: Beginning? = nil
    ) throws(Complaint) {
        self.keepsEntries = keepsEntries
        let parent = file.deletingLastPathComponent()
        try EditedMap.makeFolder(parent)
        self.folder = MapFolder(file, resources: folder, turn: try FolderTurn(parent, folder, limit: 30))
        let read: MapDocument?
        do throws(SubstitutionMapError) {
            read = try self.folder.readDocument()
        } catch {
            throw Self.unusable(file, error)
        }
        old = read.map { ForeignEntries($0, resources: folder) }
        self.beginning = beginning ?? Beginning(document: keepsEntries ? read ?? MapDocument() : MapDocument())
        document = self.beginning.document
        for name in self.folder.takeNames() { self.folder.writtenResources.remove(name) }
        self.folder.writtenFolder.cancel(file.lastPathComponent)
    }

    /// The entries with which a recording run began.
    package struct Beginning: Sendable {
        fileprivate let document: MapDocument
    }

    package static func unusable(_ file: URL, _ error: SubstitutionMapError) -> Complaint {
        let advice = "The recording can't be used. Delete “\(file.path)”, and record the test again.".printable
        // The error's lines are printable already.
        return Complaint("\(error)\n\(advice)")
    }

    package var isReplacing: Bool { old != nil }

    package var isEmpty: Bool { !document.values.keys.contains { !$0.hasPrefix("$") } }

    mutating func set(_ key: String, to value: String) { document.values[key] = value }

    /// Returns the name of the file that has, or will have, a body: the first one of these that's free, or whose file has
    /// the same bytes.
    mutating func take(_ body: Data, as choices: [RecordedFileName]) -> String {
        var number = 0
        while true {
            for choice in choices {
                let name = choice.candidate(number)
                if let known = bodies[name] {
                    if known == body { return name }
                } else if folder.hasFile(name, body) {
                    return name
                } else if let free = folder.names.take(name) {
                    bodies[free] = body
                    return free
                }
            }
            number += 1
        }
    }

    /// Writes the recording, and removes the files that it doesn't use. Removes the recording if it has no entries.
    ///
    /// - Throws: An error if the new map would be invalid, or something can't be written. The old recording is then
    ///   unchanged.
    package mutating func save() throws(Complaint) {
        defer { folder.endTurn() }
        do throws(Complaint) {
            if isEmpty {
                try removeMap()
            } else {
                try write()
            }
        } catch {
            removeEmptyFolders(of: folder.undo())
            throw error
        }
        // Removes the files that no entry names, and then the empty folders.
        let used = NamedFiles(document)
        let unused = ResourcesFolder(folder.resources).names(limit: .max).filter { !used.contains($0) }
        folder.removeUnused(unused)
        removeEmptyFolders(of: unused)
    }

    private func removeMap() throws(Complaint) {
        guard old != nil else { return }
        folder.writtenFolder.remove(folder.file.lastPathComponent)
        // The map still names its bodies, so they stay, too.
        guard FileStatus(path: folder.file.path) == nil else {
            throw Complaint(
                printable: "“\(folder.file.path)” can't be removed. Allow this user to write to its folder."
            )
        }
    }

    private mutating func write() throws(Complaint) {
        let data = document.data
        // A process that had the lock before may have removed the folder, since it was empty.
        try EditedMap.makeFolder(folder.file.deletingLastPathComponent())
        for (name, body) in bodies.sorted(by: { $0.key < $1.key }) {
            guard try folder.writeNew(body, to: name) else { throw .unwritableFile(name, EEXIST) }
        }
        do throws(SubstitutionMapError) {
            _ = try SubstitutionMap(json: data, resources: folder.resources, handlers: .any)
        } catch {
            // Its lines are printable already.
            throw Complaint("\(error)")
        }
        try folder.save(data)
    }

    private func removeEmptyFolders(of names: [String]) {
        let path = folder.resources.path
        let inner = Set(names.flatMap { ResourcesFolder.folders(of: $0) }).sorted { $0.utf8.count > $1.utf8.count }
        for name in inner { rmdir("\(path)/\(name)") }
        let parent = folder.file.deletingLastPathComponent()
        for outer in [path, parent.path, parent.deletingLastPathComponent().path] { rmdir(outer) }
    }
}
