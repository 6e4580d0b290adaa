import Foundation
import LocalSubstitution

/// Decides which members of a request's JSON body may be credentials.
///
/// It knows fewer names than the rule for a URL's parameters: a body's `code` or `key` is usually what tells two requests apart.
enum SecretMember {
    static func isSecret(name: String) -> Bool {
        let letters = name.lowercased().filter { $0.isLetter }
        return names.contains(letters) || endings.contains { letters.hasSuffix($0) }
    }

    /// Returns whether a text is an authorization, a URL with user info, or contains a parameter that may be a credential.
    static func isSecret(value: String) -> Bool {
        let start = value.prefix(7).lowercased()
        if start == "bearer " || start.hasPrefix("basic ") { return true }
        if let components = URLComponents(string: value), components.user != nil { return true }
        return value.split(whereSeparator: { "?&;<>\"', /#\n".contains($0) }).contains { piece in
            guard let equals = piece.firstIndex(of: "=") else { return false }
            let name = String(piece[..<equals])
            return SecretName.isSecret(name.removingPercentEncoding ?? name)
        }
    }

    private static let names: Set<String> = [
        "authorization", "credential", "credentials", "pwd", "passphrase", "tokens",
    ]
    private static let endings = [
        "password", "passwd", "secret", "token", "apikey", "accesskey", "secretkey",
    ]
}
