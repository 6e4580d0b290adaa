import Foundation
import LocalSubstitution
import MapWriting

/// What a recorder finds in its folder. It tells the recorder's own entries from those that people wrote.
struct RecorderInventory {
    let mapFile: URL
    let mapStatus: FileStatus?
    let index: RecorderIndex
    /// The names of the files in the folder.
    let names: NamesInUse
    /// Files that a recorder or command was writing when it was killed.
    private let orphans: [String]
    private let folder: URL
    private let resources: URL

    init(_ folder: URL, resources: URL) throws(SubstitutionRecorderError) {
        mapFile = Self.mapFile(in: folder)
        mapStatus = FileStatus(path: mapFile.path)
        (self.folder, self.resources) = (folder, resources)
        let found = try Self.document(in: folder)
        let document = found ?? MapDocument()
        let records = RecorderFile.records(in: folder)
        let journal = RecordingJournal.names(in: folder)
        let files = ResourcesFolder(resources)
        let journaled = Set(journal)
        let defaults = document.defaults
        var others = document
        var unsaved = RecorderIndex.Unsaved(isMap: found == nil, isRecords: found == nil || !journal.isEmpty)
        var responses: [String: RecordedResponse] = [:]
        for (key, text) in document.values {
            guard let (url, fields, file) = Self.plain(key, in: document, defaults: defaults) else { continue }
            let record = records?[key].flatMap { $0.file == file ? $0 : nil }
            let isOfItsHost = file.hasPrefix(RecordedFileName.hostFolder(of: url) + "/")
            let isOurs = record != nil || journaled.contains(file) || (records == nil && isOfItsHost)
            guard isOurs else { continue }
            let status = FileStatus(path: files.path(of: file))
            guard let status, status.kind == .regular else {
                // Without its file, the entry would make the whole map invalid. But an entry that a person may have written isn't
                // dropped.
                if record != nil || journaled.contains(file) {
                    others.values[key] = nil
                    unsaved.formUnion(.init(isMap: true, isRecords: true))
                }
                continue
            }
            others.values[key] = nil
            let entry = RecordedEntry(fields, text: text, url: url, defaults: defaults)
            responses[key] = Self.response(entry, file, status, record)
        }
        if records?.contains(where: { responses[$0.key]?.file != $0.value.file }) ?? true { unsaved.isRecords = true }
        let foreign = ForeignEntries(others, resources: resources)
        index = RecorderIndex(responses, foreign, unsaved: unsaved)

        let inUse = Set(responses.values.map { NamesInUse.folded($0.file) })
        var orphans = journal.filter { !inUse.contains(NamesInUse.folded($0)) && !foreign.names($0) }
        let gone = Set(orphans)
        var names = NamesInUse()
        for name in files.names(limit: .max) where !gone.contains(name) {
            if WrittenFolder.isLeftover(name) { orphans.append(name) } else { names.insert(name) }
        }
        for response in responses.values { names.insert(response.file) }
        (self.orphans, self.names) = (orphans, names)
    }

    /// Checks that the folder is writable, and removes the files that a killed recorder or command left there.
    func prepare() throws(SubstitutionRecorderError) {
        // A running command still needs its temporary files.
        let turn = try? FolderTurn(folder, resources)
        defer { withExtendedLifetime(turn) {} }
        let (map, files) = (WrittenFolder(path: folder.path, role: .map), WrittenFolder(path: resources.path))
        do throws(WrittenFolder.Problem) {
            try map.checkIsWritable()
            try files.checkIsWritable()
        } catch {
            throw SubstitutionRecorderError(.unwritable, folder, "isn't writable. \(error.message)")
        }
        for name in orphans { files.remove(name) }
        for name in [RecorderMap.name, RecorderFile.name] { map.cancel(name) }
        WrittenFolder(path: folder.path, role: .map, holdsTurn: true).cancel(RecorderMap.name)
    }

    /// Reads a folder's map; returns `nil` if there is none.
    static func document(in folder: URL) throws(SubstitutionRecorderError) -> MapDocument? {
        let file = mapFile(in: folder)
        guard FileStatus(path: file.path) != nil else { return nil }
        do throws(SubstitutionMapError) {
            return try MapDocument(contentsOf: file)
        } catch {
            throw SubstitutionRecorderError(
                .unreadableMap,
                folder,
                "has a map that can't be used. Correct it: \("\(error)".replacingOccurrences(of: "\n", with: " "))"
            )
        }
    }

    private static func mapFile(in folder: URL) -> URL {
        folder.appendingPathComponent(RecorderMap.name, isDirectory: false)
    }

    /// Returns the parts of an entry that a recorder may have written: an exact key in canonical form, a file, and no fields that
    /// only a person would add. Returns `nil` for any other entry.
    private static func plain(
        _ key: String,
        in document: MapDocument,
        defaults: EntryFields
    ) -> (NormalizedURL, EntryFields, String)? {
        guard !MapKey.isPattern(key), let url = try? NormalizedURL(key: key), url.canonical == key,
            let fields = document.fields(of: key), let file = fields.file, FileName(text: file).problem == nil,
            document.fieldNames(of: key).allSatisfy(RecordedEntry.fieldNames.contains)
        else { return nil }
        let options = EntryOptions(fields.merged(withDefaults: defaults))
        guard RecordingRules.statuses.contains(options.status), options.use == .always, options.isEnabled,
            options.ignoreQuery == nil,
            options.methods == ["GET"]
        else { return nil }
        return (url, fields, file)
    }

    private static func response(
        _ entry: RecordedEntry,
        _ file: String,
        _ status: FileStatus,
        _ record: RecorderFile.Record?
    ) -> RecordedResponse {
        // A file with another size has been edited since, so the server's validators don't describe it.
        let record = record?.bytes == status.size ? record : nil
        return RecordedResponse(
            entry: entry.entry,
            text: entry.text,
            file: file,
            bytes: status.size,
            digest: record?.digest,
            entityTag: validHeader(record?.etag),
            lastModified: validHeader(record?.lastModified),
            isRedirected: record?.redirected ?? false,
            stamp: min(max(record?.date ?? Int(status.modified / 1_000_000), 0), RecorderIndex.now)
        )
    }

    private static func validHeader(_ value: String?) -> String? {
        value.flatMap { HTTPSyntax.problem(ofHeader: "ETag", value: $0) == nil ? $0 : nil }
    }
}
