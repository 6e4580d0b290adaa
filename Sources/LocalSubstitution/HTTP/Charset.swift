package import Foundation

/// Names of charsets, and byte order marks.
package enum Charset {
    package static let standard = "utf-8"

    /// In bytes.
    static let longestByteOrderMark = 4

    /// The IANA name of the charset whose byte order mark begins the bytes (Unicode §23.8).
    package static func byteOrderMark(of bytes: Data) -> String? {
        let marks: [([UInt8], String)] = [
            ([0xEF, 0xBB, 0xBF], "utf-8"),
            // UTF-32 comes before UTF-16, whose mark is the first half of UTF-32's.
            ([0xFF, 0xFE, 0, 0], "utf-32le"),
            ([0, 0, 0xFE, 0xFF], "utf-32be"),
            ([0xFF, 0xFE], "utf-16le"),
            ([0xFE, 0xFF], "utf-16be"),
        ]
        return marks.first { bytes.starts(with: $0.0) }?.1
    }
}
