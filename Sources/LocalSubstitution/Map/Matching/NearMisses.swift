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

        /// The entry's value, if that's only a file name.
        private let plainFile: String?
        /// The methods that the entry answers, and the request's, if the method is the difference.
        private let methods: Methods?

        private struct Methods: Sendable, Hashable {
            let answered: [String]
            let asked: String
        }

        /// Whether other keys differ from this one only in their queries.
        private var isOneOfSeveralQueries = false

        /// Creates a near miss for an entry's key.
        init(_ entry: Entry, differences: [Difference]) {
            key = entry.key
            self.differences = differences
            plainFile = entry.options.isPlain ? entry.file?.text : nil
            methods = nil
        }

        /// Creates a near miss for a key with no alternative that answers a request's method.
        init(_ alternatives: [Entry], key: String, method: String) {
            self.key = key
            differences = [.method]
            plainFile = nil
            var answered: [String] = []
            for name in alternatives.flatMap(\.options.methods) where !answered.contains(name) { answered.append(name) }
            methods = Methods(answered: answered, asked: method)
        }

        /// The key, the differences, and how to correct each.
        public var description: String {
            if let methods {
                return "“\(key)” answers only \(methods.answered.listed()). Add \"methods\": [\"\(methods.asked)\"]."
            }
            let fixes = differences.map { $0 == .query ? queryFix : $0.fix }
            // Fixes have commas of their own, so there's one before the last, too.
            let advice = (fixes.count > 1 ? [fixes.dropLast().joined(separator: ", ")] : []) + fixes.suffix(1)
            return "“\(key)” differs only in \(differences.map(\.rawValue).listed()). "
                + "\(advice.joined(separator: ", and ").capitalizedFirst)."
        }

        /// How to correct a query. If a key has one, the response may depend on it.
        private var queryFix: String {
            let add = "add an entry for the request's query"
            if isOneOfSeveralQueries { return add }
            let ignore =
                plainFile.map { "write { \"file\": \(JSONText.string($0)), \"ignoreQuery\": true } as its value" }
                ?? "add \"ignoreQuery\": true"
            return Self.hasQuery(key) ? "\(add), or, if the response doesn't depend on it, \(ignore)" : ignore
        }

        private static func hasQuery(_ key: String) -> Bool { key.utf8.contains(UInt8(ascii: "?")) }

        /// Keeps only the first of several near misses that differ in their queries, if one of these keys has a query.
        /// With `ignoreQuery`, one of their responses would answer every query.
        static func withoutOtherQueries(_ misses: [Self]) -> [Self] {
            let differing = misses.filter { miss in
                miss.differences.contains(.query) && !miss.differences.contains { [.host, .path].contains($0) }
            }
            guard var first = differing.first, differing.count > 1, differing.contains(where: { hasQuery($0.key) })
            else {
                return misses
            }
            first.isOneOfSeveralQueries = true
            return misses.compactMap { $0.key == first.key ? first : differing.contains($0) ? nil : $0 }
        }
    }
}

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

/// A search for patterns that almost match a URL: those that would match if scheme, port, query, letter case or a slash at the end
/// didn't count, and those that are misspelled.
private struct NearPatterns: Sendable {
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
    private var relaxed = MatchPattern.Index()
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

/// The patterns to search for a misspelling: of a URL's host, or of its path before the pattern's first wildcard.
private struct MisspelledPatterns: Sendable {
    struct Match {
        /// The pattern's position in the order in which the patterns were added.
        let place: Int
        let edits: Int
        let isInHost: Bool
        let isInPath: Bool
        /// The URL's path with the pattern's spelling. `captures` are the parts of it that the pattern's wildcards match.
        let path: String
        let captures: [ArraySlice<UInt8>]
    }

    private struct Item: Sendable {
        let host: MatchPattern.Host
        /// The number of labels at the end of a host to compare; `nil` for all.
        let labels: Int?
        /// The length of the host in the text, in bytes.
        let hostLength: Int
        let path: Glob
    }

    private var items: [Item] = []
    /// The host and path of each item, up to the first wildcard.
    private var beginnings = FoldedTexts()

    /// - Parameter path: The path without a query, in lowercase.
    mutating func append(_ host: MatchPattern.Host, path: Glob) {
        let (name, labels): (String, Int?) =
            switch host {
            case .exact(let name): (name, nil)
            case .domain(let name): (name, name.utf8.count { $0 == UInt8(ascii: ".") } + 1)
            case .any: ("", 0)
            }
        beginnings.append(Array(name.utf8) + (path.literals.first ?? []))
        items.append(Item(host: host, labels: labels, hostLength: name.utf8.count, path: path))
    }

    func matches(_ url: NormalizedURL) -> [Match] {
        guard !items.isEmpty else { return [] }
        let host = Array(url.host.utf8)
        let text = host + Array(url.path.lowercased().utf8)
        let dots = host.indices.filter { host[$0] == UInt8(ascii: ".") }
        // The texts that begin at the path, at the last label, at the last two labels, and so on.
        let probes = ([host.count] + dots.reversed().map { $0 + 1 } + [0]).map { FoldedTexts.Probe(Array(text[$0...])) }
        var found: [Match] = []
        for (place, item) in items.enumerated() {
            let labels = item.labels ?? probes.count - 1
            guard labels < probes.count,
                beginnings.mayBe(place, near: probes[labels], limit: Misspelling.mostEdits, beginning: true),
                let match = match(place, item, probes[labels].text[...], url)
            else { continue }
            found.append(match)
        }
        return found
    }

    private func match(_ place: Int, _ item: Item, _ text: ArraySlice<UInt8>, _ url: NormalizedURL) -> Match? {
        let beginning = beginnings[place]
        let limit = Misspelling.mostEdits
        guard let near = EditDistance.between(beginning, text, limit: limit, beginning: true),
            let edits = Misspelling.edits(beginning, text.prefix(near.length))
        else { return nil }
        let path = Array(beginning.dropFirst(item.hostLength) + text.dropFirst(near.length))
        guard let captures = item.path.match(path[...]) else { return nil }
        let literal = item.path.literals.first ?? []
        return Match(
            place: place,
            edits: edits,
            isInHost: !item.host.includes(url.host),
            isInPath: !url.path.lowercased().utf8.starts(with: literal),
            path: String(decoding: path, as: UTF8.self),
            captures: captures
        )
    }
}

/// The rules by which one host and path is probably a misspelling of another.
private enum Misspelling {
    /// The limit of mistakes. More at once are unlikely.
    static let mostEdits = 3

    /// Returns how many edits turn one text into the other. `nil` if they differ in nothing or only in digits, or in too much for
    /// the length of the word that differs.
    static func edits(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Int? {
        let shorter = min(first.count, second.count)
        var start = 0
        while start < shorter, first[first.startIndex + start] == second[second.startIndex + start] { start += 1 }
        var end = 0
        while end < shorter - start, first[first.endIndex - 1 - end] == second[second.endIndex - 1 - end] { end += 1 }
        let different = (first.dropFirst(start).dropLast(end), second.dropFirst(start).dropLast(end))
        // Different digits are rarely typos: they number versions, or the members of a series.
        guard !(different.0.allSatisfy(\.isDigit) && different.1.allSatisfy(\.isDigit)) else { return nil }

        let wordBefore = first.prefix(start).reversed().prefix(while: isWordByte).count
        let wordAfter = first.suffix(end).prefix(while: isWordByte).count
        let word = wordBefore + max(different.0.count, different.1.count) + wordAfter
        // One edit turns most words of one or two letters into other words.
        let limit = min(mostEdits, word / 3)
        return limit == 0 ? nil : EditDistance.between(different.0, different.1, limit: limit)?.edits
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isDigit || byte.isLetter }
}
