/// The open elements of SVG and MathML. In these, `<style/>` has no content, and `CDATA` is text (WHATWG HTML §13.2.6.5).
struct ForeignElements {
    private var open: [Element] = []

    /// A root, or an element inside one that contains HTML again.
    private struct Element {
        let name: String
        /// The root whose rules apply to the content; `nil` if the content is HTML.
        let root: String?
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

    /// The root of the innermost open element, `svg` or `math`; `nil` if its content is HTML.
    var root: String? { open.last?.root }

    /// Notes a start tag, and returns the root of its element.
    mutating func start(_ name: String, isClosed: Bool) -> String? {
        while root != nil, Self.breakouts.contains(name) { open.removeLast() }
        let isRoot = Self.integrationPoints[name] != nil
        let elementRoot = root ?? (isRoot ? name : nil)
        let isIntegrationPoint = root.flatMap { Self.integrationPoints[$0] }?.contains(name) ?? false
        if isRoot || isIntegrationPoint, !isClosed, open.count < Self.deepest {
            open.append(Element(name: name, root: isRoot ? elementRoot : nil))
        }
        return elementRoot
    }

    mutating func end(_ name: String) {
        if let last = open.lastIndex(where: { $0.name == name }) { open.removeSubrange(last...) }
    }
}
