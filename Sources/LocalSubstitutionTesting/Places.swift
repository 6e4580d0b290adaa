#if canImport(Testing)
import Dispatch
import Foundation
import Guarded

#if canImport(Glibc)
import Glibc
#endif

/// A semaphore for Swift tasks. A task waits until a place is free, the wait takes too long, or the task is cancelled.
///
/// ``ofProcess`` limits how many test cases run at a time. On Linux, a session holds two file descriptors until it's
/// released, and Swift Testing starts all tests at once. So they would use up the descriptors of the process.
package final class Places: Sendable {
    private struct State: Sendable {
        var free: Int
        /// The waiting tasks, in the order in which they came.
        var queue: [(id: UUID, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    /// The places of this process; `nil` if its limit on open files is high enough for any number of tests.
    package static let ofProcess = count(limit: softLimit, open: numberOfDescriptors(below:)).map { Places($0) }

    private let state: Guarded<State>
    /// How long to wait for a place, in seconds. With a limit, even tests that wait for each other can end.
    private let patience: Double

    package init(_ count: Int, patience: Double = 5) {
        state = Guarded(State(free: count))
        self.patience = patience
    }

    /// Returns the number of places; `nil` if they aren't needed.
    ///
    /// - Parameters:
    ///   - limit: How many descriptors the process may open; `nil` if the number doesn't matter.
    ///   - open: Returns the number of open descriptors below a limit.
    package static func count(limit: Int?, open: (Int) -> Int) -> Int? {
        guard let limit, limit < 2048 else { return nil }
        // Two for the test's session, two for another one that it makes. The 64 are for files and for sessions that are ending.
        return max((limit - open(limit) - 64) / 4, 1)
    }

    /// Waits for a place, then runs a body in it. If the wait takes too long or the task is cancelled, the body runs
    /// without a place.
    ///
    /// - Parameter places: The places; `nil` for a body that needs none.
    package static func with<Result>(
        _ places: Places?,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let places, await places.take() else { return try await body() }
        defer { places.giveBack() }
        return try await body()
    }

    /// The number of tasks that wait for a place.
    package var waiting: Int { state.withLock { $0.queue.count } }

    /// Waits for a place. Returns `false` if the wait takes too long or the task is cancelled.
    package func take(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        let id = UUID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.queue.append((id, continuation))
                    return false
                }
                if isFree { return continuation.resume(returning: true) }
                // The cancellation handler may have run before this wait was added.
                if Task.isCancelled { return endWait(id) }
                guard patience < .infinity else { return }
                DispatchQueue.global().asyncAfter(deadline: .now() + patience) { [weak self] in self?.endWait(id) }
            }
        } onCancel: {
            endWait(id)
        }
    }

    /// Gives the place to the task that has waited longest, or frees it.
    package func giveBack() {
        let next = state.withLock { state in
            if state.queue.isEmpty { state.free += 1 }
            return state.queue.isEmpty ? nil : state.queue.removeFirst().continuation
        }
        next?.resume(returning: true)
    }

    private func endWait(_ id: UUID) {
        let ended = state.withLock { state in
            state.queue.firstIndex { $0.id == id }.map { state.queue.remove(at: $0).continuation }
        }
        ended?.resume(returning: false)
    }

    private static var softLimit: Int? {
        #if canImport(Glibc)
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
        #else
        // Sessions on Apple platforms share what they need.
        return nil
        #endif
    }

    /// Returns the number of open descriptors below a limit.
    private static func numberOfDescriptors(below limit: Int) -> Int {
        #if canImport(Glibc)
        return (0..<Int32(clamping: limit)).count { fcntl($0, F_GETFD) >= 0 }
        #else
        return 0
        #endif
    }
}
#endif
