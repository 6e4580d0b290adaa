extension Int {
    /// The number with a comma between groups of three digits, such as 163,196.
    package var grouped: String {
        var digits = String(magnitude)
        for end in stride(from: digits.count - 3, to: 0, by: -3) {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: end))
        }
        return (self < 0 ? "-" : "") + digits
    }

    /// Returns the number with the name of what is counted, such as “1 entry” or “1,200 entries”.
    package func counted(_ one: String, _ many: String) -> String { "\(grouped) \(self == 1 ? one : many)" }
}

extension Double {
    /// The number with a comma between groups of three digits, and without a fraction that is 0, such as 1,500 or 0.25.
    package var grouped: String {
        let text = "\(self)"
        guard let point = text.firstIndex(of: "."), let whole = Int(text[..<point]) else { return text }
        let fraction = text[point...]
        return (self < 0 && whole == 0 ? "-" : "") + whole.grouped + (fraction == ".0" ? "" : fraction)
    }
}
