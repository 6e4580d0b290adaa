import HTTPSyntax
import LocalSubstitution

/// The references to URLs in a document: a page or a style sheet.
package struct References: Sendable {
    /// The syntax of a document.
    package enum Syntax: Sendable {
        case html
        /// HTML that is written in XML's syntax.
        case xhtml
        case css
    }

    /// A URL in a document.
    struct Reference: Sendable {
        /// The URL, with character references and escapes decoded.
        let url: SourceText
        /// For a style sheet, the ranges of its element's `integrity` attributes in the document. They make browsers
        /// reject the style sheet if it's changed. Empty for any other reference.
        var integrity: [Range<Int>] = []
    }

    private(set) var all: [Reference] = []
    /// The URL in the first `<base>` that has a URL; `nil` if no `<base>` has one.
    private(set) var base: SourceText?
    /// The ranges, in the document, of the `http-equiv` attributes that make a `<meta>` a content security policy.
    private(set) var policies: [Range<Int>] = []
    /// The referrer policies in ``hidingPolicies``, in `<meta name=referrer>` and in `referrerpolicy` attributes.
    private(set) var referrerPolicies: [SourceText] = []
    /// The words `noreferrer` in the `rel` attributes of forms. With them, browsers send `Origin: null`, too.
    private(set) var noReferrers: [SourceText] = []

    /// For a page, the references include those in its styles, and in the pages of its `srcdoc` attributes, up to four
    /// levels deep.
    init(_ document: SourceText, as syntax: Syntax) {
        switch syntax {
        case .html: add(HTMLScanner(document), depth: 0)
        case .xhtml: add(XMLScanner(document), depth: 0)
        case .css: addStyle(document)
        }
    }

    private mutating func addStyle(_ style: SourceText?) {
        if let style { all += CSSScanner(style) }
    }

    private mutating func add(_ url: SourceText?) {
        if let url { all.append(Reference(url: url)) }
    }

    // MARK: Pages

    /// How many levels of pages in `srcdoc` attributes are read. The number is limited, since each level reads all
    /// pages inside it again.
    private static let deepest = 4

    /// The referrer policies with which browsers send `Origin: null` to other origins, in lowercase. `never` is an old
    /// name of `no-referrer`.
    package static let hidingPolicies: Set<String> = ["no-referrer", "same-origin", "never"]

    private mutating func add(_ page: some Sequence<HTMLScanner.Tag>, depth: Int) {
        for tag in page { add(tag, depth: depth) }
    }

    private mutating func add(_ tag: HTMLScanner.Tag, depth: Int) {
        let type = tag.word("type")
        switch tag.namespace {
        case .html: addHTML(tag, depth: depth)
        case .svg:
            if Self.svgLinks.contains(tag.name) {
                for name in ["href", "xlink:href"] { add(tag.value(name)) }
            }
            for name in Self.svgStyles { addStyle(tag.value(name)) }
        case .math: break
        case .xlink, nil: return
        }
        addStyle(tag.value("style"))
        switch tag.name {
        case "style" where type.isEmpty || type == "text/css": addStyle(tag.text)
        case "script" where type == "importmap":
            if let text = tag.text { for url in ImportMapURLs(text) { add(url) } }
        default: break
        }
    }

    private mutating func addHTML(_ tag: HTMLScanner.Tag, depth: Int) {
        let isReferrer = tag.name == "meta" && tag.word("name") == "referrer"
        for name in isReferrer ? ["content"] : ["referrerpolicy"] where Self.hidingPolicies.contains(tag.word(name)) {
            referrerPolicies += [tag.value(name)].compactMap { $0 }
        }
        switch tag.name {
        case "meta":
            switch tag.word("http-equiv") {
            case "content-security-policy", "content-security-policy-report-only":
                policies += tag.places(of: "http-equiv")
            case "refresh":
                if let content = tag.value("content"), let url = Self.refreshURL(in: content.bytes) {
                    add(content.slice(url))
                }
            default: break
            }
        case "base":
            if base == nil { base = tag.value("href") }
        case "link":
            addLink(tag)
        case "iframe":
            if let page = tag.value("srcdoc"), depth < Self.deepest {
                // The page in `srcdoc` is HTML, even if the outer page is XHTML. Its `<base>` doesn't apply to the
                // outer page.
                let outerBase = base
                add(HTMLScanner(page), depth: depth + 1)
                base = outerBase
            }
        case "a", "area":
            for word in Self.words(of: tag.value("ping")) { add(word) }
        case "form":
            noReferrers += Self.words(of: tag.value("rel")).filter { $0.string.asciiLowercased == "noreferrer" }
        default:
            break
        }
        for attribute in Self.urlAttributes[tag.name] ?? [] { add(tag.value(attribute)) }
        if let set = Self.sourceSets[tag.name].flatMap({ tag.value($0) }) {
            for range in Self.urls(inSourceSet: set.bytes) { add(set.slice(range)) }
        }
    }

    private mutating func addLink(_ tag: HTMLScanner.Tag) {
        guard let url = tag.value("href") else { return }
        let words = tag.word("rel").utf8.split { $0.isHTMLSpace }
        let relations = Set(words.map { String(decoding: $0, as: UTF8.self) })
        let isStyle =
            relations.contains("stylesheet") || (relations.contains("preload") && tag.word("as") == "style")
        all.append(Reference(url: url, integrity: isStyle ? tag.places(of: "integrity") : []))
    }

    // MARK: Values of attributes

    /// The words are separated by white space.
    private static func words(of list: SourceText?) -> [SourceText] {
        guard let list else { return [] }
        return list.bytes.indices.split { list.bytes[$0].isHTMLSpace }.map(list.slice)
    }

    /// The range of the URL in the `content` of `<meta http-equiv=refresh>` or in a `Refresh` header; `nil` if the text
    /// is invalid or has no URL (WHATWG HTML §4.2.5.3, shared declarative refresh steps).
    static func refreshURL(in content: [UInt8]) -> Range<Int>? {
        let time = content.drop { $0.isHTMLSpace }
        guard let first = time.first, first.isDigit || first == UInt8(ascii: ".") else { return nil }
        var rest = time.drop { $0.isDigit || $0 == UInt8(ascii: ".") }
        guard let separator = rest.first, separator.isHTMLSpace || ";,".utf8.contains(separator) else { return nil }
        rest = rest.drop { $0.isHTMLSpace }
        if let separator = rest.first, ";,".utf8.contains(separator) { rest = rest.dropFirst() }
        rest = rest.drop { $0.isHTMLSpace }
        guard !rest.isEmpty else { return nil }

        if rest.prefix(3).map(\.asciiLowercased) == Array("url".utf8) {
            let value = rest.dropFirst(3).drop { $0.isHTMLSpace }
            guard value.first == UInt8(ascii: "=") else { return rest.indices }
            rest = value.dropFirst().drop { $0.isHTMLSpace }
        }
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return rest.indices
        }
        return rest.dropFirst().prefix { $0 != quote }.indices
    }

    /// One URL for each candidate image (WHATWG HTML §4.8.4.3.12).
    private static func urls(inSourceSet text: [UInt8]) -> [Range<Int>] {
        var urls: [Range<Int>] = []
        var index = 0
        while let start = text[index...].firstIndex(where: { !$0.isHTMLSpace && $0 != UInt8(ascii: ",") }) {
            index = text[start...].firstIndex { $0.isHTMLSpace } ?? text.count
            let end = (text[start..<index].lastIndex { $0 != UInt8(ascii: ",") } ?? start) + 1
            urls.append(start..<end)
            // A comma at the end of a URL ends its candidate. Without one, descriptors such as `2x` may follow.
            guard end == index else { continue }
            // A comma in parentheses doesn't end the descriptors.
            var isInParentheses = false
            while index < text.count, isInParentheses || text[index] != UInt8(ascii: ",") {
                if text[index] == UInt8(ascii: "(") { isInParentheses = true }
                if text[index] == UInt8(ascii: ")") { isInParentheses = false }
                index += 1
            }
        }
        return urls
    }

    // MARK: Attributes

    // Sources: “Attributes” in the index of WHATWG HTML, and SVG 2 §16.1.6. URLs that browsers neither load nor open
    // aren't included, such as those in `cite`, `longdesc` and `itemid`.

    /// The attributes whose value is one URL, by element. The `href` of `link` isn't listed: ``addLink(_:)`` reads it
    /// together with `integrity`.
    private static let urlAttributes: [String: [String]] = [
        "a": ["href"], "area": ["href"], "audio": ["src"], "base": ["href"], "body": ["background"],
        "button": ["formaction"], "embed": ["src"], "form": ["action"], "frame": ["src"], "html": ["manifest"],
        "iframe": ["src"], "image": ["src"], "img": ["src"], "input": ["src", "formaction"], "object": ["data"],
        "script": ["src"], "source": ["src"], "table": ["background"], "tbody": ["background"], "td": ["background"],
        "tfoot": ["background"], "th": ["background"], "thead": ["background"], "tr": ["background"], "track": ["src"],
        "video": ["src", "poster"], "?xml-stylesheet": ["href"],
    ]

    /// The attribute with candidate images, by element. `image` is HTML's old name for `img`.
    private static let sourceSets = ["image": "srcset", "img": "srcset", "link": "imagesrcset", "source": "srcset"]

    /// The SVG elements whose `href` and `xlink:href` are URLs. The names are in lowercase.
    private static let svgLinks: Set<String> = [
        "a", "animate", "animatemotion", "animatetransform", "feimage", "filter", "image", "lineargradient", "mpath",
        "pattern", "radialgradient", "script", "set", "textpath", "use",
    ]

    /// The SVG attributes whose value is CSS that can contain a URL (SVG 2 §6.6, presentation attributes).
    private static let svgStyles = [
        "clip-path", "cursor", "fill", "filter", "marker-end", "marker-mid", "marker-start", "mask", "stroke",
    ]

    /// All attributes that are read: those in the tables above, those that the functions above read by name, and those
    /// that tell a document's charset, or where SVG and MathML end.
    static let attributes: Set<String> = Set(
        svgStyles + urlAttributes.values.joined() + sourceSets.values + [
            "as", "charset", "color", "content", "encoding", "face", "href", "http-equiv", "integrity", "name", "ping",
            "referrerpolicy", "rel", "size", "src", "srcdoc", "style", "type", "xlink:href",
        ]
    )
}
