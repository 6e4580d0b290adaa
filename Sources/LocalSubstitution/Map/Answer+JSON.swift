import Foundation

extension SubstitutionMap.Answer {
    /// A JSON value in code. Literals mean the same as in a map. Use ``value(_:)`` to include a variable.
    ///
    /// ```swift
    /// .json(["id": 7, "user": ["name": .value(name)], "tags": ["a", nil]])
    /// ```
    public struct JSON: Sendable {
        let text: String
        /// Why a value can't be written as JSON. In the text, that value is `null`.
        let problem: String?

        /// Returns a value as `JSONEncoder` encodes it. If that fails, creating a map with the value throws an error.
        public static func value(_ value: some Encodable) -> JSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return JSON(text: String(decoding: try encoder.encode(value), as: UTF8.self))
            } catch {
                let reason = String(describing: error).sentence
                let problem = "A value of the type \(type(of: value)) can't be encoded as JSON: \(reason) Correct it."
                return JSON(text: "null", problem: problem)
            }
        }

        /// If the text isn't one JSON value, ``problem`` says why.
        init(text: String) {
            var problem: String?
            var text = text
            text.withUTF8 { bytes in
                var cursor = JSONCursor(bytes, in: 0..<bytes.count, line: 1, isStrict: true)
                do throws(Complaint) {
                    try cursor.skip()
                    try cursor.finish()
                } catch {
                    problem = "At byte \(error.offset + 1), the JSON text \(error)"
                }
            }
            self.init(text: problem == nil ? text : "null", problem: problem)
        }

        private init(text: String, problem: String?) {
            self.text = text
            self.problem = problem
        }
    }
}

extension SubstitutionMap.Answer.JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral
{
    /// Creates an object whose members keep the order in which they're written.
    public init(dictionaryLiteral elements: (String, SubstitutionMap.Answer.JSON)...) {
        self.init(
            text: JSONText.object(elements.map { ($0.0, $0.1.text) }),
            problem: elements.lazy.compactMap(\.1.problem).first
        )
    }

    /// Creates an array.
    public init(arrayLiteral elements: SubstitutionMap.Answer.JSON...) {
        self.init(
            text: "[\(elements.map(\.text).joined(separator: ", "))]",
            problem: elements.lazy.compactMap(\.problem).first
        )
    }

    /// Creates a string.
    public init(stringLiteral value: String) { self.init(text: JSONText.string(value), problem: nil) }

    /// Creates an integer.
    public init(integerLiteral value: Int) { self.init(text: String(value), problem: nil) }

    /// Creates a number. If the number isn't finite, creating a map with it throws an error.
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
