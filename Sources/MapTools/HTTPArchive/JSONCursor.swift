import Foundation
import LocalSubstitution

/// Walks through a JSON text (RFC 8259) and makes values of nothing but what it is asked for.
///
/// The map's scanner checks and decodes everything. An archive may have 100 MB, nearly all of it bodies and headers that are only
/// stepped over, and that is what this does fast: a string is stepped over by looking for its end. What is stepped over has its
/// brackets, commas and quotes checked, not its characters. Only valid as long as the buffer.
struct JSONCursor {
    /// Why a text isn't JSON, and the byte at which that shows.
    struct SyntaxError: Error {
        let offset: Int
        let message: String
    }

    /// What a value begins like.
    enum Kind {
        case string, object, array, number, other
    }

    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var offset: Int
    private let end: Int
    private var depth = 0

    /// Deeper nesting is refused, so that hostile input can't exhaust the stack. Chrome nests a request's callers, some 32 deep.
    static let deepest = 256

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        offset = 0
        end = bytes.count
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
        skipWhiteSpace()
    }

    /// The kind of the value that comes next; `nil` at the end.
    var next: Kind? {
        guard offset < end else { return nil }
        switch bytes[offset] {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: return .other
        }
    }

    /// Takes an object; `member` gets each key, and must take its value.
    mutating func object(
        _ member: (inout JSONCursor, String) throws(SyntaxError) -> Void
    ) throws(SyntaxError) {
        try list(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { cursor throws(SyntaxError) in
            guard cursor.next == .string else { throw cursor.failure("needs a key in double quotes here") }
            let key = cursor.decoded(try cursor.rawString()) ?? ""
            try cursor.takeColon()
            try member(&cursor, key)
        }
    }

    /// Takes an array; `element` must take each value.
    mutating func array(_ element: (inout JSONCursor) throws(SyntaxError) -> Void) throws(SyntaxError) {
        try list(from: UInt8(ascii: "["), to: UInt8(ascii: "]"), element)
    }

    /// Takes any value. Gives the place of a string's text between its quotes, as it is written; else `nil`.
    mutating func rawText() throws(SyntaxError) -> Range<Int>? {
        guard next == .string else {
            try skip()
            return nil
        }
        return try rawString()
    }

    /// Takes any value. Gives a string's text; else `nil`.
    mutating func text() throws(SyntaxError) -> String? {
        try rawText().flatMap { decoded($0) }
    }

    /// Takes any value. Gives an integer; else `nil`.
    mutating func integer() throws(SyntaxError) -> Int? {
        guard next == .number else {
            try skip()
            return nil
        }
        let start = offset
        try skip()
        return Int(String(decoding: bytes[start..<offset], as: UTF8.self))
    }

    /// Steps over any value.
    mutating func skip() throws(SyntaxError) {
        switch next {
        case .string: _ = try rawString()
        case .object:
            try list(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { cursor throws(SyntaxError) in
                guard cursor.next == .string else { throw cursor.failure("needs a key in double quotes here") }
                _ = try cursor.rawString()
                try cursor.takeColon()
                try cursor.skip()
            }
        case .array: try array { cursor throws(SyntaxError) in try cursor.skip() }
        case .number:
            while offset < end, Self.isOfNumber(bytes[offset]) { offset += 1 }
        case .other: try skipWord()
        case nil: throw failure("ends where a value is due")
        }
    }

    /// Nothing may follow but white space.
    mutating func finish() throws(SyntaxError) {
        skipWhiteSpace()
        if offset < end { throw failure("has something after its end") }
    }

    func failure(_ message: String) -> SyntaxError { SyntaxError(offset: offset, message: message) }

    private func decoded(_ range: Range<Int>) -> String? {
        JSONEscapes.text(UnsafeBufferPointer(rebasing: bytes[range]))
    }

    private mutating func list(
        from first: UInt8,
        to last: UInt8,
        _ element: (inout JSONCursor) throws(SyntaxError) -> Void
    ) throws(SyntaxError) {
        guard take(first) else { throw failure("has no JSON value here") }
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw failure("is nested more than \(Self.deepest) deep") }
        skipWhiteSpace()
        if take(last) { return }
        while true {
            try element(&self)
            skipWhiteSpace()
            if take(last) { return }
            guard take(UInt8(ascii: ",")) else {
                throw failure(offset < end ? "needs a comma or \(Character(Unicode.Scalar(last))) here" : Self.atEnd)
            }
            skipWhiteSpace()
        }
    }

    private mutating func takeColon() throws(SyntaxError) {
        skipWhiteSpace()
        guard take(UInt8(ascii: ":")) else { throw failure(offset < end ? "needs a colon here" : Self.atEnd) }
        skipWhiteSpace()
    }

    private mutating func rawString() throws(SyntaxError) -> Range<Int> {
        let start = offset + 1
        var from = start
        while from < end, let base = bytes.baseAddress {
            guard let found = memchr(base + from, Int32(UInt8(ascii: "\"")), end - from) else { break }
            let quote = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            // A quote after an odd number of backslashes is escaped. No run is counted twice: a quote ends it.
            var backslashes = 0
            while quote - backslashes > from, bytes[quote - backslashes - 1] == UInt8(ascii: "\\") { backslashes += 1 }
            if backslashes.isMultiple(of: 2) {
                offset = quote + 1
                return start..<quote
            }
            from = quote + 1
        }
        offset = end
        throw failure("ends inside a string")
    }

    private mutating func skipWord() throws(SyntaxError) {
        for word in ["true", "false", "null"] where bytes[offset..<end].starts(with: word.utf8) {
            offset += word.utf8.count
            return
        }
        throw failure("has no JSON value here")
    }

    private mutating func skipWhiteSpace() {
        while offset < end, Self.isWhiteSpace(bytes[offset]) { offset += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard offset < end, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private static let atEnd = "ends before it is whole"
}
