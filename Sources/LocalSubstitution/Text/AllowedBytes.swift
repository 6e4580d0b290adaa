/// A set of ASCII bytes, such as those that need no percent-encoding in one part of a URL.
package struct AllowedBytes {
    /// One bit for each byte below 128.
    private let bits: (low: UInt64, high: UInt64)

    package init(_ characters: String) {
        bits = characters.utf8.reduce(into: (0, 0)) { bits, byte in
            if byte < 64 { bits.0 |= 1 << UInt64(byte) } else { bits.1 |= 1 << UInt64(byte - 64) }
        }
    }

    package func contains(_ byte: UInt8) -> Bool {
        guard byte < 128 else { return false }
        return (byte < 64 ? bits.low : bits.high) >> UInt64(byte & 63) & 1 == 1
    }
}
