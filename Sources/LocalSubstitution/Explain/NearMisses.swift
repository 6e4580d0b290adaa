/// Finds the keys that almost match a URL.
///
/// It is asked only where somebody listens or asks why, so it makes its index at first use.
struct NearMisses: Sendable {
    private let index: MapIndex
    /// The numbers of the exact entries by what is left when everything is taken away in which a near miss may differ.
    private let byOutline: [String: [Int]]
    private let patterns: NearPatterns

    /// More are of no help to anybody.
    static let most = 5

    init(_ index: MapIndex) {
        self.index = index
        var byOutline: [String: [Int]] = [:]
        for (number, entry) in index.entries.enumerated() where !entry.isPattern {
            guard let url = try? NormalizedURL(key: entry.key) else { continue }
            byOutline[Self.outline(url), default: []].append(number)
        }
        self.byOutline = byOutline
        patterns = NearPatterns(index.entries)
    }

    /// Those with the fewest differences first.
    func of(_ url: NormalizedURL) -> [NearMiss] {
        // What matches, but is disabled or has no file, differs in nothing.
        let matches = Set(index.candidates(for: url).map(\.number))
        let exact = (byOutline[Self.outline(url)] ?? []).prefix(1_000).compactMap { number -> NearMiss? in
            let key = index.entries[number].key
            guard !matches.contains(number), let other = try? NormalizedURL(key: key) else { return nil }
            let differences = Self.differences(url, other)
            return differences.isEmpty ? nil : NearMiss(key: key, differences: differences)
        }
        let found = exact + patterns.of(url, besides: matches)
        return Array(found.sorted { ($0.differences.count, $0.key) < ($1.differences.count, $1.key) }.prefix(Self.most))
    }

    private static func outline(_ url: NormalizedURL) -> String {
        let path = url.path.lowercased()
        return url.host + (path.hasSuffix("/") ? String(path.dropLast()) : path)
    }

    private static func differences(_ first: NormalizedURL, _ second: NormalizedURL) -> [NearMiss.Difference] {
        var found: [NearMiss.Difference] = []
        if first.scheme != second.scheme { found.append(.scheme) }
        let defaults = (URLParts.defaultPort(ofScheme: first.scheme), URLParts.defaultPort(ofScheme: second.scheme))
        let areDefaults = first.layout.port == defaults.0 && second.layout.port == defaults.1
        if first.layout.port != second.layout.port, !areDefaults { found.append(.port) }
        let queries = (sortedQuery(first), sortedQuery(second))
        let queriesAreCased = queries.0 != queries.1 && queries.0?.lowercased() == queries.1?.lowercased()
        if queries.0 != queries.1, !queriesAreCased { found.append(.query) }
        let paths = (first.path, second.path)
        if paths.0.hasSuffix("/") != paths.1.hasSuffix("/") { found.append(.trailingSlash) }
        if queriesAreCased || trimmed(paths.0) != trimmed(paths.1) { found.append(.letterCase) }
        return found
    }

    private static func sortedQuery(_ url: NormalizedURL) -> String? { url.query.map { Query($0).sorted.text } }

    private static func trimmed(_ path: String) -> String { path.hasSuffix("/") ? String(path.dropLast()) : path }
}
