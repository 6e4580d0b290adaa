/// A key of a map: a URL or a match pattern.
package enum MapKey {
    case url(NormalizedURL)
    case pattern(MatchPattern)

    package init(_ text: String) throws(Complaint) {
        self = Self.isPattern(text) ? .pattern(try MatchPattern(text)) : .url(try NormalizedURL(key: text))
    }

    /// A key with a `*` is a pattern, even if it's invalid.
    package static func isPattern(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "*")) }
}

extension MapKey {
    /// A set of keys that tells whether any of them matches a URL.
    package struct Matcher: Sendable {
        private var patterns = MatchPattern.Index()
        private var urls: Set<String> = []

        package init() {}

        /// - Throws: An error if the key is neither a URL nor a match pattern.
        package mutating func insert(_ key: String) throws(Complaint) {
            switch try MapKey(key) {
            case .pattern(let pattern): patterns.insert(pattern, number: 0)
            case .url(let url): urls.insert(url.canonical)
            }
        }

        package func match(_ url: NormalizedURL) -> Bool {
            urls.contains(url.canonical) || !patterns.matches(url, ignoring: nil).isEmpty
        }
    }
}
