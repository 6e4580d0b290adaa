import Foundation
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A page with its parts: everything that it loads, and what its style sheets, frames and modules load. Each URL is loaded once.
struct LoadedPage: Sendable {
    struct Part: Sendable {
        let url: URL
        let kind: References.Reference.Kind
        fileprivate let depth: Depth
        fileprivate(set) var fetch: Fetch?
    }

    /// How many other parts a part is nested in.
    fileprivate struct Depth {
        var frames = 0
        var styleSheets = 0
    }

    /// The page itself first, then the parts in the order in which they were found.
    private(set) var parts: [Part]
    private(set) var leftOut = LeftOutParts()
    private var places: [String: Int] = [:]

    /// How many parts are loaded at a time: as many as a browser has connections to a host.
    static let width = 6
    /// The largest number of parts of a page, since a server could make up new ones forever.
    static let most = 5_000
    /// The largest number of levels of frames in frames.
    static let deepestFrame = 3
    /// The largest number of levels of style sheets that import others.
    static let deepestStyleSheet = 16

    /// Loads a page.
    ///
    /// - Parameters:
    ///   - request: The request for the page itself.
    ///   - load: Loads one URL.
    ///   - progress: Called with the number of parts that are loaded and the number that are known.
    init(
        _ request: URLRequest,
        load: @escaping @Sendable (URLRequest) async -> Fetch,
        progress: (_ done: Int, _ known: Int) -> Void
    ) async {
        parts = []
        if let url = request.url { add(PageDocument.Link(url: url, kind: .frame), Depth()) }
        await withTaskGroup(of: (Int, Fetch, PageDocument?).self) { group in
            var (started, done) = (0, 0)
            while done < parts.count {
                while started < parts.count, started - done < Self.width {
                    let (number, part) = (started, parts[started])
                    group.addTask {
                        let fetch = await load(number == 0 ? request : URLRequest(url: part.url))
                        return (number, fetch, PageDocument(fetch, expected: part.kind))
                    }
                    started += 1
                }
                guard let (number, fetch, document) = await group.next() else { break }
                done += 1
                parts[number].fetch = fetch
                leftOut.scripts += document?.scripts ?? 0
                for link in document?.links ?? [] { add(link, in: parts[number]) }
                progress(done, parts.count)
            }
        }
        leftOut.forget { places[$0.absoluteString] != nil }
    }

    private mutating func add(_ link: PageDocument.Link, in parent: Part) {
        var depth = parent.depth
        if link.kind == .frame { depth.frames += 1 }
        depth.styleSheets = link.kind == .styleSheet ? depth.styleSheets + 1 : 0
        if depth.frames > Self.deepestFrame {
            leftOut.add(link.url, .frameTooDeep)
        } else if depth.styleSheets > Self.deepestStyleSheet {
            leftOut.add(link.url, .styleSheetTooDeep)
        } else {
            add(link, depth)
        }
    }

    private mutating func add(_ link: PageDocument.Link, _ depth: Depth) {
        let key = link.url.absoluteString
        guard places[key] == nil else { return }
        guard parts.count <= Self.most else { return leftOut.add(link.url, .tooMany) }
        places[key] = parts.count
        parts.append(Part(url: link.url, kind: link.kind, depth: depth))
    }

    var fetches: [Fetch] { parts.compactMap(\.fetch) }
}
