/// The patterns to search for a misspelling: of a URL's host, or of its path before the pattern's first wildcard.
struct MisspelledPatterns: Sendable {
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
