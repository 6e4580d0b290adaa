extension String {
    /// The text with what steers a terminal written as `\u{1B}`: text from a map or a server may come from anywhere.
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
    /// Whether a terminal does something else with the character than show it: a control character (C0, DEL, C1), one that changes
    /// the order in which others are shown (UAX #9), or one that ends a line or paragraph.
    package var steersTerminal: Bool {
        if (0x20..<0x7F).contains(value) { return false }
        return properties.isBidiControl
            || [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
    }
}
