package import Foundation
import LocalSubstitution

/// The rules that find possible credentials in a request's body: in members of JSON, and in fields of a form.
package enum SecretMember {
    /// Returns whether a JSON member may contain a credential, judged by its name.
    package static func isSecret(name: String) -> Bool { SecretName.isSecret(name, in: .member) }

    /// Returns whether a form's field, such as `name=value`, has the name of a credential, or a value
    /// that looks like one.
    private static func isSecret(field: Substring) -> Bool {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            let bytes = PercentEncoding.decode(part.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
            return String(decoding: bytes, as: UTF8.self)
        }
        guard parts.count == 2 else { return isSecret(value: parts.first ?? "") }
        return SecretName.isSecret(parts[0]) || isSecret(value: parts[1])
    }

    /// Returns whether a body of unknown type looks like a form: fields such as `name=value`, separated by `&`, in
    /// printable ASCII without spaces.
    package static func isForm(_ body: Data) -> Bool {
        body.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            && body.split(separator: UInt8(ascii: "&")).allSatisfy { $0.contains(UInt8(ascii: "=")) }
    }

    /// Returns a form's fields, with a text in place of each value that may be a credential.
    package static func fields(of form: String, withSecrets text: String) -> [String] {
        form.split(separator: "&", omittingEmptySubsequences: false).map { field in
            isSecret(field: field) ? (field.firstIndex(of: "=").map { field[...$0] } ?? "") + text : String(field)
        }
    }

    /// The lowercase names of members that contain a field's name, such as `id` in `{ "id": "password", "value": … }`.
    package static let nameKeys: Set<String> = ["field", "id", "key", "label", "name", "param", "parameter"]
    /// The lowercase names of members that contain a field's value, such as `value` in the example of ``nameKeys``.
    package static let valueKeys: Set<String> = ["answer", "content", "text", "val", "value", "values"]

    /// Returns whether a member, such as `"id": "password"`, names a credential. Another member of the same object then
    /// has the credential's value.
    ///
    /// - Parameters:
    ///   - value: The member's value; `nil` if it isn't a string.
    ///   - key: The member's key.
    static func isSecretName(_ value: @autoclosure () -> String?, of key: String) -> Bool {
        nameKeys.contains(key.lowercased()) && value().map { isSecret(name: $0) } == true
    }

    /// How many levels of JSON inside strings are parsed. Strings in deeper levels are only searched as text.
    private static let deepest = 4

    /// Returns whether a text looks like a credential or contains one. Examples are a URL with a token, a GraphQL query
    /// with a password, and JSON with a member that may be a credential.
    ///
    /// - Parameter level: How many strings of JSON surround the text, one inside the other; 0 by default.
    package static func isSecret(value: String, level: Int = 0) -> Bool {
        if SecretName.isIn(value) { return true }
        guard level < deepest, let first = value.utf8.first(where: { $0 > 0x20 }), "{[\"".utf8.contains(first),
            let json = try? JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
        else { return false }
        return hasSecret(json, level: level + 1)
    }

    /// Returns whether a part of a JSON value may be a credential. The recursion ends early enough, since
    /// `JSONSerialization` limits the value's nesting.
    private static func hasSecret(_ json: Any, level: Int) -> Bool {
        switch json {
        case let text as String:
            return isSecret(value: text, level: level)
        case let elements as [Any]:
            return elements.contains { hasSecret($0, level: level) }
        case let members as [String: Any]:
            let isNamedSecret = members.contains { isSecretName($0.value as? String, of: $0.key) }
            if isNamedSecret, members.keys.contains(where: { valueKeys.contains($0.lowercased()) }) { return true }
            return members.contains { isSecret(name: $0.key) || hasSecret($0.value, level: level) }
        default:
            return false
        }
    }
}
