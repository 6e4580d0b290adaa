import Dispatch
import Foundation
import Guarded

/// The schedule of the background requests for newer files: when, for which URLs, and how many at a time.
final class RefreshSchedule: Sendable {
    /// A closure that asks the network for a URL. It must call `done` once the load has ended.
    typealias Ask = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    private struct Waiting: Sendable {
        let url: String
        let ask: Ask
    }

    private struct State: Sendable {
        /// In seconds.
        var interval = 60.0 * 60
        /// When the network may be asked for a URL again, on the clock of ``System/steadyNow``.
        var dueAt: [String: Int64] = [:]
        /// The earliest time at which a URL can be forgotten to make room for another. Used only while there's no room.
        var fullUntil: Int64 = 0
        var waiting: [Waiting] = []
        /// The URLs that are waiting or being asked for.
        var asking: Set<String> = []
        var running: Int { asking.count - waiting.count }
    }

    /// The maximum number of URLs to remember. There's a maximum because a pattern matches any number of URLs. To make
    /// room, only due URLs are forgotten: for any other, the network would be asked again too early.
    private let limit: Int
    /// The maximum number of questions that are asked at the same time. More would slow down the app's own requests.
    private static let mostRunning = 4

    private let state = Guarded(State())

    init(limit: Int = 16_384) {
        self.limit = limit
    }

    /// The time before the network is asked for a URL again, in seconds; an hour by default.
    var interval: Double {
        get { state.withLock { $0.interval } }
        set { state.withLock { $0.interval = newValue } }
    }

    /// The number of URLs that are remembered.
    var count: Int { state.withLock { $0.dueAt.count } }
    /// Whether no question is waiting or being asked.
    var isIdle: Bool { state.withLock { $0.asking.isEmpty } }

    /// Forgets all URLs, so that each is due again.
    func removeAll() { state.withLock { ($0.dueAt, $0.fullUntil) = ([:], 0) } }

    /// Asks the network for a URL if that's due, unless the network is already being asked for the URL. If there's no
    /// room to remember the URL, the network isn't asked for it until another URL can be forgotten.
    ///
    /// - Parameter ask: Called later, on another thread, because on Linux, the caller of this method may be on the
    ///   queue that all sessions share, where using a session traps (`URLSession.swift`, `sharedQueue`).
    /// - Returns: When to ask again, on the clock of ``System/steadyNow``.
    func ask(for url: String, by ask: @escaping Ask) -> Int64 {
        let now = System.steadyNow
        let dueAt = state.withLock { state -> Int64 in
            let known = state.dueAt[url]
            if let known, known > now || state.asking.contains(url) { return known }
            if known == nil {
                makeRoom(&state)
                guard state.dueAt.count < limit else { return state.fullUntil }
            }
            guard state.asking.insert(url).inserted else { return now }
            // Postpones the URL now, not when the response arrives. Otherwise, the URL's responses in memory would
            // count as expired until then.
            let next = nextTime(state)
            state.dueAt[url] = next
            state.waiting.append(Waiting(url: url, ask: ask))
            return next
        }
        start()
        return dueAt
    }

    private func makeRoom(_ state: inout State) {
        let now = System.steadyNow
        guard state.dueAt.count >= limit, now >= state.fullUntil else { return }
        // Responses made for a due URL have expired, so nothing needs its time any more.
        for (url, dueAt) in state.dueAt where dueAt <= now && !state.asking.contains(url) { state.dueAt[url] = nil }
        state.fullUntil = state.dueAt.values.min() ?? 0
    }

    private func start() {
        let next = state.withLock { state -> Waiting? in
            guard state.running < Self.mostRunning, !state.waiting.isEmpty else { return nil }
            let next = state.waiting.removeFirst()
            if state.dueAt[next.url] != nil { state.dueAt[next.url] = nextTime(state) }
            return next
        }
        guard let next else { return }
        // Weak, so that a response that never arrives doesn't keep the schedule alive.
        DispatchQueue.global(qos: .utility).async { [weak self] in
            next.ask { [weak self] in self?.finish(next.url) }
        }
    }

    private func finish(_ url: String) {
        state.withLock { _ = $0.asking.remove(url) }
        start()
    }

    private func nextTime(_ state: State) -> Int64 {
        System.steadyNow &+ Int64(state.interval * 1e9)
    }
}
