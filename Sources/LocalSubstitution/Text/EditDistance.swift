/// The number of edits that turn one text into another: bytes inserted, removed, replaced, or swapped with their neighbors.
enum EditDistance {
    /// Returns the number of edits; `nil` if there are more than `limit`.
    ///
    /// For each number of edits, it finds how far into the texts they reach (Ukkonen 1985). So it gives up on very different texts
    /// after a few bytes.
    static func between(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>, limit: Int) -> Int? {
        first.withUnsafeBufferPointer { first in
            second.withUnsafeBufferPointer { second in between(first, second, limit: limit) }
        }
    }

    private static func between(
        _ first: UnsafeBufferPointer<UInt8>,
        _ second: UnsafeBufferPointer<UInt8>,
        limit: Int
    ) -> Int? {
        // Indexed by how much longer the part of the second text is: from -limit to limit, with one more on each side.
        let shifts = 2 * limit + 3
        return withUnsafeTemporaryAllocation(of: Int.self, capacity: 2 * shifts) { reaches in
            reaches.initialize(repeating: -shifts)
            var (before, now) = (limit + 1, shifts + limit + 1)
            for edits in 0...limit {
                for shift in stride(from: edits, through: -edits, by: -1) {
                    // The length of the first text's part that is accounted for.
                    var reach = edits == 0 ? 0 : reaches[before + shift] + 1
                    reach = max(reach, reaches[before + shift - 1], reaches[before + shift + 1] + 1)
                    let swapped = reaches[before + shift] + 2
                    if swapped > reach, areSwapped(first, swapped, second, swapped + shift) { reach = swapped }
                    let most = min(first.count, second.count - shift)
                    reach = min(reach, most)
                    while reach >= 0, reach < most, first[reach] == second[reach + shift] { reach += 1 }
                    reaches[now + shift] = reach
                    if reach == first.count, reach + shift == second.count { return edits }
                }
                (before, now) = (now, before)
            }
            return nil
        }
    }

    /// Returns whether the last two bytes of one beginning are those of the other, swapped.
    private static func areSwapped(
        _ first: UnsafeBufferPointer<UInt8>,
        _ firstCount: Int,
        _ second: UnsafeBufferPointer<UInt8>,
        _ secondCount: Int
    ) -> Bool {
        guard firstCount >= 2, firstCount <= first.count, secondCount >= 2, secondCount <= second.count else {
            return false
        }
        return first[firstCount - 1] == second[secondCount - 2] && first[firstCount - 2] == second[secondCount - 1]
    }
}
