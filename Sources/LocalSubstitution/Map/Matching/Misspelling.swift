/// The rules by which one host and path is probably a misspelling of another.
enum Misspelling {
    /// The limit of mistakes. More at once are unlikely.
    static let mostEdits = 3

    /// Returns how many edits turn one text into the other. `nil` if they differ in nothing or only in digits, or in too much for
    /// the length of the word that differs.
    static func edits(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Int? {
        let shorter = min(first.count, second.count)
        var start = 0
        while start < shorter, first[first.startIndex + start] == second[second.startIndex + start] { start += 1 }
        var end = 0
        while end < shorter - start, first[first.endIndex - 1 - end] == second[second.endIndex - 1 - end] { end += 1 }
        let different = (first.dropFirst(start).dropLast(end), second.dropFirst(start).dropLast(end))
        // Different digits are rarely typos: they number versions, or the members of a series.
        guard !(different.0.allSatisfy(\.isDigit) && different.1.allSatisfy(\.isDigit)) else { return nil }

        let wordBefore = first.prefix(start).reversed().prefix(while: isWordByte).count
        let wordAfter = first.suffix(end).prefix(while: isWordByte).count
        let word = wordBefore + max(different.0.count, different.1.count) + wordAfter
        // One edit turns most words of one or two letters into other words.
        let limit = min(mostEdits, word / 3)
        return limit == 0 ? nil : EditDistance.between(different.0, different.1, limit: limit)?.edits
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isDigit || byte.isLetter }
}
