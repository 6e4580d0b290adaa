import Foundation

extension SubstitutionMap.Answer {
    /// A JSON value in code. Literals mean what they mean in a map; `value(_:)` puts a variable among them.
    ///
    /// ```swift
    /// .json(["id": 7, "user": ["name": .value(name)], "tags": ["a", nil]])
    /// ```
    public struct JSON: Sendable {
        let text: String
        /// Why there's no text.
        let problem: String?

        /// A value that `JSONEncoder` encodes. If it can't be, that is a problem of the map.
        public static func value(_ value: some Encodable) -> JSON { encoded(value) }

        private static func encoded(_ value: any Encodable) -> JSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return JSON(text: String(decoding: try encoder.encode(value), as: UTF8.self))
            } catch {
                let type = type(of: value)
                return JSON(text: "null", problem: "a value of the type \(type) can't be encoded as JSON: \(error)")
            }
        }

        /// - Parameter text: One JSON value.
        init(text: String) {
            var problem: String?
            var text = text
            text.withUTF8 { bytes in
                var cursor = JSONCursor(bytes, in: 0..<bytes.count, line: 1, isStrict: true)
                do throws(JSONCursor.SyntaxError) {
                    try cursor.skip()
                    try cursor.finish()
                } catch {
                    problem = "the JSON text \(error.message)"
                }
            }
            self.init(text: problem == nil ? text : "null", problem: problem)
        }

        init(object: KeyValuePairs<String, any Encodable & Sendable>) {
            self.init(members: object.map { ($0.key, Self.encoded($0.value)) })
        }

        init(array: [any Encodable & Sendable]) { self.init(elements: array.map { Self.encoded($0) }) }

        private init(text: String, problem: String?) {
            self.text = text
            self.problem = problem
        }

        private init(members: [(String, JSON)]) {
            self.init(
                text: JSONText.object(members.map { ($0.0, $0.1.text) }),
                problem: members.lazy.compactMap(\.1.problem).first
            )
        }

        private init(elements: [JSON]) {
            self.init(
                text: "[\(elements.map(\.text).joined(separator: ", "))]",
                problem: elements.lazy.compactMap(\.problem).first
            )
        }
    }
}

extension SubstitutionMap.Answer.JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral
{
    /// An object, with its members in the order in which they are written.
    public init(dictionaryLiteral elements: (String, SubstitutionMap.Answer.JSON)...) { self.init(members: elements) }

    /// An array.
    public init(arrayLiteral elements: SubstitutionMap.Answer.JSON...) { self.init(elements: elements) }

    /// A string.
    public init(stringLiteral value: String) { self.init(text: JSONText.string(value), problem: nil) }

    /// An integer.
    public init(integerLiteral value: Int) { self.init(text: String(value), problem: nil) }

    /// A number.
    public init(floatLiteral value: Double) {
        self.init(text: JSONText.number(value), problem: value.isFinite ? nil : "JSON has only finite numbers: use one")
    }

    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(text: value ? "true" : "false", problem: nil) }

    /// `null`.
    public init(nilLiteral: ()) { self.init(text: "null", problem: nil) }
}
