import Foundation
import LocalSubstitution

/// The part of a request's JSON body that becomes an alternative's `when.json`: all of it except members that may be credentials.
struct RecordedCondition {
    /// The condition as JSON on one line, with numbers and strings written as in the body; `nil` if there is no condition.
    private(set) var json: String?
    /// Whether something in the body may be a credential and so isn't in the condition.
    private(set) var isRedacted = false
    /// Why a JSON body has no condition, without a period at the end; `nil` if it has one, or needs none.
    private(set) var obstacle: String?

    /// The longest condition, in UTF-8 bytes.
    private static let longest = 64 << 10
    /// How deep a map's own JSON may be nested.
    private static let deepest = 64

    init(_ body: Data?) {
        guard let body, (try? JSONSerialization.jsonObject(with: body)) != nil else { return }
        do {
            json = try body.withUnsafeBytes { bytes in
                var cursor = JSONCursor(bytes.bindMemory(to: UInt8.self))
                return try value(&cursor, bytes, depth: 0)
            }
        } catch {
            obstacle = "its request's body isn't compared, since it's nested more than \(Self.deepest) levels deep"
        }
        // An empty object is a part of every object.
        if json == "{}" { json = nil }
        if let length = json?.utf8.count, length > Self.longest {
            json = nil
            obstacle = "its request's body isn't compared, since it's longer than \(Self.longest >> 10) KiB"
        }
    }

    /// Reads a value. Returns `nil` if it may be a credential. An array with such an element is left out completely, since an array
    /// only matches as a whole.
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
        // `{ "id": "password", "value": … }`, as in lists of form fields.
        let isNamedSecret = members.contains { member in
            SecretMember.nameKeys.contains(member.key.lowercased())
                && Self.string(member.value).map { SecretMember.isSecret(name: $0) } == true
        }
        if isNamedSecret {
            isRedacted = true
            members.removeAll { SecretMember.valueKeys.contains($0.key.lowercased()) }
        }
        return JSONText.object(members)
    }

    /// Returns the text of a JSON string; `nil` for any other value.
    private static func string(_ json: String) -> String? {
        guard json.hasPrefix("\"") else { return nil }
        return try? JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8)).first
    }
}
