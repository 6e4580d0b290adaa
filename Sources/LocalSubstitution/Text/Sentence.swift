extension String {
    /// The text with a period, unless it already ends in punctuation, as some messages of the system do. Closing parentheses
    /// don't count: “(error 512.)” has its period.
    package var sentence: String {
        guard let last = unicodeScalars.last(where: { $0 != ")" }), ![".", "?", "!", "…"].contains(last)
        else { return self }
        return self + "."
    }

    /// Returns the text and the advice as two sentences. Neither may end in a period yet.
    func sentences(withAdvice advice: String?) -> String {
        "\(self)." + (advice.map { " \($0.capitalizedFirst)." } ?? "")
    }

    /// Returns the text and advice for a label or the middle of a sentence, without a period.
    func fragment(withAdvice advice: String?) -> String { self + (advice.map { ": \($0)" } ?? "") }

    /// The text with its first letter in upper case, for the beginning of a sentence.
    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension [String] {
    /// Returns the texts as in a sentence, such as “path, query and trailing slash”.
    package func listed(_ conjunction: String = "and") -> String {
        guard let last, count > 1 else { return last ?? "" }
        return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }
}
