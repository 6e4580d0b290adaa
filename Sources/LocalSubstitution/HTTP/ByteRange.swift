import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `Range` header with one range of bytes (RFC 9110 §14.1.2), such as `bytes=10-19`, `bytes=10-` or `bytes=-20`.
enum ByteRange {
    /// `nil` if a body of `count` bytes has none of the bytes. Also `nil` for a header that a server ignores (RFC 9110
    /// §14.2): one with another unit, several ranges or bad syntax.
    static func bytes(_ header: String, of count: Int) -> Range<Int>? {
        let parts = header.components(separatedBy: "=")
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].trimmingCharacters(in: [" ", "\t"]).components(separatedBy: "-")
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]) else { return nil }
        if let first {
            guard first < count, first <= last ?? .max else { return nil }
            return first..<min(last ?? .max, count - 1) + 1
        }
        // Without a first position, the number is the length of the body's last part.
        guard let length = last, length > 0, count > 0 else { return nil }
        return max(0, count - length)..<count
    }

    /// `nil` if the text has characters other than digits, and `.some(nil)` if it's empty. A number too large for `Int`
    /// becomes `Int.max`.
    private static func number(_ digits: String) -> Int?? {
        guard digits.isDigits else { return nil }
        return digits.isEmpty ? .some(nil) : .some(Int(digits) ?? .max)
    }
}

extension URLRequest {
    /// `nil` without a `Range` header, if the method isn't `GET` (RFC 9110 §14.2), or if the request also has an
    /// `If-Range` header. With `If-Range`, the whole body is sent, which is always correct.
    package var rangeHeader: String? {
        guard httpMethod ?? "GET" == "GET", value(forHTTPHeaderField: "If-Range") == nil else { return nil }
        return value(forHTTPHeaderField: "Range")
    }
}
