import LocalSubstitution

/// A scanner that finds the start tags of an HTML document, and the text of its scripts and styles, as browsers do (WHATWG HTML
/// §13.2.5).
struct HTMLScanner: SourceText.Scanner {
    /// A start tag.
    struct Tag {
        /// The name, in lowercase in HTML and SVG.
        var name: String
        var attributes: [Attribute]
        /// Whether it ends in `/>`, which only matters in XML, SVG and MathML.
        let isClosed: Bool
        /// The namespace of the element; `nil` for one that doesn't matter in a page. An instruction counts as HTML.
        var namespace: Namespace? = .html
        /// The text that follows the tag if the element's content isn't markup, as that of `style`; `nil` for any other element.
        var text: SourceText?
        /// The text that contains the tag.
        let page: SourceText
    }

    /// A namespace whose elements or attributes matter in a page.
    enum Namespace: String {
        case html = "http://www.w3.org/1999/xhtml"
        case svg = "http://www.w3.org/2000/svg"
        case math = "http://www.w3.org/1998/Math/MathML"
        case xlink = "http://www.w3.org/1999/xlink"
    }

    struct Attribute {
        /// The name, in lowercase in HTML.
        let name: String
        /// The range of the whole attribute.
        let range: Range<Int>
        /// The value's range, without its quotes and with character references as written.
        let value: Range<Int>
    }

    let source: SourceText
    var index = 0
    private var foreignElements = ForeignElements()
    /// The names of the attributes to find. Others are skipped, so a tag with a million of them takes no memory.
    private let attributes: Set<String>

    /// The elements whose content is text. `noscript` is one of them, since browsers run scripts.
    private static let textElements: Set<String> = [
        "script", "style", "title", "textarea", "noscript", "xmp", "iframe", "noembed", "noframes", "plaintext",
    ]

    /// - Parameter attributes: The names, in lowercase, of the attributes to find.
    init(_ source: SourceText, attributes: Set<String>) {
        self.source = source
        self.attributes = attributes.union(ForeignElements.attributes)
    }

    /// Returns the next start tag; `nil` at the end.
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

    /// Reads a tag, starting at its name. Returns `nil` if the document ends inside it.
    private mutating func tag() -> Tag? {
        let name = skip { !$0.isHTMLSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
        var attributes: [Attribute] = []
        var isClosed = false
        while let byte = byte() {
            if byte == UInt8(ascii: ">") {
                index += 1
                return Tag(name: lowercased(name), attributes: attributes, isClosed: isClosed, page: source)
            }
            isClosed = byte == UInt8(ascii: "/")
            if isClosed || byte.isHTMLSpace {
                index += 1
            } else {
                let attribute = attribute()
                if self.attributes.contains(attribute.name) { attributes.append(attribute) }
            }
        }
        return nil
    }

    private mutating func attribute() -> Attribute {
        let start = index
        // An equals sign at the beginning belongs to the name.
        index += 1
        skip { !$0.isHTMLSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "=") }
        let end = index
        let name = lowercased(start..<end)
        skipSpace()
        guard byte() == UInt8(ascii: "=") else {
            index = end
            return Attribute(name: name, range: start..<end, value: end..<end)
        }
        index += 1
        skipSpace()
        let value = isAtQuote ? skipQuoted() : skip { !$0.isHTMLSpace && $0 != UInt8(ascii: ">") }
        return Attribute(name: name, range: start..<index, value: value)
    }

    private func lowercased(_ range: Range<Int>) -> String {
        String(decoding: bytes[range].map(\.asciiLowercased), as: UTF8.self)
    }

    // MARK: Text

    /// Reads the text of an element whose content isn't markup. Returns `nil` for any other element.
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

    /// Skips the text of an HTML element up to its end tag. Other tags in the text don't count.
    private mutating func skipText(of name: String) {
        if name == "plaintext" { return index = bytes.count }
        let endTag = Array("</\(name)".utf8)
        let scriptTag = Array("<script".utf8)
        // A comment in a script may contain another script with its end tag (WHATWG HTML §13.2.5.17 and on).
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

    /// Returns whether a tag with exactly this name begins here.
    private func isAtTag(_ tag: [UInt8]) -> Bool {
        guard let following = byte(after: tag.count), following.isHTMLSpace || "/>".utf8.contains(following) else {
            return false
        }
        return zip(bytes[index...], tag).allSatisfy { $0.asciiLowercased == $1 }
    }

    /// Skips the text of a style element in SVG, up to any tag. The text may be in `CDATA`.
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

    /// Skips the rest of a declaration, after its `<!`.
    private mutating func skipDeclaration() {
        if skip(over: "--") {
            skipComment()
        } else if foreignElements.allowsCDATA, isAt("[CDATA[") {
            skip(past: "]]>")
        } else {
            skip(past: ">")
        }
    }

    /// Skips the rest of a comment, after its `<!--`. The opening hyphens can also be part of the end: `<!-->` is a
    /// comment.
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
    /// Whether this opens an SVG style element, whose text ends at any tag.
    var isOpenStyleInSVG: Bool { namespace == .svg && name == "style" && !isClosed }

    /// Returns the value of the first attribute with a name, with its character references decoded; `nil` if there's
    /// none.
    func value(_ name: String) -> SourceText? {
        attributes.first { $0.name == name }.map { SourceText(attributeValue: $0.value, of: page) }
    }

    /// Returns the value of an attribute in lowercase; empty if there's no such attribute.
    func word(_ name: String) -> String {
        value(name)?.string.asciiLowercased ?? ""
    }

    /// Returns the document ranges of all attributes with a name.
    func places(of name: String) -> [Range<Int>] {
        attributes.filter { $0.name == name }.map { page.place(of: $0.range) }
    }
}

/// The open elements of SVG and MathML. In these, `<style/>` has no content, and `CDATA` is text (WHATWG HTML §13.2.6.5).
private struct ForeignElements {
    typealias Namespace = HTMLScanner.Namespace

    private var open: [Element] = []

    /// An `svg` or `math` element, or an element inside one whose content is HTML again.
    private struct Element {
        let name: String
        /// The namespace whose rules apply to the content.
        let content: Namespace
        /// Whether an HTML element has started inside the element.
        var hasHTML = false
    }

    /// The limit of nesting. Deeper elements count as HTML, so that the search for an end tag stays short.
    private static let deepest = 64

    /// The elements that begin SVG and MathML.
    private static let roots: [String: Namespace] = ["svg": .svg, "math": .math]

    /// The integration points: elements whose content is HTML again (§13.2.6.5).
    private static let integrationPoints: [Namespace: Set<String>] = [
        .svg: ["foreignobject", "desc", "title"], .math: ["mi", "mo", "mn", "ms", "mtext"],
    ]

    /// HTML elements that end SVG or MathML content (§13.2.6.5).
    private static let breakouts: Set<String> = [
        "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
        "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
        "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var",
    ]

    /// The attributes that make a `font` element an HTML element.
    private static let fontAttributes = ["color", "face", "size"]

    /// The attributes that this type needs: those of `font`, and that of `annotation-xml`.
    static let attributes = Set(fontAttributes + ["encoding"])

    /// The namespace whose rules apply here.
    private var namespace: Namespace { open.last?.content ?? .html }

    /// Whether `CDATA` is text, since the innermost element isn't an HTML element (§13.2.5.42).
    var allowsCDATA: Bool { open.last.map { $0.content != .html || !$0.hasHTML } ?? false }

    /// Tracks a start tag, and returns its element's namespace.
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

    mutating func end(_ name: String) {
        if namespace != .html, name == "p" || name == "br" { return returnToHTML() }
        if let last = open.lastIndex(where: { $0.name == name }) { open.removeSubrange(last...) }
    }

    /// Ends open elements until the content is HTML again.
    private mutating func returnToHTML() {
        while namespace != .html { open.removeLast() }
    }
}
