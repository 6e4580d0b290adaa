package import LocalSubstitution

/// The origins whose URLs a map's entries may match. Disabled entries and `null` entries are ignored.
package struct MapOrigins: Sendable {
    /// The origins of the keys without a wildcard in the host or port, such as `https://www.example.com`, in the order
    /// of the keys' lines. A pattern without a scheme has two origins: one with https and one with http.
    package private(set) var named: [String] = []
    private var known: Set<String> = []
    /// For each origin, the number of slashes in the path of its least deep HTML document. Origins without an HTML
    /// document are missing.
    private var documents: [String: Int] = [:]
    /// The keys that are patterns with a wildcard in the host or port.
    private var open: [MatchPattern] = []
    private let map: SubstitutionMap

    package init(_ map: SubstitutionMap) {
        self.map = map
        for entry in map.entries.ordered(by: { $0.line < $1.line })
        where entry.options.isEnabled && !entry.options.isNever {
            switch try? MapKey(entry.key) {
            case .url(let url):
                add([url.origin])
                addDocument(entry, url)
            case .pattern(let pattern) where pattern.origins.isEmpty: open.append(pattern)
            case .pattern(let pattern): add(pattern.origins)
            case nil: continue
            }
        }
    }

    /// The origins in ``named``, with the page's origin probably first: sorted by the number of slashes in the path of
    /// their least deep HTML document, since a page is usually less deep than a frame. Origins without HTML are last.
    package var namedPageFirst: [String] {
        named.ordered { [documents] in documents[$0] ?? .max < documents[$1] ?? .max }
    }

    private mutating func addDocument(_ entry: Entry, _ url: NormalizedURL) {
        guard let answer = entry.respondingToEveryGet else { return }
        let type = Substitution(answer, fileName: answer.file?.text, folder: map.resources, url: url).mimeType
        guard ["text/html", "application/xhtml+xml"].contains(type) else { return }
        let depth = url.path.utf8.count { $0 == UInt8(ascii: "/") }
        documents[url.origin] = min(depth, documents[url.origin] ?? .max)
    }

    private mutating func add(_ origins: [String]) { named += origins.filter { known.insert($0).inserted } }

    /// Returns whether these origins were made from this map or a copy of it.
    package func isOf(_ map: SubstitutionMap) -> Bool { self.map.isCopy(of: map) }

    /// Returns whether a key names the origin, or a pattern with a wildcard in the host or port matches it.
    package func contains(_ origin: String) -> Bool {
        guard !known.contains(origin) else { return true }
        guard !open.isEmpty, let url = try? NormalizedURL(origin) else { return false }
        return open.contains { $0.matchesSchemeAndPort(url) && $0.host.includes(url.host) }
    }
}

extension MatchPattern {
    /// The origins that the pattern matches: https and http if it has no scheme. Empty if its host or port has a
    /// wildcard.
    fileprivate var origins: [String] {
        guard case .exact(let host) = host, port != .any else { return [] }
        return (scheme.map { [$0] } ?? ["https", "http"]).map { "\($0)://\(host)\(port)" }
    }
}
