import LocalSubstitution

/// A start tag with the values of its attributes.
struct SourceTag {
    private let tag: HTMLScanner.Tag
    private let page: SourceText

    init(_ tag: HTMLScanner.Tag, of page: SourceText) {
        self.tag = tag
        self.page = page
    }

    var name: String { tag.name }
    /// `svg` or `math` for an element of SVG or MathML; `nil` for an HTML element.
    var root: String? { tag.root }

    /// The tag's range in the document.
    var place: Range<Int> { page.place(of: tag.range) }

    /// Returns the value of an attribute, with its character references decoded. Only the first attribute with a name counts.
    func value(_ name: String) -> SourceText? {
        tag.attributes.first { $0.name == name }.map { SourceText(attributeValue: $0.value, of: page) }
    }

    /// Returns the value of an attribute in lowercase; empty if there's no such attribute.
    func word(_ name: String) -> String {
        value(name).map { String(decoding: $0.bytes, as: UTF8.self).asciiLowercased } ?? ""
    }

    /// Returns the words of an attribute's value, in lowercase.
    func words(_ name: String) -> Set<String> {
        guard let value = value(name) else { return [] }
        return Set(value.words.map { String(decoding: value.bytes[$0], as: UTF8.self).asciiLowercased })
    }

    /// Returns the ranges of all attributes with a name in the document.
    func places(of name: String) -> [Range<Int>] {
        tag.attributes.filter { $0.name == name }.map { page.place(of: $0.range) }
    }
}

extension SourceText {
    /// The ranges of the words, which HTML's white space separates.
    var words: [Range<Int>] {
        bytes.indices.split { bytes[$0].isHTMLSpace }.map { $0.startIndex..<$0.endIndex }
    }
}
