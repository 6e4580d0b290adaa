package import Foundation
import HTTPSyntax

/// The status and the header fields of a response.
package struct ResponseHead: Sendable {
    package var status: Int

    /// In the order in which they're sent.
    package var fields: [(name: String, value: String)]

    package init(status: Int, fields: [(name: String, value: String)] = []) {
        self.status = status
        self.fields = fields
    }

    /// The value of the first field with the name. The name's case doesn't matter.
    package func field(_ name: String) -> String? {
        fields.first { $0.name.isSameHeader(as: name) }?.value
    }

    /// Removes all fields with a name. Then appends one with the value, unless the value is `nil`. The name's case
    /// doesn't matter.
    package mutating func setField(_ name: String, to value: String?) {
        fields.removeAll { $0.name.isSameHeader(as: name) }
        if let value { fields.append((name, value)) }
    }

    package var allowsBody: Bool { HTTPSyntax.hasBody(status: status) }

    /// Removes fields whose names aren't tokens, or whose values contain a control character other than a tab. A server
    /// on the network may have sent them. A line end in a value would begin another field, or the body.
    package mutating func removeInvalidFields() {
        fields.removeAll { !HTTPSyntax.isToken($0.name) || !HTTPSyntax.isFieldValue($0.value.utf8) }
    }

    /// The head as bytes: the status line, the fields unchanged, and the empty line at the end.
    package var encoded: Data {
        var text = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "")\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        return Data((text + "\r\n").utf8)
    }

    /// The reason phrases of common statuses. Any other status gets an empty phrase, since clients should ignore
    /// phrases (RFC 9112 section 4).
    private static let reasons = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 205: "Reset Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout", 410: "Gone", 413: "Content Too Large", 416: "Range Not Satisfiable",
        421: "Misdirected Request", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
