import Foundation
import LocalSubstitution

/// The text of a JSON string: what stands between its quotes, with its escapes decoded (RFC 8259 §7).
///
/// Half of a surrogate pair becomes U+FFFD, as wherever a browser writes text as UTF-8: one such escape is no reason to leave out a
/// whole page.
enum JSONEscapes {
    /// `nil` if an escape is none, or the text is not UTF-8.
    static func text(_ raw: UnsafeBufferPointer<UInt8>) -> String? {
        guard raw.contains(backslash) else { return String(utf8: raw) }
        return bytes(raw).flatMap { String(utf8: $0) }
    }

    /// The text's bytes, of which those that were not escaped are not checked; `nil` if an escape is none.
    static func bytes(_ raw: UnsafeBufferPointer<UInt8>) -> Data? {
        // What an escape stands for is never longer than the escape. Written in place: `Data.append` takes long for short runs.
        var result = Data(count: raw.count)
        let count = result.withUnsafeMutableBytes { decode(raw, into: $0) }
        guard let count else { return nil }
        result.count = count
        return result
    }

    /// The number of bytes; `nil` if an escape is none.
    private static func decode(
        _ raw: UnsafeBufferPointer<UInt8>,
        into result: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let base = raw.baseAddress, let target = result.baseAddress else { return 0 }
        var (index, count) = (0, 0)
        while index < raw.count {
            // Whole runs at a time: most of a text has no escapes.
            let found = memchr(base + index, Int32(backslash), raw.count - index)
            let escape = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(base) } ?? raw.count
            memcpy(target + count, base + index, escape - index)
            count += escape - index
            index = escape
            guard index < raw.count else { break }
            guard let scalar = scalar(raw, &index) else { return nil }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                result[count] = byte
                count += 1
            }
        }
        return count
    }

    /// Takes the escape that begins at an index.
    private static func scalar(_ raw: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
        guard index + 1 < raw.count else { return nil }
        let letter = raw[index + 1]
        if letter == UInt8(ascii: "u") { return unicode(raw, &index) }
        index += 2
        switch letter {
        case UInt8(ascii: "\""), backslash, UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        default: return nil
        }
    }

    private static func unicode(_ raw: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
        guard let first = unit(raw, at: index) else { return nil }
        index += 6
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, let second = unit(raw, at: index), (0xDC00...0xDFFF).contains(second) else {
            return "\u{FFFD}"
        }
        index += 6
        return Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
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
