/// Finds the patterns that almost match a URL: each is kept without scheme, port, query and letter case.
struct NearPatterns: Sendable {
    private struct Item: Sendable {
        let key: String
        let pattern: MatchPattern
    }

    private var items: [Int: Item] = [:]
    private var relaxed = PatternIndex()

    init(_ entries: [Entry]) {
        for (number, entry) in entries.enumerated() where entry.isPattern {
            guard let pattern = try? MatchPattern(entry.key, ignoring: entry.options.ignoreQuery),
                let wide = try? MatchPattern(
                    "*://\(pattern.host):*\(Self.withoutQuery(pattern.path.text).lowercased())"
                )
            else { continue }
            items[number] = Item(key: entry.key, pattern: pattern)
            relaxed.insert(wide, number: number)
        }
    }

    /// - Parameter matches: The numbers of the entries that do match.
    func of(_ url: NormalizedURL, besides matches: Set<Int>) -> [NearMiss] {
        var found: [Int: NearMiss] = [:]
        let toggled = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path + "/"
        for path in [url.path, toggled] {
            guard let wide = try? NormalizedURL("\(url.scheme)://\(url.host)\(path.lowercased())") else { continue }
            for match in relaxed.matches(wide, ignoring: nil) where !matches.contains(match.number) {
                guard found[match.number] == nil, let item = items[match.number] else { continue }
                let differences = Self.differences(url, path: path, item.pattern)
                if !differences.isEmpty { found[match.number] = NearMiss(key: item.key, differences: differences) }
            }
        }
        return Array(found.values)
    }

    private static func differences(
        _ url: NormalizedURL,
        path: String,
        _ pattern: MatchPattern
    ) -> [NearMiss.Difference] {
        var found: [NearMiss.Difference] = []
        if let scheme = pattern.scheme, scheme != url.scheme { found.append(.scheme) }
        if !pattern.matchesPort(url) { found.append(.port) }
        let query = url.query.map { "?" + $0 } ?? ""
        let texts = (pattern: pattern.path.text, url: path + query)
        let bare = (pattern: withoutQuery(texts.pattern), url: path)
        if !matches(texts.pattern, texts.url), !matches(texts.pattern.lowercased(), texts.url.lowercased()) {
            found.append(.query)
        }
        if path != url.path { found.append(.trailingSlash) }
        let cased = found.contains(.query) ? bare : texts
        if !matches(cased.pattern, cased.url) { found.append(.letterCase) }
        return found
    }

    private static func matches(_ pattern: String, _ text: String) -> Bool {
        Glob(Array(pattern.utf8)).match(Array(text.utf8)[...]) != nil
    }

    private static func withoutQuery(_ path: String) -> String { String(path.prefix { $0 != "?" }) }
}
