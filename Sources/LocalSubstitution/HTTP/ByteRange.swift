import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `Range` header with one range of bytes (RFC 9110 §14.1.2).
enum ByteRange: Equatable {
    /// `bytes=10-19`, including `last`. If `last` is `nil`, the range extends to the end.
    case from(Int, last: Int?)
    /// `bytes=-20`: the last 20 bytes.
    case suffix(Int)

    /// Parses a header; `nil` for another unit, several ranges, or bad syntax: a server ignores such a header (RFC 9110 §14.2).
    init?(_ header: String) {
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].trimmingCharacters(in: [" ", "\t"]).components(separatedBy: "-")
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { return nil }
        switch (first, last) {
        case (nil, nil): return nil
        case (nil, let count?): self = .suffix(count)
        case (let start?, let last):
            if let last, last < start { return nil }
            self = .from(start, last: last)
        }
    }

    /// Returns the range in a body of `count` bytes; `nil` if the body has none of the range's bytes.
    func bytes(of count: Int) -> Range<Int>? {
        switch self {
        case .from(let start, let last):
            guard start < count else { return nil }
            return start..<min(last ?? count - 1, count - 1) + 1
        case .suffix(let length):
            guard length > 0, count > 0 else { return nil }
            return max(0, count - length)..<count
        }
    }

    /// Parses digits; `.some(nil)` if there are none, and `nil` for other characters. A number too large for `Int`
    /// becomes `Int.max`.
    private static func number(_ digits: String) -> Int?? {
        guard digits.utf8.allSatisfy(\.isDigit) else { return nil }
        return digits.isEmpty ? .some(nil) : .some(Int(digits) ?? .max)
    }
}

extension URLRequest {
    /// The `Range` header; `nil` if the request also has an `If-Range` header. The whole body is then sent, which is
    /// always correct.
    package var rangeHeader: String? {
        value(forHTTPHeaderField: "If-Range") == nil ? value(forHTTPHeaderField: "Range") : nil
    }
}
