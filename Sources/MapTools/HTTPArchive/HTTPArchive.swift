package import Foundation
import LocalSubstitution

/// An HTTP Archive (HAR 1.2): what a browser or a proxy has recorded. Chrome, Firefox, Safari, Charles, Proxyman and mitmproxy
/// write them.
///
/// It has the bytes of the file once, and of each entry the little that tells what its response is. Bodies are decoded when they
/// are asked for.
package struct HTTPArchive: Sendable {
    /// In the order of the archive.
    let entries: [ArchivedEntry]
    private let bytes: Data

    /// How many there are.
    package var count: Int { entries.count }

    /// Reads an archive.
    ///
    /// - Throws: If the file can't be read, is no JSON to its end, or has no list `log.entries`.
    package init(contentsOf file: URL) throws(HTTPArchiveError) {
        let bytes: Data
        do throws(FileProblem) {
            let opened = try OpenedFile(path: file.path)
            guard opened.status.kind == .regular else { throw .notRegular(opened.status.kind) }
            // Read, not mapped: a mapped file that is truncated meanwhile ends the process.
            bytes = try opened.contents()
        } catch {
            throw HTTPArchiveError("the archive “\(file.path)” \(error.message)")
        }
        do throws(HTTPArchiveError) {
            try self.init(bytes)
        } catch {
            throw HTTPArchiveError("\(file.lastPathComponent)\(error.message)")
        }
    }

    /// - Throws: With the line and column first: `:3:1: the archive ends inside a string`.
    init(_ bytes: Data) throws(HTTPArchiveError) {
        self.bytes = bytes
        let result = bytes.withUnsafeBytes { raw in
            // `Result`, since `withUnsafeBytes` has no typed errors.
            Result { () throws(JSONCursor.SyntaxError) in try Self.read(JSONCursor(raw.bindMemory(to: UInt8.self))) }
        }
        do throws(JSONCursor.SyntaxError) {
            entries = try result.get()
        } catch {
            if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) || bytes.prefix(2).contains(0) {
                throw HTTPArchiveError(":1:1: the archive is UTF-16 or UTF-32, not UTF-8: save it as UTF-8")
            }
            let (line, column) = JSONScanner.position(of: error.offset, in: bytes)
            throw HTTPArchiveError(":\(line):\(column): the archive \(error.message)")
        }
    }

    /// The body of an entry as it is to be written: base64 decoded, or the text as UTF-8; `nil` if it can't be.
    func body(of entry: ArchivedEntry) -> Data? {
        guard let range = entry.body else { return nil }
        return bytes.withUnsafeBytes { raw in
            let text = UnsafeBufferPointer(rebasing: raw.bindMemory(to: UInt8.self)[range])
            return entry.isBase64
                ? Base64.decoded(text) : JSONEscapes.bytes(text).flatMap { Self.isUTF8($0) ? $0 : nil }
        }
    }

    private static func isUTF8(_ body: Data) -> Bool {
        body.withUnsafeBytes { String(utf8: $0) != nil }
    }

    private static func read(_ start: JSONCursor) throws(JSONCursor.SyntaxError) -> [ArchivedEntry] {
        var cursor = start
        var entries: [ArchivedEntry]?
        guard cursor.next == .object else {
            throw cursor.failure(cursor.next == nil ? "is empty" : "is no HTTP Archive: it must begin with {")
        }
        let atStart = cursor
        try cursor.object { cursor, key throws(JSONCursor.SyntaxError) in
            guard key == "log", cursor.next == .object else { return try cursor.skip() }
            try cursor.object { cursor, key throws(JSONCursor.SyntaxError) in
                guard key == "entries", cursor.next == .array else { return try cursor.skip() }
                guard entries == nil else { throw cursor.failure("has its list of entries twice") }
                var list: [ArchivedEntry] = []
                try cursor.array { cursor throws(JSONCursor.SyntaxError) in
                    list.append(try ArchivedEntry(&cursor))
                }
                entries = list
            }
        }
        try cursor.finish()
        guard let entries else { throw atStart.failure("is JSON, but no HTTP Archive: it has no list “log.entries”") }
        return entries
    }
}
