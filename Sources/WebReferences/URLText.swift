package import Foundation
import HTTPSyntax
import LocalSubstitution

/// A parser of URLs as people and clients write them, even with characters that a URL can't have.
package enum URLText {
    /// As in a map, the host may have letters beyond ASCII.
    package static func url(_ text: String) -> URL? {
        URLParts.withASCIIHost(text).flatMap { URL(string: encoded($0)) }
    }

    /// Writes the scheme in lowercase, which Linux's loader requires. Bytes that a URL can't have are percent-encoded
    /// (RFC 3986 §2), and so is a `%` that doesn't begin an encoded byte.
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
    /// A tab or a line end, which URL parsers remove anywhere in a URL (WHATWG URL §4.4).
    var isRemovedFromURLs: Bool { self == 0x09 || self == 0x0A || self == 0x0D }
}

extension URLParts {
    /// The host in ASCII (IDNA) and the rest unchanged; `nil` if the host can't be converted to ASCII. Text that isn't
    /// an absolute URL is returned unchanged.
    fileprivate static func withASCIIHost(_ text: String) -> String? {
        guard let host = try? URLParts(text).host, host.contains(where: { $0 >= 0x80 }) else { return text }
        guard let ascii = try? normalizedHost(host) else { return nil }
        var bytes = Array(text.utf8)
        bytes.replaceSubrange(host.startIndex..<host.endIndex, with: ascii.utf8)
        return String(decoding: bytes, as: UTF8.self)
    }
}
