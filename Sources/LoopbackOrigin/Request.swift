public import Foundation

extension LoopbackServer {
    /// One request as the origin received it.
    public struct Request: Sendable {
        /// The method, such as `GET`; its case counts (RFC 9110 section 9.1).
        public let method: String

        /// The request target exactly as on the wire (RFC 9112 section 3.2), such as `/a%20b?c=d`.
        public let target: String

        /// The path of the target, still percent-encoded, without the query.
        public let path: String

        /// What follows the first `?` of the target, still percent-encoded, or nil without one.
        public let query: String?

        /// The header fields in the order in which they came, names in the sender's case.
        public let headers: [(name: String, value: String)]

        /// The content without its transfer coding; empty when the request had none.
        public internal(set) var body = Data()

        /// The x of HTTP/1.x.
        let minorVersion: Int

        /// The value of a header field, or nil without one.
        ///
        /// Names are compared without regard to case; several lines are joined by `", "` (RFC 9110 section 5.3).
        public func header(_ name: String) -> String? {
            let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }
}

extension LoopbackServer.Request {
    /// The status with which a request that breaks a rule or a limit is turned down.
    struct Refusal: Error {
        let status: Int

        static let malformed = Refusal(status: 400)
    }

    /// How the body that follows a head is delimited (RFC 9112 section 6.3).
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    /// Parses a request line and the field lines below it, all without their line ends.
    init(head lines: [[UInt8]]) throws(Refusal) {
        let parts = (lines.first ?? []).split(separator: .space, omittingEmptySubsequences: false)
        guard parts.count == 3, Self.isToken(parts[0]), !parts[1].isEmpty, parts[1].allSatisfy({ $0 > .space }),
            parts[2].count == 8, parts[2].starts(with: "HTTP/1.".utf8), let digit = parts[2].last,
            Self.isDigit(digit)
        else {
            throw .malformed
        }
        method = String(decoding: parts[0], as: UTF8.self)
        target = String(decoding: parts[1], as: UTF8.self)
        minorVersion = Int(digit - UInt8(ascii: "0"))
        (path, query) = Self.pathAndQuery(ofTarget: target)

        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            fields.append(try Self.field(line))
        }
        headers = fields
        // RFC 9112 section 3.2: a request of HTTP/1.1 names its host, once.
        let hosts = fields.count { $0.name.lowercased() == "host" }
        guard hosts == 1 || minorVersion == 0 && hosts == 0 else { throw .malformed }
    }

    /// The key by which a route or a count tells this request from those with other queries.
    var pathAndQuery: String {
        query.map { "\(path)?\($0)" } ?? path
    }

    /// Whether the client wants the connection closed, as every one of HTTP/1.0 is here (RFC 9112 section 9.3).
    var closesConnection: Bool {
        minorVersion == 0 || Self.elements(header("Connection")).contains("close")
    }

    /// Whether the client holds its body back until it is told to go on (RFC 9110 section 10.1.1).
    var awaitsContinue: Bool {
        minorVersion > 0 && Self.elements(header("Expect")).contains("100-continue")
    }

    /// How to read the body; refuses what would let two readers disagree on where it ends.
    func framing() throws(Refusal) -> Framing {
        let length = header("Content-Length")
        if let coding = header("Transfer-Encoding") {
            guard length == nil else { throw .malformed }
            guard Self.elements(coding) == ["chunked"] else { throw Refusal(status: 501) }
            return .chunked
        }
        guard let length else { return .length(0) }
        guard !length.isEmpty, length.utf8.allSatisfy(Self.isDigit) else { throw .malformed }
        // Digits that overflow are well-formed all the same: a body far beyond any limit.
        return .length(Int(length) ?? .max)
    }

    /// Takes origin-form (`/a?b`), absolute-form (`http://host/a?b`), and leaves others (`*`, `host:443`) whole.
    private static func pathAndQuery(ofTarget target: String) -> (path: String, query: String?) {
        var rest = target[...]
        if !target.hasPrefix("/"), let scheme = target.range(of: "://") {
            rest = target[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
        }
        let path = rest.prefix { $0 != "?" }
        let query = path.endIndex == rest.endIndex ? nil : String(rest[path.endIndex...].dropFirst())
        return (path.isEmpty ? "/" : String(path), query)
    }

    /// Splits `name: value`. Space around the name, as in the obsolete folded lines, is malformed (RFC 9112 section 5).
    private static func field(_ line: [UInt8]) throws(Refusal) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]) else { throw .malformed }
        let isBlank = { (byte: UInt8) in byte == .space || byte == .tab }
        let value = line[(colon + 1)...].drop(while: isBlank)
        let end = value.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        guard value[..<end].allSatisfy({ $0 >= .space || $0 == .tab }) else { throw .malformed }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value[..<end], as: UTF8.self))
    }

    /// The lower-cased elements of a comma-separated list (RFC 9110 section 5.6.1).
    private static func elements(_ list: String?) -> [String] {
        (list ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// RFC 9110 section 5.6.2.
    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { $0 > .space && $0 < 0x7F && !#"(),/:;<=>?@[\]{}""#.utf8.contains($0) }
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let tab = UInt8(ascii: "\t")
}
