import Foundation
import LocalSubstitution

/// A page as one file that needs no network: what it refers to stands in it as `data:` URLs (RFC 2397).
///
/// Only the URLs are replaced; every other byte stays. What was not loaded stays as it was.
struct SelfContainedPage {
    private let page: LoadedPage
    private var dataURLs: [String: String] = [:]
    /// Those that are being made: style sheets can import each other.
    private var open: Set<String> = []

    /// In bytes. A few lines of style sheets that import others twice can ask for any size.
    static let largest = 128 << 20

    /// The file.
    ///
    /// - Throws: If it would be too large, or the page is none.
    static func html(of page: LoadedPage) throws(Failure) -> Data {
        guard let document = page.parts.first?.document, document.kind == .page else {
            throw Failure("there is no HTML to save: \(page.parts.first?.fetch?.type ?? "") is no page")
        }
        var maker = SelfContainedPage(page: page)
        return Data(try maker.filled(document))
    }

    private init(page: LoadedPage) { self.page = page }

    private mutating func filled(_ document: PageDocument) throws(Failure) -> [UInt8] {
        var edits = document.unfit.map { (range: $0, text: "") }
        if document.kind == .page, let charset = document.charset {
            // The header is gone, so the file has to say it.
            let place = document.placeOfCharset
            edits.append((place..<place, "<meta charset=\"\(charset)\">"))
        }
        for link in document.links {
            guard let url = try dataURL(link) else { continue }
            edits.append((link.range, url))
            if let integrity = link.integrity { edits.append((integrity, "")) }
        }
        edits.sort { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }

        let size = edits.reduce(document.bytes.count) { $0 + $1.text.utf8.count }
        guard size <= Self.largest else { throw Failure("the page would take more than \(Self.largest >> 20) MiB") }
        var result: [UInt8] = []
        result.reserveCapacity(size)
        var end = 0
        for edit in edits where edit.range.lowerBound >= end {
            result += document.bytes[end..<edit.range.lowerBound]
            result += edit.text.utf8
            end = edit.range.upperBound
        }
        return result + document.bytes[end...]
    }

    /// `nil` if there is nothing that could stand in its place.
    private mutating func dataURL(_ link: PageDocument.Link) throws(Failure) -> String? {
        guard let part = page.part(for: link.url), let fetch = part.fetch, fetch.hasSucceeded else { return nil }
        return try dataURL(part, fetch) + (link.fragment.map { "#\($0)" } ?? "")
    }

    private mutating func dataURL(_ part: LoadedPage.Part, _ fetch: Fetch) throws(Failure) -> String {
        let key = part.url.absoluteString
        if let known = dataURLs[key] { return known }
        guard let document = part.document, document.kind == .styleSheet else {
            let url = Self.dataURL(fetch.type, DocumentCharset.named(in: fetch.type), fetch.body)
            dataURLs[key] = url
            return url
        }
        // A style sheet that imports itself: browsers leave that out.
        guard open.insert(key).inserted else { return "data:text/css," }
        let url = Self.dataURL("text/css", document.charset, Data(try filled(document)))
        open.remove(key)
        dataURLs[key] = url
        return url
    }

    /// Made of characters that need no quotes in HTML and CSS.
    private static func dataURL(_ type: String, _ charset: String?, _ body: Data) -> String {
        let essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        let isPlain = essence.utf8.allSatisfy { $0.isLetter || $0.isDigit || "/.+-".utf8.contains($0) }
        let parameter = charset.map { ";charset=\($0)" } ?? ""
        return "data:\(isPlain ? essence : "")\(parameter);base64,\(body.base64EncodedString())"
    }
}
