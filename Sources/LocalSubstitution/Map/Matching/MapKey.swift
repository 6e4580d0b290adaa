/// A key of a map: a URL or a match pattern.
package enum MapKey {
    case url(NormalizedURL)
    case pattern(MatchPattern)

    package init(_ text: String) throws(URLParts.SyntaxError) {
        self = Self.isPattern(text) ? .pattern(try MatchPattern(text)) : .url(try NormalizedURL(key: text))
    }

    /// Returns whether a key has a `*`, which makes it a pattern, even if an invalid one.
    package static func isPattern(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "*")) }
}

extension MapKey {
    /// A set of keys, each with a number. It finds the number of a key that matches a URL.
    package struct Matcher: Sendable {
        private var patterns = MatchPattern.Index()
        private var urls: [String: Int] = [:]

        package init() {}

        /// Adds a key.
        ///
        /// - Parameter number: The number that ``number(for:)`` returns for a URL that the key matches; 0 by default.
        /// - Throws: An error if the key is neither a URL nor a match pattern.
        package mutating func insert(_ key: String, number: Int = 0) throws(URLParts.SyntaxError) {
            switch try MapKey(key) {
            case .pattern(let pattern): patterns.insert(pattern, number: number)
            case .url(let url): urls[url.canonical] = number
            }
        }

        /// Returns the number of the exact key that matches a URL or, if there's none, of any pattern that matches.
        /// `nil` if no key matches.
        package func number(for url: NormalizedURL) -> Int? {
            urls[url.canonical] ?? patterns.matches(url, ignoring: nil).first?.number
        }

        /// Returns whether one of the keys matches a URL.
        package func match(_ url: NormalizedURL) -> Bool { number(for: url) != nil }
    }
}
