extension String {
    /// The text with escapes, such as `\u{1B}`, for characters that control a terminal. Text from a map or server can
    /// have any of them.
    package var printable: String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.steersTerminal {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether the character controls a terminal. It does if it's a control character (C0, DEL, C1), changes the order
    /// in which others are shown (UAX #9), or separates lines or paragraphs.
    package var steersTerminal: Bool {
        if (0x20..<0x7F).contains(value) { return false }
        return properties.isBidiControl
            || [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
    }
}
