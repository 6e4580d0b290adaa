package import Foundation
import LocalSubstitution

/// A rewriter that replaces the origins in a document's references, for a server with a different address for each origin.
///
/// Only the bytes of scheme and authority change. Paths, quotes and escapes stay as they're written. From HTML, it also removes
/// what would make a browser refuse the result: policies in `<meta>`, and the `integrity` of served style sheets, since they may be
/// rewritten too. URLs in scripts stay unchanged.
package struct ReferenceRewriter: Sendable {
    private let local: @Sendable (WebOrigin) -> String?
    private let scheme: String
    private let document: URL

    /// - Parameters:
    ///   - document: The original URL of the document or style sheet, such as `https://www.example.com/a/b.html`.
    ///   - local: Returns the replacement for a known origin, such as `http://127.0.0.1:49152`; `nil` for an unknown one.
    package init(document: URL, local: @escaping @Sendable (WebOrigin) -> String?) {
        self.local = local
        scheme = document.scheme?.asciiLowercased ?? ""
        self.document = document
    }

    /// Returns a page with its references rewritten; `nil` if nothing had to change.
    package func html(_ bytes: Data, charset: String?) -> Data? {
        guard DocumentCharset.containsASCII(bytes, charset) else { return nil }
        let (document, origin) = (Array(bytes), WebOrigin(of: document.absoluteString))
        let references = References(page: document)
        let base = references.base.map { ReferenceTarget($0.bytes, scheme: scheme, charset: charset) }
        let baseOrigin: WebOrigin? = if case .origin(let named, _) = base { named } else { origin }
        let isBaseServed = baseOrigin == origin || baseOrigin.flatMap(local) != nil

        var edits = references.policies.map { Edit(place: $0, text: "") }
        for reference in references.all {
            let target = ReferenceTarget(reference.url.bytes, scheme: baseOrigin?.scheme ?? scheme, charset: charset)
            let edit = edit(of: reference, leadingTo: target)
            if let edit { edits.append(edit) }
            let isServed = if case .relative = target { isBaseServed } else { edit != nil }
            if isServed { edits += reference.integrity.map { Edit(place: $0, text: "") } }
        }
        return Edit.apply(edits, to: document)
    }

    /// Returns a style sheet with its references rewritten; `nil` if nothing had to change.
    package func css(_ bytes: Data, charset: String?) -> Data? {
        guard DocumentCharset.containsASCII(bytes, charset) else { return nil }
        let document = Array(bytes)
        let edits = References(styleSheet: document).all.compactMap { reference in
            edit(of: reference, leadingTo: ReferenceTarget(reference.url.bytes, scheme: scheme, charset: charset))
        }
        return Edit.apply(edits, to: document)
    }

    /// Returns the URL in a header, such as `Location`, with its origin replaced; `nil` if it doesn't change.
    package func url(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard case .origin(let named, let place) = ReferenceTarget(bytes, scheme: scheme, charset: nil),
            let replacement = local(named)
        else { return nil }
        return String(
            decoding: bytes[..<place.lowerBound] + replacement.utf8 + bytes[place.upperBound...],
            as: UTF8.self
        )
    }

    private func edit(of reference: References.Reference, leadingTo target: ReferenceTarget) -> Edit? {
        guard case .origin(let named, let place) = target, let replacement = local(named) else { return nil }
        return Edit(place: reference.url.place(of: place), text: replacement)
    }
}
