import Foundation

/// A recorder's map on disk.
struct RecorderMap: Sendable {
    static let name = "substitutions.json"

    private let file: URL
    private var status: FileStatus?
    /// The recorder's own entries in it.
    private var texts: [String: String]

    init(_ file: URL, status: FileStatus?, texts: [String: String]) {
        self.file = file
        self.status = status
        self.texts = texts
    }

    /// What people have done to the map.
    struct Edits {
        /// The map without the recorder's own entries.
        let document: MapDocument
        /// The keys of entries that aren't the recorder's any more: changed, or removed.
        let keys: [String]
    }

    /// Reads what people have done to the map since it was written; `nil` if nothing. A map that is broken just now isn't
    /// touched.
    mutating func edits() throws(WrittenFolder.Problem) -> Edits? {
        guard let now = FileStatus(path: file.path), now != status else { return nil }
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
