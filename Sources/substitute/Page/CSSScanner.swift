import LocalSubstitution

/// Finds the URLs in a style sheet, or in the declarations of a `style` attribute (CSS Syntax Level 3 §4).
///
/// It works on bytes, of any charset that has ASCII in it, and reads each of them once.
struct CSSScanner {
    struct Reference {
        /// What stands between the parentheses or the quotes, with escapes decoded.
        let url: [UInt8]
        /// Where that stands, as it is written.
        let range: Range<Int>
        let isImport: Bool
    }

    private let bytes: [UInt8]
    private let end: Int
    private var index: Int
    /// The at-rule whose prelude this is.
    private var rule = AtRule.none

    private enum AtRule {
        case none
        /// The URL is still to come.
        case `import`
        /// Its URL is a name, and nothing to load.
        case namespace
    }

    init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        index = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    /// The next URL; `nil` at the end.
    mutating func next() -> Reference? {
        while let byte = byte() {
            switch byte {
            case UInt8(ascii: "/") where self.byte(after: 1) == UInt8(ascii: "*"):
                skipComment()
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let string = string()
                if rule == .import, let string { return reference(string) }
            case UInt8(ascii: "@"):
                index += 1
                switch name().asciiLowercased {
                case "import": rule = .import
                case "namespace": rule = .namespace
                default: rule = .none
                }
            case UInt8(ascii: ";"), UInt8(ascii: "{"), UInt8(ascii: "}"):
                index += 1
                rule = .none
            case _ where byte.isDigit:
                // With its unit, which is no name of a function.
                _ = name()
            case _ where beginsName(byte):
                let name = name()
                guard self.byte() == UInt8(ascii: "(") else { continue }
                index += 1
                guard name.asciiLowercased == "url", let url = url(), rule != .namespace else { continue }
                return reference(url)
            default:
                index += 1
            }
        }
        return nil
    }

    private mutating func reference(_ token: (url: [UInt8], range: Range<Int>)) -> Reference {
        defer { rule = .none }
        return Reference(url: token.url, range: token.range, isImport: rule == .import)
    }

    // MARK: Tokens

    /// From behind `url(`; `nil` if it is none, which then is skipped.
    private mutating func url() -> (url: [UInt8], range: Range<Int>)? {
        skipSpace()
        if let quote = byte(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") { return string() }
        let start = index
        var url: [UInt8] = []
        while let byte = byte() {
            if byte == UInt8(ascii: ")") || byte.isHTMLSpace {
                let range = start..<index
                skipSpace()
                guard self.byte() == UInt8(ascii: ")") else { break }
                index += 1
                return (url, range)
            }
            if byte == UInt8(ascii: "\\"), let escaped = escape() {
                url += escaped
                continue
            }
            if "\"'(\\".utf8.contains(byte) { break }
            url.append(byte)
            index += 1
        }
        skipBadURL()
        return nil
    }

    private mutating func skipBadURL() {
        while let byte = byte(), byte != UInt8(ascii: ")") {
            if byte != UInt8(ascii: "\\") || escape() == nil { index += 1 }
        }
    }

    /// `nil` if its line ends before it does.
    private mutating func string() -> (url: [UInt8], range: Range<Int>)? {
        let quote = bytes[index]
        index += 1
        let start = index
        var text: [UInt8] = []
        while let byte = byte(), !byte.isLineEnd {
            if byte == quote {
                index += 1
                return (text, start..<index - 1)
            }
            if byte == UInt8(ascii: "\\") {
                if let escaped = escape() {
                    text += escaped
                } else {
                    // A line end that is escaped is not there.
                    index += 1
                    if self.byte() == 0x0D, self.byte(after: 1) == 0x0A { index += 1 }
                    index = min(index + 1, end)
                }
            } else {
                text.append(byte)
                index += 1
            }
        }
        return nil
    }

    /// A name with its escapes decoded. At least one byte is taken.
    private mutating func name() -> String {
        var name: [UInt8] = []
        while let byte = byte() {
            if byte == UInt8(ascii: "\\"), let escaped = escape() {
                name += escaped
            } else if isPartOfName(byte) {
                name.append(byte)
                index += 1
            } else {
                break
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    private func beginsName(_ byte: UInt8) -> Bool {
        isPartOfName(byte) || (byte == UInt8(ascii: "\\") && !(self.byte(after: 1)?.isLineEnd ?? true))
    }

    private func isPartOfName(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    /// What an escape means, which is then passed (§4.3.7); `nil` if the backslash begins none.
    private mutating func escape() -> [UInt8]? {
        guard let first = byte(after: 1), !first.isLineEnd else { return nil }
        index += 2
        guard var number = first.hexDigitValue.map({ UInt32($0) }) else { return [first] }
        var count = 1
        while count < 6, let digit = byte()?.hexDigitValue {
            number = number * 16 + UInt32(digit)
            index += 1
            count += 1
        }
        if byte() == 0x0D, byte(after: 1) == 0x0A { index += 1 }
        if byte()?.isHTMLSpace == true { index += 1 }
        let scalar = number == 0 ? nil : Unicode.Scalar(number)
        return Array(String(scalar ?? "\u{FFFD}").utf8)
    }

    private mutating func skipComment() {
        index += 2
        while index < end {
            guard let star = bytes[index..<end].firstIndex(of: UInt8(ascii: "*")) else { break }
            index = star + 1
            if byte() == UInt8(ascii: "/") {
                index += 1
                return
            }
        }
        index = end
    }

    private mutating func skipSpace() {
        while let byte = byte(), byte.isHTMLSpace { index += 1 }
    }

    private func byte(after count: Int = 0) -> UInt8? { index + count < end ? bytes[index + count] : nil }
}
