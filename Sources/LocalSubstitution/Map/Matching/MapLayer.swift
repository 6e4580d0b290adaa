import Foundation
import Guarded

/// A map in use, and what its entries have done so far.
///
/// Several caches can share a layer. They then count together.
package final class MapLayer: Sendable {
    /// An entry without alternatives, or an alternative.
    struct Part: Hashable, Sendable {
        /// The entry's number in the map's index.
        let entry: Int
        /// The alternative's position, from 1; 0 for an entry.
        let alternative: Int

        init(_ number: Int, _ entry: Entry) { (self.entry, alternative) = (number, entry.options.place?.number ?? 0) }
    }

    /// What an entry or alternative has done so far.
    private struct Usage: Sendable {
        /// Whether it has responded.
        var isUsed = false
        /// The number of requests that count toward its limit of `times`.
        var requests = 0
    }

    package let map: SubstitutionMap
    private let givenName: String?
    private let usages = Guarded<[Part: Usage]>([:])

    /// - Parameter name: The name of the map's file in messages; by default, without its folders.
    package init(_ map: SubstitutionMap, name: String? = nil) { (self.map, givenName) = (map, name) }

    /// The map's file as messages name it if a cache has several maps; `nil` for a map without a file.
    var name: String? { givenName ?? map.file?.lastPathComponent }

    func isUsedUp(_ count: MapMatch.Count) -> Bool {
        usages.withLock { ($0[count.part]?.requests ?? 0) >= count.most }
    }

    /// Counts a response of an alternative. Returns `false`, and counts nothing, if its limit was already reached.
    func count(_ count: MapMatch.Count) -> Bool {
        usages.withLock { usages in
            guard (usages[count.part]?.requests ?? 0) < count.most else { return false }
            usages[count.part, default: Usage()].requests += 1
            return true
        }
    }

    func uncount(_ count: MapMatch.Count) { usages.withLock { $0[count.part]?.requests -= 1 } }

    /// Notes that a match's winner has responded.
    func use(_ match: MapMatch) {
        guard let number = match.number, let winner = match.winner else { return }
        usages.withLock { $0[Part(number, winner), default: Usage()].isUsed = true }
    }

    /// Returns the entries that have responded, or those that haven't, in the order of their lines. For an entry with
    /// alternatives, returns its alternatives. Leaves out `null` entries and disabled ones.
    func entries(used isUsed: Bool) -> [Entry] {
        let usages = usages.withLock { $0 }
        return map.entries.enumerated().filter { !$0.element.options.isNever && $0.element.options.isEnabled }
            .flatMap { number, entry in
                entry.responding.filter { usages[Part(number, $0), default: Usage()].isUsed == isUsed }
            }
            .ordered { ($0.lineInMap ?? 0, $0.key) < ($1.lineInMap ?? 0, $1.key) }
    }
}
