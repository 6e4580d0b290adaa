import LocalSubstitution

/// Finds the start tags of an HTML document, and the text of its scripts and styles, as browsers do (WHATWG HTML §13.2.5).
///
/// It works on bytes, of any charset that has ASCII in it, and reads each of them once.
struct HTMLScanner {
    struct Tag {
        /// In lowercase.
        let name: String
        let attributes: [Attribute]
        let range: Range<Int>

        /// The first one of a name, which is the one that counts.
        func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }
    }

    struct Attribute {
        /// In lowercase.
        let name: String
        let range: Range<Int>
        /// Without its quotes; with character references as they were written.
        let value: Range<Int>
    }

    enum Token {
        case tag(Tag)
        /// What stands in an element whose text is no markup, as `style`.
        case text(of: String, Range<Int>)
        /// `<!DOCTYPE …>`.
        case doctype(Range<Int>)
    }

    private let bytes: [UInt8]
    private var index = 0
    private var openText: String?
    /// How many `svg` and `math` elements are open: in them `<style/>` is closed.
    private var foreignDepth = 0

    /// `noscript` among them, since browsers run scripts.
    private static let textElements: Set<String> = [
        "script", "style", "title", "textarea", "noscript", "xmp", "iframe", "noembed", "noframes", "plaintext",
    ]

    private static let foreignElements: Set<String> = ["svg", "math"]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next token; `nil` at the end.
    mutating func next() -> Token? {
        if let name = openText {
            openText = nil
            let range = index..<endOfText(of: name)
            index = range.upperBound
            return .text(of: name, range)
        }
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = start + 1
            switch byte() {
            case let letter? where letter.isLetter:
                guard let (tag, isClosed) = tag(from: start) else { break }
                open(tag, isClosed: isClosed)
                return .tag(tag)
            case UInt8(ascii: "/"):
                index += 1
                skipEndTag(from: start)
            case UInt8(ascii: "!"):
                index += 1
                if let doctype = skipDeclaration(from: start) { return .doctype(doctype) }
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

    /// Reads a tag from its name on; `nil` if the document ends in it.
    private mutating func tag(from start: Int) -> (tag: Tag, isClosed: Bool)? {
        let nameStart = index
        skip { !$0.isHTMLSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
        let name = lowercased(nameStart..<index)
        var attributes: [Attribute] = []
        var isClosed = false
        while let byte = byte() {
            if byte == UInt8(ascii: ">") {
                index += 1
                return (Tag(name: name, attributes: attributes, range: start..<index), isClosed)
            }
            isClosed = byte == UInt8(ascii: "/")
            if isClosed || byte.isHTMLSpace {
                index += 1
            } else {
                attributes.append(attribute())
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

    private mutating func open(_ tag: Tag, isClosed: Bool) {
        if Self.foreignElements.contains(tag.name) {
            if !isClosed { foreignDepth += 1 }
        } else if Self.textElements.contains(tag.name), !isClosed || foreignDepth == 0 {
            openText = tag.name
        }
    }

    /// From behind `</`.
    private mutating func skipEndTag(from start: Int) {
        guard let byte = byte() else { return }
        guard byte.isLetter else { return skip(past: UInt8(ascii: ">")) }
        guard let (tag, _) = tag(from: start) else { return index = bytes.count }
        if Self.foreignElements.contains(tag.name) { foreignDepth = max(0, foreignDepth - 1) }
    }

    // MARK: Comments and declarations

    private mutating func skipDeclaration(from start: Int) -> Range<Int>? {
        if bytes[index...].starts(with: "--".utf8) {
            index += 2
            skipComment()
            return nil
        }
        let isDoctype = lowercased(index..<min(index + 7, bytes.count)) == "doctype"
        skip(past: UInt8(ascii: ">"))
        return isDoctype ? start..<index : nil
    }

    /// From behind `<!--`, whose own hyphens count for the end: `<!-->` is a comment.
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

    // MARK: Text

    /// Where the text of an element ends, which is before its end tag.
    private func endOfText(of name: String) -> Int {
        if name == "plaintext" { return bytes.count }
        // What a script has in a comment may hold another script, end tag included (§13.2.5.17 and on).
        var (isInComment, isInScript) = (false, false)
        var place = index
        while place < bytes.count {
            let rest = bytes[place...]
            if name == "script", isInComment, rest.starts(with: "-->".utf8) {
                (isInComment, isInScript) = (false, false)
                place += 3
            } else if bytes[place] != UInt8(ascii: "<") {
                place += 1
            } else if begins("</\(name)", at: place) {
                if !isInScript { return place }
                isInScript = false
                place += 2
            } else if name == "script", !isInComment, rest.starts(with: "<!--".utf8) {
                isInComment = true
                place += 2
            } else {
                if isInComment, begins("<script", at: place) { isInScript = true }
                place += 1
            }
        }
        return bytes.count
    }

    /// Whether a tag begins here, and with all of its name.
    private func begins(_ tag: String, at place: Int) -> Bool {
        let end = place + tag.utf8.count
        guard end < bytes.count, bytes[end].isHTMLSpace || "/>".utf8.contains(bytes[end]) else { return false }
        return zip(bytes[place..<end], tag.utf8).allSatisfy { $0.asciiLowercased == $1 }
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
