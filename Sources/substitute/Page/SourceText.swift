import LocalSubstitution

/// The value of an HTML attribute, and where in the document each of its bytes comes from.
///
/// So a part of a value can be replaced without touching the rest, however that is written.
struct SourceText {
    private(set) var bytes: [UInt8] = []
    /// One more than there are bytes: the last one is the end.
    private var places: [Int] = []

    /// Decodes character references (WHATWG HTML §13.2.5.72 and on): numeric ones, and of the named ones those of XML. Others stay
    /// as they are; they don't occur in URLs.
    init(attributeValue range: Range<Int>, of document: [UInt8]) {
        bytes.reserveCapacity(range.count)
        places.reserveCapacity(range.count + 1)
        var index = range.lowerBound
        while index < range.upperBound {
            if document[index] == UInt8(ascii: "&"),
                let (decoded, length) = Self.reference(document[(index + 1)..<range.upperBound])
            {
                for byte in decoded {
                    bytes.append(byte)
                    places.append(index)
                }
                index += 1 + length
            } else {
                bytes.append(document[index])
                places.append(index)
                index += 1
            }
        }
        places.append(index)
    }

    /// Where in the document some of the bytes stand.
    func place(of range: Range<Int>) -> Range<Int> { places[range.lowerBound]..<places[range.upperBound] }

    // MARK: Character references

    private static let names: [(name: String, byte: UInt8)] = [
        ("amp", UInt8(ascii: "&")), ("quot", UInt8(ascii: "\"")), ("lt", UInt8(ascii: "<")), ("gt", UInt8(ascii: ">")),
        ("AMP", UInt8(ascii: "&")), ("QUOT", UInt8(ascii: "\"")), ("LT", UInt8(ascii: "<")),
        ("GT", UInt8(ascii: ">")),
    ]

    /// What stands behind an ampersand: the bytes it means, and how many it takes.
    private static func reference(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        if rest.first == UInt8(ascii: "#") { return numeric(rest) }
        if rest.starts(with: "apos;".utf8) { return ([UInt8(ascii: "'")], 5) }
        for (name, byte) in names where rest.starts(with: name.utf8) {
            let length = name.utf8.count
            let following = rest.dropFirst(length).first
            if following == UInt8(ascii: ";") { return ([byte], length + 1) }
            // Without its semicolon, what looks like a parameter's name is one.
            let isName = following.map { $0 == UInt8(ascii: "=") || $0.isLetter || $0.isDigit } ?? false
            return isName ? nil : ([byte], length)
        }
        return nil
    }

    private static func numeric(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        var digits = rest.dropFirst()
        let isHexadecimal = digits.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        if isHexadecimal { digits = digits.dropFirst() }
        let end = digits.firstIndex { isHexadecimal ? $0.hexDigitValue == nil : !$0.isDigit } ?? digits.endIndex
        guard end > digits.startIndex else { return nil }
        var number: UInt32 = 0
        for digit in digits[..<end] {
            number = min(number * (isHexadecimal ? 16 : 10) + UInt32(digit.hexDigitValue ?? 0), 0x11_0000)
        }
        let scalar = number == 0 ? nil : Unicode.Scalar(number)
        let hasSemicolon = end < rest.endIndex && rest[end] == UInt8(ascii: ";")
        return (Array(String(scalar ?? "\u{FFFD}").utf8), end - rest.startIndex + (hasSemicolon ? 1 : 0))
    }
}
