/// A search for the keys that almost match a URL.
///
/// Only listeners and explanations need it, so it's created at first use: see ``SubstitutionMap/Storage``.
struct NearMisses: Sendable {
    private let index: MapIndex
    /// The numbers of the exact entries by outline: host and path, in lowercase and without a slash at the end.
    private let byOutline: [String: [Int]]
    /// The same outlines, to find misspelled ones, and the number of the entry for each.
    private let outlines: FoldedTexts
    private let numbers: [Int]
    private let patterns: NearPatterns

    /// A key that almost matches.
    struct Found {
        let miss: SubstitutionMap.NearMiss
        /// How many edits turn the URL's host and path into the key's.
        var edits = 0
    }

    /// The limit of keys to return. More don't help.
    static let most = 5

    init(_ index: MapIndex) {
        self.index = index
        var byOutline: [String: [Int]] = [:]
        var outlines = FoldedTexts()
        var numbers: [Int] = []
        for (number, entry) in index.entries.enumerated() where !entry.isPattern {
            guard let url = try? NormalizedURL(key: entry.key) else { continue }
            let outline = Self.outline(url)
            byOutline[outline, default: []].append(number)
            outlines.append(Array(outline.utf8))
            numbers.append(number)
        }
        self.byOutline = byOutline
        self.outlines = outlines
        self.numbers = numbers
        patterns = NearPatterns(index.entries)
    }

    /// Returns the keys that almost match a URL, those with the fewest differences first.
    func of(_ url: NormalizedURL) -> [SubstitutionMap.NearMiss] {
        // An entry that matches, but is disabled or has no file, doesn't differ.
        let matches = Set(index.candidates(for: url).map(\.number))
        let exact = (byOutline[Self.outline(url)] ?? []).prefix(1_000).filter { !matches.contains($0) }
        var found = exact.compactMap { near($0, url) }
        found += misspelled(url)
        found += patterns.of(url, besides: matches)
        found.sort {
            ($0.miss.differences.count, $0.edits, $0.miss.key) < ($1.miss.differences.count, $1.edits, $1.miss.key)
        }
        return Array(SubstitutionMap.NearMiss.withoutOtherQueries(found.map(\.miss)).prefix(Self.most))
    }

    private func misspelled(_ url: NormalizedURL) -> [Found] {
        let asked = FoldedTexts.Probe(Array(Self.outline(url).utf8))
        var nearest: [(number: Int, edits: Int)] = []
        for place in numbers.indices where outlines.mayBe(place, near: asked, limit: Misspelling.mostEdits) {
            guard let edits = Misspelling.edits(outlines[place], asked.text[...]) else { continue }
            if let least = nearest.first?.edits, edits < least { nearest = [] }
            if nearest.first?.edits ?? edits == edits, nearest.count < Self.most {
                nearest.append((numbers[place], edits))
            }
        }
        return nearest.compactMap { near($0.number, url, edits: $0.edits) }
    }

    private func near(_ number: Int, _ url: NormalizedURL, edits: Int = 0) -> Found? {
        let entry = index.entries[number]
        guard let other = try? NormalizedURL(key: entry.key) else { return nil }
        let differences = Self.differences(url, other)
        return differences.isEmpty
            ? nil : Found(miss: SubstitutionMap.NearMiss(entry, differences: differences), edits: edits)
    }

    private static func outline(_ url: NormalizedURL) -> String { url.host + trimmed(url.path.lowercased()) }

    private static func differences(_ first: NormalizedURL, _ second: NormalizedURL) -> [SubstitutionMap.NearMiss
        .Difference]
    {
        var found: [SubstitutionMap.NearMiss.Difference] = []
        if first.scheme != second.scheme { found.append(.scheme) }
        if first.host != second.host { found.append(.host) }
        let defaults = (URLParts.defaultPort(ofScheme: first.scheme), URLParts.defaultPort(ofScheme: second.scheme))
        let areDefaults = first.layout.port == defaults.0 && second.layout.port == defaults.1
        if first.layout.port != second.layout.port, !areDefaults { found.append(.port) }
        let paths = (trimmed(first.path), trimmed(second.path))
        let pathsAreCased = paths.0 != paths.1 && paths.0.lowercased() == paths.1.lowercased()
        if paths.0 != paths.1, !pathsAreCased { found.append(.path) }
        let queries = (sortedQuery(first), sortedQuery(second))
        let queriesAreCased = queries.0 != queries.1 && queries.0?.lowercased() == queries.1?.lowercased()
        if queries.0 != queries.1, !queriesAreCased { found.append(.query) }
        if first.path.hasSuffix("/") != second.path.hasSuffix("/") { found.append(.trailingSlash) }
        if queriesAreCased || pathsAreCased { found.append(.letterCase) }
        return found
    }

    private static func sortedQuery(_ url: NormalizedURL) -> String? { url.query.map { Query($0).sorted.text } }

    private static func trimmed(_ path: String) -> String { path.hasSuffix("/") ? String(path.dropLast()) : path }
}
