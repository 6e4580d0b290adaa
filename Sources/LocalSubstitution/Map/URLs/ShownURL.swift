package import Foundation

/// A URL as messages show it: with “redacted” in place of what may be a credential.
package struct ShownURL: Sendable {
    package let text: String
    /// The values that were replaced, as reasons quote them.
    private let credentials: Set<String>

    package init(_ url: URL?) {
        guard let url else {
            (text, credentials) = ("a request without a URL", [])
            return
        }
        var shown = Shown()
        var rest = Substring(url.absoluteString)
        if let scheme = rest.range(of: "://") {
            shown.text += rest[..<scheme.upperBound]
            rest = rest[scheme.upperBound...]
            let authority = rest.prefix { !"/?#".contains($0) }
            rest = rest[authority.endIndex...]
            if let at = authority.lastIndex(of: "@") {
                shown.text += Self.replacement + authority[at...]
            } else {
                shown.text += authority
            }
        }
        let path = rest.prefix { !"?#".contains($0) }
        // In a path, only what follows a semicolon is a parameter, up to the end of its segment.
        shown.add(path, separators: "/;") { $0 == ";" }
        shown.add(rest[path.endIndex...], separators: "?#&;") { _ in true }
        text = shown.text
        credentials = shown.credentials
    }

    private static let replacement = "redacted"

    /// Returns a text without the URL's credentials. Reasons quote values from the URL's normal form, perhaps clipped.
    func withoutCredentials(_ text: String) -> String {
        credentials.reduce(text) { text, value in
            text.replacingOccurrences(of: "“\(value)”", with: "“\(Self.replacement)”")
        }
    }

    private struct Shown {
        var text = ""
        var credentials: Set<String> = []

        /// Adds a part of the URL, whose parameters are between separators.
        mutating func add(_ part: Substring, separators: String, isParameter: (Character) -> Bool) {
            var rest = part
            var separator: Character?
            while !rest.isEmpty || separator != nil {
                let piece = rest.prefix { !separators.contains($0) }
                rest = rest[piece.endIndex...]
                add(piece, isParameter: separator.map(isParameter) ?? false)
                separator = rest.popFirst()
                if let separator { text.append(separator) }
            }
        }

        private mutating func add(_ piece: Substring, isParameter: Bool) {
            if !piece.contains("="), SecretName.isIn(String(piece)) {
                text += ShownURL.replacement
                credentials.insert(String(piece))
                return
            }
            guard isParameter, let sign = piece.firstIndex(of: "="),
                let url = try? NormalizedURL("https://h/?\(piece)"), SecretName.first(in: url) != nil
            else {
                text += piece
                return
            }
            text += piece[...sign] + ShownURL.replacement
            let values = [String(piece[sign...].dropFirst()), url.query?.drop { $0 != "=" }.dropFirst().description]
            credentials.formUnion(values.compactMap { $0?.clipped })
        }
    }
}
