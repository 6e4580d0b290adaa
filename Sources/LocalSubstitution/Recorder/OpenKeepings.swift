import Dispatch
import Guarded

/// The responses that are being kept.
final class OpenKeepings: Sendable {
    private struct State: Sendable {
        var last = 0
        var isClosed = false
        var open: Set<Int> = []
        var waiting: [(number: Int, semaphore: DispatchSemaphore)] = []
    }

    private let state = Guarded(State())

    var count: Int { state.withLock { $0.open.count } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// None can begin any more.
    func close() { state.withLock { $0.isClosed = true } }

    /// The number of one that begins; `nil` if none can.
    func begin() -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.open.insert(state.last)
            return state.last
        }
    }

    func end(_ number: Int) {
        let ready: [DispatchSemaphore] = state.withLock { state in
            guard state.open.remove(number) != nil, !state.waiting.isEmpty else { return [] }
            let oldest = state.open.min() ?? .max
            let ready = state.waiting.filter { $0.number < oldest }.map(\.semaphore)
            state.waiting.removeAll { $0.number < oldest }
            return ready
        }
        for semaphore in ready { semaphore.signal() }
    }

    /// Waits for those that have begun, and not for those that begin meanwhile.
    func waitForThoseSoFar() {
        let semaphore = DispatchSemaphore(value: 0)
        let mustWait = state.withLock { state in
            guard !state.open.isEmpty else { return false }
            state.waiting.append((state.last, semaphore))
            return true
        }
        if mustWait { semaphore.wait() }
    }
}
