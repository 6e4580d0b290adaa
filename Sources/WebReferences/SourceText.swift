import HTTPSyntax
import LocalSubstitution

/// A decoded text that knows each byte's position in the document.
///
/// With the positions, the rewriter can replace a part of the text in the document, and leave the escapes around it as
/// they are.
struct SourceText: Sendable {
    private(set) var bytes: [UInt8]
    /// The position of each byte in the document, and the position after the last byte; `nil` as long as the text is an
    /// unchanged piece of the document.
    private var places: [UInt32]?
    /// The position, in the document, of the text's first byte.
    private let start: Int

    /// Invalid bytes become U+FFFD.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    init(_ document: [UInt8]) { self.init(document, at: 0) }

    /// The piece is an unchanged part of the document. With an empty piece, the default, the text can get decoded bytes
    /// by ``append(_:at:)``.
    init(_ piece: [UInt8] = [], at place: Int) {
        bytes = piece
        start = place
    }

    /// Decodes the value's character references (WHATWG HTML §13.2.5.72).
    ///
    /// - Parameters:
    ///   - value: The value's range in `source`, without its quotes.
    ///   - source: The text of the document, or of a page in one of its `srcdoc` attributes.
    init(attributeValue value: Range<Int>, of source: SourceText) {
        let written = source.slice(value)
        guard written.bytes.contains(UInt8(ascii: "&")) else {
            self = written
            return
        }
        self = SourceText(at: written.start)
        var index = 0
        while index < written.bytes.count {
            index = append(Escape(html: written.bytes[index...]), at: index, of: written)
        }
    }

    /// Appends decoded bytes, such as the character that an escape means.
    ///
    /// - Parameter place: The range of the document that the bytes were decoded from, such as the range of the escape.
    mutating func append(_ decoded: some Collection<UInt8>, at place: Range<Int>) {
        if places == nil, place.lowerBound != start + bytes.count || place.count != 1 || decoded.count != 1 {
            places = (start...start + bytes.count).map { UInt32(clamping: $0) }
        }
        bytes += decoded
        places?.removeLast()
        for _ in decoded { places?.append(UInt32(clamping: place.lowerBound)) }
        places?.append(UInt32(clamping: place.upperBound))
    }

    /// Appends the byte at an index of another text, or the character of the escape that begins there.
    ///
    /// - Parameter escape: The escape that begins at the index; `nil`, the default, to append the byte.
    /// - Returns: The index after the byte or the escape.
    @discardableResult
    mutating func append(_ escape: Escape? = nil, at index: Int, of written: SourceText) -> Int {
        let end = index + (escape?.length ?? 1)
        append(escape?.bytes[...] ?? written.bytes[index...index], at: written.place(of: index..<end))
        return end
    }

    func slice(_ range: Range<Int>) -> SourceText {
        var slice = SourceText(Array(bytes[range]), at: place(of: range).lowerBound)
        slice.places = places.map { Array($0[range.lowerBound...range.upperBound]) }
        return slice
    }

    /// The range of the document from which a range of the text's bytes was decoded.
    func place(of range: Range<Int>) -> Range<Int> {
        let lower = place(of: range.lowerBound)
        return lower..<max(lower, place(of: range.upperBound))
    }

    private func place(of index: Int) -> Int { places.map { Int($0[index]) } ?? start + index }
}

// MARK: Escapes

extension SourceText {
    /// A character that is written as several bytes: a character reference in HTML or an escape in CSS.
    struct Escape {
        /// The character that the escape means, in UTF-8.
        let bytes: [UInt8]
        /// The length of the whole escape in the document, in bytes: with the ampersand or backslash, and with a
        /// semicolon or white space that ends the escape.
        let length: Int

        /// Reads the escape at the beginning of the bytes (CSS Syntax §4.3.7); `nil` if they don't begin with one.
        init?(css rest: ArraySlice<UInt8>) {
            guard rest.first == UInt8(ascii: "\\") else { return nil }
            let digits = rest.dropFirst().prefix(6).prefix { $0.hexDigitValue != nil }
            if digits.isEmpty {
                guard let byte = rest.dropFirst().first, !byte.isLineEnd else { return nil }
                bytes = [byte]
                length = 2
                return
            }
            bytes = Self.character(digits, radix: 16)
            // One white space character may end the escape. CRLF counts as one.
            let following = rest[digits.endIndex...]
            let space = following.starts(with: [0x0D, 0x0A]) ? 2 : following.first?.isHTMLSpace == true ? 1 : 0
            length = 1 + digits.count + space
        }

        /// Reads the escape at the beginning of the bytes (RFC 8259 §7); `nil` if they don't begin with one. Escapes of line
        /// ends and other control characters become letters, since URLs have none.
        init?(json rest: ArraySlice<UInt8>) {
            guard rest.first == UInt8(ascii: "\\"), let byte = rest.dropFirst().first else { return nil }
            let digits = rest.dropFirst(2).prefix(byte == UInt8(ascii: "u") ? 4 : 0).prefix { $0.hexDigitValue != nil }
            bytes = digits.isEmpty ? [byte] : Self.character(digits, radix: 16)
            length = 2 + digits.count
        }

        /// Reads the character reference at the beginning of the bytes (WHATWG HTML §13.2.5.72 and on); `nil` if they
        /// don't begin with one.
        ///
        /// Reads all numeric references, and the named references to ASCII characters. Other names hardly occur in
        /// URLs.
        init?(html rest: ArraySlice<UInt8>) {
            guard rest.first == UInt8(ascii: "&") else { return nil }
            let reference = rest.dropFirst()
            if reference.first == UInt8(ascii: "#") {
                self.init(numeric: reference.dropFirst())
            } else {
                self.init(named: reference)
            }
        }

        private init?(named rest: ArraySlice<UInt8>) {
            let letters = rest.prefix(Self.longestName).prefix { $0.isLetter }
            let hasSemicolon = rest[letters.endIndex...].first == UInt8(ascii: ";")
            let name =
                hasSemicolon
                ? String(decoding: letters, as: UTF8.self) : Self.legacyNames.first { rest.starts(with: $0.utf8) }
            guard let name, let character = Self.names[name] else { return nil }
            let following = rest.dropFirst(name.utf8.count).first
            // Without a semicolon, text such as `&lt=1` is a query's parameter, not a reference.
            guard following.map({ $0 != UInt8(ascii: "=") && !$0.isLetter && !$0.isDigit }) ?? true else { return nil }
            bytes = [UInt8(ascii: character)]
            length = name.utf8.count + (hasSemicolon ? 2 : 1)
        }

        private init?(numeric rest: ArraySlice<UInt8>) {
            let isHexadecimal = rest.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
            let digits = rest.dropFirst(isHexadecimal ? 1 : 0)
                .prefix { isHexadecimal ? $0.hexDigitValue != nil : $0.isDigit }
            guard !digits.isEmpty else { return nil }
            let hasSemicolon = rest[digits.endIndex...].first == UInt8(ascii: ";")
            bytes = Self.character(digits, radix: isHexadecimal ? 16 : 10)
            length = 2 + digits.endIndex - rest.startIndex + (hasSemicolon ? 1 : 0)
        }

        /// The character in UTF-8; U+FFFD for zero, and for an invalid code point.
        private static func character(_ digits: ArraySlice<UInt8>, radix: Int) -> [UInt8] {
            let number = UInt32(String(decoding: digits, as: UTF8.self), radix: radix) ?? 0
            let character = number == 0 ? nil : Unicode.Scalar(number)
            return Array(String(character ?? "\u{FFFD}").utf8)
        }

        /// The names of ASCII characters that don't need a semicolon.
        private static let legacyNames = ["amp", "quot", "lt", "gt", "AMP", "QUOT", "LT", "GT"]

        /// The length of the longest name of an ASCII character.
        private static let longestName = 16

        /// All names of ASCII characters, with the characters (WHATWG HTML §13.5).
        private static let names: [String: Unicode.Scalar] = [
            "AMP": "&", "DiacriticalGrave": "`", "GT": ">", "Hat": "^", "LT": "<", "NewLine": "\n", "QUOT": "\"",
            "Tab": "\t", "UnderBar": "_", "VerticalLine": "|", "amp": "&", "apos": "'", "ast": "*", "bsol": "\\",
            "colon": ":", "comma": ",", "commat": "@", "dollar": "$", "equals": "=", "excl": "!", "grave": "`",
            "gt": ">", "lbrace": "{", "lbrack": "[", "lcub": "{", "lowbar": "_", "lpar": "(", "lsqb": "[", "lt": "<",
            "midast": "*", "num": "#", "percnt": "%", "period": ".", "plus": "+", "quest": "?", "quot": "\"",
            "rbrace": "}", "rbrack": "]", "rcub": "}", "rpar": ")", "rsqb": "]", "semi": ";", "sol": "/",
            "verbar": "|", "vert": "|",
        ]
    }
}

// MARK: Scanning

extension SourceText {
    /// A scanner that reads a text from its beginning to its end.
    ///
    /// It works on the bytes of any charset in which every byte below 0x80 is an ASCII character. It takes time in
    /// proportion to the number of bytes.
    protocol Scanner: Sequence, IteratorProtocol {
        var source: SourceText { get }
        var index: Int { get set }
    }
}

extension SourceText.Scanner {
    var bytes: [UInt8] { source.bytes }

    /// An empty text at the next byte's position in the document, to which a scanner can append decoded bytes.
    var emptyText: SourceText { SourceText(at: source.place(of: index..<index).lowerBound) }

    var isAtQuote: Bool { byte() == UInt8(ascii: "\"") || byte() == UInt8(ascii: "'") }

    /// Case matters.
    func isAt(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

    /// The next byte, or the byte that is `count` bytes after it; `nil` past the end.
    func byte(after count: Int = 0) -> UInt8? { index + count < bytes.count ? bytes[index + count] : nil }

    @discardableResult
    mutating func skip(while isPart: (UInt8) -> Bool) -> Range<Int> {
        let start = index
        while let byte = byte(), isPart(byte) { index += 1 }
        return start..<index
    }

    /// Skips `text` if it begins at the next byte.
    mutating func skip(over text: String) -> Bool {
        guard isAt(text) else { return false }
        index += text.utf8.count
        return true
    }

    mutating func skipSpace() { skip { $0.isHTMLSpace } }

    /// Skips a quoted value, starting at its opening quote, and returns its range without the quotes. If the closing
    /// quote is missing, the range ends at the end of the text.
    mutating func skipQuoted() -> Range<Int> {
        let quote = bytes[index]
        index += 1
        let value = skip { $0 != quote }
        if byte() != nil { index += 1 }
        return value
    }

    /// Skips everything through the next occurrence of an ending, or to the end of the text if the ending doesn't
    /// occur.
    mutating func skip(past ending: String) {
        let ending = Array(ending.utf8)
        while let found = bytes[index...].firstIndex(of: ending[0]) {
            index = found
            if bytes[index...].starts(with: ending) { return index += ending.count }
            index += 1
        }
        index = bytes.count
    }
}

/// The roles of single bytes in HTML and CSS.
extension UInt8 {
    /// A space, a tab or a line end.
    var isHTMLSpace: Bool { self == 0x20 || self == 0x09 || isLineEnd }

    /// LF, CR or a form feed.
    var isLineEnd: Bool { self == 0x0A || self == 0x0D || self == 0x0C }
}
