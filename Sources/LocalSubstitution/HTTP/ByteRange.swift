import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `Range` header with one range of bytes (RFC 9110 §14.1.2).
enum ByteRange: Equatable {
    /// `bytes=10-19`; `last` is included, and `nil` is the end.
    case from(Int, last: Int?)
    /// `bytes=-20`: the last 20 bytes.
    case suffix(Int)

    /// `nil` for another unit, several ranges, or bad syntax: such a header is ignored (RFC 9110 §14.2).
    init?(_ header: String) {
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let range = parts[1].drop { $0 == " " || $0 == "\t" }
        let ends = range.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
            .split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { return nil }
        switch (first, last) {
        case (nil, nil): return nil
        case (nil, let count?): self = .suffix(count)
        case (let start?, let last):
            if let last, last < start { return nil }
            self = .from(start, last: last)
        }
    }

    /// The bytes that are meant of so many; `nil` if there are none: the range can't be satisfied.
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

    /// A number; `.some(nil)` for no digits. One that is too large for any file is the largest there is.
    private static func number(_ digits: String) -> Int?? {
        guard digits.utf8.allSatisfy(\.isDigit) else { return nil }
        return digits.isEmpty ? .some(nil) : .some(Int(digits) ?? .max)
    }
}

extension URLRequest {
    /// The `Range` header; `nil` if `If-Range` makes it depend on a validator, since sending the whole body is always correct.
    var rangeHeader: String? {
        value(forHTTPHeaderField: "If-Range") == nil ? value(forHTTPHeaderField: "Range") : nil
    }
}
