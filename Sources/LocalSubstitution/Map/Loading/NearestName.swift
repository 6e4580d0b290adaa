/// Finds what somebody may have meant.
package enum NearestName {
    /// The name that takes the fewest insertions, deletions and replacements, if they are few for its length.
    package static func of(_ name: String, in names: some Sequence<String>) -> String? {
        let typed = Array(name.lowercased())
        var best: (name: String, distance: Int)?
        for candidate in names {
            let other = Array(candidate.lowercased())
            let limit = min(best.map { $0.distance - 1 } ?? .max, max(typed.count, other.count) / 3 + 1)
            guard abs(typed.count - other.count) <= limit else { continue }
            let distance = distance(typed, other)
            if distance <= limit { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Levenshtein's distance.
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var row = Array(0...second.count)
        for (i, a) in first.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in second.enumerated() {
                let above = row[j + 1]
                row[j + 1] = a == b ? diagonal : min(diagonal, above, row[j]) + 1
                diagonal = above
            }
        }
        return row[second.count]
    }
}
