/// How many edits make one text of another: bytes inserted, left out, replaced, or swapped with their neighbours.
enum EditDistance {
    /// The number of edits, if there are at most `limit`; and how much of the second text they account for.
    ///
    /// For one edit after another it notes how far in the texts they reach (Ukkonen 1985), so that texts which are far apart are
    /// left after a few bytes.
    ///
    /// - Parameter beginning: Whether a beginning of the second text is enough.
    static func between(
        _ first: ArraySlice<UInt8>,
        _ second: ArraySlice<UInt8>,
        limit: Int,
        beginning: Bool = false
    ) -> (edits: Int, length: Int)? {
        first.withUnsafeBufferPointer { first in
            second.withUnsafeBufferPointer { second in
                between(first, second, limit: limit, beginning: beginning)
            }
        }
    }

    private static func between(
        _ first: UnsafeBufferPointer<UInt8>,
        _ second: UnsafeBufferPointer<UInt8>,
        limit: Int,
        beginning: Bool
    ) -> (edits: Int, length: Int)? {
        // By how much longer the part of the second text is: from -limit to limit, and one more on each side.
        let shifts = 2 * limit + 3
        return withUnsafeTemporaryAllocation(of: Int.self, capacity: 2 * shifts) { reaches in
            reaches.initialize(repeating: -shifts)
            var (before, now) = (limit + 1, shifts + limit + 1)
            for edits in 0...limit {
                for shift in stride(from: edits, through: -edits, by: -1) {
                    // How much of the first text is accounted for.
                    var reach = edits == 0 ? 0 : reaches[before + shift] + 1
                    reach = max(reach, reaches[before + shift - 1], reaches[before + shift + 1] + 1)
                    let swapped = reaches[before + shift] + 2
                    if swapped > reach, areSwapped(first, swapped, second, swapped + shift) { reach = swapped }
                    let most = min(first.count, second.count - shift)
                    reach = min(reach, most)
                    while reach >= 0, reach < most, first[reach] == second[reach + shift] { reach += 1 }
                    reaches[now + shift] = reach
                    if reach == first.count, beginning || reach + shift == second.count {
                        return (edits, reach + shift)
                    }
                }
                (before, now) = (now, before)
            }
            return nil
        }
    }

    /// Whether the last two bytes of both beginnings are the same, but for their order.
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
