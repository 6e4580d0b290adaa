import HTTPSyntax
import LocalSubstitution

/// A scanner that finds the start tags of an XHTML document, and the text of its scripts and styles, as the XML parsers
/// of browsers do (XML 1.0, Namespaces in XML 1.0).
///
/// In XML, unlike in HTML, every element can be self-closing, names are case-sensitive, and an element belongs to HTML
/// only by its namespace. The scanner stops at the first start tag that isn't well-formed, as browsers do.
struct XMLScanner: SourceText.Scanner {
    let source: SourceText
    var index = 0
    private var namespaces = Namespaces()
    private var hasRoot = false

    init(_ source: SourceText) {
        self.source = source
    }

    /// `nil` at the end of the document, or at a start tag that isn't well-formed.
    ///
    /// Before the root element, this also returns instructions whose names begin with `xml`, such as `<?xml?>` and
    /// `<?xml-stylesheet?>`. The name of an instruction's tag begins with a question mark.
    mutating func next() -> HTMLScanner.Tag? {
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = start
            if skipSection() { continue }
            index += 1
            switch byte() {
            case UInt8(ascii: "/"):
                skip(past: ">")
                namespaces.end()
            case UInt8(ascii: "!"):
                skipDoctype()
            case UInt8(ascii: "?"):
                let tag = tag()
                let end = index
                index = start
                skip(past: "?>")
                if let tag, index == end { return tag }
            default:
                guard let written = tag() else {
                    index = bytes.count
                    return nil
                }
                var tag = element(written)
                hasRoot = true
                let isOpenText = tag.namespace == .html && ["script", "style"].contains(tag.name) && !tag.isClosed
                if isOpenText || tag.isOpenStyleInSVG { tag.text = text() }
                return tag
            }
        }
        index = bytes.count
        return nil
    }

    // MARK: Tags

    /// Reads a start tag, a self-closing tag or an instruction, from its name to its `>`. `nil` if it isn't
    /// well-formed.
    private mutating func tag() -> HTMLScanner.Tag? {
        let name = name()
        guard !name.isEmpty else { return nil }
        let isInstruction = name.first == "?"
        var attributes: [HTMLScanner.Attribute] = []
        while true {
            skipSpace()
            let isClosed = skip(over: isInstruction ? "?" : "/")
            if isClosed || !isInstruction, skip(over: ">") {
                return HTMLScanner.Tag(name: name, attributes: attributes, isClosed: isClosed, page: source)
            }
            guard !isClosed, let attribute = attribute() else { return nil }
            let local = Self.split(attribute.name).local
            if References.attributes.contains(local) || attribute.name.hasPrefix("xmlns") {
                attributes.append(attribute)
            }
        }
    }

    /// `nil` if the attribute's name is missing, or its value isn't between two quotes.
    private mutating func attribute() -> HTMLScanner.Attribute? {
        let start = index
        let name = name()
        skipSpace()
        guard !name.isEmpty, skip(over: "=") else { return nil }
        skipSpace()
        guard isAtQuote, case let value = skipQuoted(), value.upperBound < bytes.count else { return nil }
        return HTMLScanner.Attribute(name: name, range: start..<index, value: value)
    }

    private mutating func name() -> String {
        let start = index
        _ = skip(over: "?")
        skip { !$0.isHTMLSpace && !"?/>=\"'<".utf8.contains($0) }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    // MARK: Namespaces

    /// Adds the namespaces that the element declares. Returns the element's tag with names as in HTML: the element's
    /// name has no prefix, and XLink's attributes have the prefix `xlink:`. Other attributes with a prefix are left
    /// out.
    private mutating func element(_ written: HTMLScanner.Tag) -> HTMLScanner.Tag {
        namespaces.start(written)
        defer { if written.isClosed { namespaces.end() } }

        var tag = written
        tag.attributes = written.attributes.compactMap { attribute in
            let (prefix, local) = Self.split(attribute.name)
            if prefix.isEmpty { return attribute }
            guard namespaces[prefix] == .xlink else { return nil }
            return HTMLScanner.Attribute(name: "xlink:" + local, range: attribute.range, value: attribute.value)
        }
        let (prefix, local) = Self.split(written.name)
        let namespace = namespaces[prefix]
        // Some of SVG's names have capitals, such as `feImage`. ``HTMLScanner`` returns them in lowercase, so this
        // scanner does too.
        tag.name = namespace == .svg ? local.asciiLowercased : local
        tag.namespace = namespace
        return tag
    }

    private static func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.firstIndex(of: ":") else { return ("", name) }
        return (String(name[..<colon]), String(name[name.index(after: colon)...]))
    }

    // MARK: Text

    /// Reads an element's text up to the next tag, with its character references decoded. `CDATA` is part of the text.
    /// Comments and instructions aren't.
    private mutating func text() -> SourceText {
        var text = emptyText
        while let byte = byte() {
            let start = index
            if byte != UInt8(ascii: "<") {
                index = text.append(SourceText.Escape(html: bytes[start...]), at: start, of: source)
            } else if !skipSection() {
                break
            } else if bytes[start...].starts(with: Self.cdata.utf8), index - start >= Self.cdata.utf8.count + 3 {
                for place in start + Self.cdata.utf8.count..<index - 3 { text.append(at: place, of: source) }
            }
        }
        return text
    }

    // MARK: What isn't an element

    private static let cdata = "<![CDATA["

    /// Skips a comment, `CDATA` or an instruction if one begins at the next byte.
    ///
    /// Before the root element, this doesn't skip instructions whose names begin with `xml`.
    private mutating func skipSection() -> Bool {
        if skip(over: "<!--") {
            skip(past: "-->")
        } else if skip(over: Self.cdata) {
            skip(past: "]]>")
        } else if hasRoot || !isAt("<?xml"), skip(over: "<?") {
            skip(past: "?>")
        } else {
            return false
        }
        return true
    }

    /// Skips the document type and the declarations in it, starting at its exclamation mark.
    private mutating func skipDoctype() {
        var isInDeclarations = false
        while let byte = byte() {
            if byte == UInt8(ascii: "<"), skipSection() { continue }
            index += 1
            switch byte {
            case UInt8(ascii: "\""): skip(past: "\"")
            case UInt8(ascii: "'"): skip(past: "'")
            case UInt8(ascii: "["): isInDeclarations = true
            case UInt8(ascii: "]"): isInDeclarations = false
            case UInt8(ascii: ">") where !isInDeclarations: return
            default: break
            }
        }
    }
}

/// The namespaces that the open elements declare.
private struct Namespaces {
    typealias Namespace = HTMLScanner.Namespace

    /// The namespaces that the open elements declare for each prefix, the innermost last. The default namespace's
    /// prefix is empty. A namespace that isn't a `Namespace` is `nil`.
    private var bound: [String: [Namespace?]] = [:]
    /// The prefixes that each open element declares, the innermost element last.
    private var open: [[String]] = []

    /// The namespace of a prefix; `nil` if no open element declares the prefix, or the namespace isn't a `Namespace`.
    subscript(_ prefix: String) -> Namespace? { bound[prefix]?.last ?? nil }

    mutating func start(_ tag: HTMLScanner.Tag) {
        var prefixes: [String] = []
        for attribute in tag.attributes where attribute.name == "xmlns" || attribute.name.hasPrefix("xmlns:") {
            let prefix = String(attribute.name.dropFirst("xmlns:".utf8.count))
            let namespace = Namespace(rawValue: SourceText(attributeValue: attribute.value, of: tag.page).string)
            bound[prefix, default: []].append(namespace)
            prefixes.append(prefix)
        }
        open.append(prefixes)
    }

    mutating func end() {
        for prefix in open.popLast() ?? [] { bound[prefix]?.removeLast() }
    }
}
