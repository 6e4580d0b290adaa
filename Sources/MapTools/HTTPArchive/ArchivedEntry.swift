import Foundation
import LocalSubstitution
import MapWriting

/// One request and its response in an HTTP Archive. Whatever is missing or has a wrong type is `nil`.
struct ArchivedEntry: Sendable {
    /// The method in uppercase. HTTP methods are case-sensitive, but not all programs that write archives know that.
    private(set) var method: String?
    private(set) var url: String?
    /// The range of the request's body in the archive, without its quotes; `nil` if it has none, or only as a list of a form's fields.
    private(set) var requestBody: Range<Int>?
    /// The type of the request's body; `nil` if it isn't known.
    private(set) var requestType: String?
    /// 0 if the request got no response.
    private(set) var status: Int?
    /// The recorded type of the response; `nil` if there is none, such as Chrome's “x-unknown”.
    private(set) var contentType: ContentType?
    /// The body's range in the archive, without its quotes; `nil` if no body was recorded.
    private(set) var body: Range<Int>?
    private(set) var encoding: String?
    /// The response's headers that an entry of a map may have, by lowercase names.
    private(set) var headers: [String: String] = [:]

    var isBase64: Bool { encoding?.asciiLowercased == "base64" }

    /// Reads an entry, whatever its JSON type is.
    init(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            switch key {
            case "request": try readRequest(&cursor)
            case "response": try readResponse(&cursor)
            default: try cursor.skip()
            }
        }
    }

    /// Sets the type from the content's MIME type and the header `Content-Type`. Chrome has the charset only in the header.
    private mutating func setContentType(_ mimeType: String?, _ header: ContentType?) {
        contentType = mimeType.flatMap { ContentType($0) } ?? header
        if let type = contentType, let header, type.charset == nil, header.charset != nil,
            header.essence == type.essence
        {
            contentType = header
        }
    }

    private mutating func readRequest(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            switch key {
            case "method":
                method = try cursor.text().flatMap { HTTPSyntax.isToken($0) && $0 != "*" ? $0.uppercased() : nil }
            case "url": url = try cursor.text()
            case "postData":
                try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
                    switch key {
                    case "mimeType": requestType = try cursor.text().flatMap { $0.isEmpty ? nil : $0 }
                    case "text": requestBody = try cursor.rawText()
                    default: try cursor.skip()
                    }
                }
            default: try cursor.skip()
            }
        }
    }

    private mutating func readResponse(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        var mimeType: String?
        var values: [String: [String]] = [:]
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            switch key {
            case "status": status = try cursor.integer()
            case "content": mimeType = try readContent(&cursor)
            case "headers":
                try cursor.array { cursor throws(JSONCursor.SyntaxError) in
                    try Self.readHeader(&cursor, into: &values)
                }
            default: try cursor.skip()
            }
        }
        // Repeated headers form a list (RFC 9110 §5.3), but there's only one Content-Type.
        let type = values.removeValue(forKey: "content-type")?.last
        headers = values.mapValues { $0.joined(separator: ", ") }
        setContentType(mimeType, type.flatMap { ContentType($0) })
    }

    /// Reads the content, and returns its MIME type, often with a charset.
    private mutating func readContent(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) -> String? {
        var mimeType: String?
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            switch key {
            case "mimeType": mimeType = try cursor.text()
            case "encoding": encoding = try cursor.text()
            // Empty text counts as not recorded: browsers also write it for bodies that they no longer have.
            case "text": body = try cursor.rawText().flatMap { $0.isEmpty ? nil : $0 }
            default: try cursor.skip()
            }
        }
        return mimeType
    }

    /// Adds a header's value to those already read for its name.
    private static func readHeader(
        _ cursor: inout JSONCursor,
        into values: inout [String: [String]]
    ) throws(JSONCursor.SyntaxError) {
        var (name, value) = (String?.none, String?.none)
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            switch key {
            case "name": name = try cursor.text()
            case "value": value = try cursor.text()
            default: try cursor.skip()
            }
        }
        guard let name = name?.asciiLowercased, let value, name == "content-type" || kept.contains(name) else { return }
        values[name, default: []].append(value)
    }

    /// The headers that a recorder keeps, and those that say who may read a response (the Fetch standard's CORS protocol). A
    /// recorder doesn't keep the latter, since they may be meant for one page only.
    static let keptHeaders =
        RecordedHeaders.names + [
            "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
            "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
        ]

    private static let kept = Set(keptHeaders.map(\.asciiLowercased))
}
