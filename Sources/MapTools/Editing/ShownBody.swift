package import Foundation
import LocalSubstitution
import MapWriting

/// The text of a request's body, with “redacted” in place of values that may be credentials.
package enum ShownBody {
    private static let replacement = "redacted"

    /// Returns a body's text without credentials; `nil` if the body isn't UTF-8, or contains a null byte.
    static func text(of body: Data) -> String? {
        guard let whole = String(data: body, encoding: .utf8), !whole.utf8.contains(0) else { return nil }
        if (try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)) != nil {
            return json(Array(body)) ?? replacement
        }
        if SecretMember.isForm(Data(whole.utf8)) {
            return SecretMember.fields(of: whole, withSecrets: replacement).joined(separator: "&")
        }
        return isSecret(whole) ? replacement : whole
    }

    /// Returns a line for an explanation that's about a body: the first 300 characters of its text, or its size.
    package static func line(of body: Data) -> String {
        let text = text(of: body).map { $0.count <= 300 ? $0 : $0.prefix(300) + "…" }
        return "  body:         " + (text ?? "\(body.count.counted("byte", "bytes")) that aren't text").printable
    }

    /// Returns JSON text with its credentials replaced; `nil` if `JSONCursor` can't read it, for example because it's
    /// nested too deep.
    private static func json(_ body: [UInt8]) -> String? {
        let secrets = body.withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(bytes)
            return try? SecretMember.JSON(&cursor).secrets
        }
        return secrets.map { secrets in
            let parts = secrets.sorted { $0.lowerBound < $1.lowerBound }.map { ($0, "\"\(replacement)\"") }
            return String(decoding: body.replacing(parts), as: UTF8.self)
        }
    }

    /// Returns whether a text that is neither JSON nor a form looks like a credential, or contains a credential's name.
    private static func isSecret(_ text: String) -> Bool {
        SecretMember.isSecret(value: text)
            || text.split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "_" }
                .contains { SecretMember.isSecret(name: String($0)) }
    }
}
