import LocalSubstitution

/// A search for the end of an element's text, in which tags don't count as tags.
enum ElementText {
    private static let scriptTag = Array("<script".utf8)

    /// Returns where the text of an HTML element ends: before its end tag.
    static func end(of name: String, in bytes: [UInt8], from start: Int) -> Int {
        if name == "plaintext" { return bytes.count }
        let endTag = Array("</\(name)".utf8)
        // A comment in a script may contain another script with its end tag (WHATWG HTML §13.2.5.17 and on).
        var (isInComment, isInScript) = (false, false)
        var place = start
        while place < bytes.count {
            let rest = bytes[place...]
            if name == "script", isInComment, rest.starts(with: "-->".utf8) {
                (isInComment, isInScript) = (false, false)
                place += 3
            } else if bytes[place] != UInt8(ascii: "<") {
                place += 1
            } else if begins(endTag, in: bytes, at: place) {
                if !isInScript { return place }
                isInScript = false
                place += 2
            } else if name == "script", !isInComment, rest.starts(with: "<!--".utf8) {
                isInComment = true
                place += 2
            } else {
                if isInComment, begins(scriptTag, in: bytes, at: place) { isInScript = true }
                place += 1
            }
        }
        return bytes.count
    }

    /// Returns where the text of a style element in SVG ends: before any tag. The text may be in `CDATA`.
    static func endBeforeTag(in bytes: [UInt8], from start: Int) -> Int {
        var place = start
        while place + 1 < bytes.count {
            if bytes[place] != UInt8(ascii: "<") {
                place += 1
            } else if bytes[place + 1].isLetter || bytes[place + 1] == UInt8(ascii: "/") {
                return place
            } else {
                place = bytes[place...].starts(with: "<![CDATA[".utf8) ? bytes.end(of: "]]>", from: place) : place + 1
            }
        }
        return bytes.count
    }

    /// Returns whether a tag with exactly this name begins here.
    private static func begins(_ tag: [UInt8], in bytes: [UInt8], at place: Int) -> Bool {
        let end = place + tag.count
        guard end < bytes.count, bytes[end].isHTMLSpace || "/>".utf8.contains(bytes[end]) else { return false }
        return zip(bytes[place..<end], tag).allSatisfy { $0.asciiLowercased == $1 }
    }
}
