#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution

/// What a test's arguments did with the test's trait, or what a suite's tests did with the suite's trait.
final class TraitUse: Sendable {
    let trait: UUID
    private let source: MapSource
    private let state = Guarded(State())

    private struct State: Sendable {
        var map: Result<SubstitutionMap, any Error>?
        /// The entries that no scope has used so far; `nil` until a scope has ended.
        var unused: [SubstitutionMap.EntryReference]?
        var requests = 0
    }

    static let ofTask = TaskLocal<TraitUse?>(wrappedValue: nil)

    init(_ trait: UUID, _ source: MapSource) {
        self.trait = trait
        self.source = source
    }

    /// Returns the map, which is loaded only once.
    func map() throws -> SubstitutionMap {
        let source = source
        let map = state.withLock { state in
            let map = state.map ?? Result { try source.load() }
            state.map = map
            return map
        }
        return try map.get()
    }

    /// Adds what a scope did, after it has ended.
    func add(_ substitutions: TestSubstitutions) {
        let (unused, count) = (substitutions.unusedEntries, substitutions.requests.count)
        state.withLock { state in
            let still = Set(unused)
            state.unused = state.unused?.filter(still.contains) ?? unused
            state.requests += count
        }
    }

    /// Adds the number of requests made in a scope inside the trait's.
    func addRequests(_ count: Int) { state.withLock { $0.requests += count } }

    /// The entries that no scope has used.
    var unused: [SubstitutionMap.EntryReference] { state.withLock { $0.unused ?? [] } }

    /// Whether scopes have ended, and nothing was requested in any of them.
    var hasNoRequests: Bool { state.withLock { $0.unused != nil && $0.requests == 0 } }
}
#endif
