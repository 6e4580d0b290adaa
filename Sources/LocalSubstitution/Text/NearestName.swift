/// A search for the name that was probably meant.
package final class NearestName {
    private let names: [(name: String, text: Text)]

    /// The number of names that ``of(_:)`` may still compare letter by letter. It limits the total time of many calls.
    private var comparisonsLeft = 100_000

    /// A name that needs more edits was probably not meant.
    static let mostEdits = 3

    package init(_ names: [String]) { self.names = names.map { ($0, Text($0)) } }

    /// The name that needs the fewest edits. `nil` if every name needs too many for its length, or if earlier calls
    /// have used up the comparisons.
    package func of(_ name: String) -> String? {
        let typed = Text(name)
        var best: (name: String, edits: Int)?
        for (name, text) in names {
            let limit = best.map { $0.edits - 1 } ?? Self.mostEdits
            guard limit >= 0, comparisonsLeft > 0 else { break }
            guard text.mayBe(near: typed, limit: limit) else { continue }
            comparisonsLeft -= 1
            let few = min(limit, max(typed.bytes.count, text.bytes.count) / 3 + 1)
            guard let edits = Self.edits(from: typed.bytes[...], to: text.bytes[...], limit: few) else { continue }
            best = (name, edits)
        }
        return best?.name
    }

    package static func of(_ name: String, in names: [String]) -> String? {
        NearestName(names).of(name)
    }

    /// The question “Did you mean …?” with the most similar name, or the advice `other` if no name is similar.
    static func advice(on name: String, in names: [String], or other: String) -> String {
        of(name, in: names).map { "Did you mean “\($0)”?" } ?? other
    }

    /// `nil` for more than `limit` edits. An edit inserts, removes or replaces a byte, or swaps two neighbors.
    static func edits(from first: ArraySlice<UInt8>, to second: ArraySlice<UInt8>, limit: Int) -> Int? {
        guard abs(first.count - second.count) <= limit else { return nil }
        let (first, second) = (Array(first), Array(second))
        // A row has the number of edits between one prefix of the first text and each prefix of the second. Cells
        // farther than `limit` from the diagonal would need more than `limit` edits, so they're skipped. Three rows are
        // used in turn, which is much faster than allocating each row.
        var last = Array(0...second.count)
        var (before, row) = (last, last)
        for (i, byte) in first.enumerated() {
            let band = max(0, i - limit)..<min(second.count, i + limit + 1)
            var fewest = limit + 1
            row[band.lowerBound] = band.lowerBound == 0 ? i + 1 : limit + 1
            for j in band {
                row[j + 1] = min(last[j] + (byte == second[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1)
                if i > 0, j > 0, byte == second[j - 1], first[i - 1] == second[j] {
                    row[j + 1] = min(row[j + 1], before[j - 1] + 1)
                }
                fewest = min(fewest, row[j + 1], last[j] + 1)
            }
            guard fewest <= limit || row[band.lowerBound] <= limit else { return nil }
            if band.upperBound < second.count { row[band.upperBound + 1] = limit + 1 }
            (before, last, row) = (last, row, before)
        }
        return last[second.count] <= limit ? last[second.count] : nil
    }
}

extension NearestName {
    /// A text to compare, in lowercase. ``mayBe(near:limit:)`` quickly rejects nearly all texts that aren't similar.
    struct Text: Sendable {
        let bytes: [UInt8]
        /// A bit for each character that the text contains: letters in the lower half, digits and marks in the upper.
        private let letters: UInt64

        init(_ text: String) {
            bytes = Array(text.lowercased().utf8)
            letters = bytes.reduce(0) { letters, byte in
                letters | 1 << UInt64(byte >= UInt8(ascii: "a") ? byte & 31 : 32 | byte & 31)
            }
        }

        /// `false` if the text certainly needs more than `limit` edits to become another text. Compares only lengths
        /// and letters, since an edit adds at most one letter and removes at most one.
        func mayBe(near other: Text, limit: Int) -> Bool {
            abs(bytes.count - other.bytes.count) <= limit
                && (letters & ~other.letters).nonzeroBitCount <= limit
                && (other.letters & ~letters).nonzeroBitCount <= limit
        }
    }
}
