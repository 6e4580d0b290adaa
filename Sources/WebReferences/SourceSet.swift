/// The URLs in a `srcset` attribute (WHATWG HTML §4.8.4.3.12).
enum SourceSet {
    /// Returns the ranges of the candidates' URLs in the text.
    static func urls(in text: [UInt8]) -> [Range<Int>] {
        var urls: [Range<Int>] = []
        var index = 0
        while index < text.count {
            guard let start = text[index...].firstIndex(where: { !$0.isHTMLSpace && $0 != UInt8(ascii: ",") }) else {
                break
            }
            index = text[start...].firstIndex { $0.isHTMLSpace } ?? text.count
            var end = index
            while text[end - 1] == UInt8(ascii: ",") { end -= 1 }
            urls.append(start..<end)
            // A comma at the end of the URL ends the candidate too. Otherwise, descriptors may follow.
            if end == index { index = endOfDescriptors(in: text, from: index) }
        }
        return urls
    }

    /// Returns where the descriptors end. A comma in parentheses doesn't end them.
    private static func endOfDescriptors(in text: [UInt8], from start: Int) -> Int {
        var isInParentheses = false
        for index in start..<text.count {
            switch text[index] {
            case UInt8(ascii: "("): isInParentheses = true
            case UInt8(ascii: ")"): isInParentheses = false
            case UInt8(ascii: ",") where !isInParentheses: return index
            default: break
            }
        }
        return text.count
    }
}
