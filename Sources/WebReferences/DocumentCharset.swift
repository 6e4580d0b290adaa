import Foundation
import HTTPSyntax
import LocalSubstitution

/// Finds a document's charset, and decodes its text.
///
/// The scanners need text in which every byte below 0x80 is an ASCII character. So documents in Big5, GB 18030 and
/// Shift_JIS are decoded to UTF-8 first. Documents in other charsets aren't decoded.
package enum DocumentCharset {
    /// The `charset` parameter of a `Content-Type`, in lowercase; `nil` if the parameter is missing or empty, or has a
    /// character other than letters, digits and `-_.:+`.
    package static func named(in contentType: String) -> String? {
        let values = HTTPSyntax.parameters(of: contentType).filter { $0.name.asciiLowercased == "charset" }
        return values.lazy.compactMap(\.value).first.flatMap { label($0.trimmingCharacters(in: ["\"", "'"])) }
    }

    static func text(of body: Data, in charset: String?) -> SourceText {
        let document = Array(body)
        return charset.flatMap(DoubleByteCharset.named)?.text(of: document) ?? SourceText(document)
    }

    /// A document in UTF-16 or ISO-2022-JP can't be edited: a byte below 0x80 can be part of another character.
    static func isEditable(_ charset: String?) -> Bool {
        !["iso-2022-jp", "utf-16", "utf-16le", "utf-16be"].contains(charset)
    }

    /// Decodes the bytes of a URL: as UTF-8 if they're valid UTF-8, otherwise in the document's charset.
    ///
    /// If that charset is `nil` or not one of the `encodings` below, uses windows-1252 instead. If the bytes are
    /// invalid in the charset used, decodes them as ISO 8859-1, in which any byte is valid.
    static func text(_ bytes: [UInt8], _ charset: String?) -> String {
        if let text = String(utf8: bytes) { return text }
        let encodings: [String: String.Encoding] = [
            "euc-jp": .japaneseEUC, "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250,
            "windows-1251": .windowsCP1251, "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
        ]
        let encoding = charset.flatMap { encodings[$0.asciiLowercased] } ?? .windowsCP1252
        return String(bytes: bytes, encoding: encoding)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    // MARK: What the document says

    /// How many bytes at the start of a document are searched for its charset declaration (WHATWG HTML §13.2.3.2, CSS
    /// Syntax §3.2).
    private static let declarationLength = 1024

    /// The charset's name in lowercase. A byte order mark takes precedence over `charset` (the name in the
    /// `Content-Type`), and `charset` over the document's own declaration. `nil` if all three are missing.
    static func charset(of body: Data, _ charset: String?, as syntax: References.Syntax) -> String? {
        // Like browsers, this ignores the four-byte marks of UTF-32.
        if let named = MIMEType.charset(ofMark: body.prefix(3)) ?? charset?.asciiLowercased { return named }
        let start = SourceText(Array(body.prefix(declarationLength)))
        let declared: String? =
            switch syntax {
            case .html: name(inHTML: start)
            case .xhtml: name(inXML: start)
            case .css: name(inCSS: start.bytes)
            }
        // If the declaration can be read as ASCII, the document isn't in UTF-16, even if the declaration names UTF-16.
        // Browsers then use UTF-8 (WHATWG HTML §13.2.3.2).
        guard let name = declared.flatMap({ label($0) }) else { return nil }
        return name.hasPrefix("utf-16") ? "utf-8" : name
    }

    private static func name(inHTML start: SourceText) -> String? {
        for tag in HTMLScanner(start) where tag.name == "meta" {
            if let charset = tag.value("charset") { return charset.string }
            if tag.word("http-equiv") == "content-type", let charset = named(in: tag.word("content")) { return charset }
        }
        return nil
    }

    /// The `encoding` in the XML declaration, in lowercase. Empty if the declaration has no `encoding`, and `nil` if
    /// the document has no declaration.
    private static func name(inXML start: SourceText) -> String? {
        var scanner = XMLScanner(start)
        guard let tag = scanner.next(), tag.name == "?xml" else { return nil }
        return tag.word("encoding")
    }

    /// The charset in the rule `@charset "…";` at the beginning of a style sheet. `nil` if the style sheet begins in
    /// any other way, even with another spelling of the rule (CSS Syntax §3.2).
    private static func name(inCSS start: [UInt8]) -> String? {
        let rule = Array("@charset \"".utf8)
        guard start.starts(with: rule), let end = start[rule.count...].firstIndex(of: UInt8(ascii: "\"")),
            start[end...].starts(with: "\";".utf8)
        else { return nil }
        return String(decoding: start[rule.count..<end], as: UTF8.self)
    }

    /// The name in lowercase, without white space around it; `nil` if the name is empty, or has a character other than
    /// letters, digits and `-_.:+`.
    private static func label(_ name: String) -> String? {
        let name = name.trimmingCharacters(in: .whitespaces).asciiLowercased
        let isPlain = name.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-_.:+".utf8.contains($0) }
        return isPlain && !name.isEmpty ? name : nil
    }
}

/// A charset in which a byte below 0x80, such as a backslash, can be the second byte of a character (WHATWG Encoding
/// §10–12).
private struct DoubleByteCharset: Sendable {
    let labels: Set<String>
    let encoding: String.Encoding
    /// The ranges of the first byte of a two-byte character (`leads`), and of its second byte (`trails`).
    let leads: [ClosedRange<UInt8>]
    let trails: [ClosedRange<UInt8>]
    /// Whether a character can also have four bytes: two pairs, each of a first byte and an ASCII digit.
    var hasLongCharacters = false

    // Foundation has no constants for Big5 and GB 18030. Their raw values are Core Foundation's numbers with the
    // highest bit set.
    private static let all = [
        DoubleByteCharset(
            labels: ["big5", "big5-hkscs", "cn-big5", "csbig5", "x-x-big5"],
            encoding: String.Encoding(rawValue: 0x8000_0000 | 0x0A06),
            leads: [0x81...0xFE],
            trails: [0x40...0x7E, 0xA1...0xFE]
        ),
        DoubleByteCharset(
            labels: [
                "gb18030", "chinese", "csgb2312", "csiso58gb231280", "gb2312", "gb_2312", "gb_2312-80", "gbk",
                "iso-ir-58", "x-gbk",
            ],
            encoding: String.Encoding(rawValue: 0x8000_0000 | 0x0632),
            leads: [0x81...0xFE],
            trails: [0x40...0x7E, 0x80...0xFE],
            hasLongCharacters: true
        ),
        DoubleByteCharset(
            labels: [
                "shift_jis", "csshiftjis", "ms932", "ms_kanji", "shift-jis", "sjis", "windows-31j", "x-sjis",
            ],
            encoding: .shiftJIS,
            leads: [0x81...0x9F, 0xE0...0xFC],
            trails: [0x40...0x7E, 0x80...0xFC]
        ),
    ]

    /// The label must be in lowercase.
    static func named(_ label: String) -> DoubleByteCharset? { all.first { $0.labels.contains(label) } }

    /// The text in UTF-8, with each byte's position in the document. A character that Foundation can't decode becomes
    /// U+FFFD.
    func text(of document: [UInt8]) -> SourceText {
        var text = SourceText(at: 0)
        var known: [ArraySlice<UInt8>: [UInt8]] = [:]
        var index = 0
        while index < document.count {
            let character = document[index..<index + length(of: document[index...])]
            if document[index] < 0x80 {
                text.append(character, at: index..<index + 1)
            } else {
                let decoded = known[character] ?? decoded(character)
                known[character] = decoded
                text.append(decoded, at: index..<character.endIndex)
            }
            index = character.endIndex
        }
        return text
    }

    /// The length in bytes: 2 or 4 if `rest` begins with a valid longer character, otherwise 1.
    private func length(of rest: ArraySlice<UInt8>) -> Int {
        let bytes = Array(rest.prefix(4))
        guard bytes.count > 1, isLead(bytes[0]) else { return 1 }
        if trails.contains(where: { $0.contains(bytes[1]) }) { return 2 }
        let isLong = hasLongCharacters && bytes.count == 4 && bytes[1].isDigit && isLead(bytes[2]) && bytes[3].isDigit
        return isLong ? 4 : 1
    }

    private func isLead(_ byte: UInt8) -> Bool { leads.contains { $0.contains(byte) } }

    private func decoded(_ character: ArraySlice<UInt8>) -> [UInt8] {
        Array((String(bytes: character, encoding: encoding) ?? "\u{FFFD}").utf8)
    }
}
