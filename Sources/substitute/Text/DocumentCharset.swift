import Foundation
import LocalSubstitution

/// The charset of a page or a style sheet.
///
/// Scanners need ASCII, which nearly all charsets have in them; only UTF-16 has to be converted.
enum DocumentCharset {
    /// The charset that `Content-Type` gives, in lowercase.
    static func named(in contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2, pair[0].asciiLowercased == "charset" else { continue }
            let name = pair[1].trimmingCharacters(in: ["\"", "'"]).asciiLowercased
            let isPlain = name.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-_.:+".utf8.contains($0) }
            return isPlain && !name.isEmpty ? name : nil
        }
        return nil
    }

    /// The bytes to scan, and their charset. A byte order mark is believed before a name.
    static func scannable(_ body: Data, _ charset: String?) -> (bytes: [UInt8], charset: String?) {
        let encoding: String.Encoding? =
            if body.starts(with: [0xFF, 0xFE]) || charset == "utf-16le" || charset == "utf-16" {
                .utf16LittleEndian
            } else if body.starts(with: [0xFE, 0xFF]) || charset == "utf-16be" {
                .utf16BigEndian
            } else {
                nil
            }
        guard let encoding, let text = String(data: body, encoding: encoding) else { return (Array(body), charset) }
        return (Array(text.utf8.drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }), "utf-8")
    }

    /// The characters of a URL: UTF-8 if they are, else what the charset says, which is Latin-1 where nobody does.
    static func text(_ bytes: [UInt8], _ charset: String?) -> String {
        if let text = String(utf8: bytes) { return text }
        let encodings: [String: String.Encoding] = [
            "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC, "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250,
            "windows-1251": .windowsCP1251, "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
        ]
        let encoding = charset.flatMap { encodings[$0] } ?? .windowsCP1252
        return String(bytes: bytes, encoding: encoding)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
