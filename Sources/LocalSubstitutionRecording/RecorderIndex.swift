import Foundation
import LocalSubstitution
import MapWriting

/// What a recorder knows about its folder, and what it has yet to write there.
struct RecorderIndex: Sendable {
    /// The changes that aren't in the folder yet.
    struct Unsaved: Sendable {
        /// Whether the notes have changed. Every other change also changes the notes, so this is `true` for any change.
        var isNotes = false
        var isMap = false
        /// The names of files that no entry uses any more. The files are removed once the map on disk doesn't use them
        /// either.
        var removed: Set<String> = []

        mutating func formUnion(_ other: Self) {
            isMap = isMap || other.isMap
            isNotes = isNotes || other.isNotes
            removed.formUnion(other.removed)
        }
    }

    /// The kept responses, by canonical URL.
    private(set) var responses: [String: Response]
    /// The entries that the recorder didn't write.
    private(set) var foreign: ForeignEntries
    /// The total size of all kept responses' files, in bytes.
    private(set) var bytes: Int
    var unsaved: Unsaved

    /// The date of the newest response, in milliseconds since 1970.
    private var lastStamp: Int
    private var ages: NamesByAge

    /// Creates the index of a folder.
    ///
    /// - Parameter responses: The responses in the folder, by canonical URL. Their dates decide which
    ///   are dropped first.
    init(_ responses: [String: Response], _ foreign: ForeignEntries, unsaved: Unsaved) {
        self.responses = responses
        self.foreign = foreign
        self.unsaved = unsaved
        bytes = responses.values.reduce(0) { $0 + $1.notes.bytes }
        let items = responses.map { (name: $0.key, stamp: $0.value.notes.date) }
            .sorted { ($0.stamp, $0.name) < ($1.stamp, $1.name) }
        ages = NamesByAge(items)
        // A date in the future doesn't count here. Each new date is later than `lastStamp`, so all new dates would be
        // in the future, too.
        lastStamp = min(items.last?.stamp ?? 0, Self.now)
    }

    /// The file names of all responses, folded: see `RecordedFileName.InUse.folded(_:)`.
    var filesInUse: Set<String> { Set(responses.values.map { RecordedFileName.InUse.folded($0.notes.file) }) }

    /// Keeps a response for a canonical URL, in place of an earlier one.
    mutating func put(_ response: Response, for url: String) {
        let old = responses[url]
        if let old, old.notes.file != response.notes.file { unsaved.removed.insert(old.notes.file) }
        bytes += response.notes.bytes - (old?.notes.bytes ?? 0)
        responses[url] = response
        stamp(url)
        if old?.text != response.text { unsaved.isMap = true }
    }

    /// Notes that the kept response for a canonical URL is still current, which makes it the newest. Does nothing if
    /// there's no kept response.
    mutating func confirm(_ url: String) {
        if responses[url] != nil { stamp(url) }
    }

    /// Drops the response for a canonical URL. Does nothing if there's no response.
    mutating func drop(_ url: String) {
        guard let old = responses.removeValue(forKey: url) else { return }
        bytes -= old.notes.bytes
        unsaved.formUnion(Unsaved(isNotes: true, isMap: true, removed: [old.notes.file]))
    }

    /// Drops the oldest responses until the total size is within a limit, in bytes.
    ///
    /// - Parameter sparesNewest: Whether to keep the newest response even if it alone exceeds the limit.
    mutating func trim(to limit: Int, sparesNewest: Bool) {
        while bytes > limit, responses.count > (sparesNewest ? 1 : 0),
            let oldest = ages.popFirst(where: { responses[$0]?.notes.date == $1 })
        {
            drop(oldest)
        }
    }

    /// Adopts the entries of a map that people edited.
    ///
    /// - Parameter urls: The URLs whose entries people added, changed or removed. The recorder drops its responses for
    ///   these URLs, and removes the files that no entry uses.
    mutating func adopt(_ foreign: ForeignEntries, dropping urls: some Sequence<String>) {
        self.foreign = foreign
        for url in urls { drop(url) }
        // The map is written again, with people's changes and the recorder's own.
        unsaved.formUnion(Unsaved(isNotes: true, isMap: true))
    }

    /// Sets a response's date to the current time, or to 1 ms after the newest date if the clock is behind that.
    private mutating func stamp(_ url: String) {
        lastStamp = max(lastStamp + 1, Self.now)
        responses[url]?.notes.date = lastStamp
        ages.append(url, stamp: lastStamp, of: responses.count) { responses[$0]?.notes.date == $1 }
        unsaved.isNotes = true
    }

    /// The current time in milliseconds since 1970.
    static var now: Int { Int(FileStatus.now / 1_000_000) }
}

extension RecorderIndex {
    /// A response in a recorder's folder.
    struct Response: Sendable {
        let entry: Entry
        /// The entry's value in the map, as JSON.
        let text: String
        fileprivate(set) var notes: Notes

        init(_ recorded: WrittenEntry, _ notes: Notes) {
            (entry, text, self.notes) = (recorded.entry, recorded.text, notes)
        }
    }

    /// What a recorder notes about a response in `recorder.json`, beside its map.
    struct Notes: Decodable, Sendable {
        /// The file's name in the resources folder.
        let file: String
        let bytes: Int
        /// The body's digest; `nil` if it isn't known, for example because the file was edited.
        let digest: String?
        /// The server's validators for the body. `nil` if the server sent none, or if they don't describe the file, for
        /// example because the file was edited.
        let etag: String?
        let lastModified: String?
        /// Whether a redirect led to the response; `nil` counts as `false`.
        let redirected: Bool?
        /// When the response was recorded or last confirmed, in milliseconds since 1970. If the notes were
        /// lost, when its file was last modified.
        var date: Int

        fileprivate var text: String {
            var members = [("file", JSONText.string(file)), ("bytes", String(bytes)), ("date", String(date))]
            if let digest { members.append(("digest", JSONText.string(digest))) }
            if let etag { members.append(("etag", JSONText.string(etag))) }
            if let lastModified { members.append(("lastModified", JSONText.string(lastModified))) }
            if redirected == true { members.append(("redirected", "true")) }
            return JSONText.object(members)
        }
    }

    static let notesName = "recorder.json"

    /// Reads the notes in a folder, by canonical URL. Returns `nil` if the file with the notes is missing or damaged.
    static func notes(in folder: URL) -> [String: Notes]? {
        struct Contents: Decodable {
            let responses: [String: Notes]
        }
        let path = folder.appendingPathComponent(notesName, isDirectory: false).path
        return try? JSONDecoder().decode(Contents.self, from: OpenedFile(path: path).contents()).responses
    }

    /// The contents of the notes' file.
    var notesData: Data {
        let texts = JSONText.lines(responses.mapValues(\.notes.text), indent: "  ")
        return Data((JSONText.lines(["responses": texts]) + "\n").utf8)
    }
}

/// Reads a recorder's folder, and distinguishes the recorder's own entries from those that people wrote.
extension RecorderIndex {
    /// Checks that a folder is writable, and reads it. Removes the files that a killed recorder or command left there,
    /// and reserves the names of all other files. Throws an error if the folder isn't writable or its map is broken.
    init(reading map: inout MapFolder, in folder: URL) throws(SubstitutionRecorderError) {
        // Waits for commands, which still need their temporary files.
        let turn = try? FolderTurn(folder, map.resources)
        defer { withExtendedLifetime(turn) {} }
        do throws(WrittenFolder.Problem) {
            try map.writtenFolder.checkIsWritable()
            try map.writtenResources.checkIsWritable()
        } catch {
            throw SubstitutionRecorderError(.unwritable, folder, "isn't writable. \(error.message)")
        }
        let found = try Self.document(of: &map, in: folder)
        let document = found ?? MapDocument()
        let notes = Self.notes(in: folder)
        let journal = RecordingJournal.names(in: folder)
        let files = ResourcesFolder(map.resources)
        let journaled = Set(journal)
        let defaults = document.defaults
        var others = document
        var unsaved = Unsaved(isNotes: found == nil || !journal.isEmpty, isMap: found == nil)
        var responses: [String: Response] = [:]
        for (key, text) in document.values {
            guard let (url, fields, file) = Self.plain(key, in: document, defaults: defaults) else { continue }
            let old = notes?[key].flatMap { $0.file == file ? $0 : nil }
            let isNoted = old != nil || journaled.contains(file)
            let isOfItsHost = file.hasPrefix(RecordedFileName.hostFolder(of: url) + "/")
            guard isNoted || (notes == nil && isOfItsHost) else { continue }
            guard let status = FileStatus(path: files.path(of: file)), status.kind == .regular else {
                // An entry without its file would make the whole map invalid. The recorder drops only
                // entries that it surely wrote.
                if isNoted {
                    others.values[key] = nil
                    unsaved.formUnion(Unsaved(isNotes: true, isMap: true))
                }
                continue
            }
            others.values[key] = nil
            let entry = WrittenEntry(fields, text: text, url: url, defaults: defaults)
            responses[key] = Response(entry, Notes(on: file, status, old: old))
        }
        if notes?.contains(where: { responses[$0.key]?.notes.file != $0.value.file }) ?? true {
            unsaved.isNotes = true
        }
        let foreign = ForeignEntries(others, resources: map.resources)
        self.init(responses, foreign, unsaved: unsaved)

        let inUse = filesInUse
        var orphans = journal.filter { !inUse.contains(RecordedFileName.InUse.folded($0)) && !foreign.names($0) }
        orphans += map.takeNames(except: Set(orphans))
        for response in responses.values { map.names.insert(response.notes.file) }
        for name in orphans { map.writtenResources.remove(name) }
        for name in [RecorderFolder.mapName, Self.notesName] { map.writtenFolder.cancel(name) }
        WrittenFolder(path: folder.path, role: .map, holdsTurn: true).cancel(RecorderFolder.mapName)
    }

    /// Reads a folder's map. Returns `nil` if the folder has no map. Throws an error if the map can't be used.
    static func document(of map: inout MapFolder, in folder: URL) throws(SubstitutionRecorderError) -> MapDocument? {
        do throws(SubstitutionMapError) {
            return try map.readDocument()
        } catch {
            let message = "has a map that can't be used. \(advice(on: error))"
            throw SubstitutionRecorderError(.unreadableMap, folder, message)
        }
    }

    /// Returns a sentence that asks to correct the map, and lists its problems on one line.
    static func advice(on error: SubstitutionMapError) -> String {
        "Correct it: \("\(error)".replacingOccurrences(of: "\n", with: " "))"
    }

    /// Returns the URL, fields and file of an entry that a recorder could have written. Returns `nil` for any other
    /// entry: its key isn't exact and canonical, it has no file, or it has a field that a recorder doesn't write.
    private static func plain(
        _ key: String,
        in document: MapDocument,
        defaults: EntryFields
    ) -> (NormalizedURL, EntryFields, String)? {
        guard !MapKey.isPattern(key), let url = try? NormalizedURL(key: key), url.canonical == key,
            let fields = document.fields(of: key), let file = fields.file, FileName(text: file).problem == nil,
            [nil, .secondsPerEvent(0)].contains(fields.pace),
            document.fieldNames(of: key).allSatisfy(WrittenEntry.fieldNames.contains)
        else { return nil }
        let options = Entry.Options(fields.merged(withDefaults: defaults))
        guard RecordingRules.statuses.contains(options.status), options.use == .always, options.isEnabled,
            options.ignoreQuery == nil,
            options.methods == ["GET"]
        else { return nil }
        return (url, fields, file)
    }
}

extension RecorderIndex.Notes {
    /// Creates the notes on a file that was found in the folder.
    ///
    /// - Parameter old: The last recorder's notes on the file; `nil` if there are none.
    fileprivate init(on file: String, _ status: FileStatus, old: Self?) {
        // If the file has another size than in the old notes, it was edited, so the server's validators don't describe
        // it.
        let old = old?.bytes == status.size ? old : nil
        let valid = { (value: String?) in
            value.flatMap { HTTPSyntax.problem(ofHeader: "ETag", value: $0) == nil ? $0 : nil }
        }
        self.init(
            file: file,
            bytes: status.size,
            digest: old?.digest,
            etag: valid(old?.etag),
            lastModified: valid(old?.lastModified),
            redirected: old?.redirected,
            date: min(max(old?.date ?? Int(status.modified / 1_000_000), 0), RecorderIndex.now)
        )
    }
}
