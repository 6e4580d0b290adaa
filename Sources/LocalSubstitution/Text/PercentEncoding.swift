/// Percent-encoding (RFC 3986 §2), on UTF-8 bytes.
enum PercentEncoding {
    /// ASCII bytes that may stand as they are in one part of a URL.
    struct AllowedBytes {
        /// A bit for each byte below 128.
        private let bits: (low: UInt64, high: UInt64)

        init(_ characters: String) {
            bits = characters.utf8.reduce(into: (0, 0)) { bits, byte in
                if byte < 64 { bits.0 |= 1 << UInt64(byte) } else { bits.1 |= 1 << UInt64(byte - 64) }
            }
        }

        func contains(_ byte: UInt8) -> Bool {
            guard byte < 128 else { return false }
            return (byte < 64 ? bits.low : bits.high) >> UInt64(byte & 63) & 1 == 1
        }

        /// RFC 3986 §2.3. They mean the same encoded or not, so they are always decoded.
        static let unreserved = AllowedBytes(letters + "-._~")
        /// `pchar` and `/` (RFC 3986 §3.3), except `*`, which is the wildcard, and `'`.
        ///
        /// Browsers encode `'` in a query (WHATWG URL, special-query percent-encode set), but not in a path. Here it has one form
        /// in both, since the text after a pattern's `*` can be in either.
        static let path = AllowedBytes(letters + "-._~!$&()+,;=:@/")
        /// `pchar`, `/` and `?` (RFC 3986 §3.4), with the same exceptions.
        static let query = AllowedBytes(letters + "-._~!$&()+,;=:@/?")
        /// `unreserved` and `sub-delims` (RFC 3986 §3.2.2), but for `*`.
        static let host = AllowedBytes(letters + "-._~!$&'()+,;=")

        private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    }

    /// The normal form (RFC 3986 §6.2.2): capital hexadecimal digits, unreserved characters decoded, every byte that may not
    /// stand there encoded, and so a `%` that begins no valid encoding. Asterisks are encoded, or kept where they are wildcards.
    static func normalize(
        _ bytes: some Sequence<UInt8>,
        allowed: AllowedBytes,
        keepsAsterisks: Bool
    ) -> [UInt8] {
        let bytes = Array(bytes)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexDigitValue, let low = bytes[index + 2].hexDigitValue
            {
                let decoded = high << 4 | low
                if AllowedBytes.unreserved.contains(decoded) {
                    result.append(decoded)
                } else {
                    append(decoded, to: &result)
                }
                index += 3
                continue
            }
            if allowed.contains(byte) || (keepsAsterisks && byte == UInt8(ascii: "*")) {
                result.append(byte)
            } else {
                append(byte, to: &result)
            }
            index += 1
        }
        return result
    }

    /// The bytes with every valid `%XX` decoded once; anything else is kept.
    static func decode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexDigitValue, let low = bytes[index + 2].hexDigitValue
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static func append(_ byte: UInt8, to result: inout [UInt8]) {
        result.append(UInt8(ascii: "%"))
        result.append(hexDigits[Int(byte >> 4)])
        result.append(hexDigits[Int(byte & 15)])
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
