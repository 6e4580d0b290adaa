package import Foundation
import LocalSubstitution

/// An HTTP Archive (HAR 1.2): what a browser or a proxy has recorded. Chrome, Firefox, Safari, Charles, Proxyman and mitmproxy
/// write them.
///
/// It holds the file's bytes once, and a short description of each entry. Bodies are decoded when they
/// are asked for.
package struct HTTPArchive: Sendable {
    /// In the order of the archive.
    let entries: [ArchivedEntry]
    private let bytes: Data

    /// How many there are.
    package var count: Int { entries.count }

    /// Reads an archive.
    ///
    /// - Throws: If the file can't be read, isn't valid JSON, or has no list `log.entries`.
    package init(contentsOf file: URL) throws(MapToolError) {
        let bytes: Data
        do throws(FileProblem) {
            // Read, not mapped: a mapped file that is truncated meanwhile ends the process.
            bytes = try OpenedFile(path: file.path).contents()
        } catch {
            throw MapToolError("the archive “\(file.path)” \(error.message)")
        }
        do throws(MapToolError) {
            try self.init(bytes)
        } catch {
            throw MapToolError("\(file.lastPathComponent)\(error.description)")
        }
    }

    /// - Throws: With the line and column first: `:3:1: the archive ends inside a string`.
    init(_ bytes: Data) throws(MapToolError) {
        self.bytes = bytes
        let result = bytes.withUnsafeBytes { raw in
            // `Result`, since `withUnsafeBytes` has no typed errors.
            Result { () throws(JSONCursor.SyntaxError) in try Self.read(JSONCursor(raw.bindMemory(to: UInt8.self))) }
        }
        do throws(JSONCursor.SyntaxError) {
            entries = try result.get()
        } catch {
            let (line, column) = error.position(in: bytes)
            throw MapToolError(":\(line):\(column): the archive \(error.message)")
        }
    }

    /// The body of an entry as it is to be written: base64 decoded, or the text as UTF-8; `nil` if it can't be.
    func body(of entry: ArchivedEntry) -> Data? {
        guard let range = entry.body else { return nil }
        return bytes.withUnsafeBytes { raw in
            let text = UnsafeBufferPointer(rebasing: raw.bindMemory(to: UInt8.self)[range])
            return entry.isBase64
                ? Self.base64Decoded(text)
                : (try? JSONEscapes.bytes(text)).flatMap { String(utf8: $0) == nil ? nil : $0 }
        }
    }

    /// Returns the bytes of base64 (RFC 4648 §4) in a JSON string; `nil` if it's invalid. Accepts line breaks and escaped
    /// slashes, which some programs write.
    private static func base64Decoded(_ raw: UnsafeBufferPointer<UInt8>) -> Data? {
        guard let base = raw.baseAddress else { return Data() }
        // Not copied: `Data` is only read before the buffer goes.
        let whole = Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: UnsafeRawPointer(base)),
            count: raw.count,
            deallocator: .none
        )
        if let bytes = Data(base64Encoded: whole) { return bytes }
        guard let text = try? JSONEscapes.bytes(raw) else { return nil }
        return Data(base64Encoded: text.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) })
    }

    private static func read(_ start: JSONCursor) throws(JSONCursor.SyntaxError) -> [ArchivedEntry] {
        var cursor = start
        var entries: [ArchivedEntry]?
        guard cursor.next == .object else {
            throw cursor.failure(cursor.next == nil ? "is empty" : "isn't an HTTP Archive: it must begin with {")
        }
        let atStart = cursor
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            guard key == "log", cursor.next == .object else { return try cursor.skip() }
            try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
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
        guard let entries else {
            throw atStart.failure("is JSON, but not an HTTP Archive: it has no list “log.entries”")
        }
        return entries
    }
}
