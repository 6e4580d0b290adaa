package import Foundation
import HTTPSyntax
import LocalSubstitution

/// A rewriter that replaces the origins in a document's references, for a server that has another address for each
/// origin.
///
/// It changes only the bytes of a reference's scheme and authority. Paths, quotes, escapes, and URLs in scripts don't
/// change.
///
/// In HTML and XHTML, the rewriter also disables two attributes that would make a browser reject what the server sends:
/// `http-equiv` of a content security policy in `<meta>`, and `integrity` of a style sheet from a served origin, which
/// may be rewritten too. It puts `data-` before the attributes' names. It replaces referrer policies that hide the
/// page's origin from other origins, and `noreferrer` of a form, since the server must know which page sends a form.
package struct ReferenceRewriter: Sendable {
    private let origin: WebOrigin
    private let local: @Sendable (WebOrigin) -> String?

    private struct Edit {
        let place: Range<Int>
        let text: String
    }

    /// - Parameters:
    ///   - origin: The origin of the documents to rewrite.
    ///   - local: Returns the local origin that replaces an origin, such as `http://127.0.0.1:49152`; `nil` if the
    ///     origin isn't replaced.
    package init(of origin: WebOrigin, local: @escaping @Sendable (WebOrigin) -> String?) {
        self.origin = origin
        self.local = local
    }

    /// `nil` if nothing had to change, or the document is in UTF-16 or ISO-2022-JP.
    ///
    /// - Parameter charset: The charset in the `Content-Type`; `nil` if it names none.
    package func rewritten(_ body: Data, as syntax: References.Syntax, charset: String?) -> Data? {
        let charset = DocumentCharset.charset(of: body, charset, as: syntax)
        guard DocumentCharset.isEditable(charset) else { return nil }
        let references = References(DocumentCharset.text(of: body, in: charset), as: syntax)
        // A `<base>` without an origin leaves the document's own.
        let named = references.base.map { ReferenceTarget($0.bytes, scheme: origin.scheme, charset: charset) }
        let base = named?.origin ?? origin
        let isBaseServed = base == origin || local(base) != nil

        var renamed = references.policies
        var edits: [Edit] = []
        for reference in references.all {
            let target = ReferenceTarget(reference.url.bytes, scheme: base.scheme, charset: charset)
            if let edit = edit(of: target, base: base) {
                edits.append(Edit(place: reference.url.place(of: edit.place), text: edit.text))
            }
            let isServed = target.isRelative ? isBaseServed : target.origin.flatMap(local) != nil
            if isServed { renamed += reference.integrity }
        }
        // Attributes are renamed, not removed: removing an attribute could join the text before it to the text after
        // it.
        edits += renamed.map { Edit(place: $0.lowerBound..<$0.lowerBound, text: "data-") }
        edits += references.referrerPolicies.map {
            Edit(place: $0.place(of: 0..<$0.bytes.count), text: Self.referrerPolicy)
        }
        // `noreferrer` implies `noopener`, which stays.
        edits += references.noReferrers.map { Edit(place: $0.place(of: 0..<$0.bytes.count), text: "noopener") }
        return edits.isEmpty ? nil : Self.apply(edits, to: Array(body))
    }

    /// The referrer policy that replaces one that hides the page's origin. It's browsers' default.
    private static let referrerPolicy = "strict-origin-when-cross-origin"

    /// Replaces the policies of a `Referrer-Policy` header that hide the page's origin.
    package static func referrerPolicy(_ header: String) -> String {
        HTTPSyntax.elements(of: header).map(String.init).map {
            References.hidingPolicies.contains($0.asciiLowercased) ? referrerPolicy : $0
        }
        .joined(separator: ", ")
    }

    /// Replaces the origin of a URL in a header, such as `Location`; `nil` if the URL doesn't change.
    package func url(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        let edit = edit(of: ReferenceTarget(bytes, scheme: origin.scheme, charset: nil), base: origin)
        return edit.map { String(decoding: Self.apply([$0], to: bytes), as: UTF8.self) }
    }

    /// Replaces the origin of the URL in a `Refresh` header. Browsers read the header as they read the `content` of
    /// `<meta http-equiv=refresh>`, so `url=` can be missing.
    package func refresh(_ header: String) -> String {
        let bytes = Array(header.utf8)
        guard let place = References.refreshURL(in: bytes),
            let url = self.url(String(decoding: bytes[place], as: UTF8.self))
        else { return header }
        return String(decoding: Self.apply([Edit(place: place, text: url)], to: bytes), as: UTF8.self)
    }

    /// `nil` if the reference doesn't change.
    ///
    /// - Parameter base: The origin of the document's base.
    private func edit(of target: ReferenceTarget, base: WebOrigin) -> Edit? {
        if let replacement = target.origin.flatMap(local) { return Edit(place: target.place, text: replacement) }
        // Browsers read `https:a` as a relative URL if the base is an https URL, otherwise as `https://a`. The served
        // document's base has the server's scheme, so the reference may need a change to keep its meaning.
        guard !target.scheme.isEmpty, let localBase = local(base) else { return nil }
        let localScheme = String(localBase.prefix { $0 != ":" })
        if target.isRelative {
            return target.scheme == localScheme ? nil : Edit(place: target.place, text: localScheme)
        }
        guard target.scheme == localScheme else { return nil }
        return target.missingSlashes.map { Edit(place: $0..<$0, text: "//") }
    }

    /// If edits overlap, only the one that begins first in the text is applied.
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
    /// The origin that the reference names. `nil` if the reference is relative, its scheme isn't http or https, its
    /// host is invalid, or it has a user name or password.
    private(set) var origin: WebOrigin?
    /// Whether the reference is relative to the document's base. A relative reference can begin with the base's scheme:
    /// `https:a` is relative to an https base.
    private(set) var isRelative = false
    /// The reference's scheme in lowercase; empty if it has none.
    let scheme: String
    /// The range of the scheme and authority in the reference's bytes. If the reference has no authority, the range
    /// contains only the scheme, without its colon. If it has neither, the range is empty.
    private(set) var place: Range<Int>
    /// The index at which to insert `//` if fewer than two slashes precede the host, as in `http:host`; otherwise,
    /// `nil`. Only a reference with another scheme than the base's can have a host without them.
    private(set) var missingSlashes: Int?

    /// - Parameters:
    ///   - reference: The URL, with escapes and character references decoded.
    ///   - baseScheme: The scheme of the document's base, in lowercase.
    ///   - charset: The document's charset; `nil` if it isn't known.
    init(_ reference: [UInt8], scheme baseScheme: String, charset: String?) {
        // Browsers ignore control characters and spaces around the URL, and tabs and line ends in it.
        let start = reference.firstIndex { $0 > 0x20 } ?? reference.count
        let end = (reference.lastIndex { $0 > 0x20 } ?? start - 1) + 1
        var index = start
        /// The index after the last byte that `read` returned. `read` skips tabs and line ends.
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
        // After a scheme that isn't the base's, a host may follow without slashes, as in `http:host`.
        guard slashes.count >= 2 || (!scheme.isEmpty && scheme != baseScheme) else {
            isRelative = true
            return
        }
        let authority = read { !"/\\?#".utf8.contains($0) }
        place = start..<placeEnd
        if slashes.count < 2 { missingSlashes = slashesStart }
        origin = Self.text(of: authority, charset: charset)
            .flatMap { WebOrigin(of: "\(scheme.isEmpty ? baseScheme : scheme)://\($0)/") }
    }

    /// Decodes the percent-encoding of a host and port. `nil` if an ASCII character other than letters, digits and
    /// `-._~` is percent-encoded.
    private static func text(of authority: [UInt8], charset: String?) -> String? {
        let encoded = authority.indices.compactMap { PercentEncoding.byte(encodedAt: $0, of: authority) }
        guard encoded.allSatisfy({ $0 >= 0x80 || $0.isLetter || $0.isDigit || "-._~".utf8.contains($0) }) else {
            return nil
        }
        return DocumentCharset.text(PercentEncoding.decode(authority), charset)
    }
}
