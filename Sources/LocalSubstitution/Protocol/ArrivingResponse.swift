import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response that arrives in pieces. A load adds the pieces, and one thread reads them.
final class ArrivingResponse: Sendable {
    private struct State: Sendable {
        var queue = EventQueue()
        var load: Task<Void, Never>?
        var isOver = false
    }

    private let isWanted: @Sendable () -> Bool
    private let end: RequestEnd
    private let state = Guarded(State())
    private let arrivals = DispatchSemaphore(value: 0)

    private static let secondsBetweenQuestions = 0.5

    /// - Parameters:
    ///   - isWanted: Called every half second while ``next()`` waits. If it returns `false`, the load is cancelled.
    ///   - end: Where to report that the client has left, or that a piece had to wait in the temporary file and
    ///     couldn't be written. The load reports all other ends.
    init(isWanted: @escaping @Sendable () -> Bool, end: RequestEnd) {
        self.isWanted = isWanted
        self.end = end
    }

    deinit { cancel() }

    /// Lets ``cancel()`` cancel the load. If the response has already ended, cancels the load at once.
    func wait(for load: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.load = load }
            return state.isOver
        }
        if isOver { load.cancel() }
    }

    func add(_ event: RequestLoad.Event) {
        let failure = state.withLock { state -> (load: Task<Void, Never>?, error: URLError)? in
            guard !state.isOver else { return nil }
            if case .end = event { state.isOver = true }
            guard let error = state.queue.add(event) else { return nil }
            state.isOver = true
            return (state.load, error)
        }
        if let failure {
            end.report(.failed(nil, failure.error))
            failure.load?.cancel()
        }
        arrivals.signal()
    }

    /// Waits for the next event. Returns `nil` if the client doesn't want the response any more.
    func next() -> RequestLoad.Event? {
        while arrivals.wait(timeout: .now() + Self.secondsBetweenQuestions) == .timedOut {
            guard isWanted() else {
                cancel()
                return nil
            }
        }
        let event = state.withLock { $0.queue.next() }
        // Usually, the load has ended too. But if stored bytes couldn't be read back, it may still be running.
        if case .end = event { cancel() }
        return event
    }

    /// Waits for the next bytes of the body. Returns `nil` at the end of the body.
    ///
    /// - Throws: An error if the load fails, or if the client doesn't want the response any more.
    func nextBytes() throws(URLError) -> Data? {
        while let event = next() {
            switch event {
            case .head: continue
            case .data(let data): return data
            case .end(let outcome):
                guard let error = outcome.error else { return nil }
                throw error
            }
        }
        throw URLError(.cancelled)
    }

    func cancel() {
        let (load, isUnderWay) = state.withLock { state in
            defer { state.isOver = true }
            return (state.load.take(), !state.isOver)
        }
        // Otherwise, the load's outcome is already reported.
        if isUnderWay { end.cancel() }
        load?.cancel()
        arrivals.signal()
    }
}

/// The events that a slow reader hasn't read yet. Up to 4 MiB wait in memory, and further bytes in a temporary file,
/// since a session can't be told to receive more slowly.
private struct EventQueue: Sendable {
    private enum Waiting: Sendable {
        case event(RequestLoad.Event)
        /// A piece whose bytes are in the file, after those of earlier pieces. The value is the number of bytes.
        case stored(Int)
    }

    /// The waiting events: first those in `leaving`, in reverse order, and then those in `arriving`, in order.
    private var (leaving, arriving): ([Waiting], [Waiting]) = ([], [])
    private var bytesInMemory = 0
    private var file: BodyFile?
    /// The range of the file that has been written but not read yet, in bytes.
    private var stored = 0..<0

    private static let mostBytes = 4 << 20

    /// Adds an event. If its bytes can't be stored, adds a failure instead of the event, and returns the error. Returns
    /// `nil` if the event was added.
    mutating func add(_ event: RequestLoad.Event) -> URLError? {
        guard case .data(let data) = event, bytesInMemory + data.count > Self.mostBytes else {
            if case .data(let data) = event { bytesInMemory += data.count }
            arriving.append(.event(event))
            return nil
        }
        do throws(URLError) {
            if file == nil { file = try .nameless() }
            if stored.isEmpty { stored = 0..<0 }
            try file?.write(data, at: stored.upperBound)
            stored = stored.lowerBound..<stored.upperBound + data.count
            arriving.append(.stored(data.count))
            return nil
        } catch {
            arriving.append(.event(.end(.failed(nil, error))))
            return error
        }
    }

    mutating func next() -> RequestLoad.Event? {
        if leaving.isEmpty { (leaving, arriving) = (arriving.reversed(), []) }
        switch leaving.popLast() {
        case nil: return nil
        case .event(let event):
            if case .data(let data) = event { bytesInMemory -= data.count }
            return event
        case .stored(let count):
            do throws(URLError) {
                let data = try file?.read(count, at: stored.lowerBound)
                stored = stored.lowerBound + count..<stored.upperBound
                return data.map { .data($0) }
            } catch {
                (leaving, arriving) = ([], [])
                return .end(.failed(nil, error))
            }
        }
    }
}
