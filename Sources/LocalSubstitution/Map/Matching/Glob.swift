/// A text with `*` wildcards, each of which matches any run of bytes, even an empty one.
package struct Glob: Sendable {
    /// The texts before, between and after the wildcards. There's always one more text than there are wildcards.
    package let literals: [[UInt8]]

    package init(_ text: [UInt8]) {
        literals = text.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    init(_ text: String) { self.init(Array(text.utf8)) }

    /// In the text, `\*` is an asterisk instead of a wildcard.
    package init(escaped text: String) {
        var literals: [[UInt8]] = [[]]
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "*"), let asterisk = rest.popFirst() {
                literals[literals.count - 1].append(asterisk)
            } else if byte == UInt8(ascii: "*") {
                literals.append([])
            } else {
                literals[literals.count - 1].append(byte)
            }
        }
        self.literals = literals
    }

    /// In the text, `\*` is an asterisk.
    package var text: String { literals.map { Self.escaped($0) }.joined(separator: "*") }

    /// The text of a glob that matches only the given text.
    package static func escaped(_ text: some Sequence<UInt8>) -> String {
        let parts = text.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: #"\*"#)
    }

    package var wildcards: Int { literals.count - 1 }
    var literalBytes: Int { literals.reduce(0) { $0 + $1.count } }

    /// Pass a value for each wildcard. If there are fewer, the text is cut off before the first wildcard without a
    /// value.
    func filled(with values: [some Sequence<UInt8>]) -> [UInt8] {
        zip(values, literals.dropFirst()).reduce(into: literals[0]) { text, part in
            text += part.0
            text += part.1
        }
    }

    package func matches(_ text: String) -> Bool { match(Array(text.utf8)[...]) != nil }

    /// The text that each wildcard matches; `nil` if the text as a whole doesn't match. Each wildcard except the last
    /// matches as little as possible.
    ///
    /// The time is linear in the lengths of the text and the pattern, even for hostile ones.
    package func match(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        guard let first = literals.first, let last = literals.last, literals.count > 1 else {
            return literals.first.map { text.elementsEqual($0) } == true ? [] : nil
        }
        guard text.count >= first.count + last.count, text.starts(with: first),
            text.suffix(last.count).elementsEqual(last)
        else { return nil }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        var taken: [ArraySlice<UInt8>] = []
        taken.reserveCapacity(wildcards)
        for literal in literals.dropFirst().dropLast() {
            guard let found = Self.firstRange(of: literal, in: rest) else { return nil }
            taken.append(rest[..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        taken.append(rest)
        return taken
    }

    /// The algorithm of Knuth, Morris and Pratt never goes back in the text, so a hostile pattern can't make it slow.
    private static func firstRange(of literal: [UInt8], in text: ArraySlice<UInt8>) -> Range<Int>? {
        guard !literal.isEmpty else { return text.startIndex..<text.startIndex }
        var longestBorder = [Int](repeating: 0, count: literal.count)
        var matched = 0
        for index in literal.indices.dropFirst() {
            while matched > 0, literal[index] != literal[matched] { matched = longestBorder[matched - 1] }
            if literal[index] == literal[matched] { matched += 1 }
            longestBorder[index] = matched
        }
        matched = 0
        for index in text.indices {
            while matched > 0, text[index] != literal[matched] { matched = longestBorder[matched - 1] }
            if text[index] == literal[matched] { matched += 1 }
            if matched == literal.count { return (index + 1 - matched)..<(index + 1) }
        }
        return nil
    }
}
