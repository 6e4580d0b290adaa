import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Misspelled names and keys", .values)
struct NearestNameTests {
    private func edits(_ first: String, _ second: String, limit: Int) -> Int? {
        NearestName.edits(from: Array(first.utf8)[...], to: Array(second.utf8)[...], limit: limit)
    }

    @Test(
        "Edits are counted up to a limit",
        arguments: [
            ("", "", 0, 0), ("a", "a", 0, 0), ("a", "b", 0, nil), ("a", "b", 1, 1), ("", "abc", 3, 3),
            ("", "abc", 2, nil),
            ("abc", "", 3, 3), ("config", "confg", 1, 1), ("confg", "config", 1, 1), ("config", "konfig", 1, 1),
            ("exmaple", "example", 1, 1), ("ab", "ba", 1, 1), ("abcd", "badc", 2, 2), ("abcd", "badc", 1, nil),
            ("kitten", "sitting", 3, 3), ("kitten", "sitting", 2, nil), ("ca", "abc", 3, 3),
        ] as [(String, String, Int, Int?)]
    )
    func counted(first: String, second: String, limit: Int, expected: Int?) {
        #expect(edits(first, second, limit: limit) == expected)
    }

    @Test("The number of edits is the same as with the full table", arguments: [0xED17 as UInt64])
    func reference(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func text(_ random: inout SeededGenerator) -> [UInt8] {
            (0..<random.below(9)).map { _ in random.pick(Array("ab/".utf8)) }
        }
        for _ in 0..<20_000 {
            let (first, second, limit) = (text(&random), text(&random), random.below(5))
            let expected = Self.table(first, second)
            let found = NearestName.edits(from: first[...], to: second[...], limit: limit)
            guard found == (expected <= limit ? expected : nil) else {
                Issue.record("seed \(seed): \(first), \(second), \(limit): \(String(describing: found))")
                return
            }
        }
    }

    /// Fills every cell of the table, as plainly as possible.
    private static func table(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var cells = [[Int]](repeating: Array(0...second.count), count: first.count + 1)
        for i in 0...first.count {
            for j in 0...second.count {
                guard i > 0, j > 0 else {
                    cells[i][j] = max(i, j)
                    continue
                }
                let replaced = cells[i - 1][j - 1] + (first[i - 1] == second[j - 1] ? 0 : 1)
                cells[i][j] = min(replaced, cells[i - 1][j] + 1, cells[i][j - 1] + 1)
                if i > 1, j > 1, first[i - 1] == second[j - 2], first[i - 2] == second[j - 1] {
                    cells[i][j] = min(cells[i][j], cells[i - 2][j - 2] + 1)
                }
            }
        }
        return cells[first.count][second.count]
    }

    @Test("The nearest of many names is found, in any letter case", arguments: [0xFACE as UInt64])
    func nearestOfMany(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let names = (0..<300).map { _ in
            (0..<3 + random.below(6)).map { _ in random.pick(["a", "B", "7", "-"]) }.joined()
        }
        for _ in 0..<300 {
            let name = (0..<3 + random.below(6)).map { _ in random.pick(["A", "b", "7", "_"]) }.joined()
            let typed = Array(name.lowercased().utf8)
            let distances = names.map { other in
                let other = Array(other.lowercased().utf8)
                let edits = Self.table(typed, other)
                return edits <= min(3, max(typed.count, other.count) / 3 + 1) ? edits : .max
            }
            let least = distances.min() ?? .max
            let expected = least == .max ? nil : distances.firstIndex(of: least).map { names[$0] }
            #expect(NearestName.of(name, in: names) == expected, "seed \(seed): \(name)")
        }
    }
}
