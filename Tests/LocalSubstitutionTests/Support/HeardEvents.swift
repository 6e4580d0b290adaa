import Guarded

@testable import LocalSubstitution

/// Notes each event of a cache before the cache continues. It doesn't keep the cache alive.
final class HeardEvents: Sendable {
    private let heard = Guarded<[LocalSubstitutionCache.Event]>([])

    init(of cache: LocalSubstitutionCache) {
        cache.responder.inMemory.observe()
        cache.responder.observers.add(Observers.Listener { event in self.heard.withLock { $0.append(event) } })
    }

    /// The events so far.
    var all: [LocalSubstitutionCache.Event] { heard.withLock { $0 } }

    /// The names of their kinds.
    var kinds: [String] { all.map(\.kind.rawValue) }
}
