/// The open elements of SVG and MathML. In these, `<style/>` has no content, and `CDATA` is text (WHATWG HTML §13.2.6.5).
struct ForeignElements {
    private var open: [Element] = []

    /// A root, or an element inside one that contains HTML again.
    private struct Element {
        let name: String
        /// The root whose rules apply to the content; `nil` if the content is HTML.
        let root: String?
        /// Whether HTML elements began in it.
        var hasHTML = false
    }

    /// The limit of nesting. Deeper elements count as HTML, so that the search for an end tag stays short.
    private static let deepest = 64

    /// The roots, and the elements in each that contain HTML again (§13.2.6.5, integration points).
    private static let integrationPoints: [String: Set<String>] = [
        "svg": ["foreignobject", "desc", "title"], "math": ["mi", "mo", "mn", "ms", "mtext"],
    ]

    /// HTML elements that end SVG or MathML content (§13.2.6.5).
    private static let breakouts: Set<String> = [
        "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
        "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
        "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var",
    ]

    /// The attributes that matter here: those of `font` that make it one of HTML's, and that of `annotation-xml`.
    static let attributes: Set<String> = ["color", "encoding", "face", "size"]

    /// The root of the innermost open element, `svg` or `math`; `nil` if its content is HTML.
    var root: String? { open.last?.root }

    /// Whether `CDATA` is text: the innermost element isn't one of HTML (§13.2.5.42).
    var allowsCDATA: Bool { open.last.map { $0.root != nil || !$0.hasHTML } ?? false }

    /// Notes a start tag, and returns the root of its element.
    mutating func start(_ tag: SourceTag, isClosed: Bool) -> String? {
        let name = tag.name
        if root != nil, Self.isBreakout(tag) { endRoots() }
        let isRoot = Self.integrationPoints[name] != nil
        let isInHTML = root == nil || (open.last?.name == "annotation-xml" && name == "svg")
        let elementRoot = isInHTML ? (isRoot ? name : nil) : root
        if elementRoot == nil, let last = open.indices.last { open[last].hasHTML = true }
        let isAnnotation = elementRoot == "math" && name == "annotation-xml"
        let containsHTML =
            if isAnnotation {
                ["text/html", "application/xhtml+xml"].contains(tag.word("encoding"))
            } else {
                !isInHTML && elementRoot.flatMap { Self.integrationPoints[$0] }?.contains(name) == true
            }
        if isRoot || isAnnotation || containsHTML, !isClosed, open.count < Self.deepest {
            open.append(Element(name: name, root: containsHTML ? nil : elementRoot))
        }
        return elementRoot
    }

    mutating func end(_ name: String) {
        if root != nil, name == "p" || name == "br" { return endRoots() }
        if let last = open.lastIndex(where: { $0.name == name }) { open.removeSubrange(last...) }
    }

    /// Ends the elements up to one that contains HTML.
    private mutating func endRoots() {
        while root != nil { open.removeLast() }
    }

    private static func isBreakout(_ tag: SourceTag) -> Bool {
        breakouts.contains(tag.name)
            || (tag.name == "font" && ["color", "face", "size"].contains { tag.value($0) != nil })
    }
}
