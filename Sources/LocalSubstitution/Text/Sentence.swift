extension String {
    /// The text with a period at its end. A text that already ends in punctuation, such as some messages of the system,
    /// is unchanged. Closing parentheses are ignored: “(error 512.)” already ends in a period.
    package var sentence: String {
        var last: Unicode.Scalar?
        for scalar in unicodeScalars where scalar != ")" { last = scalar }
        guard let last, ![".", "?", "!", "…"].contains(last) else { return self }
        return self + "."
    }

    /// The text to quote: all of it, or its first 100 characters and “…” if it's longer.
    @inline(never)  // Otherwise, each of its callers would contain a copy.
    var clipped: String { count <= 100 ? self : prefix(100) + "…" }

    /// The text for the beginning of a sentence.
    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension [String] {
    /// The texts joined as in a sentence, such as “path, query and trailing slash”.
    package func listed(_ conjunction: String = "and") -> String {
        guard let last, count > 1 else { return last ?? "" }
        return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }
}

extension Int {
    /// The number with a comma between groups of three digits, such as 163,196.
    package var grouped: String {
        var digits = String(magnitude)
        for end in stride(from: digits.count - 3, to: 0, by: -3) {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: end))
        }
        return (self < 0 ? "-" : "") + digits
    }

    /// The number and a noun, such as “1 entry” or “1,200 entries”.
    package func counted(_ one: String, _ many: String) -> String { "\(grouped) \(self == 1 ? one : many)" }
}

extension Double {
    /// The number with a comma between groups of three digits, such as 1,500 or 0.25. A fraction of 0 is left out.
    package var grouped: String {
        let text = "\(self)"
        guard let point = text.firstIndex(of: "."), let whole = Int(String(text[..<point])) else { return text }
        let fraction = text[point...]
        return (self < 0 && whole == 0 ? "-" : "") + whole.grouped + (fraction == ".0" ? "" : fraction)
    }
}
