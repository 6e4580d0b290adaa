import Foundation

extension SubstitutionMap.Answer {
    /// A JSON value in code. Literals mean the same as in a map. Use ``value(_:)`` to include a variable.
    ///
    /// ```swift
    /// .json(["id": 7, "user": ["name": .value(name)], "tags": ["a", nil]])
    /// ```
    public struct JSON: Sendable {
        let text: String
        /// Why a value in the text can't be written as JSON; `nil` if there's no problem. Such a value is `null` in the text.
        let problem: String?

        /// Returns a value as `JSONEncoder` encodes it. If it can't be encoded, the map that uses it has a problem.
        public static func value(_ value: some Encodable) -> JSON { encoded(value) }

        private static func encoded(_ value: any Encodable) -> JSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return JSON(text: String(decoding: try encoder.encode(value), as: UTF8.self))
            } catch {
                let reason = String(describing: error).sentence
                let problem = "A value of the type \(type(of: value)) can't be encoded as JSON: \(reason)"
                return JSON(text: "null", problem: problem)
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
                    problem = "The JSON text \(error.message)"
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
    /// Creates an object whose members keep the order in which they're written.
    public init(dictionaryLiteral elements: (String, SubstitutionMap.Answer.JSON)...) { self.init(members: elements) }

    /// Creates an array.
    public init(arrayLiteral elements: SubstitutionMap.Answer.JSON...) { self.init(elements: elements) }

    /// Creates a string.
    public init(stringLiteral value: String) { self.init(text: JSONText.string(value), problem: nil) }

    /// Creates an integer.
    public init(integerLiteral value: Int) { self.init(text: String(value), problem: nil) }

    /// Creates a number. It must be finite.
    public init(floatLiteral value: Double) {
        self.init(
            text: JSONText.number(value),
            problem: value.isFinite ? nil : "JSON has no infinity or NaN. Use a finite number."
        )
    }

    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(text: value ? "true" : "false", problem: nil) }

    /// Creates `null`.
    public init(nilLiteral: ()) { self.init(text: "null", problem: nil) }
}
