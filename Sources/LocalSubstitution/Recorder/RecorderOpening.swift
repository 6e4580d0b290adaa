import Foundation

/// What a recorder finds in its folder: which entries are its own, and which are a person's.
struct RecorderOpening {
    private(set) var index = RecorderIndex()
    let foreign: ForeignEntries
    /// Files that a recorder or command was writing when it was killed.
    private(set) var orphans: [String] = []

    init(_ document: MapDocument, records: [String: RecorderFile.Record]?, journal: [String], resources: URL, now: Int)
    {
        let folder = ResourcesFolder(resources)
        let journaled = Set(journal)
        let defaults = document.defaults
        var others = document
        var hasStaleRecord = records == nil
        for (key, text) in document.values {
            guard let (url, fields, file) = Self.plain(key, in: document, defaults: defaults) else { continue }
            let record = records?[key].flatMap { $0.file == file ? $0 : nil }
            let isOfItsHost = file.hasPrefix(RecordedFileName.hostFolder(of: url) + "/")
            let isOurs = record != nil || journaled.contains(file) || (records == nil && isOfItsHost)
            guard isOurs else { continue }
            let status = FileStatus(path: folder.path(of: file))
            guard let status, status.kind == .regular else {
                // An entry without its file would make the whole map wrong; but nothing of a person's is dropped.
                if record != nil || journaled.contains(file) {
                    others.values[key] = nil
                    index.note(isInMap: true)
                }
                continue
            }
            others.values[key] = nil
            let entry = RecordedEntry(fields, text: text, url: url, defaults: defaults)
            index.load(Self.response(entry, file, status, record, now), for: key)
        }
        foreign = ForeignEntries(others, resources: resources)
        hasStaleRecord = hasStaleRecord || records?.contains { index.kept[$0.key]?.file != $0.value.file } == true
        if hasStaleRecord || !journal.isEmpty { index.note(isInMap: false) }
        index.finishLoading(now: now)

        let files = Set(index.kept.values.map { NamesInUse.folded($0.file) })
        orphans = journal.filter { !files.contains(NamesInUse.folded($0)) && !foreign.names($0) }
        let gone = Set(orphans)
        for name in folder.names(limit: .max) where !gone.contains(name) {
            if WrittenFolder.isLeftover(name) { orphans.append(name) } else { index.names.insert(name) }
        }
        for response in index.kept.values { index.names.insert(response.file) }
    }

    /// Drops the oldest responses until the others fit.
    mutating func trim(to limit: Int) {
        index.trim(to: limit, sparing: nil)
    }

    /// Notes that there is no map yet, and that one has to be written.
    mutating func noteMissingMap() {
        index.note(isInMap: true)
    }

    /// An entry such as a recorder writes: an exact key in canonical form, a file, and nothing that a person would add.
    private static func plain(
        _ key: String,
        in document: MapDocument,
        defaults: EntryFields
    ) -> (NormalizedURL, EntryFields, String)? {
        guard !key.utf8.contains(UInt8(ascii: "*")), let url = try? NormalizedURL(key: key), url.canonical == key,
            let fields = document.fields(of: key), let file = fields.file, FileName(text: file).problem == nil,
            !document.fieldNames(of: key).contains("comment"), fields.timeout == nil
        else { return nil }
        let options = EntryOptions(fields.merged(withDefaults: defaults))
        guard options.status == 200, options.use == .always, options.isEnabled, options.ignoreQuery == nil,
            options.methods == ["GET"]
        else { return nil }
        return (url, fields, file)
    }

    private static func response(
        _ entry: RecordedEntry,
        _ file: String,
        _ status: FileStatus,
        _ record: RecorderFile.Record?,
        _ now: Int
    ) -> KeptResponse {
        // A file of another size was edited since: the server's validators are not this file's.
        let record = record?.bytes == status.size ? record : nil
        return KeptResponse(
            entry: entry.entry,
            text: entry.text,
            file: file,
            bytes: status.size,
            digest: record?.digest,
            entityTag: validHeader(record?.etag),
            lastModified: validHeader(record?.lastModified),
            isRedirected: record?.redirected ?? false,
            stamp: min(max(record?.date ?? Int(status.modified / 1_000_000), 0), now)
        )
    }

    private static func validHeader(_ value: String?) -> String? {
        value.flatMap { HTTPSyntax.problem(ofHeader: "ETag", value: $0) == nil ? $0 : nil }
    }
}
