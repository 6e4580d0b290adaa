import LocalSubstitution

/// A scanner that finds the start tags of an HTML document, and the text of its scripts and styles, as browsers do (WHATWG HTML
/// §13.2.5).
///
/// It works on the bytes of any charset that contains ASCII, and reads each byte once.
struct HTMLScanner {
    struct Tag {
        /// The name, in lowercase in HTML and SVG.
        let name: String
        let attributes: [Attribute]
        let range: Range<Int>
        /// `svg` or `math` for an element of SVG or MathML; `xml` for one of another namespace; `nil` for an HTML element.
        var root: String?
        /// Whether it ends in `/>`, which only matters in XML, SVG and MathML.
        let isClosed: Bool
    }

    struct Attribute {
        /// The name, in lowercase in HTML.
        let name: String
        let range: Range<Int>
        /// The value's range, without its quotes and with character references as written.
        let value: Range<Int>
    }

    enum Token {
        case tag(Tag)
        /// The text of an element whose content isn't markup, such as `style`.
        case text(of: String, SourceText)
    }

    private let source: SourceText
    private let bytes: [UInt8]
    private var index = 0
    private var openText: Tag?
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
        bytes = source.bytes
        self.attributes = attributes.union(ForeignElements.attributes)
    }

    /// Returns the next token; `nil` at the end.
    mutating func next() -> Token? {
        if let tag = openText {
            openText = nil
            let start = index
            index =
                tag.root == nil
                ? ElementText.end(of: tag.name, in: bytes, from: start)
                : ElementText.endBeforeTag(in: bytes, from: start)
            return .text(of: tag.name, source.slice(start..<index))
        }
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = start + 1
            switch byte() {
            case let letter? where letter.isLetter:
                guard var tag = tag(from: start) else { break }
                tag.root = foreignElements.start(SourceTag(tag, of: source), isClosed: tag.isClosed)
                let hasText =
                    switch tag.root {
                    case nil: Self.textElements.contains(tag.name)
                    case "svg": tag.name == "style" && !tag.isClosed
                    default: false
                    }
                if hasText { openText = tag }
                return .tag(tag)
            case UInt8(ascii: "/"):
                index += 1
                skipEndTag(from: start)
            case UInt8(ascii: "!"):
                index += 1
                skipDeclaration()
            case UInt8(ascii: "?"):
                skip(past: UInt8(ascii: ">"))
            default:
                break
            }
        }
        index = bytes.count
        return nil
    }

    // MARK: Tags

    /// Reads a tag, starting at its name. Returns `nil` if the document ends inside it.
    private mutating func tag(from start: Int) -> Tag? {
        let nameStart = index
        skip { !$0.isHTMLSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
        let name = lowercased(nameStart..<index)
        var attributes: [Attribute] = []
        var isClosed = false
        while let byte = byte() {
            if byte == UInt8(ascii: ">") {
                index += 1
                return Tag(name: name, attributes: attributes, range: start..<index, isClosed: isClosed)
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
        skip { $0.isHTMLSpace }
        guard byte() == UInt8(ascii: "=") else {
            index = end
            return Attribute(name: name, range: start..<end, value: end..<end)
        }
        index += 1
        skip { $0.isHTMLSpace }
        let value: Range<Int>
        if let quote = byte(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            let valueStart = index + 1
            let valueEnd = bytes[valueStart...].firstIndex(of: quote) ?? bytes.count
            value = valueStart..<valueEnd
            index = min(valueEnd + 1, bytes.count)
        } else {
            let valueStart = index
            skip { !$0.isHTMLSpace && $0 != UInt8(ascii: ">") }
            value = valueStart..<index
        }
        return Attribute(name: name, range: start..<index, value: value)
    }

    /// Skips the rest of an end tag, after its `</`.
    private mutating func skipEndTag(from start: Int) {
        guard let byte = byte() else { return }
        guard byte.isLetter else { return skip(past: UInt8(ascii: ">")) }
        guard let tag = tag(from: start) else { return index = bytes.count }
        foreignElements.end(tag.name)
    }

    // MARK: Comments and declarations

    /// Skips the rest of a declaration, after its `<!`.
    private mutating func skipDeclaration() {
        if bytes[index...].starts(with: "--".utf8) {
            index += 2
            skipComment()
        } else if foreignElements.allowsCDATA, bytes[index...].starts(with: "[CDATA[".utf8) {
            index = bytes.end(of: "]]>", from: index)
        } else {
            skip(past: UInt8(ascii: ">"))
        }
    }

    /// Skips the rest of a comment, after its `<!--`. The hyphens can also be part of the end: `<!-->` is a comment.
    private mutating func skipComment() {
        for ending in [">", "->"] where bytes[index...].starts(with: ending.utf8) {
            index += ending.utf8.count
            return
        }
        while let hyphen = bytes[index...].firstIndex(of: UInt8(ascii: "-")) {
            for ending in ["-->", "--!>"] where bytes[hyphen...].starts(with: ending.utf8) {
                index = hyphen + ending.utf8.count
                return
            }
            index = hyphen + 1
        }
        index = bytes.count
    }

    // MARK: Bytes

    private func byte() -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skip(past byte: UInt8) {
        index = bytes[index...].firstIndex(of: byte).map { $0 + 1 } ?? bytes.count
    }

    private mutating func skip(while isPart: (UInt8) -> Bool) {
        while let byte = byte(), isPart(byte) { index += 1 }
    }

    private func lowercased(_ range: Range<Int>) -> String {
        String(decoding: bytes[range].map(\.asciiLowercased), as: UTF8.self)
    }
}
