import Foundation
import Guarded

/// Counts what a cache does, and tells its listeners.
final class Observers: Sendable {
    typealias Event = LocalSubstitutionCache.Event
    typealias Statistics = LocalSubstitutionCache.Statistics

    /// A receiver of events.
    struct Listener: Sendable {
        let hear: @Sendable (Event) -> Void
        var end: @Sendable () -> Void = {}
        /// Whether the listener receives only events about reloading the map. Other events aren't created for such a
        /// listener.
        var hearsOnlyReloads = false
    }

    private struct State: Sendable {
        var statistics = Statistics()
        var listeners: [Int: Listener] = [:]
        var lastListener = 0
        var hasEnded = false

        func listeners(isReload: Bool) -> [Listener] {
            listeners.isEmpty ? [] : listeners.values.filter { isReload || !$0.hearsOnlyReloads }
        }
    }

    private let state = Guarded(State())

    /// The counts so far, without hits of responses that are always valid. ``RetainedResponses`` counts those.
    var statistics: Statistics { state.withLock { $0.statistics } }

    // MARK: Listeners

    /// Returns a stream of the events from now on, for one listener. The stream ends when the cache is deallocated.
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

    /// Adds a listener, which is called on the thread where an event occurs. Returns the listener's number; `nil` if
    /// the cache was deallocated.
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

    // MARK: Events

    /// What answered with a substitution.
    enum Answerer {
        /// The cache, in a lookup.
        case cache
        case `protocol`
        /// The table of retained responses, which has counted the hit.
        case table
    }

    /// Counts an event, and tells the listeners about it. An event without a URL is only counted.
    ///
    /// The event is created only if there are listeners.
    func report(
        _ kind: Event.Kind,
        _ url: URL?,
        by answerer: Answerer = .cache,
        key: String? = nil,
        file: @autoclosure () -> URL? = nil,
        bytes: Int? = nil,
        reason: @autoclosure () -> String? = nil,
        nearMisses: @autoclosure () -> [SubstitutionMap.NearMiss] = []
    ) {
        let listeners = state.withLock { state in
            state.statistics.count(kind, by: answerer, bytes: bytes ?? 0)
            return state.listeners(isReload: false)
        }
        guard let url else { return }
        tell(
            listeners,
            Event(
                kind: kind,
                url: url,
                key: key,
                file: file(),
                bytes: bytes,
                reason: reason(),
                nearMisses: nearMisses()
            )
        )
    }

    /// Tells the listeners about an event that isn't counted.
    ///
    /// - Parameter isReload: Whether the event is about reloading the map.
    func emit(_ event: @autoclosure () -> Event, isReload: Bool = false) {
        tell(state.withLock { $0.listeners(isReload: isReload) }, event())
    }

    private func tell(_ listeners: [Listener], _ event: @autoclosure () -> Event) {
        guard !listeners.isEmpty else { return }
        let event = event()
        for listener in listeners { listener.hear(event) }
    }

    /// Ends every stream, and removes all listeners.
    func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.end() }
    }
}
