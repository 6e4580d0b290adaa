/// A key with wildcards: a match pattern as in browser extensions (MDN, Chrome: "Match patterns"), but with ports and queries too.
package struct MatchPattern: Sendable {
    package enum Host: Hashable, Sendable {
        case exact(String)
        /// `*.example.com`: that host and every subdomain.
        case domain(String)
        case any

        /// Returns whether a URL's host is one of these.
        package func includes(_ host: String) -> Bool {
            switch self {
            case .exact(let name): host == name
            case .domain(let name): Self.domains(of: host).contains(name)
            case .any: true
            }
        }

        /// Returns the domains that a host is in: its own name, and what follows each of its dots. So `badexample.com` isn't in
        /// `example.com`.
        static func domains(of host: String) -> [String] {
            [host]
                + host.utf8.indices.filter { host.utf8[$0] == UInt8(ascii: ".") }
                .map { String(host[host.utf8.index(after: $0)...]) }
        }
    }

    package enum Port: Hashable, Sendable {
        case schemeDefault
        case number(Int)
        case any
    }

    /// The scheme; `nil` for http and https.
    package let scheme: String?
    package let host: Host
    package let port: Port
    /// The path and query as one text with wildcards.
    package let path: Glob
    /// The same with the query's parameters sorted by name; `nil` if there are fewer than two.
    let sortedPath: SortedPath?
    /// The pattern in normal form. Two keys with the same normal form are the same pattern.
    package let text: String
    /// The pattern's rank. Of two patterns, the one with the greater rank wins.
    let rank: [Int]

    struct SortedPath: Sendable {
        let glob: Glob
        /// For each of the glob's wildcards, its position in the key.
        let places: [Int]

        init(path: String, query: Query) {
            glob = Glob("\(path)?\(query.sorted.text)")
            let before = path.utf8.count { $0 == UInt8(ascii: "*") }
            places = Array(0..<before) + query.wildcardsOfSorted.map { before + $0 }
        }
    }

    package init(_ key: String) throws(URLParts.SyntaxError) { try self.init(key, ignoring: nil) }

    /// - Parameter rule: The entry's `ignoreQuery`. The parameters that it names are removed from the pattern.
    package init(_ key: String, ignoring rule: Query.Ignored?) throws(URLParts.SyntaxError) {
        let parts = try URLParts(key: key)
        guard ["http", "https", "*"].contains(parts.scheme) else {
            throw URLParts.SyntaxError("has the scheme “\(parts.scheme)”", "Use http, https, or * for either.")
        }
        scheme = parts.scheme == "*" ? nil : parts.scheme
        host = try Self.host(parts.host)
        port = try Self.port(parts.port, scheme: scheme)

        let path = String(decoding: URLParts.normalizedPath(parts.path, keepsAsterisks: true), as: UTF8.self)
        let query = parts.query.map {
            String(
                decoding: URLParts.Encoding.normalize($0, allowed: URLParts.Encoding.query, keepsAsterisks: true),
                as: UTF8.self
            )
        }
        let all = query.map { Query($0) }
        let kept = rule.map { rule in all.flatMap { $0.removing(rule) } } ?? all
        self.path = Glob(Array((path + (kept.map { "?" + $0.text } ?? "")).utf8))
        sortedPath = kept.flatMap { $0.count > 1 ? SortedPath(path: path, query: $0) : nil }
        text = "\(parts.scheme)://\(host)\(port)\(path)" + (all.map { "?" + $0.sorted.text } ?? "")
        rank = Self.rank(scheme: scheme, host: host, port: port, path: self.path)
    }

    package func matchesSchemeAndPort(_ url: NormalizedURL) -> Bool {
        (scheme == nil || scheme == url.scheme) && matchesPort(url)
    }

    func matchesPort(_ url: NormalizedURL) -> Bool {
        switch port {
        case .any: true
        case .number(let number): number == url.layout.port
        case .schemeDefault: url.layout.port == URLParts.defaultPort(ofScheme: url.scheme)
        }
    }

    private static func host(_ host: ArraySlice<UInt8>) throws(URLParts.SyntaxError) -> Host {
        if host.elementsEqual("*".utf8) { return .any }
        let isDomain = host.starts(with: "*.".utf8)
        let name = isDomain ? host.dropFirst(2) : host
        guard !name.isEmpty, !name.contains(UInt8(ascii: "*")) else {
            throw URLParts.SyntaxError(
                "has the host “\(String(decoding: host, as: UTF8.self))”, where * is in the wrong place",
                "Use * alone or before a domain, such as “*.example.com”."
            )
        }
        let normalized = try URLParts.normalizedHost(name)
        return isDomain ? .domain(normalized) : .exact(normalized)
    }

    private static func port(_ digits: ArraySlice<UInt8>?, scheme: String?) throws(URLParts.SyntaxError) -> Port {
        guard let digits else { return .schemeDefault }
        if digits.elementsEqual("*".utf8) { return .any }
        guard let number = try URLParts.portNumber(digits) else { return .schemeDefault }
        return scheme.map { URLParts.defaultPort(ofScheme: $0) } == number ? .schemeDefault : .number(number)
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

extension MatchPattern {
    /// Returns what patterns are compared by, in this order: host, length of the path before its first wildcard, number of literal
    /// bytes, scheme and port.
    private static func rank(scheme: String?, host: Host, port: Port, path: Glob) -> [Int] {
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
    /// An index of match patterns by host, and by the literal text that their paths begin with.
    ///
    /// It never tries patterns for other hosts or other folders, however many there are.
    package struct Index: Sendable {
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

            mutating func insert(_ item: Item) {
                let prefix = item.glob.literals.first ?? []
                byPrefix[prefix, default: []].append(item)
                prefixLengths.insert(prefix.count)
            }
        }

        /// Groups of patterns, by the hosts that they name.
        private struct Hosts: Sendable {
            private var groups: [Host: Group] = [:]
            private var hasDomains = false

            var isEmpty: Bool { groups.isEmpty }

            mutating func insert(_ item: Item) {
                groups[item.pattern.host, default: Group()].insert(item)
                if case .domain = item.pattern.host { hasDomains = true }
            }

            /// Returns the groups for the host itself, for each domain that it's in, and for any host.
            func matching(_ host: String) -> [Group] {
                let domains = hasDomains ? Host.domains(of: host).map { Host.domain($0) } : []
                return ([.exact(host)] + domains + [.any]).compactMap { groups[$0] }
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
        package func matches(_ url: NormalizedURL, ignoring rule: Query.Ignored?) -> [Match] {
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
                    for item in group.byPrefix[Array(text[..<length])] ?? []
                    where item.pattern.matchesSchemeAndPort(url) {
                        guard let captures = item.match(text[...]) else { continue }
                        found.append(Match(number: item.number, captures: captures))
                    }
                }
            }
            return found
        }
    }
}
