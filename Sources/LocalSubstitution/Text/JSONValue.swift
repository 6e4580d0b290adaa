/// A JSON value, to be compared with a part of another one.
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(JSONString)
    case array([JSONValue])
    case object(Object)

    /// How deep a value may be nested.
    static let deepest = 64

    /// The members of an object in the order in which they are written. Of a key that is given twice, the last counts.
    struct Object: Sendable, Hashable {
        private(set) var members: [(key: JSONString, value: JSONValue)] = []
        private var places: [JSONString: Int] = [:]

        static func == (first: Object, second: Object) -> Bool {
            first.members.count == second.members.count && first.members.allSatisfy { second[$0.key] == $0.value }
        }

        /// Without the values, since the order of the members doesn't count.
        func hash(into hasher: inout Hasher) { hasher.combine(Set(places.keys)) }

        subscript(key: JSONString) -> JSONValue? { places[key].map { members[$0].value } }

        mutating func set(_ key: JSONString, _ value: JSONValue) {
            if let place = places[key] {
                members[place].value = value
            } else {
                places[key] = members.count
                members.append((key, value))
            }
        }
    }

    /// Reads a text that is one JSON value. Strict, and never deeper than ``deepest``.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONCursor.SyntaxError) {
        let start = bytes.starts(with: ByteOrderMark.utf8) ? ByteOrderMark.utf8.count : 0
        var cursor = JSONCursor(bytes, in: start..<bytes.count, line: 1, isStrict: true, deepest: Self.deepest)
        self = try Self.value(&cursor)
        try cursor.finish()
    }

    private static func value(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) -> JSONValue {
        switch cursor.next {
        case .string:
            return .string(JSONString(text: try cursor.text() ?? ""))
        case .object:
            var object = Object()
            try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
                object.set(JSONString(text: key), try value(&cursor))
            }
            return .object(object)
        case .array:
            var elements: [JSONValue] = []
            try cursor.array { cursor throws(JSONCursor.SyntaxError) in elements.append(try value(&cursor)) }
            return .array(elements)
        case .number, .other, nil:
            return try word(&cursor)
        }
    }

    private static func word(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) -> JSONValue {
        let (start, kind) = (cursor.offset, cursor.next)
        try cursor.skip()
        if kind == .number {
            let digits = cursor.bytes[start..<cursor.offset]
            return .number(JSONNumber(text: String(decoding: digits, as: UTF8.self)))
        }
        switch cursor.bytes[start] {
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        default: return .null
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// A scalar as JSON writes it, or what kind of value it is.
    var description: String {
        switch self {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .number(let number): number.text
        case .string(let string): JSONText.string(string.text)
        case .array: "an array"
        case .object: "an object"
        }
    }
}
