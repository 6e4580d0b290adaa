import Foundation
import LocalSubstitution

/// An alternative's condition on a request's body. It compares the whole body except possible credentials.
///
/// Conditions are equal if they compare the body with the same JSON value or text. The spelling of JSON and
/// the order of its members don't matter.
struct RecordedCondition: Hashable, Sendable {
    private enum Comparison: Hashable {
        case json(JSONValue)
        /// A form with `*` in place of each possible credential, or an empty JSON object as text.
        case text(String)
    }

    /// What the body is compared with; `nil` if every body meets the condition.
    private var comparison: Comparison?
    /// A body that meets the condition: a text, or JSON on one line with the recorded spelling of numbers and strings.
    /// `nil` if every body meets the condition.
    private(set) var example: String?
    /// Whether the condition leaves out a part of the body that may be a credential.
    private(set) var isRedacted = false
    /// Why the body can't be compared, as a clause without a period; `nil` if the body can be compared, or is empty.
    private(set) var obstacle: String?

    /// The longest condition, in UTF-8 bytes.
    private static let longest = 64 << 10
    /// The longest body that is read, in bytes. It may be longer than its condition, which leaves out
    /// possible credentials.
    private static let longestBody = 1 << 20
    /// The deepest nesting of JSON that a map can contain.
    private static let deepest = 64

    /// Creates the condition for a request's body. If the body is empty or can't be compared, every body meets the
    /// condition.
    ///
    /// - Parameters:
    ///   - body: The request's body; `nil` if it has none.
    ///   - type: The request's `Content-Type`; `nil` if it has none.
    init(_ body: Data?, type: String? = nil) {
        guard let body, !body.isEmpty else { return }
        do throws(Obstacle) {
            guard body.count <= Self.longestBody else { throw .isTooLong }
            if (try? JSONSerialization.jsonObject(with: body)) != nil {
                try readJSON(body)
            } else if Self.isForm(body, type) {
                setText(try form(body))
            } else {
                throw Obstacle(reason: "it's neither JSON nor a form")
            }
        } catch {
            obstacle = "the request's body isn't compared, since \(error.reason)"
        }
    }

    /// Why a map can't compare a body, as a clause without a period.
    private struct Obstacle: Error {
        let reason: String

        static let isSecret = Obstacle(reason: "all of it may be credentials")
        static let isTooLong = Obstacle(reason: "it's longer than \(longest >> 10) KiB")
    }

    static func == (one: Self, other: Self) -> Bool { one.comparison == other.comparison }

    func hash(into hasher: inout Hasher) { hasher.combine(comparison) }

    /// The rank of this condition, to compare element by element. Narrower conditions have lower ranks. JSON ranks
    /// before forms. More values in JSON, or more text besides a form's wildcards, make a condition narrower. A
    /// condition that every body meets ranks last.
    var rank: [Int] {
        switch comparison {
        case .json(let value): return [0, -value.count]
        case .text(let text):
            let wildcards = text.utf8.count { $0 == UInt8(ascii: "*") }
            return [1, wildcards - text.utf8.count, wildcards]
        case nil: return [2]
        }
    }

    /// The entry's field `when`, as JSON; `nil` if there's no condition.
    var when: String? {
        example.map { example in
            if case .text = comparison { return JSONText.object([("text", JSONText.string(example))]) }
            return JSONText.object([("json", example)])
        }
    }

    /// Returns the digest of a method and this condition, to distinguish the names of files.
    func digest(with method: String) -> String { Digest.hexadecimal(of: Data((method + (example ?? "")).utf8)) }

    /// Makes the condition compare a JSON body.
    private mutating func readJSON(_ body: Data) throws(Obstacle) {
        let json: String?
        do {
            json = try body.withUnsafeBytes { bytes in
                var cursor = JSONCursor(bytes.bindMemory(to: UInt8.self))
                return try value(&cursor, bytes, depth: 0)
            }
        } catch {
            throw Obstacle(reason: "it's nested more than \(Self.deepest) levels deep")
        }
        guard let json, json != "{}" else {
            guard !isRedacted else { throw .isSecret }
            guard body.count <= Self.longest else { throw .isTooLong }
            // As `when.json`, an empty object would match every object. So the body is compared as text.
            return setText(String(decoding: body, as: UTF8.self))
        }
        guard json.utf8.count <= Self.longest else { throw .isTooLong }
        // A map can't compare a body with a number that it can't read, even if the condition leaves this number out.
        guard JSONValue(String(decoding: body, as: UTF8.self)) != nil, let value = JSONValue(json) else {
            throw Obstacle(reason: "one of its numbers has an exponent of more than 4 digits")
        }
        (comparison, example) = (.json(value), json)
    }

    /// Makes the condition compare the body with a text.
    private mutating func setText(_ text: String) {
        (comparison, example) = (.text(text), text)
    }

    /// Returns whether a body is a form. If the request has a `Content-Type`, the type decides. Otherwise, the body
    /// must look like a form, since URLSession sends every body without a type as a form.
    private static func isForm(_ body: Data, _ type: String?) -> Bool {
        type.map { MIMEType.essence(of: $0) == "application/x-www-form-urlencoded" } ?? SecretMember.isForm(body)
    }

    /// Returns a form with `*` for each value that may be a credential. Throws an obstacle if the form is too long,
    /// isn't UTF-8, already has a `*`, or would consist only of `*`.
    private mutating func form(_ body: Data) throws(Obstacle) -> String {
        guard body.count <= Self.longest else { throw .isTooLong }
        guard let form = String(data: body, encoding: .utf8) else { throw Obstacle(reason: "it isn't UTF-8") }
        guard !form.contains("*") else { throw Obstacle(reason: "it has a *, which would match any text") }
        let fields = SecretMember.fields(of: form, withSecrets: "*")
        isRedacted = fields.contains { $0.hasSuffix("*") }
        guard fields.contains(where: { !$0.isEmpty && !$0.hasSuffix("*") }) else { throw .isSecret }
        return fields.joined(separator: "&")
    }

    /// Reads a JSON value, and returns its part of the condition, as JSON. An object loses the members that may be
    /// credentials. Returns `nil` for a string that may be a credential, and for an array with an element that must be
    /// left out, since arrays only match as a whole.
    private mutating func value(
        _ cursor: inout JSONCursor,
        _ bytes: UnsafeRawBufferPointer,
        depth: Int
    ) throws(JSONCursor.SyntaxError) -> String? {
        switch cursor.next {
        case .object:
            guard depth < Self.deepest else { throw cursor.failure("is nested too deep") }
            return try object(&cursor, bytes, depth: depth + 1)
        case .array:
            guard depth < Self.deepest else { throw cursor.failure("is nested too deep") }
            var elements: [String?] = []
            try cursor.array { cursor throws(JSONCursor.SyntaxError) in
                elements.append(try value(&cursor, bytes, depth: depth + 1))
            }
            let kept = elements.compactMap { $0 }
            return kept.count == elements.count ? "[\(kept.joined(separator: ", "))]" : nil
        default:
            let start = cursor.offset
            try cursor.skip()
            let text = String(decoding: bytes[start..<cursor.offset], as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            guard let string = Self.string(text), SecretMember.isSecret(value: string) else { return text }
            isRedacted = true
            return nil
        }
    }

    private mutating func object(
        _ cursor: inout JSONCursor,
        _ bytes: UnsafeRawBufferPointer,
        depth: Int
    ) throws(JSONCursor.SyntaxError) -> String {
        var members: [(key: String, value: String)] = []
        try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
            let text = try value(&cursor, bytes, depth: depth)
            if SecretMember.isSecret(name: key) {
                isRedacted = true
            } else if let text {
                members.append((key, text))
            }
        }
        // In a list of form fields, one member can name the other's value: `{ "id": "password", "value": … }`.
        let isNamedSecret = members.contains { SecretMember.isSecretName(Self.string($0.value), of: $0.key) }
        if isNamedSecret {
            isRedacted = true
            members.removeAll { SecretMember.valueKeys.contains($0.key.lowercased()) }
        }
        return JSONText.object(members)
    }

    /// Returns the text of a JSON string; `nil` for any other value.
    private static func string(_ json: String) -> String? {
        // By bytes: a quote and a combining mark after it form one `Character`.
        guard json.utf8.first == UInt8(ascii: "\"") else { return nil }
        return try? JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8)).first
    }
}
