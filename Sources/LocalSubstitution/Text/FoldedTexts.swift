/// Texts to search for near matches. Their lengths and letters alone rule out nearly all of them.
struct FoldedTexts: Sendable {
    private var bytes: [UInt8] = []
    private var items: [(end: Int, letters: Letters)] = []

    /// Adds a text, in lowercase.
    mutating func append(_ text: [UInt8]) {
        bytes += text
        items.append((bytes.count, Letters(text[...])))
    }

    var count: Int { items.count }

    subscript(number: Int) -> ArraySlice<UInt8> {
        bytes[(number == 0 ? 0 : items[number - 1].end)..<items[number].end]
    }

    /// Returns whether a text may be within `limit` edits of another.
    func mayBe(_ number: Int, near other: Probe, limit: Int) -> Bool {
        let start = number == 0 ? 0 : items[number - 1].end
        guard abs(items[number].end - start - other.text.count) <= limit else { return false }
        let letters = items[number].letters
        return letters.missing(in: other.letters) <= limit && other.letters.missing(in: letters) <= limit
    }

    /// The text to look for, in lowercase.
    struct Probe {
        let text: [UInt8]
        fileprivate let letters: Letters

        init(_ text: [UInt8]) {
            self.text = text
            letters = Letters(text[...])
        }
    }

    /// The letters, digits and marks in a text. An edit adds at most one and removes at most one.
    fileprivate struct Letters: Sendable {
        private var bits: UInt64 = 0

        init(_ text: ArraySlice<UInt8>) {
            for byte in text {
                // Lowercase letters in one half, digits and marks in the other.
                bits |= 1 << UInt64(byte >= UInt8(ascii: "a") ? byte & 31 : 32 | byte & 31)
            }
        }

        func missing(in other: Letters) -> Int { (bits & ~other.bits).nonzeroBitCount }
    }
}
