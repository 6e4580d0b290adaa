import Foundation

/// A page with its parts: all that it refers to, and what its style sheets refer to. Each URL is loaded once.
struct LoadedPage: Sendable {
    struct Part: Sendable {
        let url: URL
        let kind: References.Reference.Kind
        /// How many documents lead to it.
        let depth: Int
        fileprivate(set) var fetch: Fetch?
        fileprivate(set) var document: PageDocument?
    }

    /// The page itself first, then the parts in the order in which they were found.
    private(set) var parts: [Part]
    /// Whether there were more parts than are loaded.
    private(set) var isCutShort = false
    private var places: [String: Int] = [:]

    /// As many at a time as a browser has connections to a host.
    static let width = 6
    /// Of parts. A server can make up more endlessly.
    static let most = 5_000
    /// Of style sheets that import others.
    static let deepest = 16

    /// Loads a page.
    ///
    /// - Parameters:
    ///   - load: Loads one URL.
    ///   - progress: Is told how many are loaded, and how many are known.
    init(
        _ url: URL,
        load: @escaping @Sendable (URL) async -> Fetch,
        progress: (_ done: Int, _ known: Int) -> Void
    ) async {
        parts = [Part(url: url, kind: .other, depth: 0)]
        places[url.absoluteString] = 0
        await withTaskGroup(of: (Int, Fetch, PageDocument?).self) { group in
            var (started, done) = (0, 0)
            while done < parts.count {
                while started < parts.count, started - done < Self.width {
                    let (number, part) = (started, parts[started])
                    let expected: PageDocument.Kind? =
                        number == 0 ? .page : part.kind == .styleSheet ? .styleSheet : nil
                    group.addTask {
                        let fetch = await load(part.url)
                        return (
                            number, fetch, part.depth < Self.deepest ? PageDocument(fetch, expected: expected) : nil
                        )
                    }
                    started += 1
                }
                guard let (number, fetch, document) = await group.next() else { break }
                done += 1
                parts[number].fetch = fetch
                parts[number].document = document
                for link in document?.links ?? [] { add(link, depth: parts[number].depth + 1) }
                progress(done, parts.count)
            }
        }
    }

    private mutating func add(_ link: PageDocument.Link, depth: Int) {
        let key = link.url.absoluteString
        guard places[key] == nil else { return }
        guard parts.count <= Self.most else { return isCutShort = true }
        places[key] = parts.count
        parts.append(Part(url: link.url, kind: link.kind, depth: depth))
    }

    /// What was loaded for a URL.
    func part(for url: URL) -> Part? { places[url.absoluteString].map { parts[$0] } }

    var fetches: [Fetch] { parts.compactMap(\.fetch) }
}
