/// A key with wildcards: a match pattern as in browser extensions (MDN, Chrome: "Match patterns"), but with ports and queries too.
package struct MatchPattern: Sendable {
    package enum Host: Hashable, Sendable {
        case exact(String)
        /// `*.example.com`: that host and every subdomain.
        case domain(String)
        case any

        /// Returns whether a URL's host is one of these.
        func includes(_ host: String) -> Bool {
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
            glob = Glob(Array("\(path)?\(query.sorted.text)".utf8))
            let before = path.utf8.count { $0 == UInt8(ascii: "*") }
            places = Array(0..<before) + query.wildcardsOfSorted.map { before + $0 }
        }
    }

    package init(_ key: String) throws(URLSyntaxError) { try self.init(key, ignoring: nil) }

    /// - Parameter rule: The entry's `ignoreQuery`. The parameters that it names are removed from the pattern.
    package init(_ key: String, ignoring rule: IgnoreQuery?) throws(URLSyntaxError) {
        let parts = try URLParts(key: key)
        guard ["http", "https", "*"].contains(parts.scheme) else {
            throw URLSyntaxError("has the scheme “\(parts.scheme)”", "Use http, https, or * for either.")
        }
        scheme = parts.scheme == "*" ? nil : parts.scheme
        host = try Self.host(parts.host)
        port = try Self.port(parts.port, scheme: scheme)

        let path = String(decoding: URLParts.normalizedPath(parts.path, keepsAsterisks: true), as: UTF8.self)
        let query = parts.query.map {
            String(
                decoding: URLPercentEncoding.normalize($0, allowed: URLPercentEncoding.query, keepsAsterisks: true),
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

    func matchesSchemeAndPort(_ url: NormalizedURL) -> Bool {
        (scheme == nil || scheme == url.scheme) && matchesPort(url)
    }

    func matchesPort(_ url: NormalizedURL) -> Bool {
        switch port {
        case .any: true
        case .number(let number): number == url.layout.port
        case .schemeDefault: url.layout.port == URLParts.defaultPort(ofScheme: url.scheme)
        }
    }

    private static func host(_ host: ArraySlice<UInt8>) throws(URLSyntaxError) -> Host {
        if host.elementsEqual("*".utf8) { return .any }
        let isDomain = host.starts(with: "*.".utf8)
        let name = isDomain ? host.dropFirst(2) : host
        guard !name.isEmpty, !name.contains(UInt8(ascii: "*")) else {
            throw URLSyntaxError(
                "has the host “\(String(decoding: host, as: UTF8.self))”, where * is in the wrong place",
                "Use * alone or before a domain, such as “*.example.com”."
            )
        }
        let normalized = try URLParts.normalizedHost(name)
        return isDomain ? .domain(normalized) : .exact(normalized)
    }

    private static func port(_ digits: ArraySlice<UInt8>?, scheme: String?) throws(URLSyntaxError) -> Port {
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
