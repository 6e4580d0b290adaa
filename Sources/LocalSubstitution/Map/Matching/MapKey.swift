/// A key of a map: a URL or a match pattern.
package enum MapKey {
    case url(NormalizedURL)
    case pattern(MatchPattern)

    package init(_ text: String) throws(URLSyntaxError) {
        self = Self.isPattern(text) ? .pattern(try MatchPattern(text)) : .url(try NormalizedURL(key: text))
    }

    /// Returns whether a key is a pattern, even an invalid one.
    package static func isPattern(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "*")) }
}
