/// The URLs in an import map that browsers compare with, or resolve to, the URLs of scripts: all values, and the keys of
/// scopes. The keys of imports aren't included, since scripts import these texts, and scripts aren't rewritten.
///
/// The scanner also returns texts that aren't URLs, such as `imports`. They're like relative URLs.
struct ImportMapURLs: SourceText.Scanner {
    let source: SourceText
    var index = 0

    init(_ source: SourceText) { self.source = source }

    mutating func next() -> SourceText? {
        while index < bytes.count {
            skip { $0 != UInt8(ascii: "\"") }
            index = Swift.min(index + 1, bytes.count)
            var text = emptyText
            while let byte = byte(), byte != UInt8(ascii: "\"") {
                index = text.append(SourceText.Escape(json: bytes[index...]), at: index, of: source)
            }
            index = Swift.min(index + 1, bytes.count)
            skipSpace()
            guard skip(over: ":") else { return text }
            skipSpace()
            // A scope's value is an object. The value of an import is a string.
            if isAt("{") { return text }
        }
        return nil
    }
}
