/// A key with wildcards: a match pattern, as browser extensions use them (MDN, Chrome: "Match patterns"). It may also
/// have a port and a query.
package final class MatchPattern: Sendable {
    package enum Host: Sendable {
        case exact(String)
        /// `*.example.com`: the host `example.com` and every subdomain.
        case domain(String)
        case any

        package func includes(_ host: String) -> Bool {
            switch self {
            case .exact(let name): host == name
            case .domain(let name): Self.domains(of: host).contains(name)
            case .any: true
            }
        }

        /// The domains that include a host: the host itself, and the text after each of its dots. For example,
        /// `a.example.com`, `example.com` and `com` for `a.example.com`.
        static func domains(of host: String) -> [String] {
            [host]
                + host.utf8.indices.filter { host.utf8[$0] == UInt8(ascii: ".") }
                .map { String(host[host.utf8.index(after: $0)...]) }
        }
    }

    package enum Port: Equatable, Sendable {
        case schemeDefault
        case number(Int)
        case any
    }

    /// The scheme, `http` or `https`; `nil` if the pattern matches both.
    package let scheme: String?
    package let host: Host
    package let port: Port
    /// The path and query as one text with wildcards. Ignored parameters are removed.
    package let path: Glob
    /// The path and query with the query's parameters sorted by name; `nil` if there are fewer than two parameters.
    let sortedPath: SortedPath?
    /// The pattern in normal form. Two keys with the same normal form are the same pattern.
    package let text: String
    let rank: [Int]

    struct SortedPath: Sendable {
        let glob: Glob
        /// For each wildcard of the glob, in order, its position among the wildcards of the key.
        let places: [Int]

        init(path: String, query: Query) {
            glob = Glob("\(path)?\(query.sorted.text)")
            let before = path.count(of: UInt8(ascii: "*"))
            places = Array(0..<before) + query.wildcardsOfSorted.map { before + $0 }
        }
    }

    package convenience init(_ key: String) throws(Complaint) { try self.init(key, ignoring: nil) }

    /// - Parameter rule: The entry's `ignoreQuery`; `nil` to ignore nothing. Ignored parameters are removed from the
    ///   pattern.
    /// - Throws: Why the key isn't a valid match pattern.
    package init(_ key: String, ignoring rule: Query.Ignored?) throws(Complaint) {
        let parts = try URLParts(key: key)
        guard ["http", "https", "*"].contains(parts.scheme) else {
            throw Complaint(
                "has the scheme “\(parts.scheme)”",
                fix: "Use http, https, or * for either.",
                in: parts.scheme
            )
        }
        let scheme = parts.scheme == "*" ? nil : parts.scheme
        let host = try Self.host(parts.host)
        let port = try Self.port(parts)

        let path = String(decoding: URLParts.normalizedPath(parts.path, keepsAsterisks: true), as: UTF8.self)
        let all = parts.query.map { query in
            Query(String(decoding: URLParts.normalizedQuery(query, keepsAsterisks: true), as: UTF8.self))
        }
        let kept = rule.map { rule in all.flatMap { $0.removing(rule) } } ?? all
        let glob = Glob(path + (kept.map { "?" + $0.text } ?? ""))
        (self.scheme, self.host, self.port, self.path) = (scheme, host, port, glob)
        sortedPath = kept.flatMap { $0.count > 1 ? SortedPath(path: path, query: $0) : nil }
        text = "\(parts.scheme)://\(host)\(port)\(path)" + (all.map { "?" + $0.sorted.text } ?? "")
        rank = Self.rank(scheme: scheme, host: host, port: port, path: glob)
    }

    package func matchesSchemeAndPort(_ url: NormalizedURL) -> Bool {
        (scheme == nil || scheme == url.scheme) && matchesPort(url)
    }

    func matchesPort(_ url: NormalizedURL) -> Bool {
        switch port {
        case .any: true
        case .number(let number): number == url.layout.port
        case .schemeDefault: url.hasDefaultPort
        }
    }

    private static func host(_ host: ArraySlice<UInt8>) throws(Complaint) -> Host {
        if host.elementsEqual("*".utf8) { return .any }
        let isDomain = host.starts(with: "*.".utf8)
        let name = isDomain ? host.dropFirst(2) : host
        guard !name.isEmpty, !name.contains(UInt8(ascii: "*")) else {
            throw Complaint(
                "has the host “\(String(decoding: host, as: UTF8.self))”, with a * in the wrong place",
                fix: "Use * as the whole host, or before a domain, as in “*.example.com”."
            )
        }
        let normalized = try URLParts.normalizedHost(name)
        return isDomain ? .domain(normalized) : .exact(normalized)
    }

    private static func port(_ parts: URLParts) throws(Complaint) -> Port {
        guard let digits = parts.port, !digits.isEmpty else { return .schemeDefault }
        if digits.elementsEqual("*".utf8) { return .any }
        let number = try parts.portNumber()
        let isDefault = parts.scheme != "*" && number == URLParts.defaultPort(ofScheme: parts.scheme)
        return isDefault ? .schemeDefault : .number(number)
    }
}

extension MatchPattern.Host: CustomStringConvertible {
    package var description: String {
        switch self {
        case .exact(let name): name
        case .domain(let name): "*.\(name)"
        case .any: "*"
        }
    }
}

extension MatchPattern.Port: CustomStringConvertible {
    package var description: String {
        switch self {
        case .schemeDefault: ""
        case .number(let number): ":\(number)"
        case .any: ":*"
        }
    }
}

/// Which of several patterns wins if they match the same URL.
extension MatchPattern {
    /// The pattern with the greater rank wins. If the ranks are equal, an entry without `ignoreQuery` wins. If that
    /// doesn't decide, the key whose bytes sort first wins.
    static func precedes(
        _ first: (entry: Entry, pattern: MatchPattern),
        _ second: (entry: Entry, pattern: MatchPattern)
    ) -> Bool {
        if first.pattern.rank != second.pattern.rank {
            return second.pattern.rank.lexicographicallyPrecedes(first.pattern.rank)
        }
        let ignores = (first.entry.options.ignoreQuery != nil, second.entry.options.ignoreQuery != nil)
        guard ignores.0 == ignores.1 else { return ignores.1 }
        // Compares bytes, since keys need a fixed order: `<` treats two encodings of a letter, such as “é”, as equal.
        return first.entry.key.utf8.lexicographicallyPrecedes(second.entry.key.utf8)
    }

    /// Most important first: host, length of the path before its first wildcard, number of literal bytes, scheme, port.
    static func rank(scheme: String?, host: Host, port: Port, path: Glob) -> [Int] {
        let hostRank =
            switch host {
            case .exact: Int.max
            case .domain(let name): name.utf8.count
            case .any: 0
            }
        let prefix = path.literals.first?.count ?? 0
        return [hostRank, prefix, path.literalBytes, scheme == nil ? 0 : 1, port == .any ? 0 : 1]
    }
}

extension MatchPattern {
    /// An index of match patterns by host, and by the literal text at the beginning of their paths.
    ///
    /// A search tries only patterns whose host and beginning match the URL, so it's fast even with many patterns.
    struct Index: Sendable {
        /// A pattern as it's written or, again, with at least two query parameters sorted by name. That's compared with
        /// the sorted parameters of a URL.
        private struct Item: Sendable {
            let number: Int
            let pattern: MatchPattern
            let glob: Glob
            /// For parameters that are sorted by name: for each wildcard of the glob, in order, its position among the
            /// wildcards of the key. `nil` for a pattern as it's written.
            var places: [Int]?

            /// What each wildcard matches, in the order of the key's wildcards; `nil` if the text as a whole doesn't
            /// match.
            func match(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
                let taken = glob.match(text)
                guard let taken, let places else { return taken }
                return places.indices.ordered { places[$0] < places[$1] }.map { taken[$0] }
            }
        }

        /// The patterns, by their host and the literal text at the beginning of their path.
        private var items: [String: [Item]] = [:]
        /// For each host, the lengths of its keys in `items`.
        private var lengths: [String: [Int]] = [:]
        private var hasDomains = false
        private var hasSorted = false

        var isEmpty: Bool { items.isEmpty }

        /// - Parameter number: The number of the candidate that ``matches(_:ignoring:)`` returns for this pattern.
        mutating func insert(_ pattern: MatchPattern, number: Int) {
            insert(Item(number: number, pattern: pattern, glob: pattern.path))
            if let path = pattern.sortedPath {
                insert(Item(number: number, pattern: pattern, glob: path.glob, places: path.places))
                hasSorted = true
            }
            if case .domain = pattern.host { hasDomains = true }
        }

        private mutating func insert(_ item: Item) {
            let host = item.pattern.host.description
            let key = host + String(decoding: item.glob.literals[0], as: UTF8.self)
            items[key, default: []].append(item)
            if lengths[host]?.contains(key.utf8.count) != true { lengths[host, default: []].append(key.utf8.count) }
        }

        /// The candidates are in no particular order.
        ///
        /// - Parameter rule: The parameters that all patterns of this index ignore; `nil` if they ignore none.
        func matches(_ url: NormalizedURL, ignoring rule: Query.Ignored?) -> [MapIndex.Candidate] {
            // For `a.b`, these can be `a.b`, `*.a.b`, `*.b` and `*`.
            let domains = hasDomains ? Host.domains(of: url.host).map { Host.domain($0).description } : []
            let hosts = ([url.host] + domains + [Host.any.description]).filter { lengths[$0] != nil }
            guard !hosts.isEmpty else { return [] }

            let query = url.query.map { Query($0) }
            let kept = rule.map { rule in query.flatMap { $0.removing(rule) } } ?? query
            let path = url.path
            let found = matches(url, hosts, path + (kept.map { "?" + $0.text } ?? ""), areSorted: false)
            guard hasSorted, let kept, kept.count > 1 else { return found }
            let known = Set(found.map(\.number))
            return found
                + matches(url, hosts, path + "?" + kept.sorted.text, areSorted: true)
                .filter { !known.contains($0.number) }
        }

        /// - Parameters:
        ///   - hosts: Those of the index's hosts that match the URL's host.
        ///   - text: The URL's path and query, without ignored parameters.
        ///   - areSorted: Whether the parameters are sorted by name.
        private func matches(_ url: NormalizedURL, _ hosts: [String], _ text: String, areSorted: Bool)
            -> [MapIndex.Candidate]
        {
            let path = Array(text.utf8)[...]
            var found: [MapIndex.Candidate] = []
            for host in hosts {
                let whole = Array((host + text).utf8)
                for length in lengths[host] ?? [] where length <= whole.count {
                    for item in items[String(decoding: whole[..<length], as: UTF8.self)] ?? []
                    where (item.places != nil) == areSorted && item.pattern.matchesSchemeAndPort(url) {
                        guard let captures = item.match(path) else { continue }
                        found.append(MapIndex.Candidate(number: item.number, captures: captures))
                    }
                }
            }
            return found
        }
    }
}
