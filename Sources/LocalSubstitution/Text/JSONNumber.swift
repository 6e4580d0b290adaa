/// A JSON number that is compared as a decimal: `1`, `1.0` and `10e-1` are equal.
///
/// It can have any number of digits and any exponent. It's never converted to a `Double`, since different numbers would become
/// equal.
struct JSONNumber: Sendable {
    /// The number as written (RFC 8259 §6).
    let text: String

    /// The number as 0.`digits` × 10^`exponent`.
    private struct Decimal: Hashable {
        var isNegative = false
        /// Without zeros at either end; empty for 0.
        var digits: [UInt8] = []
        /// In decimal, without leading zeros, since it may have any number of digits.
        var exponent = "0"
    }

    private var decimal: Decimal {
        var rest = text.utf8[...]
        var decimal = Decimal()
        if rest.first == UInt8(ascii: "-") {
            decimal.isNegative = true
            rest = rest.dropFirst()
        }
        let integer = rest.prefix(while: \.isDigit)
        rest = rest[integer.endIndex...]
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: \.isDigit)
            rest = rest[fraction.endIndex...]
        }
        let all = Array(integer) + Array(fraction)
        let significant = all.drop { $0 == UInt8(ascii: "0") }
        guard let last = significant.lastIndex(where: { $0 != UInt8(ascii: "0") }) else { return Decimal() }
        decimal.digits = Array(significant[...last])
        // The rest is the exponent, after its `e`.
        decimal.exponent = Self.sum(of: rest.dropFirst(), and: integer.count - significant.startIndex)
        return decimal
    }

    /// Returns the sum of a written integer of any length and a small one.
    private static func sum(of written: Substring.UTF8View, and shift: Int) -> String {
        let isNegative = written.first == UInt8(ascii: "-")
        let digits = written.drop { !$0.isDigit }.drop { $0 == UInt8(ascii: "0") }
        guard digits.count > lowDigits else {
            let magnitude = Int(String(Substring(digits))) ?? 0
            return String((isNegative ? -magnitude : magnitude) + shift)
        }
        // A number this large keeps its sign. Only its low digits change, except for a carry.
        var high = Array(digits.dropLast(lowDigits))
        var low = (Int(String(Substring(digits.suffix(lowDigits)))) ?? 0) + (isNegative ? -shift : shift)
        if low >= lowLimit {
            low -= lowLimit
            add(1, to: &high)
        } else if low < 0 {
            low += lowLimit
            add(-1, to: &high)
        }
        let magnitude = String(decoding: high, as: UTF8.self) + String(low, width: lowDigits)
        let significant = magnitude.utf8.drop { $0 == UInt8(ascii: "0") }
        return (isNegative ? "-" : "") + String(Substring(significant))
    }

    /// Adds 1 or -1 to decimal digits.
    private static func add(_ carry: Int8, to digits: inout [UInt8]) {
        let (last, first) = carry > 0 ? (UInt8(ascii: "9"), UInt8(ascii: "0")) : (UInt8(ascii: "0"), UInt8(ascii: "9"))
        for index in digits.indices.reversed() {
            guard digits[index] == last else {
                digits[index] = UInt8(Int8(digits[index]) + carry)
                return
            }
            digits[index] = first
        }
        if carry > 0 { digits.insert(UInt8(ascii: "1"), at: 0) }
    }

    private static let lowDigits = 17
    private static let lowLimit = 100_000_000_000_000_000
}

extension JSONNumber: Hashable {
    static func == (first: JSONNumber, second: JSONNumber) -> Bool {
        first.text == second.text || first.decimal == second.decimal
    }

    func hash(into hasher: inout Hasher) { hasher.combine(decimal) }
}
