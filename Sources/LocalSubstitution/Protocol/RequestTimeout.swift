import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request's timeout: how long its client waits for a delay, a handler, or the next piece.
///
/// Linux's loader doesn't time out a protocol's requests, so a ``RequestLoad`` does.
struct RequestTimeout: Sendable {
    /// Infinite if unlimited.
    private let seconds: Double
    let began = DispatchTime.now()

    /// - Parameter seconds: The timeout in seconds; unlimited if it's 0.
    init(_ seconds: Double) { self.seconds = seconds > 0 ? seconds : .infinity }

    /// When the timeout ends, counted from the request's beginning; `nil` if unlimited.
    var end: DispatchTime? { seconds.isFinite ? began + seconds : nil }

    /// Waits until a time. Throws `timedOut` if the timeout ends first, and `cancelled` if the Swift task was
    /// cancelled.
    ///
    /// - Parameters:
    ///   - last: The time from which the timeout is counted: when the request began, or when the client last received
    ///     something.
    ///   - url: The URL for the error.
    func waitOrTimeOut(until time: DispatchTime, since last: DispatchTime, for url: URL?) async throws(URLError) {
        let latest = seconds.isFinite ? last + seconds : .distantFuture
        if min(time, latest) > .now() {
            let (end, continuation) = AsyncStream.makeStream(of: Never.self)
            let cancelTimer = Timers.shared.add(at: min(time, latest)) { continuation.finish() }
            for await _ in end {}
            cancelTimer()
        }
        try RequestLoad.checkCancellation()
        if time >= latest { throw error(for: url) }
    }

    /// Returns the result of one of the app's closures, which runs in a separate Swift task. Throws `timedOut` when the
    /// timeout ends, even if the closure ignores cancellation. Throws `cancelled` if the current task was cancelled.
    ///
    /// - Parameter start: Starts the closure's Swift task, and returns a closure that cancels it.
    func value<Value: Sendable>(
        for url: URL?,
        of body: @escaping @Sendable () async throws -> Value,
        startedBy start: (@escaping @Sendable () async -> Void) -> @Sendable () -> Void
    ) async throws(URLError) -> Result<Value, any Error> {
        let value: Result<Value, any Error>? = try await value { set in
            start {
                do { set(.success(try await body())) } catch { set(.failure(error)) }
            }
        }
        guard let value else { throw error(for: url) }
        return value
    }

    /// Returns the first value that a thread or Swift task sets; `nil` if the timeout ends first. Throws `cancelled` if the
    /// current task was cancelled.
    ///
    /// - Parameter start: Starts the thread or task, and returns a closure that ends it.
    func value<Value: Sendable>(
        startedBy start: (_ set: @escaping @Sendable (Value) -> Void) -> @Sendable () -> Void
    ) async throws(URLError) -> Value? {
        let (values, continuation) = AsyncStream.makeStream(of: Value.self)
        let cancel = start { value in
            continuation.yield(value)
            continuation.finish()
        }
        let cancelTimer = end.map { Timers.shared.add(at: $0) { continuation.finish() } }
        let value = await values.first { _ in true }
        cancelTimer?()
        cancel()
        try RequestLoad.checkCancellation()
        return value
    }

    private func error(for url: URL?) -> URLError {
        .explained(
            .timedOut,
            "The response took longer than the request's timeout of \(seconds.grouped) s. Set a longer timeoutInterval, or "
                + "shorten the entry's delay, rate or handler.",
            url
        )
    }
}

/// The times at which requests continue or time out. One timer of the system serves all of them: making one takes longer
/// than to call an empty handler.
private final class Timers: Sendable {
    private struct State: Sendable {
        var pending: [Int: (time: DispatchTime, body: @Sendable () -> Void)] = [:]
        var count = 0
        /// When the timer fires.
        var next = DispatchTime.distantFuture
    }

    static let shared = Timers()

    private let state = Guarded(State())
    // Safe, although the compiler can't check that: Dispatch's objects can be used on every thread.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    private init() {
        // Strict, so that the system doesn't delay a call to save power.
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: .global(qos: .userInitiated))
        timer.setEventHandler { Self.shared.fire() }
        timer.activate()
    }

    /// Calls a closure at a time, and returns a closure that cancels the call.
    func add(at time: DispatchTime, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.count += 1
            state.pending[state.count] = (time, body)
            setTimer(to: time, &state)
            return state.count
        }
        return { [self] in state.withLock { $0.pending[id] = nil } }
    }

    /// Sets the timer, unless it fires earlier anyway.
    private func setTimer(to time: DispatchTime, _ state: inout State) {
        guard time < state.next else { return }
        state.next = time
        timer.schedule(deadline: time)
    }

    private func fire() {
        let due = state.withLock { state in
            let due = state.pending.filter { $0.value.time <= .now() }
            for id in due.keys { state.pending[id] = nil }
            state.next = .distantFuture
            if let first = state.pending.values.map(\.time).min() { setTimer(to: first, &state) }
            return due.values.map(\.body)
        }
        for body in due { body() }
    }
}
