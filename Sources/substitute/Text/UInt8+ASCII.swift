/// What HTML and CSS say of single bytes.
extension UInt8 {
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Also in CSS, once its line ends are made alike.
    var isHTMLSpace: Bool { self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D || self == 0x0C }

    var isLineEnd: Bool { self == 0x0A || self == 0x0D || self == 0x0C }

    var hexadecimalValue: UInt32? {
        if isDigit { return UInt32(self - UInt8(ascii: "0")) }
        let letter = self | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(letter) ? UInt32(letter - UInt8(ascii: "a")) + 10 : nil
    }

    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension String {
    /// Not `lowercased()`: that turns some letters outside ASCII into ASCII ones.
    var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }
}
