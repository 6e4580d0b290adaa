import HTTPSyntax
import LocalSubstitution

/// A scanner that finds the start tags of an HTML document, and the text of elements such as `script` and `style`, as
/// browsers do (WHATWG HTML §13.2.5).
struct HTMLScanner: SourceText.Scanner {
    /// A start tag, or an instruction before an XHTML document's root element, such as `<?xml-stylesheet?>`.
    struct Tag {
        /// The name without a namespace prefix. In HTML, it's in lowercase. In XHTML, only SVG's names are in
        /// lowercase; others keep the document's spelling.
        var name: String
        /// The attributes in the document's order, without those that nothing reads (``References/attributes``): a tag
        /// with a million of them doesn't fill the memory.
        var attributes: [Attribute]
        /// Whether the tag ends in `/>`. In XHTML, and in the SVG and MathML of an HTML document, the element then has
        /// no content. For an HTML element in an HTML document, the ending has no effect.
        let isClosed: Bool
        /// The element's namespace; `nil` if it isn't in ``Namespace``. An instruction gets HTML's namespace.
        var namespace: Namespace? = .html
        /// The element's content if that is text rather than markup, as in `style`; `nil` for any other element.
        var text: SourceText?
        /// The text that contains the tag: a document, or a page in a `srcdoc` attribute.
        let page: SourceText
    }

    /// A namespace that the scanners know. Its raw value is its name in XML.
    enum Namespace: String {
        case html = "http://www.w3.org/1999/xhtml"
        case svg = "http://www.w3.org/2000/svg"
        case math = "http://www.w3.org/1998/Math/MathML"
        case xlink = "http://www.w3.org/1999/xlink"
    }

    struct Attribute {
        /// The name: in lowercase in HTML, in the document's spelling in XHTML. XLink's attributes have the prefix
        /// `xlink:`.
        let name: String
        /// The range of the whole attribute in the tag's `page`.
        let range: Range<Int>
        /// The value's range in `page`, without quotes; empty if there's no value. Character references in the value
        /// aren't decoded.
        let value: Range<Int>
    }

    let source: SourceText
    var index = 0
    private var foreignElements = ForeignElements()

    /// The HTML elements whose content is text. In a browser that runs scripts, that includes `noscript`.
    private static let textElements: Set<String> = [
        "script", "style", "title", "textarea", "noscript", "xmp", "iframe", "noembed", "noframes", "plaintext",
    ]

    init(_ source: SourceText) {
        self.source = source
    }

    mutating func next() -> Tag? {
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = start + 1
            switch byte() {
            case let letter? where letter.isLetter:
                guard var tag = tag() else { break }
                tag.namespace = foreignElements.start(tag)
                tag.text = text(of: tag)
                return tag
            case UInt8(ascii: "/"):
                index += 1
                if byte()?.isLetter != true {
                    skip(past: ">")
                } else if let tag = tag() {
                    foreignElements.end(tag.name)
                }
            case UInt8(ascii: "!"):
                index += 1
                skipDeclaration()
            case UInt8(ascii: "?"):
                skip(past: ">")
            default:
                break
            }
        }
        index = bytes.count
        return nil
    }

    // MARK: Tags

    /// Reads a start tag or end tag from its name to its `>`. `nil` if the document ends before the `>`.
    private mutating func tag() -> Tag? {
        let name = skip { !$0.isHTMLSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
        var attributes: [Attribute] = []
        var isClosed = false
        while let byte = byte() {
            if skip(over: ">") {
                return Tag(name: lowercased(name), attributes: attributes, isClosed: isClosed, page: source)
            }
            isClosed = byte == UInt8(ascii: "/")
            if isClosed || byte.isHTMLSpace {
                index += 1
            } else {
                let attribute = attribute()
                if References.attributes.contains(attribute.name) { attributes.append(attribute) }
            }
        }
        return nil
    }

    private mutating func attribute() -> Attribute {
        let start = index
        // The first byte belongs to the name, even if it's an equals sign.
        index += 1
        skip { !$0.isHTMLSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "=") }
        let end = index
        let name = lowercased(start..<end)
        skipSpace()
        guard skip(over: "=") else {
            index = end
            return Attribute(name: name, range: start..<end, value: end..<end)
        }
        skipSpace()
        let value = isAtQuote ? skipQuoted() : skip { !$0.isHTMLSpace && $0 != UInt8(ascii: ">") }
        return Attribute(name: name, range: start..<index, value: value)
    }

    private func lowercased(_ range: Range<Int>) -> String {
        String(decoding: bytes[range].map(\.asciiLowercased), as: UTF8.self)
    }

    // MARK: Text

    /// Reads an element's content, after its start tag, if the content is text rather than markup. Otherwise, reads
    /// nothing and returns `nil`.
    private mutating func text(of tag: Tag) -> SourceText? {
        let start = index
        if tag.isOpenStyleInSVG {
            skipTextInSVG()
        } else if tag.namespace == .html, Self.textElements.contains(tag.name) {
            skipText(of: tag.name)
        } else {
            return nil
        }
        return source.slice(start..<index)
    }

    /// Skips the text of an HTML element, up to its end tag or the end of the document. Any other tag is part of the
    /// text.
    private mutating func skipText(of name: String) {
        if name == "plaintext" { return index = bytes.count }
        let endTag = Array("</\(name)".utf8)
        let scriptTag = Array("<script".utf8)
        // In a script, a comment may contain `<script>` and then `</script>`. This end tag doesn't end the outer script
        // (WHATWG HTML §13.2.5.17 and on).
        var (isInComment, isInScript) = (false, false)
        while let byte = byte() {
            if isInComment, skip(over: "-->") {
                (isInComment, isInScript) = (false, false)
            } else if byte != UInt8(ascii: "<") {
                index += 1
            } else if isAtTag(endTag) {
                if !isInScript { return }
                isInScript = false
                index += 2
            } else if name == "script", !isInComment, isAt("<!--") {
                isInComment = true
                index += 2
            } else {
                if isInComment, isAtTag(scriptTag) { isInScript = true }
                index += 1
            }
        }
    }

    /// Whether `tag`, such as `</style`, begins at the next byte, and its name ends there. Case doesn't matter.
    private func isAtTag(_ tag: [UInt8]) -> Bool {
        guard let following = byte(after: tag.count), following.isHTMLSpace || "/>".utf8.contains(following) else {
            return false
        }
        return zip(bytes[index...], tag).allSatisfy { $0.asciiLowercased == $1 }
    }

    /// Skips the text of an SVG `style` element, up to the next tag or the end of the document. A tag in `CDATA` is
    /// part of the text.
    private mutating func skipTextInSVG() {
        while let byte = byte() {
            if byte == UInt8(ascii: "<"), let following = self.byte(after: 1) {
                if following.isLetter || following == UInt8(ascii: "/") { return }
                if isAt("<![CDATA[") {
                    skip(past: "]]>")
                    continue
                }
            }
            index += 1
        }
    }

    // MARK: Comments and declarations

    /// Skips a comment, `CDATA` or another declaration, starting after its `<!`.
    private mutating func skipDeclaration() {
        if skip(over: "--") {
            skipComment()
        } else if foreignElements.allowsCDATA, isAt("[CDATA[") {
            skip(past: "]]>")
        } else {
            skip(past: ">")
        }
    }

    /// Skips a comment, starting after its `<!--`. Right there, `>` or `->` already ends the comment: `<!-->` and
    /// `<!--->` are whole comments.
    private mutating func skipComment() {
        for ending in [">", "->"] where skip(over: ending) { return }
        while let hyphen = bytes[index...].firstIndex(of: UInt8(ascii: "-")) {
            index = hyphen
            for ending in ["-->", "--!>"] where skip(over: ending) { return }
            index += 1
        }
        index = bytes.count
    }
}

extension HTMLScanner.Tag {
    /// Whether the tag begins an SVG `style` element with content. The content is text that ends at any tag.
    var isOpenStyleInSVG: Bool { namespace == .svg && name == "style" && !isClosed }

    /// Decodes the value's character references.
    func value(_ name: String) -> SourceText? {
        attributes.first { $0.name == name }.map { SourceText(attributeValue: $0.value, of: page) }
    }

    /// The attribute's value in lowercase; empty if the tag has no such attribute.
    func word(_ name: String) -> String {
        value(name)?.string.asciiLowercased ?? ""
    }

    /// The ranges are those of the document.
    func places(of name: String) -> [Range<Int>] {
        attributes.filter { $0.name == name }.map { page.place(of: $0.range) }
    }
}

/// The open elements of SVG and MathML. Inside them, `<style/>` has no content, and `CDATA` is text (WHATWG HTML
/// §13.2.6.5).
private struct ForeignElements {
    typealias Namespace = HTMLScanner.Namespace

    private var open: [Element] = []

    /// An `svg` or `math` element, or an element in it whose content may be HTML: an integration point or an
    /// `annotation-xml`.
    private struct Element {
        let name: String
        /// The namespace of the content: HTML's in an integration point, otherwise the element's own.
        let content: Namespace
        /// Whether an HTML element has begun in the content, even if it has ended since.
        var hasHTML = false
    }

    /// The largest number of elements in `open`. Deeper elements aren't added, so that the search for an end tag stays
    /// short. Their content is treated as content of the last element in `open`.
    private static let deepest = 64

    private static let roots: [String: Namespace] = ["svg": .svg, "math": .math]

    /// The integration points (§13.2.6): elements of SVG and MathML whose content is HTML. `annotation-xml` isn't
    /// listed, since it's an integration point only with some values of `encoding`.
    private static let integrationPoints: [Namespace: Set<String>] = [
        .svg: ["foreignobject", "desc", "title"], .math: ["mi", "mo", "mn", "ms", "mtext"],
    ]

    /// The HTML elements whose start tags end SVG and MathML content (§13.2.6.5). `font` isn't listed: its start tag
    /// ends the content only if it has one of `fontAttributes`.
    private static let breakouts: Set<String> = [
        "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
        "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
        "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var",
    ]

    private static let fontAttributes = ["color", "face", "size"]

    /// The namespace of the content at the scanner's position.
    private var namespace: Namespace { open.last?.content ?? .html }

    /// Whether `CDATA` is text at the scanner's position, because the innermost open element belongs to SVG or MathML
    /// (§13.2.5.42). In an integration point, `CDATA` is text only until the first HTML element begins.
    var allowsCDATA: Bool { open.last.map { $0.content != .html || !$0.hasHTML } ?? false }

    /// Returns the element's namespace.
    mutating func start(_ tag: HTMLScanner.Tag) -> Namespace {
        let name = tag.name
        if Self.breakouts.contains(name) || (name == "font" && Self.fontAttributes.contains { tag.value($0) != nil }) {
            returnToHTML()
        }
        let root = Self.roots[name]
        let isInHTML = namespace == .html || (open.last?.name == "annotation-xml" && name == "svg")
        let elementNamespace = isInHTML ? root ?? .html : namespace
        if elementNamespace == .html, let last = open.indices.last { open[last].hasHTML = true }
        let isAnnotation = elementNamespace == .math && name == "annotation-xml"
        let containsHTML =
            if isAnnotation {
                ["text/html", "application/xhtml+xml"].contains(tag.word("encoding"))
            } else {
                !isInHTML && Self.integrationPoints[elementNamespace]?.contains(name) == true
            }
        if root != nil || isAnnotation || containsHTML, !tag.isClosed, open.count < Self.deepest {
            open.append(Element(name: name, content: containsHTML ? .html : elementNamespace))
        }
        return elementNamespace
    }

    /// An end tag ends the innermost open element with the tag's name, and all elements inside that element. In SVG or
    /// MathML, `</p>` and `</br>` instead end all open elements up to the nearest HTML content.
    mutating func end(_ name: String) {
        if namespace != .html, name == "p" || name == "br" { return returnToHTML() }
        if let last = open.lastIndex(where: { $0.name == name }) { open.removeSubrange(last...) }
    }

    /// Ends open elements, beginning with the innermost, until the content is HTML.
    private mutating func returnToHTML() {
        while namespace != .html { open.removeLast() }
    }
}
