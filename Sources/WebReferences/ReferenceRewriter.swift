package import Foundation
import LocalSubstitution

/// A rewriter that replaces the origins in a document's references, for a server with a different address for each origin.
///
/// Only the bytes of scheme and authority change. Paths, quotes and escapes stay as they're written. In HTML,
/// attributes that would make a browser reject the result get the prefix `data-`: `http-equiv` of a policy in `<meta>`,
/// and `integrity` of served style sheets, which may be rewritten too. URLs in scripts stay unchanged.
package struct ReferenceRewriter: Sendable {
    private let local: @Sendable (WebOrigin) -> String?
    private let scheme: String
    private let document: URL

    /// A range of a text, and the text that replaces it.
    private struct Edit {
        let place: Range<Int>
        let text: String
    }

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
            if let edit = edit(of: target, base: base) {
                edits.append(Edit(place: reference.url.place(of: edit.place), text: edit.text))
            }
            let isServed =
                switch target.kind {
                case .origin(let named): local(named) != nil
                case .relative: isBaseServed
                case .unknown: false
                }
            if isServed { renamed += reference.integrity }
        }
        // Renames attributes, since removing one could join the text around it.
        edits += renamed.map { Edit(place: $0.lowerBound..<$0.lowerBound, text: "data-") }
        return edits.isEmpty ? nil : Self.apply(edits, to: Array(body))
    }

    /// Returns the URL in a header, such as `Location`, with its origin replaced; `nil` if it doesn't change.
    package func url(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        let edit = edit(of: ReferenceTarget(bytes, scheme: scheme, charset: nil), base: origin)
        return edit.map { String(decoding: Self.apply([$0], to: bytes), as: UTF8.self) }
    }

    private var origin: WebOrigin? { WebOrigin(of: document.absoluteString) }

    /// Returns the origin of a document's base.
    private func base(_ reference: SourceText?, charset: String?) -> WebOrigin? {
        guard let reference else { return origin }
        let target = ReferenceTarget(reference.bytes, scheme: scheme, charset: charset)
        return if case .origin(let named) = target.kind { named } else { origin }
    }

    /// Returns the edit that rewrites a reference; `nil` if the reference doesn't change.
    private func edit(of target: ReferenceTarget, base: WebOrigin?) -> Edit? {
        if case .origin(let named) = target.kind, let replacement = local(named) {
            return Edit(place: target.place, text: replacement)
        }
        // `https:a` is relative only to a base with the same scheme, and the server's scheme may be another.
        guard !target.scheme.isEmpty, let base = base.flatMap(local) else { return nil }
        let localScheme = String(base.prefix { $0 != ":" })
        if case .relative = target.kind {
            return target.scheme == localScheme ? nil : Edit(place: target.place, text: localScheme)
        }
        guard target.scheme == localScheme else { return nil }
        return target.missingSlashes.map { Edit(place: $0..<$0, text: "//") }
    }

    /// Returns a text with the edits applied. Of edits that overlap, the first counts.
    private static func apply(_ edits: [Edit], to text: [UInt8]) -> Data {
        var result = Data(capacity: edits.reduce(text.count) { $0 + $1.text.utf8.count })
        var end = 0
        let ordered = edits.ordered { $0.place.lowerBound < $1.place.lowerBound }
        for edit in ordered where edit.place.lowerBound >= end {
            result += text[end..<edit.place.lowerBound]
            result += edit.text.utf8
            end = edit.place.upperBound
        }
        return result + text[end...]
    }
}

/// The target of a reference in an http or https document, as browsers parse it (WHATWG URL §4.4).
private struct ReferenceTarget {
    enum Kind {
        case origin(WebOrigin)
        /// The reference is relative to the document's base. It may begin with the base's scheme, such as `https:a`.
        case relative
        /// The reference has another scheme, a user name or password, or an invalid host.
        case unknown
    }

    private(set) var kind = Kind.unknown
    /// The reference's scheme in lowercase; empty if it has none.
    let scheme: String
    /// The range of the scheme and authority in the reference's bytes. Without an authority, it's only the scheme's.
    private(set) var place: Range<Int>
    /// Where to insert slashes before the host; `nil` if there are two. They may be missing if the scheme isn't the
    /// base's.
    private(set) var missingSlashes: Int?

    /// - Parameters:
    ///   - reference: The URL, with escapes and character references decoded.
    ///   - baseScheme: The scheme of the document's base.
    ///   - charset: The document's charset.
    init(_ reference: [UInt8], scheme baseScheme: String, charset: String?) {
        // Control characters and spaces around the URL don't count, and neither do tabs and line ends in it.
        let start = reference.firstIndex { $0 > 0x20 } ?? reference.count
        let end = (reference.lastIndex { $0 > 0x20 } ?? start - 1) + 1
        var index = start
        /// The index after the last byte that was read, except bytes that are removed from URLs.
        var placeEnd = start
        func read(while isPart: (UInt8) -> Bool) -> [UInt8] {
            var read: [UInt8] = []
            while index < end {
                let byte = reference[index]
                if !byte.isRemovedFromURLs {
                    guard isPart(byte) else { break }
                    read.append(byte)
                    placeEnd = index + 1
                }
                index += 1
            }
            return read
        }

        var named = read { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        place = start..<start
        if named.first?.isLetter == true, index < end, reference[index] == UInt8(ascii: ":") {
            place = start..<placeEnd
            index += 1
        } else {
            named = []
            index = start
        }
        placeEnd = index
        let slashesStart = index
        let scheme = String(decoding: named, as: UTF8.self).asciiLowercased
        self.scheme = scheme
        guard ["", "http", "https"].contains(scheme) else { return }
        let slashes = read { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        // If the scheme isn't that of the base, slashes may be missing.
        guard slashes.count >= 2 || (!scheme.isEmpty && scheme != baseScheme) else {
            kind = .relative
            return
        }
        let authority = read { !"/\\?#".utf8.contains($0) }
        place = start..<placeEnd
        if slashes.count < 2 { missingSlashes = slashesStart }
        if let host = Self.text(of: authority, charset: charset),
            let origin = WebOrigin(of: "\(scheme.isEmpty ? baseScheme : scheme)://\(host)/")
        {
            kind = .origin(origin)
        }
    }

    /// Returns host and port with their percent-encoding decoded; `nil` if a decoded byte isn't allowed in a host.
    private static func text(of authority: [UInt8], charset: String?) -> String? {
        let encoded = authority.indices.compactMap { PercentEncoding.byte(encodedAt: $0, of: authority) }
        guard encoded.allSatisfy({ $0 >= 0x80 || $0.isLetter || $0.isDigit || "-._~".utf8.contains($0) }) else {
            return nil
        }
        return DocumentCharset.text(PercentEncoding.decode(authority), charset)
    }
}
