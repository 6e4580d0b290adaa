/// Reads the members of a JSON object (RFC 8259) with what `JSONDecoder` does not tell: the line of each, and keys given twice.
///
/// It checks the syntax of everything, decodes keys and strings, and hands on the bytes of other values for `JSONDecoder`.
package struct JSONScanner {
    /// One key and value of an object.
    package struct Member {
        package let key: String
        let line: Int
        let value: Value
        /// Where the value is written.
        package let range: Range<Int>
    }

    package enum Value {
        case string(String)
        case object(Range<Int>)
        case null
        case other(Range<Int>)
    }

    /// Why a text is not the JSON that was asked for, and the byte at which that shows.
    package struct SyntaxError: Error {
        let offset: Int
        let message: String
        /// Whether it may well be JSON, but no object.
        var isOtherJSON = false
    }

    /// Deeper nesting is refused, so that hostile input can't exhaust the stack.
    static let deepest = 64

    let bytes: [UInt8]
    private var offset: Int
    private var line: Int
    private let end: Int

    package init(_ bytes: [UInt8]) {
        self.init(bytes, in: 0..<bytes.count, line: 1)
    }

    /// A scanner of one value inside a text; `line` is the line on which the value begins.
    init(_ bytes: [UInt8], in range: Range<Int>, line: Int) {
        self.bytes = bytes
        self.offset = range.lowerBound
        self.end = range.upperBound
        self.line = line
    }

    /// The members of the object that is the whole text, in their order, equal keys included.
    package mutating func members() throws(SyntaxError) -> [Member] {
        var members: [Member] = []
        skipWhiteSpace()
        guard offset < end else { throw failure("is empty") }
        guard bytes[offset] == .leftBrace else {
            if let comment { throw comment }
            throw SyntaxError(offset: offset, message: "is not a JSON object: it must begin with {", isOtherJSON: true)
        }
        try scanObject { members.append($0) }
        skipWhiteSpace()
        if offset < end { throw failure("has something after its closing }") }
        return members
    }

    /// The 1-based line and column (in characters) of a byte.
    package static func position(of offset: Int, in bytes: some Collection<UInt8>) -> (line: Int, column: Int) {
        var (line, column) = (1, 1)
        for byte in bytes.prefix(offset) {
            if byte == .newline {
                (line, column) = (line + 1, 1)
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }

    // MARK: Values

    private mutating func scanObject(depth: Int = 0, _ found: (Member) -> Void) throws(SyntaxError) {
        offset += 1
        skipWhiteSpace()
        if take(.rightBrace) { return }
        while true {
            let keyLine = line
            guard offset < end, bytes[offset] == .quote else {
                throw failure(offset < end ? "needs a key in double quotes here" : "ends inside an object")
            }
            let key = try scanString()
            skipWhiteSpace()
            guard take(.colon) else { throw failure("needs a colon after the key “\(key)”") }
            skipWhiteSpace()
            let start = offset
            let value = try scanValue(depth: depth + 1)
            found(Member(key: key, line: keyLine, value: value, range: start..<offset))
            skipWhiteSpace()
            if take(.rightBrace) { return }
            guard take(.comma) else { throw failure("needs a comma or } here") }
            try skipWhiteSpace(afterCommaBefore: .rightBrace)
        }
    }

    private mutating func scanArray(depth: Int) throws(SyntaxError) {
        offset += 1
        skipWhiteSpace()
        if take(.rightBracket) { return }
        while true {
            _ = try scanValue(depth: depth + 1)
            skipWhiteSpace()
            if take(.rightBracket) { return }
            guard take(.comma) else { throw failure("needs a comma or ] here") }
            try skipWhiteSpace(afterCommaBefore: .rightBracket)
        }
    }

    private mutating func scanValue(depth: Int) throws(SyntaxError) -> Value {
        guard depth <= Self.deepest else { throw failure("is nested more than \(Self.deepest) deep") }
        guard offset < end else { throw failure("ends where a value is due") }
        let start = offset
        switch bytes[offset] {
        case .quote:
            return .string(try scanString())
        case .leftBrace:
            try scanObject(depth: depth) { _ in }
            return .object(start..<offset)
        case .leftBracket:
            try scanArray(depth: depth)
        case UInt8(ascii: "n"):
            try scanWord("null")
            return .null
        case UInt8(ascii: "t"):
            try scanWord("true")
        case UInt8(ascii: "f"):
            try scanWord("false")
        default:
            try scanNumber()
        }
        return .other(start..<offset)
    }

    private mutating func scanWord(_ word: StaticString) throws(SyntaxError) {
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[offset..<end].starts(with: expected) else { throw failure("has no JSON value here") }
        offset += expected.count
    }

    /// RFC 8259 §6: `-`, an integer without leading zeros, then a fraction, then an exponent.
    private mutating func scanNumber() throws(SyntaxError) {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !takeDigits() {
            offset = start
            throw failure("has no JSON value here")
        }
        if take(UInt8(ascii: ".")), !takeDigits() { throw failure("needs a digit after the decimal point") }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            guard takeDigits() else { throw failure("needs a digit in the exponent") }
        }
    }

    // MARK: Strings

    private mutating func scanString() throws(SyntaxError) -> String {
        offset += 1
        let start = offset
        while offset < end {
            switch bytes[offset] {
            case .quote:
                guard let string = String(utf8: bytes[start..<offset]) else {
                    throw invalidUTF8(in: start..<offset)
                }
                offset += 1
                return string
            case .backslash:
                return try scanEscapedString(from: start)
            case 0..<0x20:
                throw failure("has an unescaped control character in a string")
            default:
                offset += 1
            }
        }
        throw failure("ends inside a string")
    }

    private mutating func scanEscapedString(from start: Int) throws(SyntaxError) -> String {
        var decoded = Array(bytes[start..<offset])
        while offset < end {
            let byte = bytes[offset]
            switch byte {
            case .quote:
                guard let string = String(utf8: decoded) else {
                    throw invalidUTF8(in: start..<offset)
                }
                offset += 1
                return string
            case .backslash:
                decoded.append(contentsOf: String(try scanEscape()).utf8)
            case 0..<0x20:
                throw failure("has an unescaped control character in a string")
            default:
                decoded.append(byte)
                offset += 1
            }
        }
        throw failure("ends inside a string")
    }

    private mutating func scanEscape() throws(SyntaxError) -> Unicode.Scalar {
        guard offset + 1 < end else { throw failure("ends inside a string") }
        let letter = bytes[offset + 1]
        if letter == UInt8(ascii: "u") { return try scanUnicodeEscape() }
        let scalar: Unicode.Scalar
        switch letter {
        case .quote, .backslash, UInt8(ascii: "/"): scalar = Unicode.Scalar(letter)
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        default: throw failure("has an unknown escape in a string")
        }
        offset += 2
        return scalar
    }

    /// RFC 8259 §7: `\u` and four digits, or two of them that are a surrogate pair.
    private mutating func scanUnicodeEscape() throws(SyntaxError) -> Unicode.Scalar {
        let start = offset
        let first = try scanHexUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, offset + 1 < end, bytes[offset] == .backslash, bytes[offset + 1] == UInt8(ascii: "u") {
            let second = try scanHexUnit()
            if (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            {
                return scalar
            }
        }
        offset = start
        throw failure("has half of a surrogate pair in a string")
    }

    private mutating func scanHexUnit() throws(SyntaxError) -> UInt32 {
        var unit: UInt32 = 0
        for index in offset + 2..<offset + 6 {
            guard index < end, let digit = bytes[index].hexDigitValue else {
                throw failure("needs four hexadecimal digits after \\u")
            }
            unit = unit << 4 | UInt32(digit)
        }
        offset += 6
        return unit
    }

    // MARK: Bytes

    private mutating func skipWhiteSpace() {
        while offset < end {
            switch bytes[offset] {
            case .newline: line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            default: return
            }
            offset += 1
        }
    }

    private mutating func skipWhiteSpace(afterCommaBefore end: UInt8) throws(SyntaxError) {
        let comma = offset - 1
        skipWhiteSpace()
        guard offset < self.end, bytes[offset] == end else { return }
        throw SyntaxError(offset: comma, message: "has a comma before \(Unicode.Scalar(end)): remove it")
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard offset < end, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func takeDigits() -> Bool {
        let start = offset
        while offset < end, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset]) { offset += 1 }
        return offset > start
    }

    private func failure(_ message: String) -> SyntaxError {
        comment ?? SyntaxError(offset: offset, message: message)
    }

    /// Returns the error for a comment at the scanner's position; `nil` if there isn't one.
    private var comment: SyntaxError? {
        let rest = bytes[offset..<end]
        guard rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8) else { return nil }
        let message = "has a comment, which JSON doesn't allow: remove it, or use an entry's field “comment”"
        return SyntaxError(offset: offset, message: message)
    }

    private func invalidUTF8(in range: Range<Int>) -> SyntaxError {
        var valid = range.lowerBound
        var decoder = UTF8()
        var iterator = bytes[range].makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { valid += UTF8.width(scalar) }
        return SyntaxError(offset: valid, message: "is not UTF-8 here: save it as UTF-8")
    }
}

extension UInt8 {
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let backslash = UInt8(ascii: "\\")
    fileprivate static let newline = UInt8(ascii: "\n")
    fileprivate static let colon = UInt8(ascii: ":")
    fileprivate static let comma = UInt8(ascii: ",")
    fileprivate static let leftBrace = UInt8(ascii: "{")
    fileprivate static let rightBrace = UInt8(ascii: "}")
    fileprivate static let leftBracket = UInt8(ascii: "[")
    fileprivate static let rightBracket = UInt8(ascii: "]")
}
