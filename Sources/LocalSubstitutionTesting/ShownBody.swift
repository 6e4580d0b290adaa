#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

/// A request's body as text, with “redacted” in place of what may be a credential.
struct ShownBody: Sendable {
    /// `nil` if the body isn't text.
    let text: String?

    init(_ body: Data) {
        guard let whole = String(data: body, encoding: .utf8), !whole.utf8.contains(0) else {
            text = nil
            return
        }
        text =
            if (try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)) != nil {
                Self.json(Array(body)) ?? Self.replacement
            } else if Self.isForm(whole) {
                Self.form(whole)
            } else {
                Self.isSecret(whole) ? Self.replacement : whole
            }
    }

    private static let replacement = "redacted"

    // MARK: JSON

    /// Returns the JSON text with its credentials replaced; `nil` if it's nested too deep.
    private static func json(_ body: [UInt8]) -> String? {
        let secrets = body.withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(bytes)
            return try? Self.secrets(&cursor)
        }
        guard let secrets else { return nil }
        var (text, end) = ([UInt8](), 0)
        for range in secrets.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.lowerBound >= end {
            text += body[end..<range.lowerBound] + Array("\"\(replacement)\"".utf8)
            end = range.upperBound
        }
        return String(decoding: text + body[end...], as: UTF8.self)
    }

    /// Reads a value. Returns the byte ranges of the credentials in it.
    private static func secrets(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) -> [Range<Int>] {
        let start = cursor.offset
        var found: [Range<Int>] = []
        switch cursor.next {
        case .object:
            // `{ "id": "password", "value": … }`, as in lists of form fields.
            var (values, isNamedSecret): ([Range<Int>], Bool) = ([], false)
            try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
                let start = cursor.offset
                var copy = cursor
                let name = SecretMember.nameKeys.contains(key.lowercased()) ? try copy.text() : nil
                if let name, SecretMember.isSecret(name: name) { isNamedSecret = true }
                let inside = try secrets(&cursor)
                let range = start..<cursor.offset
                found += SecretMember.isSecret(name: key) ? [range] : inside
                if SecretMember.valueKeys.contains(key.lowercased()) { values.append(range) }
            }
            if isNamedSecret {
                found.removeAll { secret in values.contains { $0.overlaps(secret) } }
                found += values
            }
        case .array:
            try cursor.array { cursor throws(JSONCursor.SyntaxError) in found += try secrets(&cursor) }
        case .string:
            guard let text = try cursor.text(), !SecretMember.isSecret(value: text) else {
                return [start..<cursor.offset]
            }
        default:
            try cursor.skip()
        }
        return found
    }

    // MARK: Other text

    private static func isForm(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && text.split(separator: "&").allSatisfy { $0.contains("=") }
    }

    private static func form(_ text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { field in
            guard SecretMember.isSecret(field: field), let sign = field.firstIndex(of: "=") else {
                return String(field)
            }
            return field[...sign] + replacement
        }.joined(separator: "&")
    }

    /// Returns whether text that is neither JSON nor a form looks like a credential, or contains the name of one.
    private static func isSecret(_ text: String) -> Bool {
        SecretMember.isSecret(value: text)
            || text.split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "_" }
                .contains { SecretMember.isSecret(name: String($0)) }
    }
}
#endif
