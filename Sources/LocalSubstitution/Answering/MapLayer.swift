import Foundation
import Guarded

/// A map in use, and what its entries have done so far.
///
/// Several caches can share a layer. They then count together.
package final class MapLayer: Sendable {
    private struct State: Sendable {
        /// The numbers of the entries that have responded.
        var used: Set<Int> = []
        /// The number of requests to which each alternative with a `times` limit has responded.
        var responses: [MapMatch.Count: Int] = [:]
    }

    package let map: SubstitutionMap
    /// The map's file as messages name it if a cache has several maps; `nil` for a map without a file.
    let name: String?
    private let state = Guarded(State())

    /// - Parameter name: The name of the map's file in messages; by default, without its folders.
    package init(_ map: SubstitutionMap, name: String? = nil) {
        (self.map, self.name) = (map, name ?? map.file?.lastPathComponent)
    }

    /// - Parameter before: The match in the layer before this one; `nil` if this is the first.
    func match(_ url: NormalizedURL, for facts: RequestFacts, after before: MapMatch? = nil) -> MapMatch {
        map.match(url, for: facts, after: before, isUsedUp: isUsedUp)
    }

    private func isUsedUp(_ count: MapMatch.Count) -> Bool {
        state.withLock { $0.responses[count, default: 0] >= count.most }
    }

    /// Counts a response of an alternative. Returns `false`, and counts nothing, if its limit was already reached.
    func count(_ count: MapMatch.Count) -> Bool {
        state.withLock { state in
            guard state.responses[count, default: 0] < count.most else { return false }
            state.responses[count, default: 0] += 1
            return true
        }
    }

    func uncount(_ count: MapMatch.Count) { state.withLock { $0.responses[count, default: 1] -= 1 } }

    /// Notes that an entry has responded.
    func use(_ entry: Int) { state.withLock { _ = $0.used.insert(entry) } }

    /// Returns the entries that have responded, or those that haven't, in the order of their lines. Leaves out `null`
    /// entries and disabled ones.
    func entries(used isUsed: Bool) -> [Entry] {
        let used = state.withLock { $0.used }
        let entries = map.entries
        return entries.indices.filter {
            used.contains($0) == isUsed && !entries[$0].options.isNever && entries[$0].options.isEnabled
        }
        .map { entries[$0] }.ordered { ($0.lineInMap ?? 0, $0.key) < ($1.lineInMap ?? 0, $1.key) }
    }
}
