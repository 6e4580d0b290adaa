/// Keys without entries, to match URLs against.
package struct MapKeys: Sendable {
    private var patterns = PatternIndex()
    private var urls: Set<String> = []

    package init() {}

    package mutating func insert(_ key: String) throws(URLSyntaxError) {
        switch try MapKey(key) {
        case .pattern(let pattern): patterns.insert(pattern, number: 0)
        case .url(let url): urls.insert(url.canonical)
        }
    }

    /// Returns whether one of the keys matches a URL.
    package func match(_ url: NormalizedURL) -> Bool {
        urls.contains(url.canonical) || !patterns.matches(url, ignoring: nil).isEmpty
    }
}
