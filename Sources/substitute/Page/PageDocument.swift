import Foundation
import LocalSubstitution
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A page, a style sheet or a module that was loaded, and what it refers to.
struct PageDocument: Sendable {
    struct Link: Sendable {
        let url: URL
        let kind: References.Reference.Kind
    }

    /// The references that are loaded with it. Links that a reader may follow aren't among them.
    let links: [Link]
    /// The number of its scripts.
    let scripts: Int

    private enum Kind {
        case page
        case styleSheet
        case module
    }

    /// Returns `nil` if the loaded file can't refer to others, such as a picture, or is an error.
    ///
    /// - Parameter expected: What it was loaded as.
    init?(_ fetch: Fetch, expected: References.Reference.Kind) {
        guard fetch.hasSucceeded, let kind = Self.kind(of: fetch, expected: expected) else { return nil }
        let url = fetch.response?.url ?? fetch.url
        let (bytes, charset) = DocumentCharset.scannable(fetch.body, DocumentCharset.named(in: fetch.type))
        let references =
            switch kind {
            case .page: References(page: bytes)
            case .styleSheet: References(styleSheet: bytes)
            case .module: References(module: bytes)
            }
        let base = references.base.flatMap { URLText.resolve($0.bytes, charset: charset, against: url) } ?? url
        let loaded = references.all.filter { $0.kind != .link }.map { (url: $0.url, kind: $0.kind) }
        links = (loaded + references.imports.map { (url: $0, kind: .module) }).compactMap { reference in
            URLText.resolve(reference.url.bytes, charset: charset, against: base)
                .map { Link(url: $0, kind: reference.kind) }
        }
        scripts = references.scripts
    }

    /// Returns the document's kind. As in browsers, the response's type takes precedence over the expected kind.
    private static func kind(of fetch: Fetch, expected: References.Reference.Kind) -> Kind? {
        let expected: Kind? =
            switch expected {
            case .frame: .page
            case .styleSheet: .styleSheet
            case .module: .module
            case .script, .other, .link: nil
            }
        return switch MIMEType.essence(of: fetch.type) {
        case "text/html", "application/xhtml+xml": expected == .page ? .page : nil
        case "text/css": .styleSheet
        case "text/javascript", "application/javascript", "application/x-javascript":
            expected == .module ? .module : nil
        case "", "text/plain", "application/octet-stream": expected
        default: nil
        }
    }
}
