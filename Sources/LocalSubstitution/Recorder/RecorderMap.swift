import Foundation

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
