import Foundation

/// Recognizes names of query parameters whose values are likely to be credentials, such as `access_token` and `X-Amz-Signature`.
///
/// A name is split into words, so `auth` is found in `userAuth` but not in `author`.
package enum SecretName {
    /// Returns the first name like that, decoded, in a URL's query or among its path's parameters (`;jsessionid=…`).
    package static func first(in url: NormalizedURL) -> String? {
        let path = url.path.utf8.split(separator: UInt8(ascii: "/")).flatMap {
            $0.split(separator: UInt8(ascii: ";")).dropFirst()
        }
        let query = (url.query ?? "").utf8.split { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }
        return (path + query).lazy.map(decodedName).first(where: isSecret)
    }

    /// Returns whether a text, such as a header's value, seems to contain a URL with user info or with a credential in its query.
    static func isIn(_ text: String) -> Bool {
        let separators = "?&;<>\"', /#".utf8
        let pieces = text.utf8.split { separators.contains($0) }
        return pieces.contains { piece in
            piece.contains(UInt8(ascii: "@")) || (piece.contains(UInt8(ascii: "=")) && isSecret(decodedName(piece)))
        }
    }

    package static func isSecret(_ name: String) -> Bool {
        let lowered = MIMEType.asciiLowercased(name)
        if prefixes.contains(where: { lowered.hasPrefix($0) }) { return true }
        let words = words(of: name)
        if words.contains(where: { secretWords.contains($0) }) { return true }
        if words.contains(where: { word in secretEndings.contains { word.hasSuffix($0) } }) { return true }
        return secretWords.contains(words.joined())
    }

    /// Returns a name's words: runs of letters, split where a capital begins a word. `apiKey`, `APIKey` and `api_key2` all become
    /// `api` and `key`.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        var word: [Character] = []
        let characters = Array(name)
        func finish() {
            if !word.isEmpty { words.append(String(word).lowercased()) }
            word = []
        }
        for (index, character) in characters.enumerated() {
            guard character.isLetter else {
                finish()
                continue
            }
            if character.isUppercase, let last = word.last {
                let beginsLowercase = index + 1 < characters.count && characters[index + 1].isLowercase
                if last.isLowercase || beginsLowercase { finish() }
            }
            word.append(character)
        }
        finish()
        return words
    }

    private static func decodedName(_ parameter: Substring.UTF8View) -> String {
        String(decoding: PercentEncoding.decode(parameter.prefix { $0 != UInt8(ascii: "=") }), as: UTF8.self)
    }

    /// The prefixes in signed URLs of Amazon's and Google's object stores.
    private static let prefixes = ["x-amz-", "x-goog-"]

    private static let secretEndings = [
        "token", "secret", "password", "passwd", "signature", "sessionid", "sessid", "apikey",
    ]

    private static let secretWords: Set<String> = [
        "auth", "authkey", "authorization", "accesskey", "bearer", "code", "cookie", "credential", "credentials",
        "csrf",
        "hmac", "jwt", "key", "oauth", "otp", "pass", "passphrase", "passcode", "pin", "pwd", "sas", "secretkey",
        "session",
        "sessionkey", "sid", "sig", "sign", "ssid", "ticket", "tokens", "xsrf",
    ]
}
