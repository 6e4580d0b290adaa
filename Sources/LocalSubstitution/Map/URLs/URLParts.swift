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

    package init(_ text: String) throws(URLParts.SyntaxError) {
        guard !text.isEmpty else {
            throw URLParts.SyntaxError("is empty", "Write an absolute URL, such as “https://example.com/logo.png”.")
        }
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(where: { ":/?#".utf8.contains($0) }), bytes[colon] == UInt8(ascii: ":"),
            colon > 0
        else { throw .withoutScheme }
        scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()

        var rest = bytes[(colon + 1)...]
        guard rest.starts(with: "//".utf8) else {
            // A digit after the colon, as in `localhost:8080`, means that the text is a host and a port.
            let hasPort = rest.first?.isDigit == true
            throw hasPort ? .withoutScheme : URLParts.SyntaxError("has no host", "Write “\(scheme)://host/path”.")
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
                throw URLParts.SyntaxError("has a host that begins with [ but has no ]", "Add the ].")
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
                throw URLParts.SyntaxError("has text after the ] of its host", "Remove it.")
            }
            port = authority[(hostEnd + 1)...]
        }
        guard !host.isEmpty else { throw URLParts.SyntaxError("has no host", "Write “\(scheme)://host/path”.") }
    }

    /// Creates the parts of a key. User info and a fragment are errors, since a key with them would never match.
    package init(key: String) throws(URLParts.SyntaxError) {
        try self.init(key)
        guard !hasUserInfo else { throw URLParts.SyntaxError("has user info before the host", "Remove it.") }
        guard !hasFragment else {
            throw URLParts.SyntaxError("has a fragment, which is never sent", "Remove # and everything after it.")
        }
    }

    /// Returns a scheme's default port (RFC 9110 §4.2.1, §4.2.2).
    package static func defaultPort(ofScheme scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// Returns the port's number; the scheme's default port if the URL has none.
    func portNumber() throws(URLParts.SyntaxError) -> Int {
        guard let digits = port, !digits.isEmpty else { return Self.defaultPort(ofScheme: scheme) }
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.allSatisfy(\.isDigit),
            let number = Int(text), number <= 65_535
        else { throw URLParts.SyntaxError("has the invalid port “\(text)”", "Use a number up to 65535.") }
        return number
    }
}

extension URLParts {
    /// Why a text isn't an `http` or `https` URL or a match pattern, and how to fix it.
    package struct SyntaxError: Error {
        private let predicate: String
        private let advice: String

        init(_ predicate: String, _ advice: String) {
            self.predicate = predicate
            self.advice = advice
        }

        /// What's wrong and how to fix it, in sentences that follow a name such as “The key” in a message.
        package var message: String { "\(predicate). \(advice)" }

        /// What's wrong, without the advice and a period, for a label or the middle of a sentence.
        package var fragment: String { predicate }

        static let withoutScheme = URLParts.SyntaxError("has no scheme", "Begin it with https:// or http://.")
    }
}
