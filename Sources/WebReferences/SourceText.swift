/// A decoded text that knows where in the document each of its bytes is written.
///
/// So a part of the text can be replaced in the document without changing the rest, however that's escaped.
package struct SourceText: Sendable {
    package private(set) var bytes: [UInt8]
    /// The position at which each byte is written; `nil` while the text is one unescaped piece of the document.
    private var places: [UInt32]?
    private var start: Int
    /// The position at which the last byte ends.
    private var end: Int

    /// Creates the text of a whole document.
    package init(_ document: [UInt8]) {
        bytes = document
        start = 0
        end = document.count
    }

    /// Creates an empty text, to append to.
    init(at place: Int) {
        bytes = []
        start = place
        end = place
    }

    /// Appends bytes that are written differently, such as an escape.
    ///
    /// - Parameter place: The range in the document where they're written.
    mutating func append(_ decoded: some Collection<UInt8>, at place: Range<Int>) {
        if places == nil, place.lowerBound != end || place.count != 1 || decoded.count != 1 {
            places = (start..<start + bytes.count).map { UInt32(clamping: $0) }
        }
        for byte in decoded {
            bytes.append(byte)
            places?.append(UInt32(clamping: place.lowerBound))
        }
        end = place.upperBound
    }

    /// Returns a part of the text.
    func slice(_ range: Range<Int>) -> SourceText {
        var slice = SourceText(at: place(of: range).lowerBound)
        slice.bytes = Array(bytes[range])
        slice.places = places.map { Array($0[range]) }
        slice.end = place(of: range).upperBound
        return slice
    }

    /// Returns the range in the document where some of the bytes are written.
    func place(of range: Range<Int>) -> Range<Int> {
        let lower = place(of: range.lowerBound)
        return lower..<max(lower, place(of: range.upperBound))
    }

    private func place(of index: Int) -> Int {
        if index == bytes.count { return end }
        return places.map { Int($0[index]) } ?? start + index
    }
}

extension SourceText {
    /// Creates the text of an attribute's value, with its character references decoded (WHATWG HTML §13.2.5.72).
    ///
    /// - Parameters:
    ///   - value: The value's range, without its quotes.
    ///   - source: The document, or text in it that is HTML again.
    init(attributeValue value: Range<Int>, of source: SourceText) {
        self = source.slice(value)
        guard bytes.contains(UInt8(ascii: "&")) else { return }
        let written = self
        self = SourceText(at: written.start)
        var index = 0
        while index < written.bytes.count {
            let reference =
                written.bytes[index] == UInt8(ascii: "&")
                ? CharacterReference(written.bytes[(index + 1)...]) : nil
            let range = index..<index + 1 + (reference?.length ?? 0)
            append(reference?.bytes ?? [written.bytes[index]], at: written.place(of: range))
            index = range.upperBound
        }
    }
}
