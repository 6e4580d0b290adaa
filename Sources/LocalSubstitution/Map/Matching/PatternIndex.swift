/// An index of match patterns by host, and by the literal text that their paths begin with.
///
/// It never tries patterns for other hosts or other folders, however many there are.
package struct PatternIndex: Sendable {
    package struct Match {
        package let number: Int
        /// What the wildcards of the path matched.
        let captures: [ArraySlice<UInt8>]
    }

    private struct Item: Sendable {
        let number: Int
        let pattern: MatchPattern
        let glob: Glob
        /// For each of the glob's wildcards, its position in the key; `nil` if they're in the key's order.
        var places: [Int]?

        /// Returns what the wildcards match, in the key's order; `nil` if the text doesn't match.
        func match(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
            let taken = glob.match(text)
            guard let taken, let places else { return taken }
            return zip(places, taken).sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private struct Group: Sendable {
        var byPrefix: [[UInt8]: [Item]] = [:]
        var prefixLengths: Set<Int> = []

        var isEmpty: Bool { byPrefix.isEmpty }

        mutating func insert(_ item: Item) {
            let prefix = item.glob.literals.first ?? []
            byPrefix[prefix, default: []].append(item)
            prefixLengths.insert(prefix.count)
        }
    }

    /// Groups of patterns, by the hosts that they name.
    private struct Hosts: Sendable {
        private var exact: [String: Group] = [:]
        private var domains: [String: Group] = [:]
        private var any = Group()
        private(set) var isEmpty = true

        mutating func insert(_ item: Item) {
            isEmpty = false
            switch item.pattern.host {
            case .exact(let name): exact[name, default: Group()].insert(item)
            case .domain(let name): domains[name, default: Group()].insert(item)
            case .any: any.insert(item)
            }
        }

        /// Returns the groups for the host itself, for each domain that it's in, and for any host.
        func matching(_ host: String) -> [Group] {
            var found: [Group] = []
            if let group = exact[host] { found.append(group) }
            if !domains.isEmpty {
                found += MatchPattern.Host.domains(of: host).compactMap { domains[$0] }
            }
            if !any.isEmpty { found.append(any) }
            return found
        }
    }

    private var written = Hosts()
    /// The patterns with sorted queries, for URLs with sorted queries.
    private var sorted = Hosts()

    package init() {}

    /// - Parameter number: The number that a match reports.
    package mutating func insert(_ pattern: MatchPattern, number: Int) {
        written.insert(Item(number: number, pattern: pattern, glob: pattern.path))
        if let path = pattern.sortedPath {
            sorted.insert(Item(number: number, pattern: pattern, glob: path.glob, places: path.places))
        }
    }

    /// Returns every pattern that matches, in no particular order.
    ///
    /// - Parameter rule: The parameters that all patterns of this index ignore.
    package func matches(_ url: NormalizedURL, ignoring rule: IgnoreQuery?) -> [Match] {
        let host = url.host
        let groups = written.matching(host)
        guard !groups.isEmpty else { return [] }

        let query = url.query.map { Query($0) }
        let kept = rule.map { rule in query.flatMap { $0.removing(rule) } } ?? query
        var found = Self.matches(url, in: groups, text: url.path + (kept.map { "?" + $0.text } ?? ""))
        if !sorted.isEmpty, let kept, kept.count > 1 {
            let known = Set(found.map(\.number))
            found += Self.matches(url, in: sorted.matching(host), text: url.path + "?" + kept.sorted.text)
                .filter { !known.contains($0.number) }
        }
        return found
    }

    private static func matches(_ url: NormalizedURL, in groups: [Group], text: String) -> [Match] {
        let text = Array(text.utf8)
        var found: [Match] = []
        for group in groups {
            for length in group.prefixLengths where length <= text.count {
                for item in group.byPrefix[Array(text[..<length])] ?? [] where item.pattern.matchesSchemeAndPort(url) {
                    guard let captures = item.match(text[...]) else { continue }
                    found.append(Match(number: item.number, captures: captures))
                }
            }
        }
        return found
    }
}
