extension String {
    /// The text with escapes, such as `\u{1B}`, in place of characters that control a terminal, since text from a map
    /// or server can have any of these.
    package var printable: String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.steersTerminal {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// Whether the character controls a terminal: a control character (C0, DEL, C1), a character that changes the order
    /// in which others are shown (UAX #9), or a separator of lines or paragraphs.
    package var steersTerminal: Bool {
        if (0x20..<0x7F).contains(value) { return false }
        return properties.isBidiControl
            || [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
    }
}
