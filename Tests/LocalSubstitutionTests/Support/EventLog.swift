import LocalSubstitution

/// Collects a cache's events, in order.
final class EventLog: Sendable {
    private let stream: AsyncStream<LocalSubstitutionCache.Event>

    init(_ cache: LocalSubstitutionCache) { stream = cache.events() }

    /// Returns all events up to the first that is the last one wanted.
    func all(until isLast: (LocalSubstitutionCache.Event) -> Bool) async -> [LocalSubstitutionCache.Event] {
        var found: [LocalSubstitutionCache.Event] = []
        for await event in stream {
            found.append(event)
            if isLast(event) { break }
        }
        return found
    }
}
