/// Tells whether two hosts with paths differ as a text and its misspelling do.
enum Misspelling {
    /// More mistakes are hardly made at once.
    static let mostEdits = 3

    /// How many edits make one of the other; `nil` if the texts are equal, or if it takes too many for the word that differs.
    static func edits(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Int? {
        let shorter = min(first.count, second.count)
        var start = 0
        while start < shorter, first[first.startIndex + start] == second[second.startIndex + start] { start += 1 }
        var end = 0
        while end < shorter - start, first[first.endIndex - 1 - end] == second[second.endIndex - 1 - end] { end += 1 }
        let different = (first.dropFirst(start).dropLast(end), second.dropFirst(start).dropLast(end))
        // Digits are rarely mistyped: they tell the members of a series apart, or versions.
        guard !(different.0.allSatisfy(isDigit) && different.1.allSatisfy(isDigit)) else { return nil }

        let wordBefore = first.prefix(start).reversed().prefix(while: isWordByte).count
        let wordAfter = first.suffix(end).prefix(while: isWordByte).count
        let word = wordBefore + max(different.0.count, different.1.count) + wordAfter
        // Most words of one or two letters are other words by one edit.
        let limit = min(mostEdits, word / 3)
        return limit == 0 ? nil : EditDistance.between(different.0, different.1, limit: limit)?.edits
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
}
