/// Which of several patterns wins if they match the same URL.
extension MatchPattern {
    /// Returns whether a pattern's entry comes before another pattern's entry: the one with the greater rank or, if both
    /// have the same rank, the one that ignores no query parameters or, if that's the same too, the one whose key is
    /// alphabetically first.
    static func precedes(
        _ first: (entry: Entry, pattern: MatchPattern),
        _ second: (entry: Entry, pattern: MatchPattern)
    ) -> Bool {
        if first.pattern.rank != second.pattern.rank {
            return second.pattern.rank.lexicographicallyPrecedes(first.pattern.rank)
        }
        let ignores = (first.entry.options.ignoreQuery != nil, second.entry.options.ignoreQuery != nil)
        return ignores.0 == ignores.1 ? first.entry.key < second.entry.key : ignores.1
    }

    /// Returns the numbers that rank a pattern, most important first: host, length of the path before its first
    /// wildcard, number of literal bytes, scheme, port.
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
