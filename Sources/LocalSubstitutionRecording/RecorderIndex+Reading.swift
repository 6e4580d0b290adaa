import Foundation
import LocalSubstitution
import MapWriting

/// What a recorder finds in its folder. It tells the recorder's own entries from those that people wrote.
extension RecorderIndex {
    /// Checks that a folder is writable, reads it, removes the files that a killed recorder or command left there, and takes the
    /// names of the rest.
    init(reading map: inout MapFolder, in folder: URL) throws(SubstitutionRecorderError) {
        // A running command still needs its temporary files.
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
        var unsaved = Unsaved(isMap: found == nil, isNotes: found == nil || !journal.isEmpty)
        var responses: [String: Response] = [:]
        for (key, text) in document.values {
            guard let (url, fields, file) = Self.plain(key, in: document, defaults: defaults) else { continue }
            let old = notes?[key].flatMap { $0.file == file ? $0 : nil }
            let isNoted = old != nil || journaled.contains(file)
            let isOfItsHost = file.hasPrefix(RecordedFileName.hostFolder(of: url) + "/")
            guard isNoted || (notes == nil && isOfItsHost) else { continue }
            guard let status = FileStatus(path: files.path(of: file)), status.kind == .regular else {
                // Without its file, the entry would make the whole map invalid. But an entry that a person may have written isn't
                // dropped.
                if isNoted {
                    others.values[key] = nil
                    unsaved.formUnion(Unsaved(isMap: true, isNotes: true))
                }
                continue
            }
            others.values[key] = nil
            let entry = RecordedEntry(fields, text: text, url: url, defaults: defaults)
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

    /// Reads a folder's map; returns `nil` if there is none.
    static func document(of map: inout MapFolder, in folder: URL) throws(SubstitutionRecorderError) -> MapDocument? {
        do throws(SubstitutionMapError) {
            return try map.readDocument()
        } catch {
            throw SubstitutionRecorderError(
                .unreadableMap,
                folder,
                "has a map that can't be used. Correct it: \("\(error)".replacingOccurrences(of: "\n", with: " "))"
            )
        }
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
    /// - Parameter old: What the last recorder noted about it; `nil` if there's nothing.
    fileprivate init(on file: String, _ status: FileStatus, old: Self?) {
        // A file with another size has been edited since, so the server's validators don't describe it.
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
