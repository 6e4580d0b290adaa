package import Foundation
import LocalSubstitution

/// A rewriter that replaces the origins in a document's references, for a server with a different address for each origin.
///
/// Only the bytes of scheme and authority change. Paths, quotes and escapes stay as they're written. In HTML, what would make a
/// browser refuse the result gets another name, with `data-` in front: `http-equiv` of a policy in `<meta>`, and `integrity` of
/// served style sheets, since they may be rewritten too. URLs in scripts stay unchanged.
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

    /// Returns a document with its references rewritten; `nil` if nothing had to change.
    ///
    /// - Parameter charset: The charset in the `Content-Type`.
    package func rewritten(_ body: Data, as syntax: References.Syntax, charset: String?) -> Data? {
        guard let (text, charset) = DocumentCharset.editableText(of: body, charset, as: syntax) else { return nil }
        let references = References(text, as: syntax)
        let base = base(references.base, charset: charset)
        let isBaseServed = base == origin || base.flatMap(local) != nil

        var renamed = references.policies
        var edits: [Edit] = []
        for reference in references.all {
            let target = ReferenceTarget(reference.url.bytes, scheme: base?.scheme ?? scheme, charset: charset)
            if let (place, text) = edit(of: target, base: base) {
                edits.append(Edit(place: reference.url.place(of: place), text: text))
            }
            let isServed =
                switch target.kind {
                case .origin(let named): local(named) != nil
                case .relative: isBaseServed
                case .unknown: false
                }
            if isServed { renamed += reference.integrity }
        }
        // A longer name can't join what's around it, as its removal could.
        edits += renamed.map { Edit(place: $0.lowerBound..<$0.lowerBound, text: "data-") }
        return Edit.apply(edits, to: Array(body))
    }

    /// Returns the URL in a header, such as `Location`, with its origin replaced; `nil` if it doesn't change.
    package func url(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        let target = ReferenceTarget(bytes, scheme: scheme, charset: nil)
        guard let (place, replacement) = edit(of: target, base: origin) else { return nil }
        return String(
            decoding: bytes[..<place.lowerBound] + replacement.utf8 + bytes[place.upperBound...],
            as: UTF8.self
        )
    }

    private var origin: WebOrigin? { WebOrigin(of: document.absoluteString) }

    /// Returns the origin of a document's base.
    private func base(_ reference: SourceText?, charset: String?) -> WebOrigin? {
        guard let reference else { return origin }
        let target = ReferenceTarget(reference.bytes, scheme: scheme, charset: charset)
        return if case .origin(let named) = target.kind { named } else { origin }
    }

    /// Returns the part of a reference that changes, and what replaces it; `nil` if it doesn't change.
    private func edit(of target: ReferenceTarget, base: WebOrigin?) -> (place: Range<Int>, text: String)? {
        if case .origin(let named) = target.kind, let replacement = local(named) { return (target.place, replacement) }
        // `https:a` is relative only to a base with the same scheme, and the server's scheme may be another.
        guard !target.scheme.isEmpty, let base = base.flatMap(local) else { return nil }
        let localScheme = String(base.prefix { $0 != ":" })
        if case .relative = target.kind {
            return target.scheme == localScheme ? nil : (target.place, localScheme)
        }
        return target.scheme == localScheme ? target.missingSlashes.map { ($0..<$0, "//") } : nil
    }
}
