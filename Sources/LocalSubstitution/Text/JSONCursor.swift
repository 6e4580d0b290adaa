package import Foundation
import HTTPSyntax

/// A cursor that walks through JSON text (RFC 8259) and decodes only the values that are asked for. Use it only while
/// the buffer is valid.
///
/// A strict cursor is for maps. It checks everything, since people write maps, and want to know what's wrong with them.
/// A lenient cursor is for archives, which may have 100 MB, nearly all of it bodies and headers to skip. To skip a
/// string, it only looks for the string's end, without checking the characters. If it can't decode a string, it returns
/// `nil`. If it can't decode a key, it uses an empty key.
package struct JSONCursor {
    /// The kind of a complaint about a text that may be JSON, but isn't an object.
    package static let notAnObject = "notAnObject"
    /// The kind of a complaint about a text that's nested more deeply than the cursor accepts.
    package static let tooDeep = "tooDeep"
    /// The kind of a complaint about a text with a number whose exponent is too long.
    package static let longExponent = "longExponent"

    /// The kind of a value, judged by its first byte.
    package enum Kind {
        case string, object, array, number, bool, null
        /// Not JSON.
        case other
    }

    package let bytes: UnsafeBufferPointer<UInt8>
    package private(set) var offset: Int
    private(set) var line: Int
    private let end: Int
    private var depth = 0
    private let isStrict: Bool
    private let deepest: Int

    /// The deepest nesting that a strict cursor accepts, so that hostile input can't exhaust the stack. A map needs
    /// more levels than the JSON bodies in it, whose deepest nesting is ``JSONValue/deepest``.
    static let deepest = JSONValue.deepest + 8
    /// The deepest nesting that a lenient cursor accepts. Chrome nests a request's callers some 32 levels deep.
    private static let deepestInArchive = 256

    /// - Parameters:
    ///   - range: The range of one value inside the text. By default, it's the whole text after its byte order mark.
    ///   - line: The line on which the value begins; 0 if lines aren't counted.
    ///   - isStrict: Whether the cursor is strict, for maps. The default, `false`, is for archives.
    ///   - deepest: The deepest nesting that a strict cursor accepts. A lenient cursor ignores it.
    package init(
        _ bytes: UnsafeBufferPointer<UInt8>,
        in range: Range<Int>? = nil,
        line: Int = 1,
        isStrict: Bool = false,
        deepest: Int = Self.deepest
    ) {
        self.bytes = bytes
        self.deepest = isStrict ? deepest : Self.deepestInArchive
        let mark = [UInt8].byteOrderMark
        offset = range?.lowerBound ?? (bytes.starts(with: mark) ? mark.count : 0)
        end = range?.upperBound ?? bytes.count
        self.line = line
        self.isStrict = isStrict
        skipWhiteSpace()
    }

    /// The kind of the next value; `nil` at the end.
    package var next: Kind? {
        guard offset < end else { return nil }
        switch bytes[offset] {
        case .quote: return .string
        case .leftBrace: return .object
        case .leftBracket: return .array
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: return .other
        }
    }

    // MARK: Values

    /// Reads any value. If it's an object, calls `member` with each key and the key's line. `member` must read or skip
    /// the key's value. If it doesn't, this method throws a syntax error.
    package mutating func object(
        _ member: (inout JSONCursor, _ key: String, _ line: Int) throws(Complaint) -> Void
    ) throws(Complaint) {
        guard next == .object else { return try skip() }
        try rawObject { cursor, key, line throws(Complaint) in
            let key = try cursor.decoded(key) ?? ""
            try member(&cursor, key, line)
        }
    }

    /// Reads an object. Calls `member` with the range of each key's text.
    private mutating func rawObject(
        _ member: (inout JSONCursor, _ key: Range<Int>, _ line: Int) throws(Complaint) -> Void
    ) throws(Complaint) {
        var hasMember = try enter(.leftBrace, .rightBrace)
        while hasMember {
            let line = line
            let key = try rawKey()
            try takeColon(after: key)
            try member(&self, key, line)
            hasMember = try takeComma(or: .rightBrace)
        }
    }

    /// Reads any value. If it's an array, calls `element` for each element. `element` must read or skip the element. If
    /// it doesn't, this method throws a syntax error.
    package mutating func array(_ element: (inout JSONCursor) throws(Complaint) -> Void) throws(Complaint) {
        guard next == .array else { return try skip() }
        var hasElement = try enter(.leftBracket, .rightBracket)
        while hasElement {
            try element(&self)
            hasElement = try takeComma(or: .rightBracket)
        }
    }

    /// Reads any value. For a string, returns the range between its quotes, with escapes; `nil` for other values.
    package mutating func rawText() throws(Complaint) -> Range<Int>? {
        guard next == .string else {
            try skip()
            return nil
        }
        return try rawString()
    }

    /// Reads any value. `nil` if it isn't a string, and if a lenient cursor can't decode the string.
    package mutating func text() throws(Complaint) -> String? {
        guard let range = try rawText() else { return nil }
        return try decoded(range)
    }

    @inline(never)
    package mutating func skip() throws(Complaint) {
        switch next {
        case .string:
            let range = try rawString()
            if isStrict { _ = try decoded(range) }
        case .object:
            try rawObject { cursor, key, _ throws(Complaint) in
                if cursor.isStrict { _ = try cursor.decoded(key) }
                try cursor.skip()
            }
        case .array:
            try array { cursor throws(Complaint) in try cursor.skip() }
        case .number:
            try skipNumber()
        case .bool, .null, .other:
            try skipWord()
        case nil:
            throw failure("ends where a value is expected. Add the value.")
        }
    }

    /// Call this at the end: it's an error if more than white space follows.
    package mutating func finish() throws(Complaint) {
        skipWhiteSpace()
        if offset < end { throw failure("has text after its end. Remove it.") }
    }

    /// Enters an object or array, and returns whether it has a member or element. If it's empty, also reads its end.
    ///
    /// - Parameters:
    ///   - first: The bracket that begins the object or array.
    ///   - last: The bracket that ends the object or array.
    private mutating func enter(_ first: UInt8, _ last: UInt8) throws(Complaint) -> Bool {
        guard take(first) else { throw failure("needs a JSON value here.") }
        depth += 1
        guard depth <= deepest else {
            throw Complaint(
                kind: Self.tooDeep,
                offset: offset,
                "is nested more than \(deepest) levels deep. Use fewer levels."
            )
        }
        skipWhiteSpace()
        return !takeEnd(last)
    }

    /// After a member or element, reads a comma or the end of the object or array. Returns whether there was a comma.
    @inline(never)
    private mutating func takeComma(or last: UInt8) throws(Complaint) -> Bool {
        skipWhiteSpace()
        if takeEnd(last) { return false }
        let comma = offset
        guard take(.comma) else {
            let isCutOff = offset == end && !isStrict
            throw failure(
                isCutOff ? "is incomplete. Export it again." : "needs a comma or \(Unicode.Scalar(last)) here."
            )
        }
        skipWhiteSpace()
        if offset < end, bytes[offset] == last {
            throw Complaint(offset: comma, "has a comma before \(Unicode.Scalar(last)). Remove it.")
        }
        return true
    }

    private mutating func takeEnd(_ last: UInt8) -> Bool {
        guard take(last) else { return false }
        depth -= 1
        return true
    }

    private mutating func skipWord() throws(Complaint) {
        for word in Self.words where bytes[offset..<end].starts(with: word) {
            offset += word.count
            return
        }
        throw failure("needs a JSON value here.")
    }

    private static let words = [Array("true".utf8), Array("false".utf8), Array("null".utf8)]

    /// Skips a number (RFC 8259 §6): `-`, an integer without leading zeros, a fraction and an exponent. Only the
    /// integer is required.
    private mutating func skipNumber() throws(Complaint) {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !takeDigits() {
            offset = start
            throw failure("needs a JSON value here.")
        }
        if take(UInt8(ascii: ".")), !takeDigits() { throw failure("needs a digit after the decimal point.") }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            let exponent = offset
            guard takeDigits() else { throw failure("needs a digit in the exponent.") }
            if isStrict, offset - exponent > 4 {
                let message = "has an exponent of more than 4 digits. Write the exponent with at most 4 digits."
                throw Complaint(kind: Self.longExponent, offset: exponent, message)
            }
        }
    }

    // MARK: Strings

    @inline(never)
    private mutating func rawKey() throws(Complaint) -> Range<Int> {
        guard next == .string else {
            throw failure(offset < end ? "needs a key in double quotes here." : "ends inside an object. Complete it.")
        }
        return try rawString()
    }

    @inline(never)
    private mutating func takeColon(after key: Range<Int>) throws(Complaint) {
        skipWhiteSpace()
        guard take(.colon) else { throw failure("needs a colon after the key “\(try decoded(key) ?? "")”.") }
        skipWhiteSpace()
    }

    /// The range is between the string's quotes.
    private mutating func rawString() throws(Complaint) -> Range<Int> {
        let start = offset + 1
        let quote = quote(from: start)
        if isStrict, let control = bytes[start..<(quote ?? end)].firstIndex(where: { $0 < 0x20 }) {
            // If there's an invalid escape before the control character, decoding throws an error about that escape.
            _ = try decoded(start..<control + 1)
            offset = control
            throw failure("has an unescaped control character in a string. Write an escape, such as \\n.")
        }
        guard let quote else {
            _ = try decoded(start..<end)
            offset = end
            throw failure("ends inside a string. Complete it.")
        }
        offset = quote + 1
        return start..<quote
    }

    private func quote(from start: Int) -> Int? {
        var from = start
        while from < end, let base = bytes.baseAddress {
            guard let found = memchr(base + from, Int32(UInt8.quote), end - from) else { break }
            let quote = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            // A quote after an odd number of backslashes is escaped. The count stops at the previous quote, so no
            // backslash is counted twice.
            var backslashes = 0
            while quote - backslashes > from, bytes[quote - backslashes - 1] == .backslash { backslashes += 1 }
            if backslashes.isMultiple(of: 2) { return quote }
            from = quote + 1
        }
        return nil
    }

    /// `nil` if a lenient cursor can't decode the string.
    @inline(never)
    private func decoded(_ range: Range<Int>) throws(Complaint) -> String? {
        let raw = UnsafeBufferPointer(rebasing: bytes[range])
        do throws(Complaint) {
            return try Self.text(raw, repairsHalves: !isStrict)
        } catch {
            guard isStrict else { return nil }
            throw Complaint(offset: range.lowerBound + error.offset, error.description)
        }
    }

    // MARK: Bytes

    private mutating func skipWhiteSpace() {
        while offset < end {
            switch bytes[offset] {
            case .newline: if line > 0 { line += 1 }
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            default: return
            }
            offset += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard offset < end, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func takeDigits() -> Bool {
        let start = offset
        while offset < end, bytes[offset].isDigit { offset += 1 }
        return offset > start
    }

    // MARK: Failures

    /// The error is at the cursor's position. If the text is UTF-16 or UTF-32, or if a strict cursor is at a comment,
    /// the error says so instead.
    @inline(never)
    package func failure(_ message: String, kind: String = "") -> Complaint {
        let isUTF16 =
            bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) || bytes.prefix(2).contains(0)
        if isUTF16 { return Complaint(offset: 0, "is UTF-16 or UTF-32. Save it as UTF-8.") }
        let rest = bytes[offset..<end]
        if isStrict, rest.starts(with: Array("//".utf8)) || rest.starts(with: Array("/*".utf8)) {
            let message = "has a comment, which JSON doesn't allow. Remove it, or use an entry's field “comment”."
            return Complaint(offset: offset, message)
        }
        return Complaint(kind: kind, offset: offset, message)
    }
}

extension Complaint {
    /// Returns the line and column of the mistake in JSON text, both from 1. Columns count characters.
    package func position(in bytes: some Collection<UInt8>) -> (line: Int, column: Int) {
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
}

// MARK: - Escapes

extension JSONCursor {
    /// The offset of an error counts from the string's beginning.
    ///
    /// - Parameter repairsHalves: Whether half of a surrogate pair becomes U+FFFD, as in UTF-8 that browsers write. If
    ///   `false`, it's an error.
    private static func text(_ raw: UnsafeBufferPointer<UInt8>, repairsHalves: Bool) throws(Complaint) -> String {
        let isPlain = raw.baseAddress.map { memchr($0, Int32(UInt8.backslash), raw.count) == nil } ?? true
        let text = isPlain ? String(utf8: raw) : String(utf8: try unescaped(raw, repairsHalves: repairsHalves))
        guard let text else {
            var valid = 0
            var decoder = UTF8()
            var iterator = raw.makeIterator()
            while case .scalarValue(let scalar) = decoder.decode(&iterator) { valid += UTF8.width(scalar) }
            throw Complaint(offset: valid, "isn't UTF-8 here. Save it as UTF-8.")
        }
        return text
    }

    /// Doesn't check that the other bytes are UTF-8.
    package static func unescaped(
        _ raw: UnsafeBufferPointer<UInt8>,
        repairsHalves: Bool = true
    ) throws(Complaint) -> Data {
        // Decoded text is never longer than the raw text, so one buffer of that length is enough. Appending short runs
        // to `Data` would be slow.
        var result = Data(count: raw.count)
        let count = result.withUnsafeMutableBytes { target in
            // The closure returns a `Result`, since `withUnsafeMutableBytes` has no typed errors.
            Result { () throws(Complaint) in try decode(raw, into: target, repairsHalves) }
        }
        result.count = try count.get()
        return result
    }

    /// Returns the number of bytes.
    private static func decode(
        _ raw: UnsafeBufferPointer<UInt8>,
        into result: UnsafeMutableRawBufferPointer,
        _ repairsHalves: Bool
    ) throws(Complaint) -> Int {
        guard let base = raw.baseAddress, let target = result.baseAddress else { return 0 }
        var (index, count) = (0, 0)
        while index < raw.count {
            // Copies everything up to the next escape at once, since escapes are rare.
            let found = memchr(base + index, Int32(UInt8.backslash), raw.count - index)
            let escape = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(base) } ?? raw.count
            memcpy(target + count, base + index, escape - index)
            count += escape - index
            index = escape
            guard index < raw.count else { break }
            let scalar = try scalar(raw, &index, repairsHalves)
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                result[count] = byte
                count += 1
            }
        }
        return count
    }

    /// Moves the index past the escape.
    private static func scalar(
        _ raw: UnsafeBufferPointer<UInt8>,
        _ index: inout Int,
        _ repairsHalves: Bool
    ) throws(Complaint) -> Unicode.Scalar {
        guard index + 1 < raw.count else {
            throw Complaint(offset: index, "ends inside a string. Complete it.")
        }
        let scalar: Unicode.Scalar
        switch raw[index + 1] {
        case UInt8(ascii: "\""): scalar = "\""
        case .backslash: scalar = "\\"
        case UInt8(ascii: "/"): scalar = "/"
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"): return try unicode(raw, &index, repairsHalves)
        default:
            throw Complaint(
                offset: index,
                "has an unknown escape in a string. Write \\\\ for a backslash."
            )
        }
        index += 2
        return scalar
    }

    /// Decodes a `\u` escape, or two that form a surrogate pair.
    private static func unicode(
        _ raw: UnsafeBufferPointer<UInt8>,
        _ index: inout Int,
        _ repairsHalves: Bool
    ) throws(Complaint) -> Unicode.Scalar {
        guard let first = unit(raw, at: index) else {
            throw Complaint(offset: index, "needs four hexadecimal digits after \\u.")
        }
        let start = index
        index += 6
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, let second = unit(raw, at: index), (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        {
            index += 6
            return scalar
        }
        guard repairsHalves else {
            throw Complaint(offset: start, "has half of a surrogate pair in a string. Write both halves.")
        }
        return "\u{FFFD}"
    }

    private static func unit(_ raw: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32? {
        guard index + 5 < raw.count, raw[index] == .backslash, raw[index + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt32 = 0
        for place in index + 2..<index + 6 {
            guard let digit = raw[place].hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
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
