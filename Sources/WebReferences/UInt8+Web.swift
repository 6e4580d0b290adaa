import LocalSubstitution

/// The roles of single bytes in HTML, CSS and URLs.
extension UInt8 {
    /// Whether it's white space in HTML. It's the same in CSS, whose line ends are normalized first.
    var isHTMLSpace: Bool { self == 0x20 || self == 0x09 || isLineEnd }

    var isLineEnd: Bool { self == 0x0A || self == 0x0D || self == 0x0C }

    /// Whether a URL parser removes it everywhere (WHATWG URL §4.4).
    var isRemovedFromURLs: Bool { self == 0x09 || self == 0x0A || self == 0x0D }

    /// Whether it's part of a CSS name, as all of UTF-8 beyond ASCII is. A null byte counts as U+FFFD (CSS Syntax §3.3).
    var isPartOfCSSName: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") || self >= 0x80 || self == 0
    }

    /// Whether it makes an unquoted URL invalid (CSS Syntax §4.2).
    var isNonPrintableInCSS: Bool {
        switch self {
        case 0x01...0x08, 0x0B, 0x0E...0x1F, 0x7F: true
        default: false
        }
    }
}

extension [UInt8] {
    /// Returns the index after the next occurrence of an ending; the end of the bytes if there's none.
    func end(of ending: String, from start: Int) -> Int {
        let ending = Array(ending.utf8)
        var place = start
        while let found = self[place...].firstIndex(of: ending[0]) {
            if self[found...].starts(with: ending) { return found + ending.count }
            place = found + 1
        }
        return count
    }
}
