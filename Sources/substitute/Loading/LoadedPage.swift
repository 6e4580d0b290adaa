import Foundation
import LocalSubstitution
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A page with its parts: everything that it loads, and what its style sheets, frames and modules load. Each URL is loaded once.
struct LoadedPage: Sendable {
    struct Part: Sendable {
        let url: URL
        let kind: References.Reference.Kind
        /// How many frames and how many style sheets the part is nested in.
        fileprivate var frames = 0
        fileprivate var styleSheets = 0
        fileprivate(set) var fetch: Fetch?
    }

    /// The page itself first, then the parts in the order in which they were found.
    private(set) var parts: [Part] = []
    /// The parts' URLs.
    private var known: Set<String> = []
    private var leftOut: [(url: URL, reason: LeftOutReason)] = []
    private var knownLeftOut: Set<String> = []
    /// The number of scripts, each of which may load more.
    private var scripts = 0

    /// How many parts are loaded at a time: as many as a browser has connections to a host.
    private static let width = 6
    /// The largest number of parts of a page. There's a limit, since a server could generate new parts forever.
    private static let most = 5_000
    /// How many frames deep a part may be. A frame of the page itself is 1 deep.
    private static let deepestFrame = 3
    /// The largest depth of style sheets that import others.
    private static let deepestStyleSheet = 16

    private enum LeftOutReason { case frameTooDeep, styleSheetTooDeep, tooMany }

    /// Loads a page.
    ///
    /// - Parameters:
    ///   - request: The request for the page itself.
    ///   - loader: Loads each URL.
    ///   - progress: Called with the number of parts that are loaded and the number that are known.
    init(_ request: URLRequest, with loader: Loader, progress: (_ done: Int, _ known: Int) -> Void) async {
        if let url = request.url { add(Part(url: url, kind: .frame)) }
        await withTaskGroup(of: (Int, Fetch, Document?).self) { group in
            var (started, done) = (0, 0)
            while done < parts.count {
                while started < parts.count, started - done < Self.width {
                    let (number, part) = (started, parts[started])
                    group.addTask {
                        let fetch = await loader.load(number == 0 ? request : URLRequest(url: part.url))
                        return (number, fetch, Document(fetch, expected: part.kind))
                    }
                    started += 1
                }
                guard let (number, fetch, document) = await group.next() else { break }
                done += 1
                parts[number].fetch = fetch
                scripts += document?.scripts ?? 0
                for part in document?.parts ?? [] { add(part, in: parts[number]) }
                progress(done, parts.count)
            }
        }
    }

    var fetches: [Fetch] { parts.compactMap(\.fetch) }

    private mutating func add(_ part: Part, in parent: Part) {
        var part = part
        part.frames = parent.frames + (part.kind == .frame ? 1 : 0)
        part.styleSheets = part.kind == .styleSheet ? parent.styleSheets + 1 : 0
        if part.frames > Self.deepestFrame {
            leaveOut(part.url, .frameTooDeep)
        } else if part.styleSheets > Self.deepestStyleSheet {
            leaveOut(part.url, .styleSheetTooDeep)
        } else {
            add(part)
        }
    }

    private mutating func add(_ part: Part) {
        guard !known.contains(part.url.absoluteString) else { return }
        guard parts.count <= Self.most else { return leaveOut(part.url, .tooMany) }
        known.insert(part.url.absoluteString)
        parts.append(part)
    }

    private mutating func leaveOut(_ url: URL, _ reason: LeftOutReason) {
        if knownLeftOut.insert(url.absoluteString).inserted { leftOut.append((url, reason)) }
    }

    /// The lines to print about parts that weren't loaded: one for each reason, and one for scripts.
    var leftOutLines: [String] {
        // Other references may have loaded some of the parts after all.
        let leftOut = leftOut.filter { !known.contains($0.url.absoluteString) }
        let places = [
            (LeftOutReason.frameTooDeep, "more than \(Self.deepestFrame) frames deep"),
            (.styleSheetTooDeep, "more than \(Self.deepestStyleSheet) style sheets deep"),
            (.tooMany, "beyond the limit of \(Self.most.grouped) parts"),
        ]
        var lines = places.compactMap { reason, place -> String? in
            let urls = leftOut.filter { $0.reason == reason }.map(\.url.absoluteString)
            return urls.first.map { "\(urls.count.grouped) \(place), \(urls.count == 1 ? "" : "such as ")\($0)" }
        }
        if scripts > 0 {
            lines.append("URLs that \(scripts.counted("script builds", "scripts build")), which aren't known")
        }
        return lines
    }
}

/// A page, a style sheet or a module that was loaded, and what it refers to.
private struct Document: Sendable {
    /// The references that are loaded with the document, without links that a reader may follow.
    let parts: [LoadedPage.Part]
    /// The number of its scripts.
    let scripts: Int

    /// Finds the parts of a loaded document. Returns `nil` if the load failed, the status isn't 2xx, or the file can't
    /// have references, such as a picture.
    ///
    /// - Parameter expected: The kind of the reference that led to the document.
    init?(_ fetch: Fetch, expected: References.Reference.Kind) {
        guard fetch.hasSucceeded, let syntax = Self.syntax(of: fetch, expected: expected) else { return nil }
        let url = fetch.response?.url ?? fetch.url
        let (text, charset) = DocumentCharset.text(of: fetch.body, DocumentCharset.named(in: fetch.type), as: syntax)
        let references = References(text, as: syntax)
        let base = references.base.flatMap { URLText.resolve($0.bytes, charset: charset, against: url) } ?? url
        let loaded = references.all.filter { $0.kind != .link }.map { (url: $0.url, kind: $0.kind) }
        parts = (loaded + references.imports.map { (url: $0, kind: .module) }).compactMap { reference in
            URLText.resolve(reference.url.bytes, charset: charset, against: base)
                .map { LoadedPage.Part(url: $0, kind: reference.kind) }
        }
        scripts = references.scripts
    }

    /// Returns the document's syntax. As in browsers, the response's type takes precedence over the expected kind.
    private static func syntax(of fetch: Fetch, expected: References.Reference.Kind) -> References.Syntax? {
        let expected: References.Syntax? =
            switch expected {
            case .frame: .html
            case .styleSheet: .css
            case .module: .module
            case .script, .other, .link: nil
            }
        return switch MIMEType.essence(of: fetch.type) {
        case "text/html": expected == .html ? .html : nil
        case "application/xhtml+xml": expected == .html ? .xhtml : nil
        case "text/css": .css
        case "text/javascript", "application/javascript", "application/x-javascript":
            expected == .module ? .module : nil
        case "", "text/plain", "application/octet-stream": expected
        default: nil
        }
    }
}
