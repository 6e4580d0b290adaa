package import Foundation
import LocalSubstitution

/// An HTTP Archive (HAR 1.2), the recording of a browser or a proxy. Chrome, Firefox, Safari, Charles, Proxyman and mitmproxy write
/// such files.
///
/// It keeps the file's bytes once, and a short description of each entry. Bodies are decoded on demand.
package struct HTTPArchive: Sendable {
    /// The entries, in the order of the archive.
    let entries: [ArchivedEntry]
    private let bytes: Data

    /// The number of entries.
    package var count: Int { entries.count }

    /// Reads an archive.
    ///
    /// - Throws: If the file can't be read, isn't valid JSON, or has no list `log.entries`.
    package init(contentsOf file: URL) throws(MapToolError) {
        let bytes: Data
        do throws(FileProblem) {
            // Read, not mapped: if a mapped file is truncated meanwhile, the process crashes.
            bytes = try OpenedFile(path: file.path).contents()
        } catch {
            throw MapToolError("The archive “\(file.path)” \(error.message)")
        }
        do throws(MapToolError) {
            try self.init(bytes)
        } catch {
            throw MapToolError("\(file.lastPathComponent)\(error.description)")
        }
    }

    /// - Throws: An error that begins with the line and column, such as `:3:1: The archive ends inside a string.`
    init(_ bytes: Data) throws(MapToolError) {
        self.bytes = bytes
        let result = bytes.withUnsafeBytes { raw in
            // In a `Result`, since `withUnsafeBytes` doesn't have typed throws.
            Result { () throws(JSONCursor.SyntaxError) in try Self.read(JSONCursor(raw.bindMemory(to: UInt8.self))) }
        }
        do throws(JSONCursor.SyntaxError) {
            entries = try result.get()
        } catch {
            let (line, column) = error.position(in: bytes)
            throw MapToolError(":\(line):\(column): The archive \(error.message)")
        }
    }

    /// Returns the condition on the body of an entry's request.
    func condition(of entry: ArchivedEntry) -> RecordedCondition {
        let body = entry.requestBody.flatMap { range in
            bytes.withUnsafeBytes { raw in
                try? JSONCursor.unescaped(UnsafeBufferPointer(rebasing: raw.bindMemory(to: UInt8.self)[range]))
            }
        }
        return RecordedCondition(body, type: entry.requestType)
    }

    /// Returns an entry's body as it's written, either decoded from base64 or as UTF-8 text; `nil` if it can't be decoded.
    func body(of entry: ArchivedEntry) -> Data? {
        guard let range = entry.body else { return nil }
        return bytes.withUnsafeBytes { raw in
            let text = UnsafeBufferPointer(rebasing: raw.bindMemory(to: UInt8.self)[range])
            return entry.isBase64
                ? Self.base64Decoded(text)
                : (try? JSONCursor.unescaped(text)).flatMap { String(utf8: $0) == nil ? nil : $0 }
        }
    }

    /// Returns the bytes of base64 (RFC 4648 §4) in a JSON string; `nil` if it's invalid. Accepts line breaks and escaped
    /// slashes, which some programs write.
    private static func base64Decoded(_ raw: UnsafeBufferPointer<UInt8>) -> Data? {
        guard let base = raw.baseAddress else { return Data() }
        // Not copied, since this `Data` is only read while the buffer exists.
        let whole = Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: UnsafeRawPointer(base)),
            count: raw.count,
            deallocator: .none
        )
        if let bytes = Data(base64Encoded: whole) { return bytes }
        guard let text = try? JSONCursor.unescaped(raw) else { return nil }
        return Data(base64Encoded: text.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) })
    }

    private static func read(_ start: JSONCursor) throws(JSONCursor.SyntaxError) -> [ArchivedEntry] {
        var cursor = start
        var entries: [ArchivedEntry]?
        guard cursor.next == .object else {
            throw cursor.failure(
                cursor.next == nil ? "is empty. Export it again." : "isn't an HTTP Archive. It must begin with {."
            )
        }
        let atStart = cursor
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            guard key == "log", cursor.next == .object else { return try cursor.skip() }
            try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
                guard key == "entries", cursor.next == .array else { return try cursor.skip() }
                guard entries == nil else { throw cursor.failure("has its list of entries twice. Keep one of them.") }
                var list: [ArchivedEntry] = []
                try cursor.array { cursor throws(JSONCursor.SyntaxError) in
                    list.append(try ArchivedEntry(&cursor))
                }
                entries = list
            }
        }
        try cursor.finish()
        guard let entries else {
            throw atStart.failure("is JSON, but not an HTTP Archive. It has no list “log.entries”.")
        }
        return entries
    }
}
