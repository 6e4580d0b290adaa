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
    /// The entries to write.
    private(set) var document: MapDocument
    let keepsEntries: Bool
    /// The entries that stay, to begin a later writing of the same test with them.
    package let beginning: Beginning
    private let file: URL
    private let folder: URL
    /// The lock of both folders until the recording is saved. Another process that records the same test waits for it.
    private var turn: FolderTurn?
    /// The names in use in the folder.
    private var names = RecordedFileName.InUse()
    /// The bodies to write, by their files' names.
    private var bodies: [String: Data] = [:]
    /// The names of the files that ``save()`` has written.
    private var made: [String] = []

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
        (self.file, self.folder, self.keepsEntries) = (file, folder, keepsEntries)
        let parent = file.deletingLastPathComponent()
        try EditedMap.makeFolder(parent)
        turn = try FolderTurn(parent, folder, limit: 30)
        var read: MapDocument?
        if FileStatus(path: file.path) != nil {
            do throws(SubstitutionMapError) {
                let document = try MapDocument(contentsOf: file)
                if let problem = document.versionProblem { throw SubstitutionMapError(file: file, problems: [problem]) }
                read = document
            } catch {
                throw Self.unusable(file, error)
            }
        }
        old = read.map { ForeignEntries($0, resources: folder) }
        self.beginning = beginning ?? Beginning(document: keepsEntries ? read ?? MapDocument() : MapDocument())
        document = self.beginning.document
        for name in ResourcesFolder(folder).names(limit: .max) {
            if WrittenFolder.isLeftover(name) { writtenFolder.remove(name) } else { names.insert(name) }
        }
        writtenParent.cancel(file.lastPathComponent)
    }

    /// The entries with which a recording run began.
    package struct Beginning: Sendable {
        fileprivate let document: MapDocument
    }

    /// Returns the error of a recording that can't be read.
    package static func unusable(_ file: URL, _ error: SubstitutionMapError) -> Complaint {
        Complaint(printable: "\(error)\nThe recording can't be used. Delete “\(file.path)”, and record the test again.")
    }

    /// Whether there's a recording on disk.
    package var isReplacing: Bool { old != nil }

    /// Whether there's no entry to write.
    package var isEmpty: Bool { !document.values.keys.contains { !$0.hasPrefix("$") } }

    private var writtenFolder: WrittenFolder { WrittenFolder(path: folder.path, holdsTurn: true) }

    private var writtenParent: WrittenFolder {
        WrittenFolder(path: file.deletingLastPathComponent().path, role: .map, holdsTurn: true)
    }

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
                } else if hasFile(name, body) {
                    return name
                } else if let free = names.take(name) {
                    bodies[free] = body
                    return free
                }
            }
            number += 1
        }
    }

    /// Returns whether a file in the recording's folder has these bytes.
    func hasFile(_ name: String, _ body: Data) -> Bool {
        guard let file = try? ResourcesFolder(folder).open(name), file.status.size == body.count,
            let contents = try? file.contents()
        else { return false }
        return contents == body
    }

    /// Writes the recording, and removes the files that it doesn't use. Removes the recording if it has no entries.
    ///
    /// - Throws: An error if the new map would be invalid, or something can't be written. The old recording is then
    ///   unchanged.
    package mutating func save() throws(Complaint) {
        defer { turn = nil }
        do throws(Complaint) {
            if isEmpty {
                try removeMap()
            } else {
                try write()
            }
        } catch {
            for name in made { writtenFolder.remove(name) }
            removeEmptyFolders(of: made)
            throw error
        }
        removeUnused()
    }

    private func removeMap() throws(Complaint) {
        guard old != nil else { return }
        writtenParent.remove(file.lastPathComponent)
        // The map still names its bodies, so they stay, too.
        guard FileStatus(path: file.path) == nil else {
            throw Complaint(printable: "“\(file.path)” can't be removed. Allow this user to write to its folder.")
        }
    }

    private mutating func write() throws(Complaint) {
        let data = document.data
        // A process that had the lock before may have removed the folder, since it was empty.
        try EditedMap.makeFolder(file.deletingLastPathComponent())
        do {
            for (name, body) in bodies.sorted(by: { $0.key < $1.key }) {
                guard try writtenFolder.writeNew(body, to: name) else {
                    throw WrittenFolder.Problem(name: name, code: EEXIST)
                }
                made.append(name)
            }
            _ = try SubstitutionMap(json: data, resources: folder, handlers: .any)
            try writtenParent.write(data, to: file.lastPathComponent)
        } catch let error as WrittenFolder.Problem {
            throw Complaint(printable: error.message)
        } catch {
            throw Complaint(printable: "\(error)")
        }
    }

    /// Removes the files that no entry names, and then the folders that are empty.
    private func removeUnused() {
        let used = ForeignEntries(document, resources: folder)
        let unused = ResourcesFolder(folder).names(limit: .max).filter { !used.names($0) }
        for name in unused { writtenFolder.remove(name) }
        removeEmptyFolders(of: unused)
    }

    private func removeEmptyFolders(of names: [String]) {
        let inner = Set(names.flatMap { ResourcesFolder.folders(of: $0) }).sorted { $0.utf8.count > $1.utf8.count }
        for name in inner { rmdir("\(folder.path)/\(name)") }
        let parent = file.deletingLastPathComponent()
        for outer in [folder, parent, parent.deletingLastPathComponent()] { rmdir(outer.path) }
    }
}
