public import Foundation

/// One request as a server received it.
public struct HTTPRequest: Sendable {
    /// The method, such as `GET`. It's case-sensitive (RFC 9110 section 9.1).
    public let method: String

    /// The request target as on the wire (RFC 9112 section 3.2), such as `/a%20b?c=d`. Bytes that aren't ASCII are percent-encoded.
    public let target: String

    /// The path of the target, still percent-encoded, without the query.
    ///
    /// It begins with a slash, except for the targets `*` and `host:443`, which are left whole.
    public let path: String

    /// The part of the target after the first `?`, still percent-encoded; `nil` if there is none.
    public let query: String?

    /// The host and port of a target that is an absolute URL; `nil` for any other target. They take precedence over the field
    /// `Host` (RFC 9112 section 3.2.2).
    package let authority: String?

    /// The header fields in the order in which they arrived, with names in the sender's case.
    public let headers: [(name: String, value: String)]

    /// The content without its transfer coding; empty when the request had none.
    public internal(set) var body = Data()

    /// The minor version: the x in HTTP/1.x.
    package let minorVersion: Int

    /// Returns the value of a header field; `nil` if the request doesn't have it.
    ///
    /// The name's case doesn't matter. Several lines are joined with `", "` (RFC 9110 section 5.3).
    public func header(_ name: String) -> String? {
        let values = headers.filter { FieldSyntax.isSameName($0.name, name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

extension HTTPRequest {
    /// The refusal of a request that breaks a rule or exceeds a limit, with its status.
    package struct Refusal: Error, Equatable {
        package let status: Int

        package init(status: Int) {
            self.status = status
        }

        static let malformed = Refusal(status: 400)
        static let timeout = Refusal(status: 408)
        static let bodyTooLarge = Refusal(status: 413)
        static let headTooLarge = Refusal(status: 431)
        static let unknownCoding = Refusal(status: 501)
    }

    /// How the body that follows a head is delimited (RFC 9112 section 6.3).
    package enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    /// The path and the query, as in a target that begins with a slash.
    package var pathAndQuery: String {
        query.map { "\(path)?\($0)" } ?? path
    }

    /// Whether to close the connection after this request. HTTP/1.0 connections are always closed (RFC 9112 section 9.3).
    package var closesConnection: Bool {
        minorVersion == 0 || FieldSyntax.elements(of: header("Connection")).contains("close")
    }

    /// Whether the client waits for `100 Continue` before it sends its body (RFC 9110 section 10.1.1).
    package var awaitsContinue: Bool {
        minorVersion > 0 && FieldSyntax.elements(of: header("Expect")).contains("100-continue")
    }

    /// Returns how to read the body.
    ///
    /// - Throws: ``Refusal`` if two readers could disagree on where the body ends.
    package func framing() throws(Refusal) -> Framing {
        let length = header("Content-Length")
        if let coding = header("Transfer-Encoding") {
            guard length == nil else { throw .malformed }
            guard FieldSyntax.elements(of: coding) == ["chunked"] else { throw .unknownCoding }
            return .chunked
        }
        guard let length else { return .length(0) }
        guard !length.isEmpty, length.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            throw .malformed
        }
        // Digits that overflow are still well-formed. They announce a body far beyond any limit.
        return .length(Int(length) ?? .max)
    }
}
