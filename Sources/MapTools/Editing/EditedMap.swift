package import Foundation
import LocalSubstitution
import MapWriting

/// A map to which a command adds entries and files. The entries and files that people have added stay, unless the caller
/// asks to replace them.
///
/// New files are written immediately, each whole or not at all. New bytes for an existing file are only prepared, under
/// a temporary name. ``save()`` writes the map, and then replaces the existing files. If ``save()`` can't write the
/// map, it removes the new files and the prepared bytes.
package struct EditedMap {
    /// Whether the change is only tried out, without writing anything.
    package let isDryRun: Bool
    let entries: ForeignEntries

    private(set) var folder: MapFolder
    /// The map's text before the change; `nil` if there was no map.
    private let base: [UInt8]?
    /// The new values of entries, by key.
    private var changes: [String: String] = [:]
    /// The folded names of the files that this change's entries use.
    private var taken: Set<String> = []
    /// For each first candidate of a name, how many of the first candidates this change has used.
    private var takenCandidates: [String: Int] = [:]
    /// The bytes of the files that this change has written, by name.
    private var bodies: [String: Data] = [:]
    /// Read at first use.
    private lazy var otherMaps = NamedFiles.ofOtherMaps(beside: folder.file)

    /// Reads a map, or begins one if the file doesn't exist. The files that the map uses stay as they are.
    ///
    /// - Parameters:
    ///   - file: The map's file. The call waits, at most 30 seconds, while other commands change a map in the same
    ///     folder, or files in the resources folder. Then it removes the files that killed commands left in these
    ///     folders, except in a dry run.
    ///   - resources: The map's resources folder, which is created when a file is written.
    ///   - isDryRun: Whether to try out the change without writing anything; `false` by default.
    ///   - onWait: Called with a sentence to show if the call waits longer than a second.
    /// - Throws: `SubstitutionMapError` if the map has problems. `Complaint` if its folder
    ///   can't be used.
    package init(
        _ file: URL,
        resources: URL,
        isDryRun: Bool = false,
        onWait: (String) -> Void = { _ in }
    ) throws {
        let named = file
        let isFound = ResourcesFolder(beside: named, or: nil).path == resources.path
        let isOwn = named.deletingLastPathComponent().path == resources.path
        // The map's own folder can be a symbolic link. A folder beside the map can't.
        let resources = isOwn ? resources.resolvingSymlinksInPath() : resources
        // If the map's path is a symbolic link, replaces the file that the link leads to, not the link.
        let file = file.resolvingSymlinksInPath()
        let place = file.deletingLastPathComponent()
        if !isDryRun { try Self.makeFolder(place) }
        self.isDryRun = isDryRun
        let turn = try FolderTurn(place, resources, limit: 30, onWait: onWait)
        folder = MapFolder(file, resources: resources, turn: turn)
        if let misspelling = folder.misspelling { throw Complaint(printable: misspelling) }
        if folder.status == nil {
            base = nil
        } else {
            // The folder that's found needn't be named. Then a missing file's problem says where the file is.
            let map = try SubstitutionMap(checking: isFound ? named : file, resources: isFound ? nil : resources)
            let problems = map.problems.filter { isFound || $0.kind != .noResources }
            guard problems.isEmpty else { throw SubstitutionMapError(file: file, problems: problems) }
            base = try MapFile(file).json
        }
        entries = ForeignEntries(
            try base.map { try MapDocument(json: $0, file: file) } ?? MapDocument(),
            resources: resources
        )
        let leftovers = folder.takeNames()
        guard !isDryRun else { return }
        folder.writtenFolder.cancel(file.lastPathComponent)
        for name in leftovers { written.remove(name) }
    }

    var written: WrittenFolder { folder.writtenResources }

    /// Returns an entry's value as it will be saved; `nil` if the map has no entry with this key.
    func value(of key: String) -> String? { changes[key] ?? entries.document.values[key] }

    mutating func set(_ key: String, to value: String) {
        changes[key] = value
    }

    /// `false` if the file is missing or can't be read.
    func hasFile(_ name: String, _ body: Data) -> Bool {
        if let known = bodies[name] { return known == body }
        return folder.hasFile(name, body)
    }

    /// Writes a body under the first free name, or reuses a file that has the same body and that no entry uses. Returns
    /// the name.
    ///
    /// - Parameter own: The files of the answers that are replaced; none by default. If one of these files already has
    ///   this body, or may be overwritten, the body gets that file.
    mutating func write(
        _ body: Data,
        as name: RecordedFileName,
        over own: [String] = []
    ) throws(Complaint) -> String {
        if let file = own.first(where: { !isTaken($0) && hasFile($0, body) }) {
            markTaken(file)
            return file
        }
        for file in own where isOnlyUse(file) {
            try write(body, to: file)
            markTaken(file)
            return file
        }
        // Skips the names of earlier bodies for the same URL. There may be thousands.
        let first = name.candidate(0)
        var number = takenCandidates[first, default: 0]
        while isTaken(name.candidate(number)) { number += 1 }
        takenCandidates[first] = number
        while true {
            let candidate = name.candidate(number)
            number += 1
            let free = folder.names.take(candidate)
            if free == nil || isDryRun, reuse(candidate, for: body) { return candidate }
            guard let free else { continue }
            do throws(Complaint) {
                if try writeNew(body, to: free) {
                    markTaken(free)
                    return free
                }
            } catch {
                // Files aren't written through a symbolic link, but they're read through it.
                guard reuse(candidate, for: body) else { throw error }
                return candidate
            }
            // Another program has just created a file with this name.
            if reuse(candidate, for: body) { return candidate }
        }
    }

    /// The names of the files for the bodies of a URL's responses, by request and body. If a request got the same body
    /// several times, its responses share a file.
    typealias WrittenBodies = [RecordedExchange.Request: [Data: String]]

    /// Writes the body of a response and adds its file to `bodies`, unless `bodies` already has this body for the same
    /// request. Returns the file's name.
    ///
    /// - Parameter own: The files of the answers that are replaced; none by default. One of them may be reused or
    ///   overwritten.
    mutating func write(
        _ exchange: RecordedExchange,
        as name: RecordedFileName,
        over own: [String] = [],
        unlessIn bodies: inout WrittenBodies
    ) throws(Complaint) -> String {
        let body = exchange.response.body
        if let file = bodies[exchange.request]?[body] { return file }
        let file = try write(body, as: name, over: own)
        bodies[exchange.request, default: [:]][body] = file
        return file
    }

    /// Marks a file as used by this change, if the file has this body and no entry uses it. Returns whether
    /// the file was marked.
    private mutating func reuse(_ name: String, for body: Data) -> Bool {
        guard !entries.files.contains(name), !isTaken(name), hasFile(name, body) else { return false }
        markTaken(name)
        return true
    }

    /// Writes a body to a file with this name. If the file exists, only prepares the new bytes. They replace the old
    /// ones when the map is saved.
    mutating func write(_ body: Data, to name: String) throws(Complaint) {
        guard try !writeNew(body, to: name), !isDryRun else { return }
        try folder.prepare(body, for: name)
        bodies[name] = body
    }

    /// Writes a body to a new file, unless something already has its name. Returns whether the name was free.
    private mutating func writeNew(_ body: Data, to name: String) throws(Complaint) -> Bool {
        guard !isDryRun else { return !written.contains(name) }
        try Self.makeFolder(folder.resources)
        guard try folder.writeNew(body, to: name) else { return false }
        bodies[name] = body
        return true
    }

    // MARK: Who uses a file

    /// Whether an entry of this change uses the file.
    private func isTaken(_ name: String) -> Bool { taken.contains(RecordedFileName.InUse.folded(name)) }

    private mutating func markTaken(_ name: String) {
        taken.insert(RecordedFileName.InUse.folded(name))
    }

    /// Returns whether a file may be replaced along with the one entry that uses it. That's so if the map names the
    /// file only once, this change can use the file, and no other map in the folder names the file.
    mutating func isOnlyUse(_ name: String) -> Bool {
        entries.files.containsOnce(name) && !isTaken(name) && !isNamedElsewhere(name)
    }

    /// Returns whether another map in the folder names a file, or may name it in ways that aren't known.
    mutating func isNamedElsewhere(_ name: String) -> Bool { otherMaps.contains { $0.contains(name) } }

    // MARK: Saving

    /// Writes the map if the new text can be loaded, and then replaces existing files.
    ///
    /// - Throws: `SubstitutionMapError` if the new text can't be loaded. `Complaint` if the map has changed or
    ///   something can't be written. The map is then unchanged, unless the error says that it's saved.
    package mutating func save() throws {
        let failed: [(name: String, Complaint)]
        do {
            failed = try saveMap()
        } catch {
            removeFiles()
            throw error
        }
        // The next change tries again, since it no longer finds these bytes.
        for (name, _) in failed { bodies[name] = nil }
        guard let (_, first) = failed.first else { return }
        let files = failed.count == 1 ? "a file still has its" : "\(failed.count.grouped) files still have their"
        throw Complaint(printable: "The map is saved, but \(files) old bytes. \(first) Run the command again.")
    }

    /// Returns the files that still have their old bytes, although the map is saved.
    private mutating func saveMap() throws -> [(name: String, Complaint)] {
        guard !isDryRun, !changes.isEmpty || folder.status == nil else { return [] }
        try Self.makeFolder(folder.resources)
        let data = MapDocument.data(of: base ?? [], changing: changes)
        _ = try SubstitutionMap(json: data, of: folder.file, resources: folder.resources)
        guard !folder.hasChanged else { throw Self.changed(folder.file) }
        return try folder.save(data)
    }

    /// Calls a closure that changes entries and writes their files. If the closure throws, removes the files that it
    /// wrote, since no entry uses them.
    mutating func undoing<Value>(
        _ body: (inout Self) throws(Complaint) -> Value
    ) throws(Complaint) -> Value {
        let mark = folder.mark
        do throws(Complaint) {
            return try body(&self)
        } catch {
            removeFiles(to: mark)
            throw error
        }
    }

    /// Removes new files and prepared replacements after an error, back to a point in the change.
    mutating func removeFiles(to mark: MapFolder.Mark = .beginning) {
        for name in folder.undo(to: mark) {
            taken.remove(RecordedFileName.InUse.folded(name))
            bodies[name] = nil
        }
        takenCandidates = [:]
    }

    private static func changed(_ file: URL) -> Complaint {
        Complaint(
            printable:
                "Another program changed the map “\(file.path)” during the command, so nothing was saved. Run the command again."
        )
    }

    static func makeFolder(_ folder: URL) throws(Complaint) {
        if FileStatus(path: folder.path)?.kind == .folder { return }
        if let file = WrittenFolder.fileInPlace(of: folder) {
            throw Complaint(
                printable: "The folder “\(folder.path)” can't be created, since “\(file)” is a file. "
                    + "Use another folder, or move the file."
            )
        }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw Complaint(
                printable: "The folder “\(folder.path)” can't be created: \(error.localizedDescription.sentence) "
                    + "Create it, or use another folder."
            )
        }
    }
}
