import Foundation
import HTTPSyntax
import LocalSubstitution
import MapWriting

/// What a recorder knows about its folder, and what it has yet to write there.
struct RecorderIndex: Sendable {
    /// The changes that aren't in the folder yet.
    struct Unsaved: Sendable {
        /// Every other change also changes the notes, so this is `true` for any change.
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

    /// By canonical URL.
    private(set) var responses: [String: Representations]
    private(set) var foreign: ForeignEntries
    /// The total size of all responses' files, in bytes.
    private(set) var bytes: Int
    private var count: Int
    var unsaved: Unsaved
    /// The responses in the folder when the recorder opened it, by canonical URL, for those URLs whose responses were
    /// replaced or dropped since; `nil` for a URL without one.
    private var originals: [String: Representations?] = [:]

    /// The date of the newest response, in milliseconds since 1970.
    private var lastStamp: Int
    private var ages: NamesByAge

    /// - Parameter responses: The responses in the folder, by canonical URL. Their dates decide which are dropped
    ///   first.
    init(_ responses: [String: Representations], _ foreign: ForeignEntries, unsaved: Unsaved) {
        self.responses = responses
        self.foreign = foreign
        self.unsaved = unsaved
        bytes = responses.values.reduce(0) { $0 + $1.bytes }
        count = responses.values.reduce(0) { $0 + $1.all.count }
        let items = responses.flatMap { url, found in found.all.map { (name: url, stamp: $0.notes.date) } }
            .sorted { ($0.stamp, $0.name) < ($1.stamp, $1.name) }
        ages = NamesByAge(items)
        // A date in the future is ignored. Each new date is later than `lastStamp`, so all new dates would be in the
        // future, too.
        lastStamp = min(items.last?.stamp ?? 0, Self.now)
    }

    /// The file names of all responses, folded: see `RecordedFileName.InUse.folded(_:)`.
    private var filesInUse: Set<String> {
        Set(responses.values.flatMap { $0.files.map { RecordedFileName.InUse.folded($0) } })
    }

    /// Returns the files among these that no entry uses, neither of this map nor of another map in its folder.
    func unused(_ files: some Collection<String>, in map: MapFolder) -> [String] {
        guard !files.isEmpty else { return [] }
        let inUse = filesInUse
        let unused = files.filter { !inUse.contains(RecordedFileName.InUse.folded($0)) && !foreign.files.contains($0) }
        // The other maps are read only if a file would go.
        guard !unused.isEmpty else { return [] }
        let others = NamedFiles.ofOtherMaps(beside: map.file, except: Self.notesName)
        return unused.filter { name in !others.contains { $0.contains(name) } }
    }

    /// How many of the responses are new, or have changed since the recorder opened the folder.
    var newOrChanged: Int {
        originals.reduce(0) { $0 + (responses[$1.key]?.newOrChanged(since: $1.value) ?? 0) }
    }

    /// - Parameter url: The canonical URL, whose earlier response to the same request is replaced.
    /// - Returns: Whether the oldest response to another request for the URL was dropped, since there were too many.
    mutating func put(_ response: Response, for url: String, to headers: [String: String]) -> Bool {
        var response = response
        response.notes.date = nextStamp()
        var hasDropped = false
        change(url) { hasDropped = $0.put(response, to: headers) }
        noteAge(of: url, response.notes.date)
        return hasDropped
    }

    /// Notes that the recorded response to a request for a canonical URL is still current, which makes it the newest.
    /// Does nothing if there's none.
    mutating func confirm(_ url: String, for headers: [String: String]) {
        guard let file = responses[url]?.recorded(for: headers)?.notes.file else { return }
        let stamp = nextStamp()
        responses[url]?.setDate(stamp, of: file)
        noteAge(of: url, stamp)
    }

    /// Does nothing if the canonical URL has no response with this file.
    mutating func drop(_ url: String, file: String?) {
        guard let file, responses[url]?.files.contains(file) == true else { return }
        change(url) { $0.drop(file) }
    }

    /// Changes the responses to a canonical URL, and notes what has to be written for that.
    private mutating func change(_ url: String, _ body: (inout Representations) -> Void) {
        if originals[url] == nil { originals.updateValue(responses[url], forKey: url) }
        let old = responses[url] ?? Representations()
        var new = old
        body(&new)
        responses[url] = new.all.isEmpty ? nil : new
        bytes += new.bytes - old.bytes
        count += new.all.count - old.all.count
        unsaved.formUnion(
            Unsaved(isNotes: true, isMap: new.text != old.text, removed: old.files.subtracting(new.files))
        )
    }

    /// Drops the oldest responses until the total size is within a limit, in bytes.
    ///
    /// - Parameter sparesNewest: Whether the newest response stays even if it alone exceeds the limit.
    mutating func trim(to limit: Int, sparesNewest: Bool) {
        while bytes > limit, count > (sparesNewest ? 1 : 0),
            let url = ages.popFirst(where: { responses[$0]?.has($1) == true })
        {
            drop(url, file: responses[url]?.oldest?.notes.file)
        }
    }

    /// Adopts the entries of a map that people edited.
    ///
    /// - Parameter urls: The URLs whose entries people added, changed or removed. The recorder drops its responses for
    ///   these URLs, and removes the files that no entry uses.
    mutating func adopt(_ foreign: ForeignEntries, dropping urls: some Sequence<String>) {
        self.foreign = foreign
        for url in urls {
            for file in responses[url]?.files ?? [] { drop(url, file: file) }
        }
        // The map is written again, with people's changes and the recorder's own.
        unsaved.formUnion(Unsaved(isNotes: true, isMap: true))
    }

    /// Returns a response's new date: the current time, or 1 ms after the newest date if the clock is behind that.
    private mutating func nextStamp() -> Int {
        lastStamp = max(lastStamp + 1, Self.now)
        return lastStamp
    }

    private mutating func noteAge(of url: String, _ stamp: Int) {
        ages.append(url, stamp: stamp, of: count) { responses[$0]?.has($1) == true }
        unsaved.isNotes = true
    }

    /// The current time in milliseconds since 1970.
    static var now: Int { Int(System.now / 1_000_000) }
}

extension RecorderIndex {
    /// A response in a recorder's folder.
    struct Response: Sendable {
        let written: WrittenEntry
        var notes: Notes

        /// The headers of the requests that have this response, as far as `Vary` names them. It's empty if nothing is
        /// known of the request.
        var requests: [[String: String]] {
            get { notes.requests ?? [[:]] }
            set { notes.requests = newValue == [[:]] ? nil : newValue }
        }
    }

    /// What a recorder notes about a response in `recorder.json`, beside its map.
    struct Notes: Decodable, Sendable {
        /// The file's name in the resources folder.
        let file: String
        let bytes: Int
        /// `nil` if the digest isn't known, for example because the file was edited.
        let digest: String?
        /// The server's validators for the body. `nil` if the server sent none, or if they don't describe the file, for
        /// example because the file was edited.
        let etag: String?
        let lastModified: String?
        /// Whether a redirect led to the response; `nil` means `false`.
        let redirected: Bool?
        /// The names of the request headers by which the server chose the response; `nil` if there are none.
        let vary: [String]?
        /// See ``Response/requests``; `nil` for one request without the headers.
        var requests: [[String: String]]?
        /// When the response was recorded or last confirmed, in milliseconds since 1970. If the notes were
        /// lost, when its file was last modified.
        var date: Int

        fileprivate var text: String {
            var members = [("file", JSONText.string(file)), ("bytes", String(bytes)), ("date", String(date))]
            if let digest { members.append(("digest", JSONText.string(digest))) }
            if let etag { members.append(("etag", JSONText.string(etag))) }
            if let lastModified { members.append(("lastModified", JSONText.string(lastModified))) }
            if redirected == true { members.append(("redirected", "true")) }
            if let vary { members.append(("vary", JSONText.array(vary))) }
            if let requests {
                let texts = requests.map { request in
                    JSONText.object(request.sorted { $0.key < $1.key }.map { ($0.key, JSONText.string($0.value)) })
                }
                members.append(("requests", "[\(texts.joined(separator: ", "))]"))
            }
            return JSONText.object(members)
        }
    }

    static let notesName = "recorder.json"

    /// Reads the notes in a folder, by canonical URL. Returns `nil` if the file with the notes is missing or damaged.
    static func notes(in folder: URL) -> [String: [Notes]]? {
        struct Contents: Decodable {
            let responses: [String: OfURL]
        }
        /// The notes on the responses to a URL: an object, or a list if there are several responses.
        struct OfURL: Decodable {
            let all: [Notes]

            init(from decoder: any Decoder) throws {
                all = try (try? [Notes](from: decoder)) ?? [Notes(from: decoder)]
            }
        }
        let path = folder.appendingPathComponent(notesName, isDirectory: false).path
        return try? JSONDecoder().decode(Contents.self, from: OpenedFile(path: path).contents()).responses.mapValues(
            \.all
        )
    }

    var notesData: Data {
        let notes = responses.mapValues { found in
            let texts = found.all.map(\.notes.text)
            return texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ", "))]"
        }
        let texts = JSONText.lines(notes, indent: "  ")
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
        do throws(Complaint) {
            try map.writtenFolder.checkIsWritable()
            try map.writtenResources.checkIsWritable()
        } catch {
            throw SubstitutionRecorderError(.unwritable, folder, "isn't writable. \(error)")
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
        var responses: [String: Representations] = [:]
        for (key, text) in document.values {
            guard let (url, written) = Self.written(key, text, defaults: defaults) else { continue }
            let old = notes?[key] ?? []
            let known = Set(old.map(\.file)).union(journaled)
            let areNoted = written.allSatisfy { known.contains($0.file) }
            let areOfItsHost = written.allSatisfy { $0.file.hasPrefix(RecordedFileName.hostFolder(of: url) + "/") }
            guard areNoted || (notes == nil && areOfItsHost) else { continue }
            var found: [Response] = []
            let conditions = written.flatMap { answer in answer.conditions.map { (file: answer.file, headers: $0) } }
            for answer in written {
                guard let status = FileStatus(path: files.path(of: answer.file)), status.kind == .regular else {
                    continue
                }
                let notes = Notes(on: answer, status, old: old.first { $0.file == answer.file })
                var response = Response(written: answer.entry, notes: notes)
                // The map is written before the notes, so a request that has moved to another file is right in the map.
                response.requests.removeAll { request in
                    conditions.contains { file, headers in
                        file != answer.file && headers.allSatisfy { request[header: $0] == $1 }
                    }
                }
                if response.requests.isEmpty, answer.conditions.isEmpty { response.requests = [[:]] }
                found.append(response)
            }
            // An entry without its file would make the whole map invalid. The recorder drops only entries that it surely
            // wrote.
            guard found.count == written.count || areNoted else { continue }
            others.values[key] = nil
            let places = Dictionary(old.enumerated().map { ($1.file, $0) }) { first, _ in first }
            found.sort { (places[$0.notes.file] ?? .max) < (places[$1.notes.file] ?? .max) }
            let all = Representations(found, text: found.count == written.count ? text : nil)
            if all.all.count < written.count { unsaved.formUnion(Unsaved(isNotes: true, isMap: true)) }
            if !all.all.isEmpty { responses[key] = all }
        }
        if notes?.contains(where: { responses[$0.key]?.files != Set($0.value.map(\.file)) }) ?? true {
            unsaved.isNotes = true
        }
        let foreign = ForeignEntries(others, resources: map.resources)
        self.init(responses, foreign, unsaved: unsaved)

        var orphans = unused(journal, in: map)
        orphans += map.takeNames(except: Set(orphans))
        for file in responses.values.flatMap(\.files) { map.names.insert(file) }
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

    /// A sentence that asks to correct the map, and lists its problems on one line.
    static func advice(on error: SubstitutionMapError) -> String {
        "Correct it: \("\(error)".replacingOccurrences(of: "\n", with: " "))"
    }

    /// An answer in a map that a recorder could have written.
    fileprivate struct WrittenAnswer {
        let file: String
        let entry: WrittenEntry
        /// For an alternative, the headers that its condition compares in each request. The last alternative has no
        /// condition.
        var conditions: [[String: String?]] = []
        var isAlternative = false
    }

    /// Returns the URL and the answers of an entry that a recorder could have written. Returns `nil` for any other
    /// entry: its key isn't exact and canonical, or an answer has no file, or a field that a recorder doesn't write.
    private static func written(
        _ key: String,
        _ text: String,
        defaults: EntryFields
    ) -> (NormalizedURL, [WrittenAnswer])? {
        guard !MapKey.isPattern(key), let url = try? NormalizedURL(key: key), url.canonical == key,
            let value = EntryText(text), value.hasAlternatives == (value.answers.count > 1)
        else { return nil }
        var answers: [WrittenAnswer] = []
        // Alternatives don't have this default.
        let isOverridden = value.hasAlternatives && [.untilUpdated, .whenOffline].contains(defaults.use)
        let shared = value.shared + (isOverridden ? [("use", JSONText.string("always"))] : [])
        for (number, answer) in value.answers.enumerated() {
            let members = answer.members.filter { $0.key != "when" } + shared
            let headers = answer["when"].flatMap { Representations.headers(in: $0) }
            let isLast = number == value.answers.count - 1
            let ownText = value.hasAlternatives ? WrittenEntry.text(members) : text
            guard (headers == nil) == isLast, answer["when"] == nil || headers != nil,
                let (fields, file) = plain(ownText, members, defaults: defaults)
            else { return nil }
            let entry = WrittenEntry(fields, text: ownText, url: url, defaults: defaults)
            if let place = answers.firstIndex(where: { $0.file == file }) {
                if let headers { answers[place].conditions.append(headers) }
            } else {
                let conditions = headers.map { [$0] } ?? []
                answers.append(
                    .init(file: file, entry: entry, conditions: conditions, isAlternative: value.hasAlternatives)
                )
            }
        }
        return (url, answers)
    }

    /// Returns the fields and file of an entry that a recorder could have written. Returns `nil` for any other entry: it
    /// has no file, or it has a field that a recorder doesn't write.
    private static func plain(
        _ text: String,
        _ members: WrittenEntry.Members,
        defaults: EntryFields
    ) -> (EntryFields, String)? {
        guard let fields = MapDocument.fields(of: text), let file = fields.file, FileName(text: file).problem == nil,
            [nil, .secondsPerEvent(0)].contains(fields.rate),
            members.allSatisfy({ WrittenEntry.fieldNames.contains($0.key) })
        else { return nil }
        let options = Entry.Options(fields.merged(withDefaults: defaults))
        guard RecordingRules.statuses.contains(options.status), options.use == .always, options.isEnabled,
            options.ignoreQuery == nil,
            options.methods == ["GET"]
        else { return nil }
        return (fields, file)
    }
}

extension RecorderIndex.Notes {
    /// Creates the notes on an answer's file that was found in the folder.
    ///
    /// - Parameter old: The last recorder's notes on the file; `nil` if there are none.
    fileprivate init(on answer: RecorderIndex.WrittenAnswer, _ status: FileStatus, old: Self?) {
        var (vary, requests) = (old?.vary, old?.requests)
        if old == nil {
            vary = answer.conditions.first?.keys.sorted()
            // The next response replaces that of an entry without alternatives, since nothing is known of its request.
            let isFallback = answer.isAlternative && answer.conditions.isEmpty
            requests = isFallback ? nil : answer.conditions.map { $0.compactMapValues(\.self) }
        }
        // If the file has another size than in the old notes, it was edited, so the server's validators don't describe
        // it.
        let old = old?.bytes == status.size ? old : nil
        let valid = { (value: String?) in
            value.flatMap { HTTPSyntax.problem(ofHeader: "ETag", value: $0) == nil ? $0 : nil }
        }
        self.init(
            file: answer.file,
            bytes: status.size,
            digest: old?.digest,
            etag: valid(old?.etag),
            lastModified: valid(old?.lastModified),
            redirected: old?.redirected,
            vary: vary,
            requests: requests,
            date: min(max(old?.date ?? Int(status.modified / 1_000_000), 0), RecorderIndex.now)
        )
    }
}
