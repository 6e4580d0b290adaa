public import Foundation
import HTTPSyntax

/// A request that a server received.
public struct HTTPRequest: Sendable {
    /// The method, such as `GET`. It's case-sensitive (RFC 9110 section 9.1).
    public let method: String

    /// The request target as received (RFC 9112 section 3.2), such as `/a%20b?c=d`, but with bytes beyond ASCII
    /// percent-encoded.
    public let target: String

    /// The path of the target, still percent-encoded, without the query.
    ///
    /// It begins with a slash if the target is a path or an absolute URL. For a target in another form, such as `*` or
    /// `host:443`, it's the target itself.
    public let path: String

    /// The part of the target after the first `?`, still percent-encoded; `nil` if the target has no `?`.
    public let query: String?

    /// The host and port of a target that is an absolute URL; `nil` for any other target. The host and port take
    /// precedence over the field `Host` (RFC 9112 section 3.2.2).
    package let authority: String?

    /// The header fields in the order in which they arrived, with their names as the client wrote them.
    public let headers: [(name: String, value: String)]

    /// The body, without its transfer coding. Empty if the request has no body, and before
    /// ``RequestReader/readBody(of:limit:)`` has read the body.
    public internal(set) var body = Data()

    /// The minor version of HTTP, from 0 to 9: the x in `HTTP/1.x`.
    package let minorVersion: Int

    /// A request breaks a rule of HTTP or exceeds a limit. The raw value is the HTTP status of the response to send.
    package enum Refusal: Int, Error {
        case malformed = 400
        case timeout = 408
        case bodyTooLarge = 413
        case headTooLarge = 431
        case unknownCoding = 501
    }

    /// Parses a request line and its header lines, without line ends. Throws status 400 if they're malformed.
    init(head lines: [[UInt8]]) throws(Refusal) {
        let parts = (lines.first ?? []).split(separator: .space, omittingEmptySubsequences: false)
        guard parts.count == 3, HTTPSyntax.isToken(parts[0]), !parts[1].isEmpty, parts[1].allSatisfy({ $0 > .space }),
            parts[2].count == 8, parts[2].starts(with: "HTTP/1.".utf8),
            let minorVersion = Int(String(decoding: parts[2].suffix(1), as: UTF8.self))
        else {
            throw .malformed
        }
        method = String(decoding: parts[0], as: UTF8.self)
        self.minorVersion = minorVersion
        // Bytes beyond ASCII are percent-encoded, since they need not be valid UTF-8.
        let characters = parts[1].map { byte in
            byte < 0x80 ? String(Unicode.Scalar(byte)) : "%\(String(byte, radix: 16, uppercase: true))"
        }
        target = characters.joined()
        var rest = target[...]
        let scheme = target.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if !scheme.isEmpty, target[scheme.endIndex...].hasPrefix("://") {
            let host = target[scheme.endIndex...].dropFirst("://".count).prefix { $0 != "/" && $0 != "?" }
            authority = String(host)
            rest = target[host.endIndex...]
        } else {
            authority = nil
        }
        let path = rest.prefix { $0 != "?" }
        guard authority != nil || !path.isEmpty else { throw .malformed }
        self.path = path.isEmpty ? "/" : String(path)
        query = path.endIndex == rest.endIndex ? nil : String(rest[path.endIndex...].dropFirst())

        headers = try lines.dropFirst().map(Self.field)
        // RFC 9112 section 3.2: an HTTP/1.1 request has exactly one Host field. An HTTP/1.0 request may have none.
        let hosts = headers.count { $0.name.isSameHeader(as: "Host") }
        guard hosts == 1 || minorVersion == 0 && hosts == 0 else { throw .malformed }
    }

    /// Throws status 400 if the line is malformed. An obsolete folded line, which begins with white space, is malformed
    /// too (RFC 9112 section 5).
    private static func field(_ line: [UInt8]) throws(Refusal) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), HTTPSyntax.isToken(line[..<colon]) else {
            throw .malformed
        }
        let value = HTTPSyntax.withoutBlanks(line[(colon + 1)...])
        guard HTTPSyntax.isFieldValue(value) else { throw .malformed }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// Returns the value of a header field; `nil` if the request has no such field.
    ///
    /// The name's case doesn't matter. If several fields have the name, their values are joined with `", "` (RFC 9110
    /// section 5.3).
    public func header(_ name: String) -> String? {
        let values = headers.filter { $0.name.isSameHeader(as: name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The target without the scheme and authority of an absolute URL.
    package var pathAndQuery: String {
        query.map { "\(path)?\($0)" } ?? path
    }

    /// Whether to close the connection after the response to this request: it has `Connection: close`, or is an
    /// HTTP/1.0 request (RFC 9112 section 9.3).
    package var closesConnection: Bool {
        minorVersion == 0 || HTTPSyntax.lowercasedElements(of: header("Connection")).contains("close")
    }

    /// Whether the client waits for `100 Continue` before it sends its body (RFC 9110 section 10.1.1).
    var awaitsContinue: Bool {
        minorVersion > 0 && HTTPSyntax.lowercasedElements(of: header("Expect")).contains("100-continue")
    }

    /// The length in bytes: 0 if there's no body, and `nil` if the body is chunked (RFC 9112 section 6.3).
    ///
    /// - Throws: ``Refusal`` with status 400 if the length is malformed, or the request also has a transfer coding; 501
    ///   if the transfer coding isn't `chunked`.
    func bodyLength() throws(Refusal) -> Int? {
        let length = header("Content-Length")
        if let coding = header("Transfer-Encoding") {
            guard length == nil else { throw .malformed }
            guard HTTPSyntax.lowercasedElements(of: coding) == ["chunked"] else { throw .unknownCoding }
            return nil
        }
        guard let length else { return 0 }
        guard !length.isEmpty, length.isDigits else { throw .malformed }
        // A number that is too large for `Int` isn't malformed. It becomes `Int.max`, which is over any limit.
        return Int(length) ?? .max
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")
}
