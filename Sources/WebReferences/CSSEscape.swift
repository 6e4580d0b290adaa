import LocalSubstitution

/// A CSS escape (CSS Syntax §4.3.7).
struct CSSEscape {
    /// The character that the escape means, in UTF-8.
    let bytes: [UInt8]
    /// The number of bytes in the source, including the backslash.
    let length: Int

    /// Reads an escape; `nil` if none begins here.
    init?(_ rest: ArraySlice<UInt8>) {
        guard rest.first == UInt8(ascii: "\\") else { return nil }
        let digits = rest.dropFirst().prefix(6).prefix { $0.hexDigitValue != nil }
        if digits.isEmpty {
            guard let byte = rest.dropFirst().first, !byte.isLineEnd else { return nil }
            bytes = [byte]
            length = 2
            return
        }
        let number = digits.reduce(0) { $0 * 16 + UInt32($1.hexDigitValue ?? 0) }
        let scalar = number == 0 ? nil : Unicode.Scalar(number)
        bytes = Array(String(scalar ?? "\u{FFFD}").utf8)
        // One white space character may end it. A line end can have two bytes.
        let following = rest[digits.endIndex...]
        let space = following.starts(with: [0x0D, 0x0A]) ? 2 : following.first?.isHTMLSpace == true ? 1 : 0
        length = 1 + digits.count + space
    }
}
