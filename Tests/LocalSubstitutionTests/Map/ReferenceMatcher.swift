@testable import LocalSubstitution

/// The rules for matching, implemented as plainly as possible: it tries every entry, backtracks for wildcards, and sorts the
/// matches. It takes URLs and keys in parts, so that nothing has to be parsed.
enum ReferenceMatcher {
    struct Parameter: Hashable {
        let name: String
        let value: String?

        var text: String { value.map { "\(name)=\($0)" } ?? name }
    }

    /// A URL, or a key with wildcards.
    struct Address {
        /// `*` for http or https.
        var scheme: String
        /// `*` for any host, `*.x` for x and its subdomains.
        var host: String
        /// `nil` for the default port, `*` for any.
        var port: String?
        var path: String
        var query: [Parameter]?

        var text: String {
            "\(scheme)://\(host)\(port.map { ":" + $0 } ?? "")\(path)"
                + (query.map { "?" + $0.map(\.text).joined(separator: "&") } ?? "")
        }

        var isPattern: Bool {
            [scheme, host, port ?? "", path].contains { $0.utf8.contains(0x2A) }
                || query?.contains { $0.text.utf8.contains(0x2A) } == true
        }
    }

    struct Entry {
        let key: Address
        /// `nil` if the entry is `null`.
        let file: String?
        let isEnabled: Bool
        /// The parameters to ignore; `nil` if the entry has no `ignoreQuery`.
        let ignored: Set<String>?
    }

    struct Match {
        let entry: Entry
        let file: String?
        fileprivate let rank: [Int]
    }

    /// Returns all entries that match, the winner first.
    static func matches(_ url: Address, _ entries: [Entry]) -> [Match] {
        entries.compactMap { $0.key.isPattern ? pattern($0, url) : exact($0, url) }.sorted { first, second in
            first.rank == second.rank
                ? first.entry.key.text < second.entry.key.text : second.rank.lexicographicallyPrecedes(first.rank)
        }
    }

    // MARK: Exact keys

    private static func exact(_ entry: Entry, _ url: Address) -> Match? {
        let key = entry.key
        guard key.scheme == url.scheme, key.host == url.host, port(key, key.scheme) == port(url, url.scheme),
            key.path == url.path
        else { return nil }
        // An entry that matches without ignoring wins, and then the one with more parameters left.
        if sorted(key.query) == sorted(url.query) { return Match(entry: entry, file: entry.file, rank: [1, 1]) }
        guard let ignored = entry.ignored else { return nil }
        let left = kept(url.query, ignored)
        guard sorted(kept(key.query, ignored)) == sorted(left) else { return nil }
        return Match(entry: entry, file: entry.file, rank: [1, 0, left?.count ?? 0])
    }

    private static func kept(_ query: [Parameter]?, _ ignored: Set<String>) -> [Parameter]? {
        let left = query?.filter { !ignored.contains($0.name) }
        return left?.isEmpty == true ? nil : left
    }

    /// Sorts parameters by name. Those with equal names keep their order.
    private static func sorted(_ query: [Parameter]?) -> [Parameter]? {
        guard let query else { return nil }
        return Set(query.map(\.name)).sorted().flatMap { name in query.filter { $0.name == name } }
    }

    private static func port(_ address: Address, _ scheme: String) -> String {
        address.port ?? (scheme == "https" ? "443" : "80")
    }

    // MARK: Match patterns

    private static func pattern(_ entry: Entry, _ url: Address) -> Match? {
        let key = entry.key
        guard key.scheme == "*" || key.scheme == url.scheme, let host = hostRank(key.host, url.host),
            key.port == "*" || port(key, url.scheme) == port(url, url.scheme)
        else { return nil }
        let query = kept(key.query, entry.ignored ?? [])
        let asked = kept(url.query, entry.ignored ?? [])
        // The wildcards are numbered in the order of the key, which sorting the parameters must not change.
        var numbered = 0
        let path = tokens(key.path, &numbered)
        let parameters = query?.map { ($0.name, tokens($0.text, &numbered)) } ?? []
        var taken: [Int: String] = [:]
        let isMatch =
            glob(path + joined(parameters.map(\.1)), url.path + text(asked), &taken)
            // Only a key with several parameters has an order that can differ.
            || parameters.count > 1
                && glob(path + joined(inOrder(parameters)), url.path + text(sorted(asked)), &taken)
        guard isMatch else { return nil }

        // Counts the characters of the normal form.
        let whole = (key.path + text(query)).replacing("'", with: "%27")
        let rank = [
            0, host, whole.prefix { $0 != "*" }.count, whole.filter { $0 != "*" }.count, key.scheme == "*" ? 0 : 1,
            key.port == "*" ? 0 : 1, entry.ignored == nil ? 1 : 0,
        ]
        guard let file = entry.file, file.contains("*") else {
            return Match(entry: entry, file: entry.file, rank: rank)
        }
        return filled(file, taken).map { Match(entry: entry, file: $0, rank: rank) }
    }

    /// Ranks an exact host first, then the longer suffix, then any host.
    private static func hostRank(_ pattern: String, _ host: String) -> Int? {
        if pattern == "*" { return 0 }
        guard pattern.hasPrefix("*.") else { return pattern == host ? 1_000 : nil }
        return host == pattern.dropFirst(2) || host.hasSuffix(pattern.dropFirst()) ? pattern.count : nil
    }

    private enum Token {
        case literal(Character)
        case wildcard(Int)
    }

    private static func tokens(_ text: String, _ numbered: inout Int) -> [Token] {
        text.map { character in
            guard character == "*" else { return .literal(character) }
            defer { numbered += 1 }
            return .wildcard(numbered)
        }
    }

    private static func joined(_ parameters: [[Token]]) -> [Token] {
        parameters.enumerated().flatMap { [.literal($0 == 0 ? "?" : "&")] + $1 }
    }

    private static func inOrder(_ parameters: [(String, [Token])]) -> [[Token]] {
        Set(parameters.map(\.0)).sorted().flatMap { name in parameters.filter { $0.0 == name }.map(\.1) }
    }

    private static func text(_ query: [Parameter]?) -> String {
        query.map { "?" + $0.map(\.text).joined(separator: "&") } ?? ""
    }

    private static func glob(_ tokens: [Token], _ text: String, _ taken: inout [Int: String]) -> Bool {
        glob(tokens[...], Array(text)[...], &taken)
    }

    /// Tries the shortest match first, for each wildcard.
    private static func glob(
        _ tokens: ArraySlice<Token>,
        _ text: ArraySlice<Character>,
        _ taken: inout [Int: String]
    ) -> Bool {
        switch tokens.first {
        case nil: return text.isEmpty
        case .literal(let character):
            return text.first == character && glob(tokens.dropFirst(), text.dropFirst(), &taken)
        case .wildcard(let number):
            for count in 0...text.count where glob(tokens.dropFirst(), text.dropFirst(count), &taken) {
                taken[number] = String(text.prefix(count))
                return true
            }
            return false
        }
    }

    // MARK: File names

    private static func filled(_ file: String, _ taken: [Int: String]) -> String? {
        var numbered = 0
        var name = ""
        for token in tokens(file, &numbered) {
            switch token {
            case .literal(let character): name.append(character)
            case .wildcard(let number): name += (taken[number] ?? "").prefix { $0 != "?" }
            }
        }
        if name.isEmpty || name.hasSuffix("/") { name += "index.html" }
        let segments = name.split(separator: "/", omittingEmptySubsequences: false)
        return segments.contains { $0.isEmpty || $0.hasPrefix(".") } ? nil : name
    }
}
