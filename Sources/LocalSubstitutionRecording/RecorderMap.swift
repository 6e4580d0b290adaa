import Foundation
import LocalSubstitution
import MapWriting

/// A recorder's map on disk.
struct RecorderMap: Sendable {
    static let name = "substitutions.json"

    private let file: URL
    private var status: FileStatus?
    /// The recorder's own entries in the map.
    private var texts: [String: String]

    init(_ file: URL, status: FileStatus?, texts: [String: String]) {
        self.file = file
        self.status = status
        self.texts = texts
    }

    /// The changes that people have made to the map.
    struct Edits {
        /// The map without the recorder's own entries.
        let document: MapDocument
        /// The keys of entries that aren't the recorder's any more, because they were changed or removed.
        let keys: [String]
    }

    /// Reads the changes that people have made to the map since it was written; returns `nil` if there are none. Throws if the map
    /// is broken at the moment, so that it isn't overwritten.
    ///
    /// A map that was removed counts as changed only once the recorder has something new to write: its folder may be about to be
    /// removed, too. The entries of others were removed with it. Its `$defaults` stay, since the recorder's own entries are written
    /// for them.
    mutating func edits(of index: RecorderIndex) throws(WrittenFolder.Problem) -> Edits? {
        let now = FileStatus(path: file.path)
        guard now != status else { return nil }
        guard now != nil else {
            guard index.unsaved.isMap else { return nil }
            status = nil
            let foreign = index.foreign
            var document = foreign.document
            document.values = document.values.filter { $0.key.hasPrefix("$") }
            return Edits(document: document, keys: [])
        }
        guard var document = try? MapDocument(contentsOf: file) else {
            throw WrittenFolder.Problem(name: Self.name, code: EILSEQ)
        }
        let found = document.values
        let removed = texts.keys.filter { found[$0] == nil }
        texts = texts.filter { found[$0.key] == $0.value }
        for key in texts.keys { document.values[key] = nil }
        status = now
        return Edits(document: document, keys: removed + document.values.keys)
    }

    mutating func write(_ index: RecorderIndex, to folder: WrittenFolder) throws(WrittenFolder.Problem) {
        let own = index.responses.mapValues(\.text)
        var document = index.foreign.document
        document.values.merge(own) { own, _ in own }
        try folder.write(document.data, to: Self.name)
        texts = own
        status = FileStatus(path: file.path)
    }
}
