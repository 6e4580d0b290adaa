#if !os(watchOS)
import Foundation
import LocalSubstitution
import WebReferences

/// The cookies of one origin, as a client stores them for 127.0.0.1.
///
/// Browsers share cookies between all ports of a host (RFC 6265 section 8.5), and a port may serve another origin
/// later. So each cookie's name gets a prefix that identifies the origin, such as `https+www.example.com+8443~`.
struct ServedCookies {
    private let prefix: String

    init(of origin: WebOrigin) {
        let host = origin.description.dropFirst(origin.scheme.count + "://".count)
        // Encodes `+` and `~` too, so that no origin's prefix is the beginning of another origin's prefix.
        let encoded = host.addingPercentEncoding(withAllowedCharacters: Self.plain) ?? String(host)
        prefix = "\(origin.scheme)+\(encoded.replacingOccurrences(of: ":", with: "+"))~"
    }

    /// Returns the value of the `Cookie` header for the origin: the client's cookies whose names begin with the
    /// origin's prefix, with the prefix removed. Returns `nil` if there are none.
    ///
    /// - Parameter lines: The values of the client's `Cookie` headers.
    func requested(_ lines: [String]) -> String? {
        let own = lines.flatMap { $0.split(separator: ";") }.map { $0.drop { $0 == " " || $0 == "\t" } }
            .filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) }
        return own.isEmpty ? nil : own.joined(separator: "; ")
    }

    /// Returns a `Set-Cookie` value adapted for the client. Adds the prefix to the cookie's name, and leaves out the
    /// attributes that don't work with http on 127.0.0.1: `Domain`, `Secure`, `Partitioned` and `SameSite=None`.
    func set(_ cookie: String) -> String {
        let parts = cookie.split(separator: ";", omittingEmptySubsequences: false)
        let pair = (parts.first ?? "").drop { $0 == " " || $0 == "\t" }
        let attributes = parts.dropFirst().filter { attribute in
            let text = attribute.filter { $0 != " " && $0 != "\t" }.lowercased()
            return !["domain", "secure", "partitioned"].contains(String(text.prefix { $0 != "=" }))
                && text != "samesite=none"
        }
        return ([prefix + pair] + attributes.map { String($0) }).joined(separator: ";")
    }

    /// Returns a sentence about each cookie in a `Set-Cookie` value that a browser would store without the prefix, but
    /// drops with it; `nil` if there's none.
    func warning(about line: String) -> String? {
        let warnings = Self.separated(line).compactMap { cookie -> String? in
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            let length = pair.reduce(0) { $0 + $1.utf8.count }
            let excess = length + prefix.utf8.count - Self.longest
            guard let name = pair.first, length <= Self.longest, excess > 0 else { return nil }
            return "Browsers drop the cookie “\(name)”, because the server's prefix makes it "
                + "\(excess.counted("byte", "bytes")) too long. Shorten its name or value."
        }
        return warnings.isEmpty ? nil : warnings.joined(separator: " ")
    }

    /// The largest number of bytes in a cookie's name and value together (RFC 6265bis section 5.7).
    private static let longest = 4_096

    /// Splits a `Set-Cookie` value in which Foundation has joined several cookies with a comma and a space.
    ///
    /// A comma separates cookies if a space, a name and an equals sign follow it. These never follow a comma in a date,
    /// and seldom a comma in an unquoted value. A comma in a quoted value never separates cookies.
    static func separated(_ line: String) -> [String] {
        let line = line.utf8
        var cookies: [Substring] = []
        var start = line.startIndex
        var rest = afterQuotes(line[start...])
        while let comma = rest.firstIndex(of: UInt8(ascii: ",")) {
            rest = line[comma...].dropFirst()
            let next = rest.drop { blanks.contains($0) }
            let name = next.prefix { !endsOfNames.contains($0) }
            guard next.startIndex > rest.startIndex, !name.isEmpty, line[name.endIndex...].first == UInt8(ascii: "=")
            else {
                continue
            }
            cookies.append(Substring(line[start..<comma]))
            start = next.startIndex
            rest = afterQuotes(next)
        }
        return (cookies + [Substring(line[start...])]).filter { !$0.isEmpty }.map(String.init)
    }

    /// Returns the text after a cookie's quoted value; the whole text if the value isn't quoted or its closing quote is
    /// missing.
    private static func afterQuotes(_ cookie: Substring.UTF8View) -> Substring.UTF8View {
        let value = cookie.drop { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }.dropFirst()
        guard value.first == UInt8(ascii: "\"") else { return cookie }
        let rest = value.dropFirst().drop { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ";") }
        return rest.first == UInt8(ascii: "\"") ? rest.dropFirst() : cookie
    }

    /// The characters of a host and port that aren't percent-encoded in a cookie's prefix. A colon becomes `+` instead.
    private static let plain = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:"
    )
    private static let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    private static let endsOfNames = blanks.union(";=,\r\n".utf8)
}
#endif
