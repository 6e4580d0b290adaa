extension SubstitutionMap {
    /// A key that doesn't match a request, but almost does.
    public struct NearMiss: Sendable, Hashable, CustomStringConvertible {
        /// A way in which an entry and a request differ.
        public struct Difference: RawRepresentable, Sendable, Hashable {
            /// What differs, in a word or two.
            public let rawValue: String

            /// Creates a difference from its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The scheme, `http` or `https`.
            public static let scheme = Difference(rawValue: "scheme")
            /// The host, by a few letters.
            public static let host = Difference(rawValue: "host")
            /// The port, or whether there is one.
            public static let port = Difference(rawValue: "port")
            /// The path, by a few letters.
            public static let path = Difference(rawValue: "path")
            /// The query, or whether there is one.
            public static let query = Difference(rawValue: "query")
            /// A slash at the end of the path.
            public static let trailingSlash = Difference(rawValue: "trailing slash")
            /// Uppercase and lowercase letters in the path or query.
            public static let letterCase = Difference(rawValue: "letter case")
            /// The request's method, which the entry doesn't list.
            public static let method = Difference(rawValue: "method")

            /// How to correct it.
            fileprivate var fix: String {
                switch self {
                case .scheme: "begin the key with *:// to match both schemes"
                case .host: "correct the host"
                case .port: "use the request's port, or :* for any"
                case .path: "correct the path of the key or of the request"
                case .trailingSlash: "add or remove the slash at the end of the key's path"
                case .letterCase: "match the request's letter case"
                default: "correct the \(rawValue)"
                }
            }
        }

        /// The key, as written in the map.
        public let key: String
        /// All differences. There's at least one.
        public let differences: [Difference]

        /// The key, the differences, and how to correct each.
        public let description: String

        /// Creates a near miss for an entry's key.
        ///
        /// - Parameter isOneOfSeveralQueries: Whether other keys differ from this one only in their queries.
        init(_ entry: Entry, _ differences: [Difference], isOneOfSeveralQueries: Bool) {
            key = entry.key
            self.differences = differences
            let fixes = differences.map { $0 == .query ? Self.queryFix(entry, isOneOfSeveralQueries) : $0.fix }
            // Fixes have commas of their own, so there's one before the last, too.
            let advice = (fixes.count > 1 ? [fixes.dropLast().joined(separator: ", ")] : []) + fixes.suffix(1)
            description =
                "“\(key)” differs only in \(differences.map(\.rawValue).listed()). "
                + "\(advice.joined(separator: ", and ").capitalizedFirst)."
        }

        /// Creates a near miss for a key with no alternative that answers a request's method.
        init(_ alternatives: [Entry], key: String, method: String) {
            self.key = key
            differences = [.method]
            var answered: [String] = []
            for name in alternatives.flatMap(\.options.methods) where !answered.contains(name) { answered.append(name) }
            description = "“\(key)” answers only \(answered.listed()). Add \"methods\": [\"\(method)\"]."
        }

        /// Returns how to correct a query. If a key has one, the response may depend on it.
        private static func queryFix(_ entry: Entry, _ isOneOfSeveralQueries: Bool) -> String {
            let add = "add an entry for the request's query"
            if isOneOfSeveralQueries { return add }
            let file = entry.options.isPlain ? entry.file : nil
            let ignore =
                file.map { "write { \"file\": \(JSONText.string($0.text)), \"ignoreQuery\": true } as its value" }
                ?? "add \"ignoreQuery\": true"
            return entry.keyHasQuery ? "\(add), or, if the response doesn't depend on it, \(ignore)" : ignore
        }
    }
}

extension Entry {
    fileprivate var keyHasQuery: Bool { key.utf8.contains(UInt8(ascii: "?")) }
}

/// A search for the keys that almost match a URL: those that differ in scheme, port, query, letter case or a slash at the end, and
/// those that are misspelled. Of a pattern, only the host counts as misspelled.
///
/// Only listeners and explanations need it, so it's created at first use: see ``SubstitutionMap/Storage``.
final class NearMisses: Sendable {
    private typealias Difference = SubstitutionMap.NearMiss.Difference

    private struct Pattern: Sendable {
        let number: Int
        let pattern: MatchPattern
        /// The path without its query, in lowercase.
        let path: Glob
    }

    /// A key that almost matches.
    private struct Found {
        let entry: Entry
        let differences: [Difference]
        let edits: Int

        /// Whether the keys have the same path, but different queries.
        var differsInQuery: Bool {
            differences.contains(.query) && !differences.contains { $0 == .host || $0 == .path }
        }
    }

    private let index: MapIndex
    /// The numbers of the entries with exact keys.
    private let numbers: [Int]
    /// For each of them, host and path, in lowercase and without a slash at the end.
    private let outlines: FoldedTexts
    private let patterns: [Pattern]
    /// The host or domain that each pattern names.
    private let hosts: FoldedTexts

    /// The limit of keys to return. More don't help.
    static let most = 5

    init(_ index: MapIndex) {
        var (numbers, outlines, patterns, hosts) = ([Int](), FoldedTexts(), [Pattern](), FoldedTexts())
        for (number, entry) in index.entries.enumerated() {
            if !entry.isPattern, let url = try? NormalizedURL(key: entry.key) {
                numbers.append(number)
                outlines.append(Self.outline(url))
            } else if let pattern = try? MatchPattern(entry.key, ignoring: entry.options.ignoreQuery) {
                let path = Glob(Self.withoutQuery(pattern.path.text).lowercased())
                patterns.append(Pattern(number: number, pattern: pattern, path: path))
                hosts.append(Array(pattern.host.name.utf8))
            }
        }
        self.index = index
        (self.numbers, self.outlines, self.patterns, self.hosts) = (numbers, outlines, patterns, hosts)
    }

    /// Returns the keys that almost match a URL, those with the fewest differences first.
    func of(_ url: NormalizedURL) -> [SubstitutionMap.NearMiss] {
        // An entry that matches, but is disabled or has no file, doesn't differ.
        let matches = Set(index.candidates(for: url).map(\.number))
        var found = exactKeys(near: url, besides: matches) + patterns(near: url, besides: matches)
        // Of misspelled keys, the others are probably other resources.
        let fewest = found.map(\.edits).filter { $0 > 0 }.min() ?? 0
        found.removeAll { $0.edits > fewest }
        found = found.ordered {
            ($0.differences.count, $0.edits, $0.entry.key) < ($1.differences.count, $1.edits, $1.entry.key)
        }
        // With `ignoreQuery`, one response would answer every query. So of keys that differ in them, only the first is left.
        let differing = found.filter(\.differsInQuery)
        let areSeveral = differing.count > 1 && differing.contains { $0.entry.keyHasQuery }
        if areSeveral { found.removeAll { $0.differsInQuery && $0.entry.key != differing[0].entry.key } }
        return found.prefix(Self.most).map {
            SubstitutionMap.NearMiss(
                $0.entry,
                $0.differences,
                isOneOfSeveralQueries: areSeveral && $0.differsInQuery
            )
        }
    }

    private func exactKeys(near url: NormalizedURL, besides matches: Set<Int>) -> [Found] {
        let asked = FoldedTexts.Probe(Self.outline(url))
        var near: [(number: Int, edits: Int)] = []
        for (place, number) in numbers.enumerated()
        where outlines.mayBe(place, near: asked, limit: Misspelling.mostEdits) && !matches.contains(number) {
            guard let edits = Misspelling.edits(outlines[place], asked.text[...]) else { continue }
            near.append((number, edits))
        }
        let fewest = near.map(\.edits).filter { $0 > 0 }.min()
        let found = near.filter { $0.edits == 0 }.prefix(1_000) + near.filter { $0.edits == fewest }.prefix(Self.most)
        return found.compactMap { number, edits in
            guard let key = try? NormalizedURL(key: index.entries[number].key) else { return nil }
            return self.found(number, Self.differences(url, key), edits: edits)
        }
    }

    private func found(_ number: Int, _ differences: [Difference], edits: Int) -> Found? {
        differences.isEmpty ? nil : Found(entry: index.entries[number], differences: differences, edits: edits)
    }

    private static func outline(_ url: NormalizedURL) -> [UInt8] {
        Array((url.host + trimmed(url.path.lowercased())).utf8)
    }

    private static func differences(_ first: NormalizedURL, _ second: NormalizedURL) -> [Difference] {
        let defaults = (URLParts.defaultPort(ofScheme: first.scheme), URLParts.defaultPort(ofScheme: second.scheme))
        let areDefaults = first.layout.port == defaults.0 && second.layout.port == defaults.1
        let paths = (trimmed(first.path), trimmed(second.path))
        let pathsAreCased = paths.0 != paths.1 && paths.0.lowercased() == paths.1.lowercased()
        let queries = (sortedQuery(first), sortedQuery(second))
        let queriesAreCased = queries.0 != queries.1 && queries.0?.lowercased() == queries.1?.lowercased()
        return those([
            .scheme: first.scheme != second.scheme,
            .host: first.host != second.host,
            .port: first.layout.port != second.layout.port && !areDefaults,
            .path: paths.0 != paths.1 && !pathsAreCased,
            .query: queries.0 != queries.1 && !queriesAreCased,
            .trailingSlash: first.path.hasSuffix("/") != second.path.hasSuffix("/"),
            .letterCase: queriesAreCased || pathsAreCased,
        ])
    }

    private static func those(_ parts: KeyValuePairs<Difference, Bool>) -> [Difference] {
        parts.filter(\.value).map(\.key)
    }

    private static func sortedQuery(_ url: NormalizedURL) -> String? { url.query.map { Query($0).sorted.text } }

    private static func trimmed(_ path: String) -> String { path.hasSuffix("/") ? String(path.dropLast()) : path }

    // MARK: Patterns

    private func patterns(near url: NormalizedURL, besides matches: Set<Int>) -> [Found] {
        guard !patterns.isEmpty else { return [] }
        let toggled = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path + "/"
        let paths = [url.path, toggled].map { (path: $0, folded: Array($0.lowercased().utf8)) }
        // The last label of the host, the last two, and so on.
        let domains = MatchPattern.Host.domains(of: url.host).reversed().map { FoldedTexts.Probe(Array($0.utf8)) }
        var found: [Found] = []
        for (place, item) in patterns.enumerated() where !matches.contains(item.number) {
            guard let edits = edits(ofHost: place, item.pattern.host, domains) else { continue }
            for (path, folded) in paths {
                guard let captures = item.path.match(folded[...]) else { continue }
                if canBeFilled(index.entries[item.number], with: captures) {
                    let differences = Self.differences(url, path: path, item.pattern)
                    found += self.found(item.number, differences, edits: edits).map { [$0] } ?? []
                }
                break
            }
        }
        return found
    }

    /// Returns how many edits turn a URL's host, or a domain that it's in, into the one that a pattern names; `nil` for too many.
    private func edits(ofHost place: Int, _ host: MatchPattern.Host, _ domains: [FoldedTexts.Probe]) -> Int? {
        let labels =
            switch host {
            case .exact: domains.count
            case .domain(let name): name.utf8.count { $0 == UInt8(ascii: ".") } + 1
            case .any: 0
            }
        guard labels > 0 else { return 0 }
        guard labels <= domains.count,
            hosts.mayBe(place, near: domains[labels - 1], limit: Misspelling.mostEdits)
        else { return nil }
        return Misspelling.edits(hosts[place], domains[labels - 1].text[...])
    }

    /// Returns whether the entry would apply if its pattern matched.
    private func canBeFilled(_ entry: Entry, with captures: [ArraySlice<UInt8>]) -> Bool {
        guard let file = entry.file, file.wildcards > 0 else { return true }
        return (try? file.filled(with: captures)) != nil
    }

    /// - Parameter path: The URL's path, with or without a slash at the end, as the pattern could match it.
    private static func differences(
        _ url: NormalizedURL,
        path: String,
        _ pattern: MatchPattern
    ) -> [Difference] {
        let texts = (pattern: pattern.path.text, url: path + (url.query.map { "?" + $0 } ?? ""))
        let isSameQuery = matches(texts.pattern.lowercased(), texts.url.lowercased())
        let cased = isSameQuery ? texts : (pattern: withoutQuery(texts.pattern), url: path)
        return those([
            .scheme: pattern.scheme != nil && pattern.scheme != url.scheme,
            .host: !pattern.host.includes(url.host),
            .port: !pattern.matchesPort(url),
            .query: !isSameQuery,
            .trailingSlash: path != url.path,
            .letterCase: !matches(cased.pattern, cased.url),
        ])
    }

    private static func matches(_ pattern: String, _ text: String) -> Bool {
        Glob(pattern).match(Array(text.utf8)[...]) != nil
    }

    private static func withoutQuery(_ path: String) -> String { String(path.prefix { $0 != "?" }) }
}

extension MatchPattern.Host {
    /// The host or domain without wildcards; empty for any host.
    fileprivate var name: String {
        switch self {
        case .exact(let name), .domain(let name): name
        case .any: ""
        }
    }
}

/// The rules by which one text is probably a misspelling of another.
private enum Misspelling {
    /// The limit of mistakes. More at once are unlikely.
    static let mostEdits = 3

    /// Returns how many edits turn one text into the other. `nil` if they differ only in digits, or in too much for the length of the
    /// word that differs.
    static func edits(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Int? {
        let shorter = min(first.count, second.count)
        var start = 0
        while start < shorter, first[first.startIndex + start] == second[second.startIndex + start] { start += 1 }
        var end = 0
        while end < shorter - start, first[first.endIndex - 1 - end] == second[second.endIndex - 1 - end] { end += 1 }
        guard start < max(first.count, second.count) else { return 0 }
        let different = (first.dropFirst(start).dropLast(end), second.dropFirst(start).dropLast(end))
        // Different digits are rarely typos: they number versions, or the members of a series.
        guard !(different.0.allSatisfy(\.isDigit) && different.1.allSatisfy(\.isDigit)) else { return nil }

        let wordBefore = first.prefix(start).reversed().prefix(while: isWordByte).count
        let wordAfter = first.suffix(end).prefix(while: isWordByte).count
        let word = wordBefore + max(different.0.count, different.1.count) + wordAfter
        // One edit turns most words of one or two letters into other words.
        let limit = min(mostEdits, word / 3)
        return limit == 0 ? nil : EditDistance.between(different.0, different.1, limit: limit)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isDigit || byte.isLetter }
}
