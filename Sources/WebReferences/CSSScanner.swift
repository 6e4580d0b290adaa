import LocalSubstitution

/// A scanner that finds the URLs in a style sheet, or in the declarations of a `style` attribute (CSS Syntax Level 3 §4).
///
/// It works on the bytes of any charset that contains ASCII, and reads each byte once.
struct CSSScanner {
    struct Reference {
        /// The text between the parentheses or the quotes, with escapes decoded.
        let url: SourceText
        let isImport: Bool
    }

    private let source: SourceText
    private let bytes: [UInt8]
    private var index = 0
    /// The at-rule whose prelude is being read.
    private var rule = AtRule.none
    private var open: [CSSBlock] = []

    private enum AtRule {
        case none
        /// An `@import` whose URL hasn't been read yet.
        case `import`
        /// An `@namespace`. Its URL is only a name; nothing is loaded from it.
        case namespace
    }

    init(_ source: SourceText) {
        self.source = source
        bytes = source.bytes
    }

    /// Returns the next URL; `nil` at the end.
    mutating func next() -> Reference? {
        while let byte = byte() {
            switch byte {
            case UInt8(ascii: "/") where self.byte(after: 1) == UInt8(ascii: "*"):
                index = bytes.end(of: "*/", from: index + 2)
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let string = string()
                if rule == .import || open.last == .imageSet, let string { return reference(string) }
            case UInt8(ascii: "<") where bytes[index...].starts(with: "<!--".utf8):
                index += 4
            case UInt8(ascii: "@"):
                index += 1
                switch Self.lowercased(name()) {
                case "import" where open.isEmpty: rule = .import
                case "namespace": rule = .namespace
                default: rule = .none
                }
            case UInt8(ascii: ";"):
                index += 1
                rule = .none
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("):
                index += 1
                begin(byte == UInt8(ascii: "{") ? .braces : byte == UInt8(ascii: "[") ? .brackets : .parentheses)
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"):
                index += 1
                if open.last?.closingByte == byte {
                    open.removeLast()
                    rule = .none
                }
            case UInt8(ascii: "#"):
                index += 1
                // The name in a hash doesn't begin a function.
                _ = name()
            case _ where byte.isDigit:
                // The number's unit doesn't begin a function.
                _ = name()
            case _ where beginsName(byte):
                guard let url = url() else { continue }
                if rule != .namespace { return reference(url) }
                rule = .none
            default:
                index += 1
            }
        }
        return nil
    }

    private mutating func begin(_ block: CSSBlock) {
        open.append(block)
        rule = .none
    }

    private mutating func reference(_ url: SourceText) -> Reference {
        defer { rule = .none }
        return Reference(url: url, isImport: rule == .import)
    }

    // MARK: Tokens

    /// Reads a name. Returns the URL if it's `url(…)` (§4.3.4) or `src(…)` (CSS Values 4 §4.5); `nil` for anything else.
    private mutating func url() -> SourceText? {
        let name = name()
        guard byte() == UInt8(ascii: "(") else { return nil }
        index += 1
        switch Self.lowercased(name) {
        case "url":
            skipSpace()
            return isAtQuote ? argument() : unquotedURL()
        case "src":
            skipSpace()
            if isAtQuote { return argument() }
            begin(.parentheses)
        case "image-set", "-webkit-image-set":
            begin(.imageSet)
        default:
            begin(.parentheses)
        }
        return nil
    }

    private var isAtQuote: Bool { byte() == UInt8(ascii: "\"") || byte() == UInt8(ascii: "'") }

    /// Reads a function's first argument, a string. The rest is then read as ordinary tokens.
    private mutating func argument() -> SourceText? {
        open.append(.parentheses)
        return string()
    }

    /// Reads a URL without quotes (§4.3.6). The end of the style sheet ends it too. An invalid one is skipped.
    private mutating func unquotedURL() -> SourceText? {
        var url = SourceText(at: source.place(of: index..<index).lowerBound)
        while let byte = byte() {
            if byte == UInt8(ascii: ")") || byte.isHTMLSpace {
                skipSpace()
                if self.byte() == UInt8(ascii: ")") {
                    index += 1
                    return url
                }
                break
            }
            if appendEscape(to: &url) { continue }
            if "\"'(\\".utf8.contains(byte) || byte.isNonPrintableInCSS { break }
            appendByte(to: &url)
        }
        if byte() == nil { return url }
        skipBadURL()
        return nil
    }

    private mutating func skipBadURL() {
        while let byte = byte() {
            if let escape = escape() {
                index += escape.length
            } else {
                index += 1
                if byte == UInt8(ascii: ")") { return }
            }
        }
    }

    /// Reads a string (§4.3.5); `nil` if its line ends first. The end of the style sheet ends it too.
    private mutating func string() -> SourceText? {
        let quote = bytes[index]
        index += 1
        var text = SourceText(at: source.place(of: index..<index).lowerBound)
        while let byte = byte() {
            if byte == quote {
                index += 1
                return text
            }
            if byte.isLineEnd { return nil }
            if appendEscape(to: &text) { continue }
            if byte == UInt8(ascii: "\\") {
                // An escaped line end and a backslash at the end of the input add nothing.
                index += 1
                if self.byte() == 0x0D, self.byte(after: 1) == 0x0A { index += 1 }
                index = min(index + 1, bytes.count)
            } else {
                appendByte(to: &text)
            }
        }
        return text
    }

    /// Reads a name with its escapes decoded.
    private mutating func name() -> ArraySlice<UInt8> {
        let start = index
        skipPlainName()
        guard escape() != nil else { return bytes[start..<index] }
        var name = bytes[start..<index]
        while let escape = escape() {
            name += escape.bytes
            index += escape.length
            let start = index
            skipPlainName()
            name += bytes[start..<index]
        }
        return name
    }

    private mutating func skipPlainName() {
        while let byte = byte(), byte.isPartOfCSSName { index += 1 }
    }

    private func beginsName(_ byte: UInt8) -> Bool { byte.isPartOfCSSName || escape() != nil }

    /// Returns the escape that begins here; `nil` if there's none.
    private func escape() -> CSSEscape? { CSSEscape(bytes[index...]) }

    // MARK: Bytes

    private static func lowercased(_ name: ArraySlice<UInt8>) -> String {
        String(decoding: name.map(\.asciiLowercased), as: UTF8.self)
    }

    private mutating func appendEscape(to text: inout SourceText) -> Bool {
        guard let escape = escape() else { return false }
        text.append(escape.bytes, at: source.place(of: index..<index + escape.length))
        index += escape.length
        return true
    }

    private mutating func appendByte(to text: inout SourceText) {
        text.append(CollectionOfOne(bytes[index]), at: source.place(of: index..<index + 1))
        index += 1
    }

    private mutating func skipSpace() {
        while let byte = byte(), byte.isHTMLSpace { index += 1 }
    }

    private func byte(after count: Int = 0) -> UInt8? { index + count < bytes.count ? bytes[index + count] : nil }
}
