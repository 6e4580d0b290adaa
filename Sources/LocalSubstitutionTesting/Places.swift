#if canImport(Testing)
import Dispatch
import Foundation
import Guarded
package import LocalSubstitution

/// A semaphore for Swift tasks. A task waits until a place is free. The wait also ends if it takes too long, or if the
/// task is cancelled.
///
/// The places in ``ofProcess`` limit how many test cases run at a time. Swift Testing starts all tests at once. On
/// Linux, each session holds two file descriptors until it's released, so many tests would use up the descriptors of
/// the process. A test case takes one place at most, so each place is given back when a test case ends.
package final class Places: Sendable {
    private struct State: Sendable {
        var free: Int
        /// The waiting tasks. The task that has waited longest comes first.
        var queue: [(id: UUID, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    /// The places for this process's test cases; `nil` if they don't need places: on Apple platforms, and if the
    /// process may open at least 2,048 files.
    package static let ofProcess = count(limit: softLimit(.current), open: numberOfDescriptors(below:))
        .map { Places($0) }

    private let state: Guarded<State>
    /// How long a task waits for a place, in seconds; `.infinity` for no limit.
    private let patience: Double

    /// Creates a semaphore whose places are all free.
    ///
    /// - Parameter patience: How long a task waits for a place, in seconds. By default, as long as it takes.
    package init(_ count: Int, patience: Double = .infinity) {
        state = Guarded(State(free: count))
        self.patience = patience
    }

    /// Returns how many test cases may run at a time, at least 1. Returns `nil` if any number may run, since the limit
    /// is `nil` or at least 2,048.
    ///
    /// - Parameters:
    ///   - limit: How many file descriptors the process may have open; `nil` if the number doesn't matter.
    ///   - open: Returns how many descriptors below a number are open. Called with the limit.
    package static func count(limit: Int?, open: (Int) -> Int) -> Int? {
        guard let limit, limit < 2048 else { return nil }
        // Each test case gets four descriptors: two for its session, and two for another session that it may make.
        // The 64 are for files, and for sessions that are ending.
        return max((limit - open(limit) - 64) / 4, 1)
    }

    /// Waits for a place, runs a body, then frees the place. If the wait takes too long or the task is cancelled, runs the
    /// body without a place.
    ///
    /// - Parameter places: The places to wait for; `nil` to run the body at once.
    package static func with<Result>(
        _ places: Places?,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let places, await places.take() else { return try await body() }
        defer { places.giveBack() }
        return try await body()
    }

    /// Returns whether a place was free.
    package func takeIfFree() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    package var waiting: Int { state.withLock { $0.queue.count } }

    /// Waits for a place. Returns `false` without one if the wait takes too long or the task is cancelled.
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
                // If the task was cancelled before its wait was in the queue, the cancellation handler found no wait to
                // end.
                if Task.isCancelled { return endWait(id) }
                guard patience < .infinity else { return }
                DispatchQueue.global().asyncAfter(deadline: .now() + patience) { [weak self] in self?.endWait(id) }
            }
        } onCancel: {
            endWait(id)
        }
    }

    /// Gives the place to the task that has waited longest. If no task waits, frees the place.
    package func giveBack() {
        let next = state.withLock { state in
            if state.queue.isEmpty { state.free += 1 }
            return state.queue.isEmpty ? nil : state.queue.removeFirst().continuation
        }
        next?.resume(returning: true)
    }

    /// Ends a wait without a place, unless it has already ended.
    private func endWait(_ id: UUID) {
        let ended = state.withLock { state in
            state.queue.firstIndex { $0.id == id }.map { state.queue.remove(at: $0).continuation }
        }
        ended?.resume(returning: false)
    }

    /// Returns how many files the process may have open; `nil` if sessions share their descriptors, or if the limit is
    /// unknown or unlimited.
    package static func softLimit(_ traits: LoaderTraits) -> Int? {
        let limit = sysconf(Int32(_SC_OPEN_MAX))
        return traits.contains(.sharesDescriptors) || limit < 0 ? nil : limit
    }

    private static func numberOfDescriptors(below limit: Int) -> Int {
        (0..<Int32(clamping: limit)).count { fcntl($0, F_GETFD) >= 0 }
    }
}
#endif
