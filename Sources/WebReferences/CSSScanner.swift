import HTTPSyntax
import LocalSubstitution

/// A scanner that finds the URLs in a style sheet, or in the declarations of a `style` attribute (CSS Syntax Level 3
/// §4).
struct CSSScanner: SourceText.Scanner {
    let source: SourceText
    var index = 0
    /// The at-rule whose URL comes next: `@import` or `@namespace`; otherwise, `none`.
    private var rule = AtRule.none
    private var open: [Block] = []

    private enum AtRule {
        case none
        /// An `@import` whose URL hasn't been read yet.
        case `import`
        /// An `@namespace`. Its URL isn't a reference: browsers use it as a name, and load nothing from it.
        case namespace
    }

    /// An open block in parentheses, brackets or braces (CSS Syntax §5.4.8 and §5.4.9).
    private struct Block {
        let closingByte: UInt8
        /// Whether the block is `image-set()` or `-webkit-image-set()`. Strings in it are URLs (CSS Images 4 §2.4),
        /// except strings in an inner block, such as `type()`.
        var isImageSet = false
    }

    init(_ source: SourceText) {
        self.source = source
    }

    mutating func next() -> References.Reference? {
        while let byte = byte() {
            switch byte {
            case UInt8(ascii: "/") where skip(over: "/*"):
                skip(past: "*/")
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let string = string()
                if rule == .import || open.last?.isImageSet == true, let string { return reference(string) }
            case UInt8(ascii: "<") where skip(over: "<!--"):
                break
            case UInt8(ascii: "@"):
                index += 1
                switch String(decoding: name(), as: UTF8.self).asciiLowercased {
                case "import" where open.isEmpty: rule = .import
                case "namespace": rule = .namespace
                default: rule = .none
                }
            case UInt8(ascii: ";"):
                index += 1
                rule = .none
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("):
                index += 1
                let closing: Unicode.Scalar = byte == UInt8(ascii: "{") ? "}" : byte == UInt8(ascii: "[") ? "]" : ")"
                begin(Block(closingByte: UInt8(ascii: closing)))
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"):
                index += 1
                if open.last?.closingByte == byte {
                    open.removeLast()
                    rule = .none
                }
            case UInt8(ascii: "#"):
                index += 1
                // A name after `#`, such as the color `#abc`, doesn't begin a function.
                _ = name()
            case _ where byte.isDigit:
                // The unit after a number doesn't begin a function.
                _ = name()
            case _ where byte.isPartOfName || escape() != nil:
                guard let url = url() else { continue }
                if rule != .namespace { return reference(url) }
                rule = .none
            default:
                index += 1
            }
        }
        return nil
    }

    private mutating func begin(_ block: Block) {
        open.append(block)
        rule = .none
    }

    private mutating func reference(_ url: SourceText) -> References.Reference {
        defer { rule = .none }
        return References.Reference(url: url)
    }

    // MARK: Tokens

    /// Reads a name, or a function's name with its opening parenthesis. If the function is `url(…)` (§4.3.4) or
    /// `src(…)` (CSS Values 4 §4.5), reads on to the end of the URL.
    ///
    /// - Returns: The URL of `url(…)` or `src(…)`; `nil` for a name, for any other function, for an invalid URL, and
    ///   for `src(…)` without a string, such as `src(var(--a))`.
    private mutating func url() -> SourceText? {
        let name = name()
        guard skip(over: "(") else { return nil }
        let function = String(decoding: name, as: UTF8.self).asciiLowercased
        let isImageSet = function == "image-set" || function == "-webkit-image-set"
        let block = Block(closingByte: UInt8(ascii: ")"), isImageSet: isImageSet)
        if function == "url" || function == "src" {
            skipSpace()
            if isAtQuote {
                // Modifiers may follow the string. They're read as ordinary tokens.
                open.append(block)
                return string()
            }
            if function == "url" { return unquotedURL() }
        }
        begin(block)
        return nil
    }

    /// Reads a URL without quotes (§4.3.6) up to its closing parenthesis, which may be missing at the end of the style
    /// sheet. If the URL is invalid, skips it and returns `nil`.
    private mutating func unquotedURL() -> SourceText? {
        var url = emptyText
        while let byte = byte() {
            if byte == UInt8(ascii: ")") || byte.isHTMLSpace {
                skipSpace()
                if skip(over: ")") { return url }
                break
            }
            let escape = escape()
            if escape == nil, "\"'(\\".utf8.contains(byte) || byte.isNonPrintable { break }
            index = url.append(escape, at: index, of: source)
        }
        if byte() == nil { return url }
        while let byte = byte() {
            index += escape()?.length ?? 1
            if byte == UInt8(ascii: ")") { break }
        }
        return nil
    }

    /// Reads a string (§4.3.5) up to its closing quote, which may be missing at the end of the style sheet. Returns
    /// `nil` if a line ends before the string does.
    private mutating func string() -> SourceText? {
        let quote = bytes[index]
        index += 1
        var text = emptyText
        while let byte = byte() {
            if byte == quote {
                index += 1
                return text
            }
            if byte.isLineEnd { return nil }
            let escape = escape()
            if escape == nil, byte == UInt8(ascii: "\\") {
                // Skips a backslash together with the line end after it. Also skips a backslash at the end of the style
                // sheet.
                index += 1
                index += isAt("\r\n") ? 2 : self.byte() == nil ? 0 : 1
            } else {
                index = text.append(escape, at: index, of: source)
            }
        }
        return text
    }

    /// Decodes the name's escapes. Empty if no name begins at the next byte.
    private mutating func name() -> ArraySlice<UInt8> {
        let plain = skip { $0.isPartOfName }
        var name = bytes[plain]
        while let escape = escape() {
            index += escape.length
            let plain = skip { $0.isPartOfName }
            name += escape.bytes + bytes[plain]
        }
        return name
    }

    /// `nil` if no escape begins at the next byte.
    private func escape() -> SourceText.Escape? { SourceText.Escape(css: bytes[index...]) }
}

/// The roles of single bytes in CSS.
extension UInt8 {
    /// Whether the byte can be part of a name (CSS Syntax §4.2): a letter, a digit, `-`, `_`, any byte beyond ASCII, or
    /// a null byte, which CSS reads as U+FFFD (§3.3).
    fileprivate var isPartOfName: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") || self >= 0x80 || self == 0
    }

    /// Whether the byte is a non-printable code point, which makes an unquoted URL invalid (CSS Syntax §4.2).
    fileprivate var isNonPrintable: Bool {
        switch self {
        case 0x01...0x08, 0x0B, 0x0E...0x1F, 0x7F: true
        default: false
        }
    }
}
