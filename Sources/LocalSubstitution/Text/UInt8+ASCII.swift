/// The meaning of single bytes in ASCII.
extension UInt8 {
    package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// The value of a hexadecimal digit; `nil` for another byte.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    package var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension String {
    /// The text with ASCII letters in lowercase. `lowercased()` also turns some other letters into ASCII ones, such as the Kelvin
    /// sign into k.
    package var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }

    /// Creates a number's digits, with leading zeros up to a width.
    package init(_ number: some BinaryInteger, radix: Int = 10, width: Int) {
        let digits = String(number, radix: radix)
        self = String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}
