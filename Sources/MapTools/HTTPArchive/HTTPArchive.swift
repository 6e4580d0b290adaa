package import Foundation
import HTTPSyntax
package import LocalSubstitution
import MapWriting

/// An HTTP Archive (HAR 1.2): requests and responses that a browser or proxy recorded. Chrome, Firefox, Safari,
/// Charles, Proxyman and mitmproxy, for example, write such files.
///
/// An archive holds the file's bytes and a short description of each entry. It decodes a body only when asked for it.
package struct HTTPArchive: Sendable {
    /// In the order in which the requests began. If not every entry says when, in the order of the archive.
    let entries: [Entry]
    private let bytes: Data
    /// The path of the archive's folder, which may have files with bodies; `nil` if the archive wasn't read from a file.
    private let folder: String?

    package var count: Int { entries.count }

    /// Reads an archive.
    ///
    /// - Throws: An error if the file can't be read, isn't valid JSON, or has no list `log.entries`.
    package init(contentsOf file: URL) throws(Complaint) {
        let bytes: Data
        do throws(Complaint) {
            // The file isn't mapped into memory. If another program truncated a mapped file, the process would crash.
            bytes = try OpenedFile(path: file.path).contents()
        } catch {
            throw Complaint(printable: "The archive “\(file.path)” \(error)")
        }
        do throws(Complaint) {
            try self.init(bytes, in: file.deletingLastPathComponent().path)
        } catch {
            throw Complaint(printable: "\(file.lastPathComponent)\(error.description)")
        }
    }

    /// Reads an archive's bytes.
    ///
    /// - Throws: An error that begins with the line and column, such as `:3:1: The archive ends inside a string.`
    init(_ bytes: Data, in folder: String? = nil) throws(Complaint) {
        (self.bytes, self.folder) = (bytes, folder)
        let result = bytes.withUnsafeBytes { raw in
            // Returns a `Result`, since `withUnsafeBytes` doesn't have typed throws.
            Result { () throws(Complaint) in try Self.read(JSONCursor(raw.bindMemory(to: UInt8.self))) }
        }
        do throws(Complaint) {
            entries = try result.get()
        } catch {
            let (line, column) = error.position(in: bytes)
            throw Complaint(printable: ":\(line):\(column): The archive \(error)")
        }
    }

    /// Returns the condition on the body of an entry's request. Every body meets it if the request has no body,
    /// or has one that a map can't compare.
    func condition(of entry: Entry) -> RecordedCondition {
        let form = entry.requestForm.map { Data($0.utf8) }
        return RecordedCondition(form ?? entry.requestBody.flatMap { text(in: $0) }, type: entry.requestType)
    }

    /// Returns the text of a JSON string, as UTF-8; `nil` if one of the string's escapes is invalid.
    ///
    /// - Parameter range: The string's range in the archive, without the quotes.
    private func text(in range: Range<Int>) -> Data? {
        bytes.withUnsafeBytes { raw in
            try? JSONCursor.unescaped(UnsafeBufferPointer(rebasing: raw.bindMemory(to: UInt8.self)[range]))
        }
    }

    /// The body of a response.
    struct Body {
        var bytes = Data()
        /// Whether the archive has the body as text, which is written as UTF-8.
        var isText = true
    }

    /// Returns the body of an entry's response. Throws a refusal if the archive doesn't have it as the client got it.
    ///
    /// - Parameter most: The length of the longest body, in bytes.
    func body(of entry: Entry, atMost most: Int) throws(Complaint) -> Body {
        let body: Body
        if let range = entry.body {
            guard let text = text(in: range) else { throw .brokenBody }
            body = try decoded(text, of: entry)
        } else if let name = entry.bodyFile {
            let bytes = try contents(ofFile: name, atMost: most)
            guard !bytes.isEmpty || !entry.isBodyLost else { throw .noBody }
            body = Body(bytes: bytes, isText: entry.isWrittenAsText(bytes))
        } else {
            guard entry.hasEmptyBody else { throw .noBody }
            body = Body()
        }
        if entry.isCompressed(body.bytes) { throw .compressed }
        guard body.bytes.count <= most else { throw .tooLarge(most: most) }
        return body
    }

    private func decoded(_ text: Data, of entry: Entry) throws(Complaint) -> Body {
        if let encoding = entry.encoding, !encoding.isEmpty, !entry.isBase64 { throw .encoding(encoding) }
        if entry.isBase64 {
            guard let bytes = Self.bytes(ofBase64: text) else { throw .brokenBody }
            return Body(bytes: bytes, isText: false)
        }
        if entry.beginsBody(Self.bytes(ofHexList: text)) { throw .compressed }
        // Some programs write base64 without saying so. If it has the signature of its type, it can't be text.
        let beginning = text.lazy.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }.prefix(64)
        if let start = Self.bytes(ofBase64: Data(beginning)), entry.beginsBody(start),
            let bytes = Self.bytes(ofBase64: text)
        {
            return Body(bytes: bytes, isText: false)
        }
        guard String(utf8: text) != nil else { throw .brokenBody }
        return Body(bytes: text)
    }

    /// Decodes base64 (RFC 4648 §4). Some programs write white space between its lines.
    private static func bytes(ofBase64 text: Data) -> Data? {
        Data(base64Encoded: text) ?? Data(base64Encoded: text.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) })
    }

    /// Returns the first bytes of a list such as `["89504e47"]`, which some programs write for a body of bytes. Returns
    /// an empty value for any other text.
    private static func bytes(ofHexList text: Data) -> Data {
        guard text.starts(with: Data(#"[""#.utf8)) else { return Data() }
        let digits = text.dropFirst(2).prefix(64).map { Character(Unicode.Scalar($0)).hexDigitValue }
        let values = digits.prefix { $0 != nil }.compactMap { $0 }
        return Data(stride(from: 1, to: values.count, by: 2).map { UInt8(values[$0 - 1] << 4 | values[$0]) })
    }

    /// Reads a body from a file beside the archive. The archive may come from someone else, so nothing else is read.
    private func contents(ofFile name: String, atMost most: Int) throws(Complaint) -> Data {
        guard let folder, !name.isEmpty, !name.hasPrefix("."), !name.contains(".."),
            !name.utf8.contains(where: { [0, UInt8(ascii: "/"), UInt8(ascii: "\\")].contains($0) })
        else { throw .bodyFile(name, "isn't the name of a file beside the archive") }
        do throws(Complaint) {
            let file = try OpenedFile(withoutLinks: name, in: OpenedFile(placeOf: folder))
            // One byte more than allowed is refused like a longer file.
            return try file.prefix(min(most, file.status.size) + 1)
        } catch {
            throw .bodyFile(name, error == .missingFile ? "doesn't exist, or is a link" : error.fragment)
        }
    }

    private static func read(_ start: JSONCursor) throws(Complaint) -> [Entry] {
        var cursor = start
        var entries: [Entry]?
        guard cursor.next == .object else {
            throw cursor.failure(
                cursor.next == nil
                    ? "is empty. Export it again." : "isn't an HTTP Archive, which begins with {. Export it as HAR."
            )
        }
        let atStart = cursor
        try cursor.object { cursor, key, _ throws(Complaint) in
            guard key == "log", cursor.next == .object else { return try cursor.skip() }
            try cursor.object { cursor, key, _ throws(Complaint) in
                guard key == "entries", cursor.next == .array else { return try cursor.skip() }
                guard entries == nil else {
                    throw cursor.failure("has the list “log.entries” twice. Keep one of them.")
                }
                var list: [Entry] = []
                try cursor.array { cursor throws(Complaint) in
                    list.append(try Entry(&cursor, at: list.count + 1))
                }
                entries = inOrder(list)
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
    /// Returns entries in the order in which their requests began, since programs may write them in any order (HAR 1.2).
    /// If one of them doesn't say when, returns them unchanged.
    private static func inOrder(_ entries: [Entry]) -> [Entry] {
        let times = entries.compactMap(\.time)
        guard times.count == entries.count else { return entries }
        return zip(times, entries).sorted { ($0.0, $0.1.position) < ($1.0, $1.1.position) }.map(\.1)
    }
}

extension HTTPArchive {
    /// One request and its response in an HTTP Archive. A property is `nil` if its value in the archive is missing, or
    /// has a wrong type.
    struct Entry: Sendable {
        /// The entry's position in the archive, from 1.
        let position: Int
        /// When the request began, in nanoseconds since 1970; `nil` if the archive doesn't say, or if it has no valid time.
        private(set) var time: Int?
        /// The method in uppercase; `nil` if it isn't a valid method. HTTP methods are case-sensitive, but some
        /// programs write archives with methods in lowercase.
        private(set) var method: String?
        private(set) var url: String?
        /// The range of the request's body in the archive, without the quotes; `nil` if the archive has no body.
        private(set) var requestBody: Range<Int>?
        /// The request's body if the archive has only a list of a form's fields.
        private(set) var requestForm: String?
        /// `nil` if the type is missing or empty.
        private(set) var requestType: String?
        /// The response's status; 0 if the request got no response, and `nil` if the archive has no status.
        private(set) var status: Int?
        /// The response's content type as the server sent it, or else as the program that wrote the archive named it; `nil`
        /// if neither is valid. Chrome writes “x-unknown” for no type.
        private(set) var contentType: ContentType?
        /// The range of the response's body in the archive, without the quotes; `nil` if the archive
        /// has no body, or an empty text.
        private(set) var body: Range<Int>?
        /// The name of the file with the response's body, beside the archive; `nil` if the archive names none.
        private(set) var bodyFile: String?
        /// Whether the server compressed the body. Most programs write what the client got, which isn't compressed.
        private(set) var isFromCompressed = false
        /// How the archive encodes the response's body, such as `base64`. The body is text if this is `nil` or empty.
        private(set) var encoding: String?
        /// The length of the decoded body, in bytes; `nil` or negative if it isn't known.
        private(set) var size: Int?
        /// Whether the archive has a text for the response's body, even an empty one.
        private var hasText = false
        /// The length of the body as it was received, in bytes; `nil` or negative if it isn't known.
        private var bodySize: Int?
        /// What the server said of ``bodySize``.
        private var contentLength: Int?
        private var contentRange: String?
        /// The response's headers that may be imported, without `Content-Type`, by lowercase name.
        private(set) var headers: [String: String] = [:]

        /// Whether the response has no body, because its size is 0, the method is `HEAD`, or it's a redirect with
        /// `Location`. Otherwise, the server may have sent a body that's missing in the archive: browsers leave out
        /// bodies that they no longer have. The body of a 304 is in the client's cache.
        var hasEmptyBody: Bool {
            guard let status, status != 304 else { return false }
            if method == "HEAD" || Redirect.statuses.contains(status) && headers["location"] != nil { return true }
            if size ?? -1 < 0 { return hasText && (contentLength == 0 || bodySize == 0) }
            return size == 0 && !isBodyLost
        }

        /// Whether the response had a body, even if the archive has an empty one: some programs write 0 for the size of bodies
        /// that they no longer have. A compressed body may be empty.
        var isBodyLost: Bool {
            contentLength ?? 0 > 0 && bodySize ?? 0 > 0 && !isFromCompressed && method != "HEAD"
        }

        var isBase64: Bool { encoding?.asciiLowercased == "base64" }

        /// The file's length in bytes, if the response has status 206 and all of the file's bytes: media players request
        /// a whole file as a range. Otherwise, `nil`.
        var lengthOfWhole: Int? {
            guard status == 206, let contentRange, let slash = contentRange.lastIndex(of: "/"),
                let length = Int(contentRange[slash...].dropFirst()), length > 0,
                contentRange == "bytes 0-\(length - 1)/\(length)"
            else { return nil }
            return length
        }

        /// Returns whether a body may have this length in bytes, as the server sent it.
        func mayHaveLength(_ length: Int, _ body: HTTPArchive.Body) -> Bool {
            // A body that was compressed, and text in another charset, had another length.
            let isOther = isFromCompressed || body.isText && body.bytes.contains { $0 > 0x7F }
            return body.bytes.count == length || isOther && !body.bytes.isEmpty
        }

        /// Reads an entry. If it isn't a JSON object, all properties are `nil` or empty.
        init(_ cursor: inout JSONCursor, at position: Int) throws(Complaint) {
            self.position = position
            var entry = try cursor.members()
            time = try entry["startedDateTime"]?.text().flatMap { Self.nanoseconds(of: $0) }
            var request = try entry["request"]?.members() ?? [:]
            method = try request["method"]?.text().flatMap {
                HTTPSyntax.isToken($0) && $0 != "*" ? $0.uppercased() : nil
            }
            url = try request["url"]?.text()
            var postData = try request["postData"]?.members() ?? [:]
            requestType = try postData["mimeType"]?.text().flatMap { $0.isEmpty ? nil : $0 }
            requestBody = try postData["text"]?.rawText()
            if requestBody?.isEmpty ?? true {
                var fields: [String] = []
                try postData["params"]?.array { cursor throws(Complaint) in
                    var field = try cursor.members()
                    let pair = [try field["name"]?.text() ?? "", try field["value"]?.text() ?? ""]
                    fields.append(pair.map(Self.formEncoded).joined(separator: "="))
                }
                requestForm = fields.isEmpty ? nil : fields.joined(separator: "&")
            }

            var response = try entry["response"]?.members() ?? [:]
            status = try response["status"]?.integer()
            var content = try response["content"]?.members() ?? [:]
            encoding = try content["encoding"]?.text()
            size = try content["size"]?.integer()
            bodySize = try response["bodySize"]?.integer()
            // Empty text means that the body isn't recorded: browsers also write it for bodies that they no longer
            // have.
            let text = try content["text"]?.rawText()
            hasText = text != nil
            body = text.flatMap { $0.isEmpty ? nil : $0 }
            bodyFile = try content["_file"]?.text()
            let mimeType = try content["mimeType"]?.text()
            var values: [String: [String]] = [:]
            try response["headers"]?.array { cursor throws(Complaint) in
                var header = try cursor.members()
                guard let name = try header["name"]?.text()?.asciiLowercased, let value = try header["value"]?.text()
                else { return }
                if name == "content-length" { contentLength = HTTPSyntax.length(value) }
                if name == "content-range" { contentRange = value.trimmingCharacters(in: .whitespaces).asciiLowercased }
                if name == "content-encoding" { isFromCompressed = !["", "identity"].contains(value.asciiLowercased) }
                guard RecordingRules.Headers.isRecorded(name) else { return }
                // Some programs write the values of a repeated header as lines.
                let lines = value.split(omittingEmptySubsequences: !value.isEmpty, whereSeparator: \.isNewline)
                values[name, default: []] += lines.map { $0.trimmingCharacters(in: .whitespaces) }
            }
            // Repeated headers form a list (RFC 9110 §5.3).
            let header = values.removeValue(forKey: "content-type").flatMap { ContentType($0.joined(separator: ", ")) }
            headers = values.mapValues { $0.joined(separator: ", ") }
            contentType = header ?? mimeType.flatMap { ContentType($0) }
        }
    }
}

extension HTTPArchive.Entry {
    /// Returns the nanoseconds from 1970 to a time such as `2009-07-24T19:20:30.45+01:00` (ISO 8601); `nil` if the text
    /// isn't such a time.
    fileprivate static func nanoseconds(of text: String) -> Int? {
        // Foundation takes a fraction or a colon only in some formats, and loses digits.
        var rest = text.dropFirst(19)
        var fraction: Substring = ""
        if rest.first == "." {
            fraction = rest.dropFirst().prefix { "0"..."9" ~= $0 }
            rest = rest.dropFirst(1 + fraction.count)
        }
        let zone = rest.count == 6 ? rest.filter { $0 != ":" } : String(rest)
        guard let seconds = try? Date.ISO8601FormatStyle().parse(text.prefix(19) + "Z").timeIntervalSince1970,
            // Otherwise, the nanoseconds could be too many for an integer.
            seconds.magnitude < 9e9, zone == "Z" || zone.utf8.count == 5 && "+-".contains(rest.prefix(1)),
            let offset = zone == "Z" ? 0 : Int(zone),
            let nanoseconds = Int(fraction.prefix(9) + String(repeating: "0", count: max(0, 9 - fraction.count)))
        else { return nil }
        return (Int(seconds) - (offset / 100 * 60 + offset % 100) * 60) * 1_000_000_000 + nanoseconds
    }

    /// Returns a name or value as a browser writes it in a form (WHATWG URL §5.2).
    fileprivate static func formEncoded(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: " ") {
                result.append(UInt8(ascii: "+"))
            } else if byte.isLetter || byte.isDigit || "*-._".utf8.contains(byte) {
                result.append(byte)
            } else {
                PercentEncoding.append(byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the content type of the body's file: the response's, or else the type that the first bytes have; `nil` if
    /// that isn't known either. Text is written as UTF-8, and a text type gets this charset.
    func contentType(of body: HTTPArchive.Body) -> ContentType? {
        guard body.isText, let type = contentType?.text ?? MIMEType.sniffed(body.bytes) else { return contentType }
        var parts = type.split(separator: ";").enumerated().filter { number, part in
            number == 0 || !MIMEType.essence(of: String(part)).hasPrefix("charset=")
        }.map { String($0.element) }
        if MIMEType.isText(type) { parts.append(" charset=\(MIMEType.standardCharset)") }
        return ContentType(parts.joined(separator: ";"))
    }

    /// Returns the body's type if the body lost bytes when it was recorded as text: it has U+FFFD, the replacement
    /// character, although its type isn't text. Returns `nil` for any other body.
    ///
    /// - Parameter type: The body's type, as ``contentType(of:)`` returns it. Without one, the URL's extension says it.
    func typeWithLostBytes(_ body: HTTPArchive.Body, _ type: ContentType?, at url: NormalizedURL) -> String? {
        func byName() -> String? {
            MIMEType.fileExtension(of: url.path).flatMap { MIMEType.guess(forExtension: $0) }
        }
        guard body.isText, let type = type?.essence ?? byName(), !MIMEType.isText(type) else { return nil }
        return body.bytes.range(of: Data("\u{FFFD}".utf8)) == nil ? nil : type
    }

    /// Returns whether a body's file has text. Playwright writes such text as UTF-8, whatever charset the server or the
    /// document itself names. In other charsets, a text with more than ASCII is hardly ever valid UTF-8.
    fileprivate func isWrittenAsText(_ bytes: Data) -> Bool {
        guard let type = contentType?.essence ?? MIMEType.sniffed(bytes), MIMEType.isText(type) else { return false }
        return bytes.contains { $0 > 0x7F } && String(utf8: bytes) != nil
    }

    /// For bytes that the archive has in an unnamed encoding.
    fileprivate func beginsBody(_ bytes: Data) -> Bool {
        isFromCompressed && isCompressed(bytes)
            || contentType.map { MIMEType.hasSignature(bytes, of: $0.essence) } ?? false
    }

    /// Returns whether a body is still compressed as the server sent it, so that no client could read it. A body may
    /// also be a compressed file, such as a download.
    fileprivate func isCompressed(_ body: Data) -> Bool {
        let type = contentType?.essence ?? ""
        guard let start = Self.compressed.first(where: { body.starts(with: $0) }), !Self.compressedTypes.contains(type)
        else { return false }
        // Text may begin like zlib.
        if start.count == 2 { return isFromCompressed && String(utf8: body) == nil }
        return isFromCompressed
            || !type.isEmpty
                && (MIMEType.isText(type) || MIMEType.contradicts(body, type: type) != nil)
    }

    /// How gzip, zstd and zlib (“deflate”) begin, and gzip and zstd that a program took for text. Brotli has no
    /// signature.
    private static let compressed: [[UInt8]] = [
        [0x1F, 0x8B, 0x08], [0x28, 0xB5, 0x2F, 0xFD], [0x78, 0x01], [0x78, 0x5E], [0x78, 0x9C], [0x78, 0xDA],
        Array("\u{1F}\u{8B}\u{8}".utf8), Array("\u{1F}\u{FFFD}\u{8}".utf8), Array("(\u{FFFD}/\u{FFFD}".utf8),
    ]
    private static let compressedTypes = [
        "application/gzip", "application/x-gzip", "application/zstd", "application/zlib",
    ]
}

extension JSONCursor {
    /// Reads any value. If it's an object, returns a cursor at the value of each member, by key. If a key is given
    /// twice, the last value is returned. Returns an empty dictionary for any other value.
    fileprivate mutating func members() throws(Complaint) -> [String: JSONCursor] {
        var members: [String: JSONCursor] = [:]
        try object { cursor, key, _ throws(Complaint) in
            members[key] = cursor
            try cursor.skip()
        }
        return members
    }

    /// Reads any value. Returns an integer; `nil` for other values.
    fileprivate mutating func integer() throws(Complaint) -> Int? {
        let (start, kind) = (offset, next)
        try skip()
        return kind == .number ? Int(String(decoding: bytes[start..<offset], as: UTF8.self)) : nil
    }
}
