package import Foundation
import LocalSubstitution
import MapWriting

/// An HTTP Archive (HAR 1.2): requests and responses that a browser or proxy recorded. Chrome, Firefox, Safari,
/// Charles, Proxyman and mitmproxy, for example, write such files.
///
/// An archive holds the file's bytes and a short description of each entry. It decodes a body only when asked for it.
package struct HTTPArchive: Sendable {
    /// The entries, in the order of the archive.
    let entries: [Entry]
    private let bytes: Data

    /// The number of entries.
    package var count: Int { entries.count }

    /// Reads an archive.
    ///
    /// - Throws: An error if the file can't be read, isn't valid JSON, or has no list `log.entries`.
    package init(contentsOf file: URL) throws(MapToolError) {
        let bytes: Data
        do throws(FileProblem) {
            // The file isn't mapped into memory. If another program truncated a mapped file, the process would crash.
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

    /// Reads an archive's bytes.
    ///
    /// - Throws: An error that begins with the line and column, such as `:3:1: The archive ends inside a string.`
    init(_ bytes: Data) throws(MapToolError) {
        self.bytes = bytes
        let result = bytes.withUnsafeBytes { raw in
            // Returns a `Result`, since `withUnsafeBytes` doesn't have typed throws.
            Result { () throws(JSONCursor.SyntaxError) in try Self.read(JSONCursor(raw.bindMemory(to: UInt8.self))) }
        }
        do throws(JSONCursor.SyntaxError) {
            entries = try result.get()
        } catch {
            let (line, column) = error.position(in: bytes)
            throw MapToolError(":\(line):\(column): The archive \(error.message)")
        }
    }

    /// Returns the condition on the body of an entry's request. Every body meets it if the request has no body,
    /// or has one that a map can't compare.
    func condition(of entry: Entry) -> RecordedCondition {
        RecordedCondition(entry.requestBody.flatMap { text(in: $0) }, type: entry.requestType)
    }

    /// Returns the text of a JSON string, as UTF-8; `nil` if one of the string's escapes is invalid.
    ///
    /// - Parameter range: The string's range in the archive, without the quotes.
    private func text(in range: Range<Int>) -> Data? {
        bytes.withUnsafeBytes { raw in
            try? JSONCursor.unescaped(UnsafeBufferPointer(rebasing: raw.bindMemory(to: UInt8.self)[range]))
        }
    }

    /// Returns the body of an entry's response, decoded from base64 (RFC 4648 §4) or as UTF-8 text. Returns `nil` if
    /// the archive has no body, or if the body can't be decoded.
    func body(of entry: Entry) -> Data? {
        guard let text = entry.body.flatMap({ text(in: $0) }) else { return nil }
        guard entry.isBase64 else { return String(utf8: text) == nil ? nil : text }
        // Some programs write white space between the lines of base64.
        return Data(base64Encoded: text) ?? Data(base64Encoded: text.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) })
    }

    private static func read(_ start: JSONCursor) throws(JSONCursor.SyntaxError) -> [Entry] {
        var cursor = start
        var entries: [Entry]?
        guard cursor.next == .object else {
            throw cursor.failure(
                cursor.next == nil
                    ? "is empty. Export it again." : "isn't an HTTP Archive, which begins with {. Export it as HAR."
            )
        }
        let atStart = cursor
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            guard key == "log", cursor.next == .object else { return try cursor.skip() }
            try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
                guard key == "entries", cursor.next == .array else { return try cursor.skip() }
                guard entries == nil else {
                    throw cursor.failure("has the list “log.entries” twice. Keep one of them.")
                }
                var list: [Entry] = []
                try cursor.array { cursor throws(JSONCursor.SyntaxError) in
                    list.append(try Entry(&cursor))
                }
                entries = list
            }
        }
        try cursor.finish()
        guard let entries else {
            throw atStart.failure("is JSON, but not an HTTP Archive. It has no list “log.entries”. Export it as HAR.")
        }
        return entries
    }
}

extension HTTPArchive {
    /// One request and its response in an HTTP Archive. A property is `nil` if its value in the archive is missing, or
    /// has a wrong type.
    struct Entry: Sendable {
        /// The method in uppercase; `nil` if it isn't a valid method. HTTP methods are case-sensitive, but some
        /// programs write archives with methods in lowercase.
        private(set) var method: String?
        private(set) var url: String?
        /// The range of the request's body in the archive, without the quotes; `nil` if the request has no body, or if
        /// the archive has only the list of a form's fields.
        private(set) var requestBody: Range<Int>?
        /// The MIME type of the request's body; `nil` if it's missing or empty.
        private(set) var requestType: String?
        /// The response's status; 0 if the request got no response, and `nil` if the archive has no status.
        private(set) var status: Int?
        /// The response's content type; `nil` if none was recorded, or if it's invalid, such as Chrome's “x-unknown”.
        private(set) var contentType: ContentType?
        /// The range of the response's body in the archive, without the quotes; `nil` if the archive
        /// has no body, or an empty text.
        private(set) var body: Range<Int>?
        /// How the archive encodes the response's body, such as `base64`. The body is text if this is `nil` or empty.
        private(set) var encoding: String?
        /// The length of the body that was received, in bytes; `nil` or negative if it isn't known.
        private(set) var size: Int?
        /// The response's headers that may be kept, without `Content-Type`, by lowercase name.
        private(set) var headers: [String: String] = [:]

        /// Whether the response needs no body, because its size is 0, the method is `HEAD`, the status is 204, 205 or
        /// 304, or it's a redirect with `Location`. Otherwise, the server may have sent a body that's missing in the
        /// archive: browsers leave out bodies that they no longer have.
        var hasEmptyBody: Bool {
            let status = status ?? 0
            return size == 0 || method == "HEAD" || [204, 205, 304].contains(status)
                || Redirect.statuses.contains(status) && headers["location"] != nil
        }

        var isBase64: Bool { encoding?.asciiLowercased == "base64" }

        /// Reads an entry. If it isn't a JSON object, all properties are `nil` or empty.
        init(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
            var entry = try cursor.members()
            var request = try entry["request"]?.members() ?? [:]
            method = try request["method"]?.text().flatMap {
                HTTPSyntax.isToken($0) && $0 != "*" ? $0.uppercased() : nil
            }
            url = try request["url"]?.text()
            var postData = try request["postData"]?.members() ?? [:]
            requestType = try postData["mimeType"]?.text().flatMap { $0.isEmpty ? nil : $0 }
            requestBody = try postData["text"]?.rawText()

            var response = try entry["response"]?.members() ?? [:]
            status = try response["status"]?.integer()
            var content = try response["content"]?.members() ?? [:]
            encoding = try content["encoding"]?.text()
            size = try content["size"]?.integer()
            // Empty text counts as not recorded: browsers also write it for bodies that they no longer have.
            body = try content["text"]?.rawText().flatMap { $0.isEmpty ? nil : $0 }
            let mimeType = try content["mimeType"]?.text()
            var values: [String: [String]] = [:]
            try response["headers"]?.array { cursor throws(JSONCursor.SyntaxError) in
                var header = try cursor.members()
                guard let name = try header["name"]?.text()?.asciiLowercased, let value = try header["value"]?.text(),
                    RecordedExchange.Headers.isKept(name)
                else { return }
                values[name, default: []].append(value)
            }
            // Repeated headers form a list (RFC 9110 §5.3). But a response has only one Content-Type,
            // so its last value counts.
            let header = values.removeValue(forKey: "content-type")?.last.flatMap { ContentType($0) }
            headers = values.mapValues { $0.joined(separator: ", ") }
            contentType = mimeType.flatMap { ContentType($0) } ?? header
            // Chrome writes the charset only in the header.
            if contentType?.charset == nil, header?.charset != nil, header?.essence == contentType?.essence {
                contentType = header
            }
        }

        /// The headers that an import into a map's file keeps: the headers that a recorder keeps, and CORS headers,
        /// which say who may read a response (WHATWG Fetch). A recorder leaves out CORS headers, since they may be
        /// meant for one page only.
        static let keptHeaders =
            RecordingRules.Headers.names + [
                "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
                "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
            ]
    }
}

extension HTTPArchive.Entry {
    /// Returns the content type of the body's file. For a body in base64, this is the response's type; `nil` if the
    /// type is missing or invalid. Any other body is written as UTF-8, and a text type gets this charset.
    func typeOfBody(at url: NormalizedURL) -> ContentType? {
        guard !isBase64 else { return contentType }
        let type = typeOfText(at: url)
        var parts = type.split(separator: ";").enumerated().filter { number, part in
            number == 0 || !MIMEType.essence(of: String(part)).hasPrefix("charset=")
        }.map { String($0.element) }
        if MIMEType.isText(type) { parts.append(" charset=\(Charset.standard)") }
        return ContentType(parts.joined(separator: ";"))
    }

    /// Returns whether the body lost bytes when it was recorded as text: it has U+FFFD, the replacement character,
    /// although its type isn't text. A body in base64 never loses bytes.
    func hasLostBytes(_ body: Data, at url: NormalizedURL) -> Bool {
        !isBase64 && !MIMEType.isText(typeOfText(at: url)) && body.range(of: Data("\u{FFFD}".utf8)) != nil
    }

    /// Returns the response's content type. If it has none, returns the type for the URL's extension,
    /// or else `text/plain`.
    private func typeOfText(at url: NormalizedURL) -> String {
        let byName = MIMEType.fileExtension(of: url.path).flatMap { MIMEType.guess(forExtension: $0) }
        return contentType?.text ?? byName ?? "text/plain"
    }
}

extension JSONCursor {
    /// Reads any value. If it's an object, returns a cursor at the value of each member, by key. If a key is given
    /// twice, its last value counts. Returns an empty dictionary for any other value.
    fileprivate mutating func members() throws(SyntaxError) -> [String: JSONCursor] {
        var members: [String: JSONCursor] = [:]
        try object { cursor, key, _ throws(SyntaxError) in
            members[key] = cursor
            try cursor.skip()
        }
        return members
    }

    /// Reads any value. Returns an integer; `nil` for other values.
    fileprivate mutating func integer() throws(SyntaxError) -> Int? {
        let (start, kind) = (offset, next)
        try skip()
        return kind == .number ? Int(String(decoding: bytes[start..<offset], as: UTF8.self)) : nil
    }
}
