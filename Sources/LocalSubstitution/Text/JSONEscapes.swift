package import Foundation

/// A decoder for the text between a JSON string's quotes, with its escapes (RFC 8259 §7).
package enum JSONEscapes {
    /// The reason why a string can't be decoded, and the byte of it at which that shows.
    package struct Failure: Error {
        let offset: Int
        let message: String
    }

    /// Returns the text of a string.
    ///
    /// - Parameter repairsHalves: Whether half of a surrogate pair becomes U+FFFD, as it does when a browser writes text as UTF-8.
    static func text(_ raw: UnsafeBufferPointer<UInt8>, repairsHalves: Bool) throws(Failure) -> String {
        let isPlain = raw.baseAddress.map { memchr($0, Int32(backslash), raw.count) == nil } ?? true
        let text = isPlain ? String(utf8: raw) : String(utf8: try bytes(raw, repairsHalves: repairsHalves))
        guard let text else {
            var valid = 0
            var decoder = UTF8()
            var iterator = raw.makeIterator()
            while case .scalarValue(let scalar) = decoder.decode(&iterator) { valid += UTF8.width(scalar) }
            throw Failure(offset: valid, message: "isn't UTF-8 here. Save it as UTF-8.")
        }
        return text
    }

    /// Returns the text's bytes. Those that weren't escaped aren't checked.
    package static func bytes(
        _ raw: UnsafeBufferPointer<UInt8>,
        repairsHalves: Bool = true
    ) throws(Failure) -> Data {
        // Decoded text is never longer than its escapes. It's written in place, since `Data.append` is slow for short runs.
        var result = Data(count: raw.count)
        let count = result.withUnsafeMutableBytes { target in
            // `Result`, since `withUnsafeMutableBytes` has no typed errors.
            Result { () throws(Failure) in try decode(raw, into: target, repairsHalves) }
        }
        result.count = try count.get()
        return result
    }

    /// Decodes a string into a buffer, and returns the number of bytes.
    private static func decode(
        _ raw: UnsafeBufferPointer<UInt8>,
        into result: UnsafeMutableRawBufferPointer,
        _ repairsHalves: Bool
    ) throws(Failure) -> Int {
        guard let base = raw.baseAddress, let target = result.baseAddress else { return 0 }
        var (index, count) = (0, 0)
        while index < raw.count {
            // Copies whole runs at a time, since most of a text has no escapes.
            let found = memchr(base + index, Int32(backslash), raw.count - index)
            let escape = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(base) } ?? raw.count
            memcpy(target + count, base + index, escape - index)
            count += escape - index
            index = escape
            guard index < raw.count else { break }
            let scalar = try scalar(raw, &index, repairsHalves)
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                result[count] = byte
                count += 1
            }
        }
        return count
    }

    /// Decodes the escape at an index, and moves the index behind it.
    private static func scalar(
        _ raw: UnsafeBufferPointer<UInt8>,
        _ index: inout Int,
        _ repairsHalves: Bool
    ) throws(Failure) -> Unicode.Scalar {
        guard index + 1 < raw.count else { throw Failure(offset: index, message: "ends inside a string.") }
        let scalar: Unicode.Scalar
        switch raw[index + 1] {
        case UInt8(ascii: "\""): scalar = "\""
        case backslash: scalar = "\\"
        case UInt8(ascii: "/"): scalar = "/"
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"): return try unicode(raw, &index, repairsHalves)
        default: throw Failure(offset: index, message: "has an unknown escape in a string. Write \\\\ for a backslash.")
        }
        index += 2
        return scalar
    }

    /// Decodes `\u` and four digits, or two of these that form a surrogate pair.
    private static func unicode(
        _ raw: UnsafeBufferPointer<UInt8>,
        _ index: inout Int,
        _ repairsHalves: Bool
    ) throws(Failure) -> Unicode.Scalar {
        guard let first = unit(raw, at: index) else {
            throw Failure(offset: index, message: "needs four hexadecimal digits after \\u.")
        }
        let start = index
        index += 6
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, let second = unit(raw, at: index), (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        {
            index += 6
            return scalar
        }
        guard repairsHalves else { throw Failure(offset: start, message: "has half of a surrogate pair in a string.") }
        return "\u{FFFD}"
    }

    private static func unit(_ raw: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32? {
        guard index + 5 < raw.count, raw[index] == backslash, raw[index + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt32 = 0
        for place in index + 2..<index + 6 {
            guard let digit = raw[place].hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    private static let backslash = UInt8(ascii: "\\")
}
