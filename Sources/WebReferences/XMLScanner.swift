import LocalSubstitution

/// A scanner that finds the start tags of an XHTML document, and the text of its scripts and styles, as browsers' XML parsers do
/// (XML 1.0, Namespaces in XML 1.0).
///
/// Unlike in HTML, every element can be written as one tag, names are case-sensitive, and only a namespace makes an element one of
/// HTML. It works on the bytes of any charset that contains ASCII, and reads each byte once. It stops where a tag isn't well-formed,
/// as browsers do.
struct XMLScanner {
    private let source: SourceText
    private let bytes: [UInt8]
    private var index = 0
    private var openText: HTMLScanner.Tag?
    private var namespaces = Namespaces()
    private var hasRoot = false
    /// The names of the attributes to find. Others are skipped.
    private let attributes: Set<String>

    /// The elements whose text is returned.
    private static let textElements: Set<String> = ["script", "style"]

    /// - Parameter attributes: The names, in lowercase, of the attributes to find.
    init(_ source: SourceText, attributes: Set<String>) {
        self.source = source
        bytes = source.bytes
        self.attributes = attributes
    }

    /// Returns the next token; `nil` at the end. The tag of an instruction before the root element, such as `<?xml-stylesheet?>`, has
    /// a name that begins with a question mark.
    mutating func next() -> HTMLScanner.Token? {
        if let tag = openText {
            openText = nil
            return .text(of: tag.name, text())
        }
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
                let end = bytes.end(of: "?>", from: index)
                let tag = tag(from: start)
                index = end
                if let tag, tag.range.upperBound == end { return .tag(tag) }
            default:
                guard let tag = tag(from: start) else { return end() }
                hasRoot = true
                let hasText = tag.root == nil ? Self.textElements.contains(tag.name) : tag.isStyleInSVG
                if hasText, !tag.isClosed { openText = tag }
                return .tag(tag)
            }
        }
        return end()
    }

    private mutating func end() -> HTMLScanner.Token? {
        index = bytes.count
        return nil
    }

    // MARK: Tags

    /// Reads a start tag, an empty element's tag or an instruction, from its name on. Returns `nil` if it isn't well-formed.
    private mutating func tag(from start: Int) -> HTMLScanner.Tag? {
        let name = name()
        guard !name.isEmpty else { return nil }
        let isInstruction = name.first == "?"
        var attributes: [HTMLScanner.Attribute] = []
        while true {
            skipSpace()
            guard let byte = byte() else { return nil }
            switch byte {
            case UInt8(ascii: ">") where !isInstruction:
                index += 1
                return element(name, attributes, start..<index, isClosed: false)
            case UInt8(ascii: "/") where !isInstruction, UInt8(ascii: "?") where isInstruction:
                index += 1
                guard self.byte() == UInt8(ascii: ">") else { return nil }
                index += 1
                if !isInstruction { return element(name, attributes, start..<index, isClosed: true) }
                return HTMLScanner.Tag(name: name, attributes: attributes, range: start..<index, isClosed: true)
            default:
                guard let attribute = attribute() else { return nil }
                let local = attribute.name.split(separator: ":").last.map(String.init) ?? ""
                if self.attributes.contains(local) || attribute.name.hasPrefix("xmlns") { attributes.append(attribute) }
            }
        }
    }

    private mutating func attribute() -> HTMLScanner.Attribute? {
        let start = index
        let name = name()
        skipSpace()
        guard !name.isEmpty, byte() == UInt8(ascii: "=") else { return nil }
        index += 1
        skipSpace()
        guard let quote = byte(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        let valueStart = index + 1
        guard let valueEnd = bytes[valueStart...].firstIndex(of: quote) else { return nil }
        index = valueEnd + 1
        return HTMLScanner.Attribute(name: name, range: start..<index, value: valueStart..<valueEnd)
    }

    /// Notes an element, and returns its tag with the names that HTML uses.
    private mutating func element(
        _ name: String,
        _ attributes: [HTMLScanner.Attribute],
        _ range: Range<Int>,
        isClosed: Bool
    ) -> HTMLScanner.Tag {
        var declared: [(prefix: String, namespace: Namespace?)] = []
        for attribute in attributes where attribute.name == "xmlns" || attribute.name.hasPrefix("xmlns:") {
            let name = SourceText(attributeValue: attribute.value, of: source).bytes
            let namespace = Namespace(rawValue: String(decoding: name, as: UTF8.self))
            declared.append((String(attribute.name.dropFirst("xmlns:".utf8.count)), namespace))
        }
        namespaces.start(declaring: declared)
        defer { if isClosed { namespaces.end() } }

        let (prefix, local) = Self.split(name)
        let named = attributes.compactMap { attribute in
            let (prefix, local) = Self.split(attribute.name)
            if prefix.isEmpty { return attribute }
            guard namespaces[prefix] == .xlink else { return nil }
            return HTMLScanner.Attribute(name: "xlink:" + local, range: attribute.range, value: attribute.value)
        }
        func tag(_ name: String, root: String?) -> HTMLScanner.Tag {
            HTMLScanner.Tag(name: name, attributes: named, range: range, root: root, isClosed: isClosed)
        }
        return switch namespaces[prefix] {
        case .html: tag(local, root: nil)
        // SVG's names have capitals, such as `feImage`. In HTML, they're found in lowercase.
        case .svg: tag(local.asciiLowercased, root: "svg")
        case .math: tag(local, root: "math")
        case .xlink, nil: tag(local, root: "xml")
        }
    }

    private static func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.firstIndex(of: ":") else { return ("", name) }
        return (String(name[..<colon]), String(name[name.index(after: colon)...]))
    }

    private mutating func name() -> String {
        let start = index
        while let byte = byte(), !byte.isHTMLSpace, !"/>=\"'<".utf8.contains(byte),
            byte != UInt8(ascii: "?") || index == start
        {
            index += 1
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    // MARK: Text

    /// Reads an element's text up to the next tag.
    private mutating func text() -> SourceText {
        var text = SourceText(at: source.place(of: index..<index).lowerBound)
        while let byte = byte() {
            if byte == UInt8(ascii: "<") {
                let start = index
                guard skipSection() else { break }
                let section = bytes[start..<index]
                if section.starts(with: Self.cdata), section.count >= Self.cdata.count + 3 {
                    for place in start + Self.cdata.count..<index - 3 { append(place..<place + 1, to: &text) }
                }
            } else if byte == UInt8(ascii: "&"), let reference = CharacterReference(bytes[(index + 1)...]) {
                let range = index..<index + 1 + reference.length
                text.append(reference.bytes, at: source.place(of: range))
                index = range.upperBound
            } else {
                append(index..<index + 1, to: &text)
                index += 1
            }
        }
        return text
    }

    private func append(_ range: Range<Int>, to text: inout SourceText) {
        text.append(bytes[range], at: source.place(of: range))
    }

    // MARK: What isn't an element

    private static let cdata = Array("<![CDATA[".utf8)

    /// Skips a comment, `CDATA`, or an instruction other than one before the root element. Returns whether one begins here.
    private mutating func skipSection() -> Bool {
        let rest = bytes[index...]
        if rest.starts(with: "<!--".utf8) {
            index += 4
            skip(past: "-->")
        } else if rest.starts(with: Self.cdata) {
            index += Self.cdata.count
            skip(past: "]]>")
        } else if rest.starts(with: "<?".utf8), hasRoot || !rest.starts(with: "<?xml".utf8) {
            index += 2
            skip(past: "?>")
        } else {
            return false
        }
        return true
    }

    /// Skips the document type and the declarations in it, after its `<`.
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

    // MARK: Bytes

    private func byte() -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = byte(), byte.isHTMLSpace { index += 1 }
    }

    private mutating func skip(past ending: String) { index = bytes.end(of: ending, from: index) }
}

extension HTMLScanner.Tag {
    fileprivate var isStyleInSVG: Bool { root == "svg" && name == "style" }
}

/// The namespaces whose names matter in a page.
private enum Namespace: String {
    case html = "http://www.w3.org/1999/xhtml"
    case svg = "http://www.w3.org/2000/svg"
    case math = "http://www.w3.org/1998/Math/MathML"
    case xlink = "http://www.w3.org/1999/xlink"
}

/// The prefixes that the open elements declare.
private struct Namespaces {
    /// The namespaces by prefix, the innermost last. The default namespace has no prefix; others than those that matter are `nil`.
    private var bound: [String: [Namespace?]] = [:]
    /// The prefixes that each open element declares.
    private var open: [[String]] = []

    subscript(_ prefix: String) -> Namespace? { bound[prefix]?.last ?? nil }

    mutating func start(declaring declared: [(prefix: String, namespace: Namespace?)]) {
        for (prefix, namespace) in declared { bound[prefix, default: []].append(namespace) }
        open.append(declared.map(\.prefix))
    }

    mutating func end() {
        for prefix in open.popLast() ?? [] { bound[prefix]?.removeLast() }
    }
}
