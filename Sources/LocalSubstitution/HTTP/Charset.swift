/// The charset of a text, told by its byte order mark.
package enum Charset {
    /// The charset that text has unless something says otherwise.
    package static let standard = "utf-8"

    /// In bytes.
    static let longestByteOrderMark = 4

    /// The IANA name for the Unicode byte order mark at the beginning, if there is one (Unicode §23.8).
    static func byteOrderMark(of bytes: some Collection<UInt8>) -> String? {
        let marks: [([UInt8], String)] = [
            ([0xEF, 0xBB, 0xBF], "utf-8"),
            // Before UTF-16, whose mark begins this one.
            ([0xFF, 0xFE, 0, 0], "utf-32le"),
            ([0, 0, 0xFE, 0xFF], "utf-32be"),
            ([0xFF, 0xFE], "utf-16le"),
            ([0xFE, 0xFF], "utf-16be"),
        ]
        return marks.first { bytes.starts(with: $0.0) }?.1
    }
}
