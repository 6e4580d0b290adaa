import Foundation
import Guarded

/// The counts of what a cache does, and the listeners that are told about it.
final class Observers: Sendable {
    typealias Event = LocalSubstitutionCache.Event
    typealias Statistics = LocalSubstitutionCache.Statistics

    final class Listener: Sendable {
        let hear: @Sendable (Event) -> Void
        /// Called when the cache is deallocated.
        let end: @Sendable () -> Void
        /// Whether the listener receives only events about reloading the map. No other events are created for such a
        /// listener.
        let hearsOnlyReloads: Bool

        init(
            hearsOnlyReloads: Bool = false,
            end: @escaping @Sendable () -> Void = {},
            hear: @escaping @Sendable (Event) -> Void
        ) {
            (self.hear, self.end, self.hearsOnlyReloads) = (hear, end, hearsOnlyReloads)
        }
    }

    private struct State: Sendable {
        var statistics = Statistics()
        var listeners: [Listener] = []
        var hasEnded = false

        func listeners(isReload: Bool) -> [Listener] {
            listeners.isEmpty ? [] : listeners.filter { isReload || !$0.hearsOnlyReloads }
        }
    }

    private let state = Guarded(State())

    /// The hits that ``ResponsesInMemory`` counts aren't included.
    var statistics: Statistics { state.withLock { $0.statistics } }

    // MARK: Listeners

    /// Returns a stream of the events from now on, for one listener. The stream ends when the cache is deallocated.
    func events(bufferingNewest limit: Int) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(limit))
        let listener = Listener(end: { continuation.finish() }, hear: { continuation.yield($0) })
        continuation.onTermination = { [weak self, weak listener] _ in self?.remove(listener) }
        add(listener)
        return stream
    }

    /// The listener is called on the thread where an event occurs. If the cache has already been deallocated, the
    /// listener isn't added, and its `end` is called at once.
    func add(_ listener: Listener) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.listeners.append(listener) }
            return state.hasEnded
        }
        if hasEnded { listener.end() }
    }

    func remove(_ listener: Listener?) {
        state.withLock { $0.listeners.removeAll { $0 === listener } }
    }

    // MARK: Events

    /// Counts an event, and tells the listeners about it. If `url` is `nil`, only counts the event.
    ///
    /// - Parameter nearMisses: For a miss, returns the keys that almost match. Called only if there are listeners.
    @inline(never)  // Otherwise, some twenty callers would each contain a copy.
    func report(
        _ kind: Event.Kind,
        _ url: URL?,
        key: String? = nil,
        file: URL? = nil,
        bytes: Int? = nil,
        reason: String? = nil,
        nearMisses: () -> [SubstitutionMap.NearMiss] = { [] }
    ) {
        let listeners = state.withLock { state in
            state.statistics.count(kind, bytes: bytes ?? 0)
            return state.listeners(isReload: false)
        }
        guard !listeners.isEmpty, let url else { return }
        tell(
            listeners,
            Event(kind: kind, url: url, key: key, file: file, bytes: bytes, reason: reason, nearMisses: nearMisses())
        )
    }

    func uncount(_ kind: Event.Kind, bytes: Int) {
        state.withLock { $0.statistics.count(kind, bytes: bytes, times: -1) }
    }

    /// Tells the listeners about an event that isn't counted.
    ///
    /// - Parameter isReload: Whether the event is about reloading the map.
    func emit(_ event: @autoclosure () -> Event, isReload: Bool = false) {
        let listeners = state.withLock { $0.listeners(isReload: isReload) }
        if !listeners.isEmpty { tell(listeners, event()) }
    }

    private func tell(_ listeners: [Listener], _ event: Event) {
        for listener in listeners { listener.hear(event) }
    }

    /// Call this when the cache is deallocated.
    func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener.end() }
    }
}

extension LocalSubstitutionCache.Statistics {
    /// Each event that says how a request ended counts that request.
    ///
    /// - Parameter times: How often to count it: 1 by default, and -1 to take a count back.
    fileprivate mutating func count(_ kind: LocalSubstitutionCache.Event.Kind, bytes: Int, times: Int = 1) {
        switch kind {
        case .matched:
            matched += times
            self.bytes += bytes * times
        case .usedOffline:
            offlineFallbacks += times
            self.bytes += bytes * times
        case .forwarded, .confirmed: forwarded += times
        case .defaultCacheHit: defaultCacheHits += times
        case .missed, .bypassed: unmatched += times
        case .failed, .cancelled: failures += times
        case .recorded: recorded += times
        default: break
        }
    }
}
