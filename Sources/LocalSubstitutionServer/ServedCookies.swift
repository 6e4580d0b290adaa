#if !os(watchOS)
/// The cookies of one origin.
///
/// Browsers share cookies between all ports of a host (RFC 6265 section 8.5), so each name gets a prefix for the port.
struct ServedCookies {
    private let prefix: String

    init(port: UInt16) { prefix = "p\(port)-" }

    /// Returns the `Cookie` header for the origin, without the cookies of other ports; `nil` if the origin has none.
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

    /// Splits a line in which Foundation has joined several cookies. Unlike those between cookies, a comma in a date isn't followed
    /// by a name and an equals sign.
    static func separated(_ line: String) -> [String] {
        var cookies: [String] = []
        for part in line.split(separator: ",", omittingEmptySubsequences: false) {
            let cookie = part.drop(while: \.isWhitespace)
            let name = cookie.prefix { $0 != ";" && $0 != "=" && !$0.isWhitespace }
            if !name.isEmpty, cookie.dropFirst(name.count).first == "=" {
                cookies.append(String(cookie))
            } else if let last = cookies.popLast() {
                cookies.append("\(last),\(part)")
            } else {
                cookies.append(String(part))
            }
        }
        return cookies.filter { !$0.isEmpty }
    }
}
#endif
