#if canImport(Testing)
import Dispatch
import Foundation
import Guarded
import LocalSubstitution

/// The calls of handlers that belong to a test. Each runs in a Swift task that inherits the task-locals of ``begin()``'s
/// caller. So an expectation that fails in a handler is an issue of the test.
final class HandlerCalls: SessionRules.HandlerCaller {
    private struct Call: Sendable {
        let key: String
        /// The call's task; `nil` until it's started.
        var task: Task<Void, Never>?
        var isCancelled: Bool
        /// Whether the handler has begun. Before that, its task waits for a thread.
        var hasBegun = false
    }

    private struct State: Sendable {
        /// The calls that haven't returned.
        var running: [Int: Call] = [:]
        var count = 0
        var hasEnded = false
    }

    private let state = Guarded(State())
    private let starts = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
    private let allReturned = DispatchSemaphore(value: 0)
    private let isIssue: @Sendable (any Error) -> Bool

    /// - Parameter isIssue: Returns whether a handler's error is already an issue of the test.
    init(isIssue: @escaping @Sendable (any Error) -> Bool) { self.isIssue = isIssue }

    func isReported(_ error: any Error) -> Bool { isIssue(error) }

    /// Starts the calls so far, and those to come, in Swift tasks that inherit the current task-locals.
    func begin() {
        let starts = starts.stream
        _ = TaskThreads.handlers.task { for await start in starts { start() } }
    }

    func start(_ key: String, _ body: @escaping @Sendable () async -> Void) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.count += 1
            state.running[state.count] = Call(key: key, isCancelled: state.hasEnded)
            return state.count
        }
        let call = { @Sendable [self] in
            state.withLock { $0.running[id]?.hasBegun = true }
            await body()
            let isLast = state.withLock { state in
                state.running[id] = nil
                return state.hasEnded && state.running.isEmpty
            }
            if isLast { allReturned.signal() }
        }
        let start = { @Sendable [self] in
            let task = TaskThreads.handlers.task(call)
            let isCancelled = state.withLock { state in
                state.running[id]?.task = task
                return state.running[id]?.isCancelled == true
            }
            if isCancelled { task.cancel() }
        }
        // After the end, no task starts calls any more.
        if case .terminated = starts.continuation.yield(start) { start() }
        return { [self] in
            let task = state.withLock { state in
                state.running[id]?.isCancelled = true
                return state.running[id]?.task
            }
            task?.cancel()
        }
    }

    /// Whether ``end()`` was called.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Cancels the calls that haven't returned, and waits at most a second for them.
    ///
    /// - Returns: The keys of the entries whose handlers go on.
    func end() async -> [String] {
        guard cancelAll() else { return [] }
        // On a thread of its own, so that this also waits if the test's task is cancelled, and blocks no thread of Swift's.
        await withCheckedContinuation { waiting in
            Thread.detachNewThread { [self] in
                waitForAll()
                waiting.resume()
            }
        }
        return stopStarting()
    }

    /// The same as ``end()``, for code that isn't async. Blocks the thread.
    func endBlocking() -> [String] {
        guard cancelAll() else { return [] }
        waitForAll()
        return stopStarting()
    }

    private func waitForAll() { _ = allReturned.wait(timeout: .now() + 1) }

    /// Cancels the calls that haven't returned. Returns `false` if all have.
    private func cancelAll() -> Bool {
        let tasks = state.withLock { state in
            state.hasEnded = true
            for id in state.running.keys { state.running[id]?.isCancelled = true }
            return state.running.values.map(\.task)
        }
        if tasks.isEmpty { starts.continuation.finish() }
        for task in tasks { task?.cancel() }
        return !tasks.isEmpty
    }

    /// Stops starting calls in the test's task. Returns the keys of the entries whose handlers go on.
    private func stopStarting() -> [String] {
        starts.continuation.finish()
        return state.withLock { $0.running.values.filter(\.hasBegun).map(\.key) }.ordered(by: <)
    }
}
#endif
