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

    /// Creates the condition for a request's body. If the body is empty or can't be compared, every body meets the
    /// condition.
    ///
    /// - Parameters:
    ///   - body: The request's body; `nil` if it has none.
    ///   - type: The request's `Content-Type`; `nil` if it has none.
    init(_ body: Data?, type: String? = nil) {
        guard let body, !body.isEmpty else { return }
        do throws(Complaint) {
            guard body.count <= Self.longestBody else { throw Self.isTooLong }
            if (try? JSONSerialization.jsonObject(with: body)) != nil {
                try readJSON(body)
            } else if Self.isForm(body, type) {
                setText(try form(body))
            } else {
                throw Complaint("it's neither JSON nor a form")
            }
        } catch {
            obstacle = "the request's body isn't compared, since \(error)"
        }
    }

    /// Why a map can't compare a body, each as a clause without a period.
    private static let isSecret = Complaint("every value in it may be a credential")
    private static let isTooLong = Complaint("it's longer than \(longest >> 10) KiB")

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

    /// As JSON; `nil` if there's no condition.
    var when: String? {
        example.map { example in
            if case .text = comparison { return JSONText.object([("text", JSONText.string(example))]) }
            return JSONText.object([("json", example)])
        }
    }

    /// ``example`` with the members of objects sorted, since some clients write them in another order in each process, as
    /// `JSONEncoder` does. Empty if every body meets the condition.
    var sorted: String {
        switch comparison {
        case .json(let value): value.sorted
        case .text(let text): text
        case nil: ""
        }
    }

    /// To distinguish the names of files.
    func digest(with method: String) -> String { Digest.hexadecimal(of: Data((method + sorted).utf8)) }

    private mutating func readJSON(_ body: Data) throws(Complaint) {
        let read = body.withUnsafeBytes { bytes in
            // Returns a `Result`, since `withUnsafeBytes` doesn't have typed throws.
            Result { () throws(Complaint) in
                // Strict, since a map must be able to read the whole body, even what the condition leaves out.
                let bytes = bytes.bindMemory(to: UInt8.self)
                var cursor = JSONCursor(bytes, isStrict: true, deepest: JSONValue.deepest)
                return try SecretMember.JSON(&cursor)
            }
        }
        let found: SecretMember.JSON
        do throws(Complaint) {
            found = try read.get()
        } catch {
            throw Complaint(
                error.kind == JSONCursor.longExponent
                    ? "one of its numbers has an exponent of more than 4 digits"
                    : "it's nested more than \(JSONValue.deepest) levels deep"
            )
        }
        isRedacted = !found.secrets.isEmpty
        guard let json = found.rest, json != "{}" else {
            guard !isRedacted else { throw Self.isSecret }
            guard body.count <= Self.longest else { throw Self.isTooLong }
            // As `when.json`, an empty object would match every object. So the body is compared as text.
            return setText(String(decoding: body, as: UTF8.self))
        }
        guard json.utf8.count <= Self.longest else { throw Self.isTooLong }
        (comparison, example) = (JSONValue(json).map { .json($0) }, json)
    }

    private mutating func setText(_ text: String) {
        (comparison, example) = (.text(text), text)
    }

    /// Returns whether a body is a form. If the request has a `Content-Type`, the type decides. Otherwise, the body
    /// must look like a form, since URLSession sends every body without a type as a form.
    private static func isForm(_ body: Data, _ type: String?) -> Bool {
        type.map { MIMEType.essence(of: $0) == "application/x-www-form-urlencoded" } ?? SecretMember.isForm(body)
    }

    /// Returns a form with `*` for each value that may be a credential. Throws a complaint if the form is too long,
    /// isn't UTF-8, already has a `*`, or would consist only of `*`.
    private mutating func form(_ body: Data) throws(Complaint) -> String {
        guard body.count <= Self.longest else { throw Self.isTooLong }
        guard let form = String(data: body, encoding: .utf8) else { throw Complaint("it isn't UTF-8") }
        guard !form.contains("*") else { throw Complaint("it has a *, which would match any text") }
        let fields = SecretMember.fields(of: form, withSecrets: "*")
        isRedacted = fields.contains { $0.hasSuffix("*") }
        guard fields.contains(where: { !$0.isEmpty && !$0.hasSuffix("*") }) else { throw Self.isSecret }
        return fields.joined(separator: "&")
    }
}
