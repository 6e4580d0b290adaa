import LocalSubstitution

/// The URL in the content of `<meta http-equiv=refresh>` (WHATWG HTML §4.2.5.3, shared declarative refresh steps).
enum MetaRefresh {
    /// Returns the range of the URL in the text; `nil` if the page is only reloaded.
    static func url(in text: [UInt8]) -> Range<Int>? {
        var index = 0
        func byte() -> UInt8? { index < text.count ? text[index] : nil }
        func skip(while isPart: (UInt8) -> Bool) {
            while let byte = byte(), isPart(byte) { index += 1 }
        }

        skip { $0.isHTMLSpace }
        let time = index
        skip { $0.isDigit }
        guard index > time || byte() == UInt8(ascii: ".") else { return nil }
        skip { $0.isDigit || $0 == UInt8(ascii: ".") }
        guard let separator = byte(), separator.isHTMLSpace || ";,".utf8.contains(separator) else { return nil }
        skip { $0.isHTMLSpace }
        if let separator = byte(), ";,".utf8.contains(separator) { index += 1 }
        skip { $0.isHTMLSpace }
        guard index < text.count else { return nil }

        let start = index
        if text[index...].prefix(3).map(\.asciiLowercased) == Array("url".utf8) {
            index += 3
            skip { $0.isHTMLSpace }
            guard byte() == UInt8(ascii: "=") else { return start..<text.count }
            index += 1
            skip { $0.isHTMLSpace }
        }
        guard let quote = byte(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return index..<text.count
        }
        index += 1
        return index..<(text[index...].firstIndex(of: quote) ?? text.count)
    }
}
