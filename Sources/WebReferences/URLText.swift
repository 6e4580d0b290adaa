package import Foundation
import LocalSubstitution

/// A parser of URLs as pages and clients write them, even with characters that a URL can't have.
package enum URLText {
    /// Resolves a reference against a base, and returns its http or https URL without the fragment (WHATWG URL §4.4, as
    /// far as Foundation's `URL` follows it).
    ///
    /// Returns `nil` if the reference is empty, only a fragment or invalid. Also returns `nil` if the resolved URL has
    /// no host, or its scheme isn't http or https.
    ///
    /// - Parameter charset: The charset of a reference that isn't in UTF-8; `nil` if the charset isn't known.
    package static func resolve(_ reference: [UInt8], charset: String?, against base: URL) -> URL? {
        let trimmed = reference.drop { $0 <= 0x20 }.filter { !$0.isRemovedFromURLs }
        let end = (trimmed.lastIndex { $0 > 0x20 } ?? -1) + 1
        let text = trimmed[..<end].prefix { $0 != UInt8(ascii: "#") }
        guard !text.isEmpty else { return nil }
        let query = text.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        let path = text[..<query].map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
        let unicode = DocumentCharset.text(path + text[query...], charset)
        guard let url = self.url(unicode, relativeTo: base)?.absoluteURL.standardized else { return nil }
        let isWeb = ["http", "https"].contains(url.scheme?.asciiLowercased) && url.host?.isEmpty == false
        return isWeb ? url : nil
    }

    /// Parses a URL; returns `nil` if the text isn't one. As in a map, the host may have letters beyond ASCII.
    ///
    /// - Parameter base: The URL against which a relative URL is resolved; `nil`, the default, to leave it relative.
    package static func url(_ text: String, relativeTo base: URL? = nil) -> URL? {
        URLParts.withASCIIHost(text).flatMap { URL(string: encoded($0), relativeTo: base) }
    }

    /// Returns a URL's text with its scheme in lowercase, which Linux's loader requires. Bytes that a URL can't have
    /// are percent-encoded (RFC 3986 §2), and so is a `%` that doesn't begin an encoded byte.
    ///
    /// `URL` could encode these bytes itself, but it would also encode the percent signs of bytes that are already
    /// encoded.
    private static func encoded(_ text: String) -> String {
        let scheme = text.utf8.prefix { $0.isLetter || $0.isDigit || "+.-".utf8.contains($0) }
        let hasScheme = scheme.first?.isLetter == true && text.utf8.dropFirst(scheme.count).first == UInt8(ascii: ":")
        let text = hasScheme ? Substring(scheme).lowercased() + text[scheme.endIndex...] : text
        let bytes = Array(text.utf8)
        lazy var isLiteral = text.contains("//[")
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isEncoding = PercentEncoding.byte(encodedAt: index, of: bytes) != nil
            let isBracket = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
            if isEncoding || byte.isLetter || byte.isDigit || allowed.contains(byte) || (isBracket && isLiteral) {
                result.append(byte)
            } else {
                PercentEncoding.append(byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let allowed = Array("-._~:/?#@!$&'()*+,;=".utf8)
}

extension UInt8 {
    /// Whether the byte is a tab or a line end, which URL parsers remove anywhere in a URL (WHATWG URL §4.4).
    var isRemovedFromURLs: Bool { self == 0x09 || self == 0x0A || self == 0x0D }
}

extension URLParts {
    /// Returns the text of a URL with its host in ASCII (IDNA) and the rest unchanged; `nil` if the host can't be
    /// converted to ASCII.
    ///
    /// - Parameter text: An absolute URL, or one without its scheme (`//host/a`). Any other text is returned unchanged.
    fileprivate static func withASCIIHost(_ text: String) -> String? {
        let scheme = text.utf8.starts(with: "//".utf8) ? "http:" : ""
        guard let host = try? URLParts(scheme + text).host, host.contains(where: { $0 >= 0x80 }) else { return text }
        guard let ascii = try? normalizedHost(host) else { return nil }
        var bytes = Array((scheme + text).utf8)
        bytes.replaceSubrange(host.startIndex..<host.endIndex, with: ascii.utf8)
        return String(decoding: bytes.dropFirst(scheme.utf8.count), as: UTF8.self)
    }
}
