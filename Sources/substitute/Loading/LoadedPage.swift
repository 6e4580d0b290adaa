import Foundation
import LocalSubstitution
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A page and its parts. The parts are the files that the page, its style sheets, its frames and its modules refer to.
/// Each URL is loaded once. URLs that scripts build aren't known.
struct LoadedPage: Sendable {
    /// The page or one of its parts.
    struct Part: Sendable {
        let url: URL
        let kind: References.Reference.Kind
        /// The number of frames around the part, including the part if it's a frame itself; 0 for the page.
        fileprivate var frames = 0
        /// For a style sheet, the number of style sheets in the chain of imports in which it was found, including
        /// itself; 0 for any other part.
        fileprivate var styleSheets = 0
        /// The load of the part; `nil` until the load has ended.
        fileprivate(set) var fetch: Fetch?
    }

    /// The page itself, then the parts in the order in which they were found.
    private(set) var parts: [Part] = []
    /// The URLs of the page and all parts.
    private var known: Set<String> = []
    private var leftOut: [(url: URL, reason: LeftOutReason)] = []
    private var knownLeftOut: Set<String> = []
    /// The number of scripts in the page and its parts. Each script may load more URLs, which aren't known.
    private var scripts = 0

    /// How many parts to load at a time. Browsers open this many connections to a host.
    private static let width = 6
    /// The largest number of parts to load, since a server could generate parts without end.
    private static let most = 5_000
    /// How many frames deep a part may be. A frame in the page itself is 1 deep.
    private static let deepestFrame = 3
    /// How many style sheets deep a style sheet may be. A style sheet that the page refers to is 1 deep. The style
    /// sheets that it imports are 2 deep.
    private static let deepestStyleSheet = 16

    /// The limit that a part exceeds.
    private enum LeftOutReason { case frameTooDeep, styleSheetTooDeep, tooMany }

    /// Loads a page and its parts.
    ///
    /// - Parameters:
    ///   - request: The request for the page itself.
    ///   - loader: The loader of the page and its parts.
    ///   - progress: Called after each load. `done` is the number of parts loaded so far, and `known` the number found
    ///     so far. Both count the page itself.
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

    /// The loads of the page and its parts, in the order of ``parts``.
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

    /// The lines to print about parts that weren't loaded. Each line is about one limit, or about all scripts. Empty if
    /// no part was left out and there are no scripts.
    var leftOutLines: [String] {
        // A part that's too deep in one place may be referenced in another place, too, and loaded from there.
        let leftOut = leftOut.filter { !known.contains($0.url.absoluteString) }
        let places = [
            (LeftOutReason.frameTooDeep, "more than \(Self.deepestFrame) frames deep"),
            (.styleSheetTooDeep, "more than \(Self.deepestStyleSheet) style sheets deep"),
            (.tooMany, "beyond the limit of \(Self.most.grouped)"),
        ]
        var lines = places.compactMap { reason, place -> String? in
            let urls = leftOut.filter { $0.reason == reason }.map(\.url.absoluteString)
            return urls.first.map {
                "\(urls.count.counted("part", "parts")) \(place), \(urls.count == 1 ? "" : "such as ")\($0)"
            }
        }
        if scripts > 0 {
            lines.append("URLs that \(scripts.counted("script builds", "scripts build")), which aren't known")
        }
        return lines
    }
}

/// The references in a loaded page, frame, style sheet or module.
private struct Document: Sendable {
    /// The parts that a browser loads with the document. Links that a reader may follow aren't parts.
    let parts: [LoadedPage.Part]
    /// The number of scripts in the document.
    let scripts: Int

    /// Finds the parts of a loaded document. Returns `nil` if the load failed, if the status isn't 2xx, or if the
    /// response can't contain references, such as a picture.
    ///
    /// - Parameters:
    ///   - fetch: The load of the document.
    ///   - expected: The kind of the reference that led to the document.
    init?(_ fetch: Fetch, expected: References.Reference.Kind) {
        guard fetch.hasSucceeded, let syntax = Self.syntax(of: fetch, expected: expected) else { return nil }
        let url = fetch.response?.url ?? fetch.url
        let charset = DocumentCharset.charset(of: fetch.body, DocumentCharset.named(in: fetch.type), as: syntax)
        let references = References(DocumentCharset.text(of: fetch.body, in: charset), as: syntax)
        let base = references.base.flatMap { URLText.resolve($0.bytes, charset: charset, against: url) } ?? url
        let loaded = references.all.filter { $0.kind != .link }.map { (url: $0.url, kind: $0.kind) }
        parts = (loaded + references.imports.map { (url: $0, kind: .module) }).compactMap { reference in
            URLText.resolve(reference.url.bytes, charset: charset, against: base)
                .map { LoadedPage.Part(url: $0, kind: reference.kind) }
        }
        scripts = references.scripts
    }

    /// Returns the syntax in which to look for references; `nil` to look for none. As in browsers, the response's type
    /// decides. But HTML and XHTML count only if a frame is expected, and JavaScript only if a module is expected.
    ///
    /// If the type is missing or generic, such as `text/plain`, the expected kind decides instead.
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
