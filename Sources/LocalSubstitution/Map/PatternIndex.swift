/// Finds the match patterns that match a URL by host and by the literal text that their paths begin with.
///
/// So it never tries patterns of other hosts or other folders, however many there are.
struct PatternIndex: Sendable {
    struct Match {
        let number: Int
        /// What the wildcards of the path took.
        let captures: [ArraySlice<UInt8>]
    }

    private struct Item: Sendable {
        let number: Int
        let pattern: MatchPattern
        let glob: Glob
        /// For each of the glob's wildcards, its place in the key; `nil` where they stand in the key's order.
        var places: [Int]?

        /// What the wildcards take, in the key's order.
        func match(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
            let taken = glob.match(text)
            guard let taken, let places else { return taken }
            return zip(places, taken).sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private struct Group: Sendable {
        var byPrefix: [[UInt8]: [Item]] = [:]
        var prefixLengths: Set<Int> = []

        mutating func insert(_ item: Item) {
            let prefix = item.glob.literals.first ?? []
            byPrefix[prefix, default: []].append(item)
            prefixLengths.insert(prefix.count)
        }
    }

    private var written: [MatchPattern.Host: Group] = [:]
    /// The patterns with their queries sorted, for the URLs with theirs sorted.
    private var sorted: [MatchPattern.Host: Group] = [:]

    /// - Parameter number: What a match is reported as.
    mutating func insert(_ pattern: MatchPattern, number: Int) {
        written[pattern.host, default: Group()].insert(Item(number: number, pattern: pattern, glob: pattern.path))
        if let path = pattern.sortedPath {
            sorted[pattern.host, default: Group()]
                .insert(Item(number: number, pattern: pattern, glob: path.glob, places: path.places))
        }
    }

    /// Every pattern that matches, in no particular order.
    ///
    /// - Parameter rule: The parameters that all patterns of this index ignore.
    func matches(_ url: NormalizedURL, ignoring rule: IgnoreQuery?) -> [Match] {
        let hosts = Self.hosts(matching: url.host).filter { written[$0] != nil }
        guard !hosts.isEmpty else { return [] }

        let query = url.query.map { Query($0) }
        let kept = rule.map { rule in query.flatMap { $0.removing(rule) } } ?? query
        var found = matches(url, in: written, hosts: hosts, text: url.path + (kept.map { "?" + $0.text } ?? ""))
        if !sorted.isEmpty, let kept, kept.count > 1 {
            let known = Set(found.map(\.number))
            found += matches(url, in: sorted, hosts: hosts, text: url.path + "?" + kept.sorted.text)
                .filter { !known.contains($0.number) }
        }
        return found
    }

    private func matches(
        _ url: NormalizedURL,
        in groups: [MatchPattern.Host: Group],
        hosts: [MatchPattern.Host],
        text: String
    ) -> [Match] {
        let text = Array(text.utf8)
        var found: [Match] = []
        for group in hosts.compactMap({ groups[$0] }) {
            for length in group.prefixLengths where length <= text.count {
                for item in group.byPrefix[Array(text[..<length])] ?? [] where item.pattern.matchesSchemeAndPort(url) {
                    guard let captures = item.match(text[...]) else { continue }
                    found.append(Match(number: item.number, captures: captures))
                }
            }
        }
        return found
    }

    /// The host itself, each domain that it is in, and any.
    private static func hosts(matching host: String) -> [MatchPattern.Host] {
        var hosts: [MatchPattern.Host] = [.exact(host), .domain(host)]
        var rest = Substring(host)
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if !rest.isEmpty { hosts.append(.domain(String(rest))) }
        }
        hosts.append(.any)
        return hosts
    }
}
