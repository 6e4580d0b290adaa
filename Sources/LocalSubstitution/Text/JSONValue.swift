import HTTPSyntax

/// A JSON value to compare in conditions. Its spelling doesn't matter, nor does the order of an object's members.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number's text in the JSON (RFC 8259 §6). Its exponent fits into `Int`.
    ///
    /// Numbers are compared as decimals: `1`, `1.0` and `10e-1` are equal. As `Double`s, some different numbers would be
    /// equal, too.
    case number(String)
    case string(ExactText)
    case array([JSONValue])
    case object(Object)

    /// The deepest nesting, in levels. JSON that's nested more deeply is a syntax error.
    package static let deepest = 64

    /// The members of an object, in the order of the JSON text. If a key is given twice, its last value is used.
    package struct Object: Sendable {
        private(set) var members: [(key: ExactText, value: JSONValue)] = []
        private var places: [ExactText: Int] = [:]

        subscript(key: ExactText) -> JSONValue? { places[key].map { members[$0].value } }

        fileprivate mutating func set(_ key: ExactText, _ value: JSONValue) {
            if let place = places[key] {
                members[place].value = value
            } else {
                places[key] = members.count
                members.append((key, value))
            }
        }
    }

    /// A whole number without zeros at its end, and an exponent: `15e-1` for `1.50`; `0` for zero.
    private static func normal(ofNumber text: String) -> String {
        let bytes = Array(text.utf8)
        let end = bytes.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? bytes.count
        let point = bytes[..<end].firstIndex(of: UInt8(ascii: ".")) ?? end
        var exponent = Int(String(decoding: bytes[end...].dropFirst(), as: UTF8.self)) ?? 0
        exponent -= bytes[point..<end].dropFirst().count
        var digits = bytes[..<end].filter(\.isDigit)
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        guard !digits.isEmpty else { return "0" }
        let whole = String(decoding: digits.drop { $0 == UInt8(ascii: "0") }, as: UTF8.self)
        return "\(bytes[0] == UInt8(ascii: "-") ? "-" : "")\(whole)e\(exponent)"
    }

    package static func == (first: JSONValue, second: JSONValue) -> Bool {
        first.normal.utf8.elementsEqual(second.normal.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ExactText(normal)) }

    /// The value as JSON on one line, with the members of objects sorted. Equal values have the same JSON.
    package var normal: String { sorted(hasNormalNumbers: true) }

    /// The same, but with numbers as they're written in the JSON.
    package var sorted: String { sorted(hasNormalNumbers: false) }

    private func sorted(hasNormalNumbers: Bool) -> String {
        switch self {
        case .null, .bool, .string: return description
        case .number(let text): return hasNormalNumbers ? Self.normal(ofNumber: text) : text
        case .array(let elements):
            let texts = elements.map { $0.sorted(hasNormalNumbers: hasNormalNumbers) }
            return "[\(texts.joined(separator: ", "))]"
        case .object(let object):
            let members = object.members.ordered { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
            return JSONText.object(members.map { ($0.key.text, $0.value.sorted(hasNormalNumbers: hasNormalNumbers)) })
        }
    }

    /// `nil` if the text isn't JSON, or is nested more than ``deepest`` levels deep.
    package init?(_ text: String) {
        guard let value = Array(text.utf8).withUnsafeBufferPointer({ try? JSONValue($0) }) else { return nil }
        self = value
    }

    /// The number of values, including the value itself.
    package var count: Int {
        switch self {
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        case .object(let object): object.members.reduce(1) { $0 + $1.value.count }
        default: 1
        }
    }

    /// Throws an error if the text isn't one value, or has more than ``deepest`` levels.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(Complaint) {
        var cursor = JSONCursor(bytes, isStrict: true, deepest: Self.deepest)
        self = try Self.value(&cursor)
        try cursor.finish()
    }

    private static func value(_ cursor: inout JSONCursor) throws(Complaint) -> JSONValue {
        switch cursor.next {
        case .string:
            return .string(ExactText(try cursor.text() ?? ""))
        case .object:
            var object = Object()
            try cursor.object { cursor, key, _ throws(Complaint) in
                object.set(ExactText(key), try value(&cursor))
            }
            return .object(object)
        case .array:
            var elements: [JSONValue] = []
            try cursor.array { cursor throws(Complaint) in elements.append(try value(&cursor)) }
            return .array(elements)
        case let kind:
            let start = cursor.offset
            try cursor.skip()
            let word = cursor.bytes[start..<cursor.offset]
            switch kind {
            case .number: return .number(String(decoding: word, as: UTF8.self))
            case .bool: return .bool(word.first == UInt8(ascii: "t"))
            default: return .null
            }
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The JSON text of a scalar; “an array” or “an object” for other values.
    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .number(let text): text
        case .string(let string): JSONText.string(string.text)
        case .array: "an array"
        case .object: "an object"
        }
    }
}
