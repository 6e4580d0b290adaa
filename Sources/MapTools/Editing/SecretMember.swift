package import Foundation
package import LocalSubstitution

/// The rules that find possible credentials in a request's body: in members of JSON, and in fields of a form.
package enum SecretMember {
    package static func isSecret(name: String) -> Bool { SecretName.isSecret(name, in: .member) }

    /// Returns whether a form's field, such as `name=value`, has the name of a credential, or a value
    /// that looks like one.
    private static func isSecret(field: Substring) -> Bool {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            let bytes = PercentEncoding.decode(part.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
            return String(decoding: bytes, as: UTF8.self)
        }
        guard parts.count == 2 else { return isSecret(value: parts.first ?? "") }
        return SecretName.isSecret(parts[0], value: parts[1].utf8) || isSecret(value: parts[1])
    }

    /// Returns whether a body of unknown type looks like a form: fields such as `name=value`, separated by `&`, in
    /// printable ASCII without spaces.
    package static func isForm(_ body: Data) -> Bool {
        body.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            && body.split(separator: UInt8(ascii: "&")).allSatisfy { $0.contains(UInt8(ascii: "=")) }
    }

    /// Returns a form's fields, with a text in place of each value that may be a credential.
    package static func fields(of form: String, withSecrets text: String) -> [String] {
        let fields = form.split(separator: "&", omittingEmptySubsequences: false)
        let isCard = fields.contains { isCardCode($0.prefix { $0 != "=" }) }
        return fields.map { field in
            isSecret(field: field) || isCard && isCardNumber(field.prefix { $0 != "=" })
                ? (field.firstIndex(of: "=").map { field[...$0] } ?? "") + text : String(field)
        }
    }

    /// The lowercase names of members that contain a field's name, such as `id` in `{ "id": "password", "value": … }`.
    /// Another member of the same object then has the field's value.
    private static let nameKeys: Set<String> = ["field", "id", "key", "label", "name", "param", "parameter"]
    /// The lowercase names of members that contain a field's value, such as `value` in the example of ``nameKeys``.
    private static let valueKeys: Set<String> = ["answer", "content", "text", "val", "value", "values"]

    /// Returns whether a name is that of a card's security code. Then a ``isCardNumber(_:)`` beside it is the card's.
    private static func isCardCode(_ name: some StringProtocol) -> Bool {
        ["cvv", "cvv2", "cvc", "cvc2", "csc", "securitycode", "security_code"].contains(name.lowercased())
    }

    private static func isCardNumber(_ name: some StringProtocol) -> Bool {
        ["number", "pan"].contains(name.lowercased())
    }

    /// How many levels of JSON inside strings are parsed. Strings in deeper levels are only searched as text.
    private static let deepest = 4

    /// Returns whether a text looks like a credential or contains one. Examples are a URL with a token, a GraphQL query
    /// with a password, and JSON with a member that may be a credential.
    ///
    /// - Parameter level: How many strings of JSON surround the text, one inside the other; 0 by default.
    package static func isSecret(value: String, level: Int = 0) -> Bool {
        if SecretName.isIn(value) { return true }
        let bytes = Array(value.utf8)
        guard level < deepest, let first = bytes.first(where: { $0 > 0x20 }), "{[\"".utf8.contains(first),
            (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
        else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(bytes, isStrict: true, deepest: JSONValue.deepest)
            // JSON that the cursor refuses, such as JSON that's nested too deep, may contain a credential.
            return (try? JSON(&cursor, level: level + 1).secrets.isEmpty) != true
        }
    }

    /// Returns the members of a response's JSON or form body that have the name of a credential and a value. An empty value
    /// isn't one, and neither is `redacted`.
    ///
    /// - Parameter type: The response's `Content-Type`; `nil` if it has none.
    /// - Returns: The members' names, after those of the objects that they're in, such as `user.token`, sorted.
    package static func names(in body: Data, type: String?) -> [String] {
        let essence = type.map { MIMEType.essence(of: $0) }
        if let json = try? JSONSerialization.jsonObject(with: body) {
            return Set(names(in: json, below: [], isSecret: false)).sorted()
        }
        guard [nil, "text/plain", "application/x-www-form-urlencoded"].contains(essence), isForm(body) else {
            return []
        }
        let form = String(decoding: body, as: UTF8.self)
        let (written, redacted) = (fields(of: form, withSecrets: ""), fields(of: form, withSecrets: "redacted"))
        let all = form.split(separator: "&", omittingEmptySubsequences: false)
        let names = zip(all, zip(written, redacted)).compactMap { field, others in
            [others.0, others.1].contains(String(field)) ? nil : String(field.prefix { $0 != "=" })
        }
        return Set(names).sorted()
    }

    private static func names(in json: Any, below path: [String], isSecret: Bool) -> [String] {
        switch json {
        case let object as [String: Any]:
            return object.flatMap { name, value in
                let text = value as? String ?? ""
                let isOwn = SecretName.isSecret(name, value: text.utf8, in: .member)
                return names(in: value, below: path + [name], isSecret: isSecret || isOwn)
            }
        case let array as [Any]: return array.flatMap { names(in: $0, below: path, isSecret: isSecret) }
        case let text as String:
            return isSecret && !["", "redacted"].contains(text) ? [path.joined(separator: ".")] : []
        case is Bool, is NSNull: return []
        default: return isSecret ? [path.joined(separator: ".")] : []
        }
    }

    /// A JSON value in a request's body, and the possible credentials in it.
    package struct JSON {
        /// The value without the possible credentials, as JSON on one line: an object loses the members that have one.
        /// `nil` for a string that may be a credential, and for an array that would lose an element, since arrays only
        /// match as a whole.
        private(set) var rest: String?
        /// The ranges of the values that may be credentials, in any order.
        package private(set) var secrets: [Range<Int>] = []

        /// Reads a value, and moves the cursor behind it.
        ///
        /// - Parameters:
        ///   - level: How many strings of JSON surround the value, one inside the other; 0 by default.
        ///   - parent: The key of the member with the value; empty by default.
        package init(
            _ cursor: inout JSONCursor,
            level: Int = 0,
            in parent: String = ""
        ) throws(Complaint) {
            let (start, kind) = (cursor.offset, cursor.next)
            switch kind {
            case .object:
                var members: [(key: String, value: String)] = []
                // The values of the members in `valueKeys`, and the credentials in them.
                var (values, secretsInValues): ([Range<Int>], [Range<Int>]) = ([], [])
                // Whether a member names a credential.
                var isNamed = false
                // The values that are a card's number if the object is a card, or has a card's security code, and the
                // credentials in them.
                var (numbers, secretsInNumbers): ([Range<Int>], [Range<Int>]) = ([], [])
                var isCard = parent.lowercased().hasSuffix("card")
                try cursor.object { cursor, key, _ throws(Complaint) in
                    let start = cursor.offset
                    var copy = cursor
                    let text = cursor.next == .string ? try copy.text() : nil
                    let value = try Self(&cursor, level: level, in: key)
                    if let text, nameKeys.contains(key.lowercased()), isSecret(name: text) { isNamed = true }
                    let isSecret = SecretName.isSecret(key, value: (text ?? "").utf8, in: .member)
                    if isCardCode(key) { isCard = true }
                    if !isSecret, let rest = value.rest { members.append((key, rest)) }
                    let found = isSecret ? [start..<cursor.offset] : value.secrets
                    if isCardNumber(key) {
                        numbers.append(start..<cursor.offset)
                        secretsInNumbers += found
                    } else if valueKeys.contains(key.lowercased()) {
                        values.append(start..<cursor.offset)
                        secretsInValues += found
                    } else {
                        secrets += found
                    }
                }
                if isCard { members.removeAll { isCardNumber($0.key) } }
                secrets += isCard ? numbers : secretsInNumbers
                if isNamed { members.removeAll { valueKeys.contains($0.key.lowercased()) } }
                secrets += isNamed ? values : secretsInValues
                rest = JSONText.object(members)
            case .array:
                var elements: [String?] = []
                try cursor.array { cursor throws(Complaint) in
                    let element = try Self(&cursor, level: level, in: parent)
                    elements.append(element.rest)
                    secrets += element.secrets
                }
                let kept = elements.compactMap { $0 }
                rest = kept.count == elements.count ? "[\(kept.joined(separator: ", "))]" : nil
            default:
                let text = try cursor.text()
                let isSecret = text.map { SecretMember.isSecret(value: $0, level: level) } ?? (kind == .string)
                if isSecret { secrets = [start..<cursor.offset] }
                rest = isSecret ? nil : String(decoding: cursor.bytes[start..<cursor.offset], as: UTF8.self)
            }
        }
    }
}
