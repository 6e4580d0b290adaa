package import Foundation
import LocalSubstitution

/// The charset of a page or a style sheet.
///
/// The scanners need text in which every byte below 0x80 is an ASCII character, as in nearly all charsets. A document
/// in another charset is decoded.
package enum DocumentCharset {
    /// Returns the charset in a `Content-Type`, in lowercase; `nil` if it has none.
    package static func named(in contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2, pair[0].asciiLowercased == "charset" else { continue }
            return label(pair[1].trimmingCharacters(in: ["\"", "'"]))
        }
        return nil
    }

    /// Returns the text to scan, and the charset of its bytes.
    ///
    /// - Parameter charset: The charset in the `Content-Type`. It takes precedence over the charset that the document
    ///   declares, but not over a byte order mark.
    package static func text(of body: Data, _ charset: String?, as syntax: References.Syntax)
        -> (text: SourceText, charset: String?)
    {
        if let encoding = utf16(body, charset), let text = String(data: body, encoding: encoding) {
            return (SourceText(Array(text.utf8.drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF })), "utf-8")
        }
        let (document, charset) = (Array(body), self.charset(of: body, charset, as: syntax))
        guard let doubleByte = charset.flatMap(DoubleByteCharset.named) else { return (SourceText(document), charset) }
        return (doubleByte.text(of: document), "utf-8")
    }

    /// Returns the text to scan and its charset. The text knows each byte's place in the document. Returns `nil` for
    /// UTF-16 and ISO-2022-JP.
    static func editableText(of body: Data, _ charset: String?, as syntax: References.Syntax)
        -> (text: SourceText, charset: String?)?
    {
        guard utf16(body, charset) == nil else { return nil }
        let found = text(of: body, charset, as: syntax)
        return found.charset == "iso-2022-jp" ? nil : found
    }

    /// Returns the encoding of a UTF-16 document; `nil` for another charset. A byte order mark takes precedence over a charset's
    /// name.
    private static func utf16(_ body: Data, _ charset: String?) -> String.Encoding? {
        switch mark(of: body) ?? charset?.asciiLowercased {
        case "utf-16", "utf-16le": .utf16LittleEndian
        case "utf-16be": .utf16BigEndian
        default: nil
        }
    }

    /// Returns the charset of a document's byte order mark. Browsers don't know the marks of UTF-32, which are longer.
    private static func mark(of body: Data) -> String? { Charset.byteOrderMark(of: body.prefix(3)) }

    /// Decodes a URL as UTF-8 if it's valid UTF-8, otherwise in the document's charset. An unknown charset is read as
    /// windows-1252.
    package static func text(_ bytes: [UInt8], _ charset: String?) -> String {
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

    /// The number of bytes at the start of a document that can declare its charset (WHATWG HTML §13.2.3.2, CSS Syntax
    /// §3.2).
    private static let declarationLength = 1024

    private static func charset(of body: Data, _ charset: String?, as syntax: References.Syntax) -> String? {
        if let mark = mark(of: body), mark == "utf-8" { return mark }
        if let charset { return charset.asciiLowercased }
        let start = SourceText(Array(body.prefix(declarationLength)))
        let declared: String? =
            switch syntax {
            case .html: name(inHTML: start)
            case .xhtml: name(inXML: start)
            case .css: name(inCSS: start.bytes)
            case .module: nil
            }
        // A document that can be read as ASCII up to here isn't in UTF-16 (WHATWG HTML §13.2.3.2).
        guard let name = declared.flatMap({ label($0) }) else { return nil }
        return name.hasPrefix("utf-16") ? "utf-8" : name
    }

    /// Returns the charset that a `<meta>` declares.
    private static func name(inHTML start: SourceText) -> String? {
        for tag in HTMLScanner(start, attributes: ["charset", "content", "http-equiv"]) where tag.name == "meta" {
            if let charset = tag.value("charset") { return charset.string }
            if tag.word("http-equiv") == "content-type", let charset = named(in: tag.word("content")) { return charset }
        }
        return nil
    }

    /// Returns the charset in the XML declaration.
    private static func name(inXML start: SourceText) -> String? {
        var scanner = XMLScanner(start, attributes: ["encoding"])
        guard let tag = scanner.next(), tag.name == "?xml" else { return nil }
        return tag.word("encoding")
    }

    /// Returns the charset in the rule `@charset "…";`. Only this exact spelling counts (CSS Syntax §3.2).
    private static func name(inCSS start: [UInt8]) -> String? {
        let rule = Array("@charset \"".utf8)
        guard start.starts(with: rule), let end = start[rule.count...].firstIndex(of: UInt8(ascii: "\"")),
            start[end...].starts(with: "\";".utf8)
        else { return nil }
        return String(decoding: start[rule.count..<end], as: UTF8.self)
    }

    /// Returns a charset's name in lowercase; `nil` if it's empty or has characters that aren't allowed in a label.
    private static func label(_ name: String) -> String? {
        let name = name.trimmingCharacters(in: .whitespaces).asciiLowercased
        let isPlain = name.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-_.:+".utf8.contains($0) }
        return isPlain && !name.isEmpty ? name : nil
    }
}

/// A charset in which an ASCII byte, such as a backslash, can be the second byte of a character (WHATWG Encoding §10–12).
private struct DoubleByteCharset: Sendable {
    let labels: Set<String>
    /// Foundation's encoding.
    let encoding: String.Encoding
    /// The ranges of a character's first byte, and of its second.
    let leads: [ClosedRange<UInt8>]
    let trails: [ClosedRange<UInt8>]
    /// Whether a character can also have four bytes: twice a first byte and a digit.
    var hasLongCharacters = false

    // An encoding without a constant has Core Foundation's number.
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

    /// Returns the charset with a label; `nil` if none of these has it.
    static func named(_ label: String) -> DoubleByteCharset? { all.first { $0.labels.contains(label) } }

    /// Returns the document in UTF-8. A character that isn't known becomes U+FFFD.
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

    /// Returns the number of bytes in the first character.
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
