import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A page or a style sheet that was loaded, and what it refers to.
struct PageDocument: Sendable {
    struct Link: Sendable {
        let url: URL
        /// Where in the bytes the URL stands, as it is written.
        let range: Range<Int>
        let kind: References.Reference.Kind
        let fragment: String?
        let integrity: Range<Int>?
    }

    enum Kind: Sendable {
        case page
        case styleSheet
    }

    let kind: Kind
    let bytes: [UInt8]
    let charset: String?
    let links: [Link]
    /// See ``References/unfit``.
    let unfit: [Range<Int>]
    /// See ``References/placeOfCharset``.
    let placeOfCharset: Int

    /// `nil` if what was loaded refers to nothing, as a picture, or is an error.
    ///
    /// - Parameter expected: What it was loaded as.
    init?(_ fetch: Fetch, expected: Kind?) {
        guard fetch.hasSucceeded, let kind = Self.kind(of: fetch, expected: expected) else { return nil }
        let url = fetch.response?.url ?? fetch.url
        let (bytes, charset) = DocumentCharset.scannable(fetch.body, DocumentCharset.named(in: fetch.type))
        let references = kind == .page ? References(page: bytes) : References(styleSheet: bytes)
        let base = references.base.flatMap { URLText.resolve($0, charset: charset, against: url) } ?? url
        self.kind = kind
        self.bytes = bytes
        self.charset = charset
        links = references.all.compactMap { reference in
            URLText.resolve(reference.url, charset: charset, against: base).map { url in
                Link(
                    url: url,
                    range: reference.range,
                    kind: reference.kind,
                    fragment: URLText.fragment(of: reference.url),
                    integrity: reference.integrity
                )
            }
        }
        unfit = references.unfit
        placeOfCharset = references.placeOfCharset
    }

    /// The type of the answer counts before what was expected, as in browsers.
    private static func kind(of fetch: Fetch, expected: Kind?) -> Kind? {
        switch MIMEType.essence(of: fetch.type) {
        case "text/html", "application/xhtml+xml": expected == .page ? .page : nil
        case "text/css": .styleSheet
        case "", "text/plain", "application/octet-stream": expected
        default: nil
        }
    }
}
