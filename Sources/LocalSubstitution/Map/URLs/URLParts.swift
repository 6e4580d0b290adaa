import Foundation
import HTTPSyntax

/// The parts of an absolute URL (RFC 3986 §3) or of a match pattern. They aren't normalized.
///
/// This replaces Foundation's `URL`, which has no wildcards, and encodes a `%` again if another byte needs encoding.
package struct URLParts {
    package let scheme: String
    /// The host, with the brackets of an IP literal.
    package let host: ArraySlice<UInt8>
    /// The text after the host's colon; `nil` if there's no colon.
    let port: ArraySlice<UInt8>?
    package let path: ArraySlice<UInt8>
    let query: ArraySlice<UInt8>?
    package let hasUserInfo: Bool
    let hasFragment: Bool

    package init(_ text: String) throws(Complaint) {
        guard !text.isEmpty else {
            throw Complaint("is empty", fix: "Write an absolute URL, such as “https://example.com/logo.png”.")
        }
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(where: { ":/?#".utf8.contains($0) }), bytes[colon] == UInt8(ascii: ":"),
            colon > 0
        else { throw .withoutScheme(text) }
        scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()

        var rest = bytes[(colon + 1)...]
        guard rest.starts(with: "//".utf8) else {
            // A digit after the colon, as in `localhost:8080`, means that the text is a host and a port.
            let hasPort = rest.first?.isDigit == true
            throw hasPort ? .withoutScheme(text) : .withoutHost(scheme, text)
        }
        rest = rest.dropFirst(2)
        let fragment = rest.firstIndex(of: UInt8(ascii: "#"))
        hasFragment = fragment != nil
        rest = rest[..<(fragment ?? rest.endIndex)]

        var authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        rest = rest[authority.endIndex...]
        path = rest.prefix { $0 != UInt8(ascii: "?") }
        query = path.endIndex < rest.endIndex ? rest[(path.endIndex + 1)...] : nil

        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        hasUserInfo = at != nil
        if let at { authority = authority[(at + 1)...] }
        let hostEnd: Int
        if authority.first == UInt8(ascii: "[") {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else {
                throw Complaint("has a host that begins with [ but has no ]", fix: "Add the ].")
            }
            hostEnd = bracket + 1
        } else {
            hostEnd = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        }
        host = authority[..<hostEnd]
        if hostEnd == authority.endIndex {
            port = nil
        } else {
            guard authority[hostEnd] == UInt8(ascii: ":") else {
                throw Complaint("has text after the ] of its host", fix: "Remove it.")
            }
            port = authority[(hostEnd + 1)...]
        }
        guard !host.isEmpty else { throw .withoutHost(scheme, text) }
    }

    /// User info and a fragment are errors, since a key with them would never match.
    package init(key: String) throws(Complaint) {
        try self.init(key)
        guard !hasUserInfo else { throw Complaint("has user info before the host", fix: "Remove it.") }
        guard !hasFragment else {
            throw Complaint("has a fragment, which is never sent", fix: "Remove # and everything after it.")
        }
        if let last = key.unicodeScalars.last, last.isInvisible {
            throw Complaint("ends in an invisible character", fix: "", in: key)
        }
    }

    /// The default ports of `http` and `https` (RFC 9110 §4.2.1, §4.2.2).
    package static func defaultPort(ofScheme scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// The scheme's default port if the URL has none.
    func portNumber() throws(Complaint) -> Int {
        guard let digits = port, !digits.isEmpty else { return Self.defaultPort(ofScheme: scheme) }
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.allSatisfy(\.isDigit),
            let number = Int(text), number <= 65_535
        else { throw Complaint("has the invalid port “\(text)”", fix: "Use a number up to 65535.") }
        return number
    }
}

/// The normal form of a URL's host, path and query (RFC 3986 §6.2.2). Keys and requests are compared in this
/// form; see ``NormalizedURL``.
extension URLParts {
    /// The host in lowercase, with normalized percent-encoding, and in ASCII. For a host that isn't ASCII, `URL` makes
    /// the ASCII form (IDNA).
    package static func normalizedHost(_ host: ArraySlice<UInt8>) throws(Complaint) -> String {
        let text = String(decoding: host, as: UTF8.self)
        if host.first == UInt8(ascii: "[") {
            let literal = host.dropFirst().dropLast()
            guard !literal.isEmpty,
                literal.allSatisfy({ $0.hexDigitValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { throw Complaint("has the host “\(text)”, which isn't an IPv6 address", fix: "Correct it.") }
            return text.lowercased()
        }
        var host = host
        if host.contains(where: { $0 >= 0x80 }) {
            // Not `host(percentEncoded:)`, which would undo the IDNA form, or decode “ä%2F.de” to a host with a slash.
            let ascii = URL(string: "https://\(text)/").map { $0.absoluteString.utf8.dropFirst(8).dropLast() }
            guard let ascii, !ascii.isEmpty, ascii.allSatisfy({ $0 < 0x80 }) else {
                throw Complaint(
                    "has the host “\(text)”, which has no ASCII form (IDNA)",
                    fix: "Correct it.",
                    in: text
                )
            }
            host = Array(ascii)[...]
        }
        let allowed = URLParts.Encoding.host
        guard host.allSatisfy({ allowed.contains($0) || $0 == UInt8(ascii: "%") }) else {
            throw Complaint(
                "has the host “\(text)”, which contains an invalid character",
                fix: "Use letters, digits, hyphens and periods."
            )
        }
        let normalized = URLParts.Encoding.normalize(host, allowed: allowed, keepsAsterisks: false)
        return String(decoding: normalized, as: UTF8.self).lowercased()
    }

    /// Normalizes percent-encoding, then removes dot segments (RFC 3986 §5.2.4). An empty path becomes `/`.
    ///
    /// - Parameter keepsAsterisks: Whether asterisks are wildcards, which stay unencoded. If `false`, they're encoded.
    static func normalizedPath(_ path: ArraySlice<UInt8>, keepsAsterisks: Bool) -> [UInt8] {
        let encoded = URLParts.Encoding.normalize(
            path,
            allowed: URLParts.Encoding.path,
            keepsAsterisks: keepsAsterisks
        )
        guard !encoded.isEmpty else { return [UInt8(ascii: "/")] }
        let segments = encoded.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.contains(where: isDotSegment) else { return encoded }
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in segments.enumerated() {
            if !isDotSegment(segment) {
                kept.append(segment)
                continue
            }
            if segment.count == 2 { _ = kept.popLast() }
            if index == segments.count - 1 { kept.append([]) }
        }
        return kept.flatMap { [UInt8(ascii: "/")] + $0 }
    }

    /// Without its `?`.
    static func normalizedQuery(_ query: ArraySlice<UInt8>, keepsAsterisks: Bool) -> [UInt8] {
        Encoding.normalize(query, allowed: Encoding.query, keepsAsterisks: keepsAsterisks)
    }

    private static func isDotSegment(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.count <= 2 && !segment.isEmpty && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}

extension URLParts {
    /// The percent-encoding of a URL in normal form: the bytes that stay unencoded in its host, path and query.
    enum Encoding {
        /// The unreserved characters (RFC 3986 §2.3). They mean the same encoded or not, so they're always decoded.
        static let unreserved = PercentEncoding.AllowedBytes(letters + "-._~")
        /// `pchar` and `/` (RFC 3986 §3.3), except `*`, which is the wildcard, and `'`.
        ///
        /// Browsers encode `'` in a query (WHATWG URL, special-query percent-encode set), but not in a path. Here, it's
        /// encoded in both, since a pattern's `*` can match a path and a query.
        static let path = PercentEncoding.AllowedBytes(letters + "-._~!$&()+,;=:@/")
        /// `pchar`, `/` and `?` (RFC 3986 §3.4), except `*` and `'`.
        static let query = PercentEncoding.AllowedBytes(letters + "-._~!$&()+,;=:@/?")
        /// `unreserved` and `sub-delims` (RFC 3986 §3.2.2), except `*`.
        static let host = PercentEncoding.AllowedBytes(letters + "-._~!$&'()+,;=")

        private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

        /// Returns bytes in normal form (RFC 3986 §6.2.2). Unreserved characters are decoded. Bytes that aren't allowed
        /// are encoded, with uppercase digits. A `%` that doesn't begin a valid encoding is encoded, too.
        ///
        /// - Parameter keepsAsterisks: Whether asterisks are wildcards, which stay unencoded. If `false`, they're
        ///   encoded.
        static func normalize(
            _ slice: ArraySlice<UInt8>,
            allowed: PercentEncoding.AllowedBytes,
            keepsAsterisks: Bool
        ) -> [UInt8] {
            let bytes = Array(slice)
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if let decoded = PercentEncoding.byte(encodedAt: index, of: bytes) {
                    if unreserved.contains(decoded) {
                        result.append(decoded)
                    } else {
                        PercentEncoding.append(decoded, to: &result)
                    }
                    index += 3
                    continue
                }
                if allowed.contains(byte) || (keepsAsterisks && byte == UInt8(ascii: "*")) {
                    result.append(byte)
                } else {
                    PercentEncoding.append(byte, to: &result)
                }
                index += 1
            }
            return result
        }
    }
}

extension Complaint {
    /// Creates a complaint about a URL. The description follows a name such as “The key” in a message.
    ///
    /// - Parameter text: The text with the mistake. If the text has an invisible character, that's the mistake, and the
    ///   fix is to remove it.
    convenience init(_ statement: String, fix: String, in text: String) {
        let invisible = text.unicodeScalars.first(where: \.isInvisible)
        self.init(statement, fix: invisible.map { "Remove the invisible character \($0.escape)." } ?? fix)
    }

    fileprivate static func withoutScheme(_ text: String) -> Complaint {
        Complaint("has no scheme", fix: "Begin it with https:// or http://.", in: text)
    }

    fileprivate static func withoutHost(_ scheme: String, _ text: String) -> Complaint {
        Complaint("has no host", fix: "Write “\(scheme)://host/path”.", in: text)
    }
}
