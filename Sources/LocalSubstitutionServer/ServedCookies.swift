import LocalSubstitution
import WebReferences

#if !os(watchOS)
/// The cookies of one origin.
///
/// Browsers share cookies between all ports of a host (RFC 6265 section 8.5), and a port may serve another origin later. So each
/// name gets a prefix for the origin, such as `https+www.example.com+8443~`.
struct ServedCookies {
    private let prefix: String

    init(of origin: WebOrigin) {
        var prefix = Array("\(origin.scheme)+".utf8)
        for byte in origin.description.utf8.dropFirst(origin.scheme.utf8.count + "://".utf8.count) {
            if byte == UInt8(ascii: ":") {
                prefix.append(UInt8(ascii: "+"))
            } else if byte.isLetter || byte.isDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") {
                prefix.append(byte)
            } else {
                // Also `+` and `~`, so that no prefix is the prefix, or part of the prefix, of another origin.
                PercentEncoding.append(byte, to: &prefix)
            }
        }
        self.prefix = String(decoding: prefix, as: UTF8.self) + "~"
    }

    /// Returns the `Cookie` header for the origin, without the cookies of others; `nil` if the origin has none.
    func requested(_ lines: [String]) -> String? {
        let own = lines.flatMap { $0.split(separator: ";") }.map { $0.drop { $0 == " " || $0 == "\t" } }
            .filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) }
        return own.isEmpty ? nil : own.joined(separator: "; ")
    }

    /// Returns a `Set-Cookie` value for the client, without attributes that don't work with http on 127.0.0.1.
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

    /// Splits a line in which Foundation has joined several cookies, with a comma and a space.
    ///
    /// Unlike those between cookies, a comma in a date isn't followed by a name and an equals sign. One in a value usually isn't
    /// followed by a space, or the value is in quotes.
    static func separated(_ line: String) -> [String] {
        var cookies: [Substring] = []
        var start = line.startIndex
        for comma in line.indices where line[comma] == "," {
            let rest = line[comma...].dropFirst()
            let next = rest.drop { $0 == " " || $0 == "\t" }
            let name = next.prefix { $0 != ";" && $0 != "=" && $0 != "," && !$0.isWhitespace }
            guard next.startIndex > rest.startIndex, !name.isEmpty, line[name.endIndex...].first == "=",
                !isInQuotes(line[start..<comma], before: rest)
            else { continue }
            cookies.append(line[start..<comma])
            start = next.startIndex
        }
        return (cookies + [line[start...]]).filter { !$0.isEmpty }.map(String.init)
    }

    /// Returns whether a cookie that was cut after some of its text is in the middle of a value in quotes.
    private static func isInQuotes(_ cookie: Substring, before rest: Substring) -> Bool {
        let value = cookie.drop { $0 != "=" }.dropFirst()
        return value.first == "\"" && !value.dropFirst().contains { $0 == "\"" || $0 == ";" }
            && rest.prefix { $0 != ";" }.contains("\"")
    }
}
#endif
