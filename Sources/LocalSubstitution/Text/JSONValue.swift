/// A JSON value that can be compared with a part of another one.
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(JSONString)
    case array([JSONValue])
    case object(Object)

    /// The deepest nesting of a value.
    static let deepest = 64

    /// The members of an object, in the order in which they're written. If a key is given twice, the last one counts.
    struct Object: Sendable, Hashable {
        private(set) var members: [(key: JSONString, value: JSONValue)] = []
        private var places: [JSONString: Int] = [:]

        static func == (first: Object, second: Object) -> Bool {
            first.members.count == second.members.count && first.members.allSatisfy { second[$0.key] == $0.value }
        }

        /// Adds up the members' hashes, since their order doesn't matter.
        func hash(into hasher: inout Hasher) {
            let sum = members.reduce(into: 0) { sum, member in
                var hasher = Hasher()
                hasher.combine(member.key)
                hasher.combine(member.value)
                sum &+= hasher.finalize()
            }
            hasher.combine(sum)
        }

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

    /// Parses a text that is one JSON value, strictly and up to ``deepest`` levels deep.
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
    /// A scalar as written in JSON, or the kind of value.
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
