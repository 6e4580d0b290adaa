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

    /// Returns `nil` if the loaded file can't refer to others, such as a picture, or is an error.
    ///
    /// - Parameter expected: What it was loaded as.
    init?(_ fetch: Fetch, expected: References.Reference.Kind) {
        guard fetch.hasSucceeded, let syntax = Self.syntax(of: fetch, expected: expected) else { return nil }
        let url = fetch.response?.url ?? fetch.url
        let (text, charset) = DocumentCharset.text(of: fetch.body, DocumentCharset.named(in: fetch.type), as: syntax)
        let references = References(text, as: syntax)
        let base = references.base.flatMap { URLText.resolve($0.bytes, charset: charset, against: url) } ?? url
        let loaded = references.all.filter { $0.kind != .link }.map { (url: $0.url, kind: $0.kind) }
        links = (loaded + references.imports.map { (url: $0, kind: .module) }).compactMap { reference in
            URLText.resolve(reference.url.bytes, charset: charset, against: base)
                .map { Link(url: $0, kind: reference.kind) }
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
