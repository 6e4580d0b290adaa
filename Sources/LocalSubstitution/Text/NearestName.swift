/// A search for the name that was probably meant.
package struct NearestName: Sendable {
    private let names: [String]
    private var folded = FoldedTexts()

    /// The number of names that `of(_:)` may still compare letter by letter. It bounds the total time of many calls.
    private var comparisonsLeft = 100_000

    /// The limit of mistakes. A name with more of them was probably not meant.
    private static let mostEdits = 3

    package init(_ names: some Sequence<String>) {
        self.names = Array(names)
        for name in self.names { folded.append(Array(name.lowercased().utf8)) }
    }

    /// Returns the name that takes the fewest edits; `nil` if those are too many for its length.
    package mutating func of(_ name: String) -> String? {
        let typed = FoldedTexts.Probe(Array(name.lowercased().utf8))
        var best: (number: Int, edits: Int)?
        for number in 0..<folded.count {
            let limit = best.map { $0.edits - 1 } ?? Self.mostEdits
            guard limit >= 0, comparisonsLeft > 0 else { break }
            guard folded.mayBe(number, near: typed, limit: limit) else { continue }
            comparisonsLeft -= 1
            let other = folded[number]
            let few = min(limit, max(typed.text.count, other.count) / 3 + 1)
            guard let edits = EditDistance.between(typed.text[...], other, limit: few) else { continue }
            best = (number, edits)
        }
        return best.map { names[$0.number] }
    }

    package static func of(_ name: String, in names: some Sequence<String>) -> String? {
        var nearest = NearestName(names)
        return nearest.of(name)
    }
}
