import Foundation

extension Data {
    init(utf8 text: String) { self.init(Array(text.utf8)) }
}

extension String {
    /// `nil` if the bytes aren't valid UTF-8.
    ///
    /// `String(validating:as:)` does the same, but needs iOS 18.
    package init?(utf8 bytes: some Collection<UInt8>) {
        let text = bytes.withContiguousStorageIfAvailable { Self.text($0) }
        guard let text = text ?? Array(bytes).withUnsafeBufferPointer({ Self.text($0) }) else { return nil }
        self = text
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var text = String(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid bytes with U+FFFD, so the text then has other bytes. `memcmp` is a fast way to
        // compare them, which matters for the many strings of a map.
        let isSame = text.withUTF8 { decoded in
            guard decoded.count == bytes.count, let first = decoded.baseAddress, let other = bytes.baseAddress else {
                return decoded.count == bytes.count
            }
            return memcmp(first, other, bytes.count) == 0
        }
        return isSame ? text : nil
    }
}

extension [UInt8] {
    /// The bytes that some programs put before UTF-8 text (Unicode §23.8). A JSON parser may skip them (RFC 8259 §8.1).
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    package var withoutByteOrderMark: [UInt8] {
        starts(with: Self.byteOrderMark) ? Array(dropFirst(Self.byteOrderMark.count)) : self
    }
}

/// The meaning of single bytes in ASCII.
extension UInt8 {
    package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// `nil` if the byte isn't a hexadecimal digit.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension String {
    @inline(never)  // Otherwise, each of its callers would contain a copy.
    func count(of byte: UInt8) -> Int { utf8.count { $0 == byte } }
}
