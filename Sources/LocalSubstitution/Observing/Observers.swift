import Guarded

/// Counts what a cache does, and tells its listeners.
final class Observers: Sendable {
    typealias Event = LocalSubstitutionCache.Event
    typealias Statistics = LocalSubstitutionCache.Statistics

    /// A receiver of events.
    struct Listener: Sendable {
        let hear: @Sendable (Event) -> Void
        var end: @Sendable () -> Void = {}
        /// Whether it receives only events about reloading the map. Other events aren't created for it.
        var hearsOnlyReloads = false
    }

    private struct State: Sendable {
        var statistics = Statistics()
        var listeners: [Int: Listener] = [:]
        var lastListener = 0
        var hasEnded = false
    }

    private let state = Guarded(State())

    // MARK: Counts

    var statistics: Statistics { state.withLock { $0.statistics } }

    func count(_ change: (inout Statistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }

    /// Counts a lookup that an entry answered.
    func countSubstituted(_ bytes: Int) {
        count {
            $0.lookups += 1
            $0.substituted += 1
            $0.bytes += bytes
        }
    }

    // MARK: Events

    /// Returns a stream of everything that happens from now on, for one listener. The stream ends with the cache.
    func events(bufferingNewest limit: Int) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(limit))
        let listener = Listener(hear: { continuation.yield($0) }, end: { continuation.finish() })
        guard let number = add(listener) else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return stream
    }

    /// Adds a listener, which is called on the thread where something happens. Returns its number, or `nil` if the cache is gone.
    func add(_ listener: Listener) -> Int? {
        state.withLock { state -> Int? in
            guard !state.hasEnded else { return nil }
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
    }

    func remove(_ number: Int) {
        state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }

    /// Sends an event to its listeners. The event is created only if there are any.
    ///
    /// - Parameter isReload: Whether the event is about reloading the map.
    func emit(_ event: @autoclosure () -> Event, isReload: Bool = false) {
        let listeners = state.withLock { $0.listeners.values.filter { isReload || !$0.hearsOnlyReloads } }
        guard !listeners.isEmpty else { return }
        let event = event()
        for listener in listeners { listener.hear(event) }
    }

    /// Ends every stream.
    func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.end() }
    }
}
