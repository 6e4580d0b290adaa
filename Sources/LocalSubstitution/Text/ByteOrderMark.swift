/// The mark that some programs put before UTF-8 text (Unicode §23.8). JSON parsers may ignore it (RFC 8259 §8.1).
package enum ByteOrderMark {
    static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns a text without the mark.
    package static func removed(from text: [UInt8]) -> [UInt8] {
        text.starts(with: utf8) ? Array(text.dropFirst(utf8.count)) : text
    }
}
