/// A search for patterns that almost match a URL: those that would match if scheme, port, query, letter case or a slash at the end
/// didn't count, and those that are misspelled.
struct NearPatterns: Sendable {
    private struct Item: Sendable {
        let number: Int
        let entry: Entry
        let pattern: MatchPattern

        /// Returns whether the entry would apply if its pattern matched.
        func canBeFilled(with captures: [ArraySlice<UInt8>]) -> Bool {
            guard let file = entry.file, file.wildcards > 0 else { return true }
            return (try? file.filled(with: captures)) != nil
        }
    }

    private var items: [Item] = []
    private var relaxed = PatternIndex()
    private var misspelled = MisspelledPatterns()

    init(_ entries: [Entry]) {
        for (number, entry) in entries.enumerated() where entry.isPattern {
            guard let pattern = try? MatchPattern(entry.key, ignoring: entry.options.ignoreQuery) else { continue }
            let path = Self.withoutQuery(pattern.path.text).lowercased()
            guard let wide = try? MatchPattern("*://\(pattern.host):*\(path)") else { continue }
            relaxed.insert(wide, number: items.count)
            misspelled.append(pattern.host, path: Glob(Array(path.utf8)))
            items.append(Item(number: number, entry: entry, pattern: pattern))
        }
    }

    /// Returns the patterns that almost match a URL.
    ///
    /// - Parameter matches: The numbers of the entries that do match.
    func of(_ url: NormalizedURL, besides matches: Set<Int>) -> [NearMisses.Found] {
        var found: [Int: NearMisses.Found] = [:]
        let toggled = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path + "/"
        for path in [url.path, toggled] {
            guard let wide = try? NormalizedURL("\(url.scheme)://\(url.host)\(path.lowercased())") else { continue }
            for match in relaxed.matches(wide, ignoring: nil) where found[match.number] == nil {
                let item = items[match.number]
                guard !matches.contains(item.number), item.canBeFilled(with: match.captures) else { continue }
                let differences = Self.differences(url, path: path, item.pattern)
                if !differences.isEmpty {
                    found[match.number] = .init(miss: SubstitutionMap.NearMiss(item.entry, differences: differences))
                }
            }
        }
        for match in misspelled.matches(url) where found[match.place] == nil {
            let item = items[match.place]
            guard !matches.contains(item.number), item.canBeFilled(with: match.captures) else { continue }
            let differences = Self.differences(url, path: match.path, item.pattern, misspelled: match)
            found[match.place] = .init(
                miss: SubstitutionMap.NearMiss(item.entry, differences: differences),
                edits: match.edits
            )
        }
        return Array(found.values)
    }

    /// - Parameters:
    ///   - path: The URL's path as the pattern could match it: with or without a slash at the end, or with the pattern's spelling.
    ///   - misspelled: What is misspelled. If it's given, letter case doesn't matter.
    private static func differences(
        _ url: NormalizedURL,
        path: String,
        _ pattern: MatchPattern,
        misspelled: MisspelledPatterns.Match? = nil
    ) -> [SubstitutionMap.NearMiss.Difference] {
        var found: [SubstitutionMap.NearMiss.Difference] = []
        if let scheme = pattern.scheme, scheme != url.scheme { found.append(.scheme) }
        if misspelled?.isInHost == true { found.append(.host) }
        if !pattern.matchesPort(url) { found.append(.port) }
        if misspelled?.isInPath == true { found.append(.path) }
        let texts = (pattern: pattern.path.text, url: path + (url.query.map { "?" + $0 } ?? ""))
        if !matches(texts.pattern.lowercased(), texts.url.lowercased()) { found.append(.query) }
        guard misspelled == nil else { return found }
        if path != url.path { found.append(.trailingSlash) }
        let cased = found.contains(.query) ? (pattern: withoutQuery(texts.pattern), url: path) : texts
        if !matches(cased.pattern, cased.url) { found.append(.letterCase) }
        return found
    }

    private static func matches(_ pattern: String, _ text: String) -> Bool {
        Glob(Array(pattern.utf8)).match(Array(text.utf8)[...]) != nil
    }

    private static func withoutQuery(_ path: String) -> String { String(path.prefix { $0 != "?" }) }
}
