package import Foundation
import LocalSubstitution

/// The charset of a page or a style sheet.
///
/// The scanners need ASCII, which nearly all charsets contain. Only UTF-16 must be converted.
package enum DocumentCharset {
    /// Returns the charset in a `Content-Type`, in lowercase.
    package static func named(in contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2, pair[0].asciiLowercased == "charset" else { continue }
            let name = pair[1].trimmingCharacters(in: ["\"", "'"]).asciiLowercased
            let isPlain = name.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-_.:+".utf8.contains($0) }
            return isPlain && !name.isEmpty ? name : nil
        }
        return nil
    }

    /// Returns the bytes to scan, and their charset.
    package static func scannable(_ body: Data, _ charset: String?) -> (bytes: [UInt8], charset: String?) {
        guard let encoding = utf16(body, charset), let text = String(data: body, encoding: encoding) else {
            return (Array(body), charset)
        }
        return (Array(text.utf8.drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }), "utf-8")
    }

    /// Returns whether every byte below 0x80 is the ASCII character.
    static func containsASCII(_ body: Data, _ charset: String?) -> Bool {
        utf16(body, charset) == nil && charset?.asciiLowercased != "iso-2022-jp"
    }

    /// Returns the encoding of a UTF-16 document; `nil` for another charset. A byte order mark takes precedence over a charset's
    /// name.
    private static func utf16(_ body: Data, _ charset: String?) -> String.Encoding? {
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { return nil }
        if body.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
        if body.starts(with: [0xFE, 0xFF]) { return .utf16BigEndian }
        return switch charset?.asciiLowercased {
        case "utf-16", "utf-16le": .utf16LittleEndian
        case "utf-16be": .utf16BigEndian
        default: nil
        }
    }

    /// Decodes a URL: as UTF-8 if it's valid UTF-8, otherwise in the charset. Without a known one, as windows-1252.
    package static func text(_ bytes: [UInt8], _ charset: String?) -> String {
        if let text = String(utf8: bytes) { return text }
        let encodings: [String: String.Encoding] = [
            "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC, "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250,
            "windows-1251": .windowsCP1251, "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
        ]
        let encoding = charset.flatMap { encodings[$0.asciiLowercased] } ?? .windowsCP1252
        return String(bytes: bytes, encoding: encoding)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
