extension String {
    /// The text with escapes, such as `\u{1B}`, in place of characters that control a terminal or are invisible, since
    /// text from a map or server can have any of these.
    package var printable: String {
        guard unicodeScalars.contains(where: { $0.steersTerminal || $0.isInvisible }) else { return self }
        let scalars = Array(unicodeScalars)
        var text = ""
        for (index, scalar) in scalars.enumerated() {
            // Such as in 👩‍💻, which is one character on the screen.
            let joinsEmoji =
                scalar == "\u{200D}"
                && scalars[(index + 1)...].first.map { !$0.isASCII && $0.properties.isEmoji } == true
            if scalar.steersTerminal || scalar.isInvisible && !joinsEmoji {
                text += scalar.escape
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

    /// A format character, a tag, a filler, or the braille pattern without dots. Variation selectors aren't included,
    /// since the characters before them show them.
    package var isInvisible: Bool {
        if isASCII { return false }
        return value == 0x2800 || properties.generalCategory == .format
            || properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector
    }

    /// The character as Swift and messages write an invisible one, such as `\u{200B}`.
    var escape: String { "\\u{\(String(value, radix: 16, uppercase: true))}" }
}
