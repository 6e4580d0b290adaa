import Dispatch
package import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response from the network, read in pieces by one thread as it arrives.
package final class ArrivingResponse: Sendable {
    enum Event: Sendable {
        case head(URLResponse)
        case data(Data)
        case end(Forwarding.Outcome)
    }

    private struct State: Sendable {
        var queue = EventQueue()
        var forwarding: Forwarding?
        var isOver = false
    }

    private let forwarded: ForwardedRequest
    private let isWanted: @Sendable () -> Bool
    private let state = Guarded(State())
    private let arrivals = DispatchSemaphore(value: 0)

    static let secondsBetweenQuestions = 0.5

    /// - Parameter isWanted: Called now and then while ``next()`` waits. Returns whether the client still wants the response.
    init(_ forwarded: ForwardedRequest, isWanted: @escaping @Sendable () -> Bool) {
        self.forwarded = forwarded
        self.isWanted = isWanted
    }

    deinit { cancel() }

    /// Starts forwarding a request. The request is cancelled if the rest of the response isn't wanted.
    func begin(_ forwarding: Forwarding) {
        state.withLock { $0.forwarding = forwarding }
        forwarding.resume()
    }

    func add(_ event: Event) {
        let (ended, failed) = state.withLock { state -> (Forwarding?, Forwarding?) in
            guard !state.isOver else { return (nil, nil) }
            do throws(URLError) {
                try state.queue.add(event)
            } catch {
                state.isOver = true
                state.queue.end(.failed(error, isPartial: true))
                return (nil, state.forwarding.take())
            }
            guard case .end = event else { return (nil, nil) }
            state.isOver = true
            return (state.forwarding.take(), nil)
        }
        // Released outside the lock, since that may end a session.
        withExtendedLifetime(ended) {}
        failed?.cancel()
        arrivals.signal()
    }

    /// Waits for the next event and returns it. Returns `nil` if the response isn't wanted any more.
    func next() -> Event? {
        while arrivals.wait(timeout: .now() + Self.secondsBetweenQuestions) == .timedOut {
            guard isWanted() else {
                cancel()
                return nil
            }
        }
        let event = state.withLock { $0.queue.next() }
        // Nothing is under way after this, unless what waited can't be read.
        if case .end = event { cancel() }
        return event
    }

    /// Returns the next bytes of the body; `nil` at its end.
    ///
    /// - Throws: An error if the rest doesn't arrive.
    package func nextBytes() throws(URLError) -> Data? {
        while let event = next() {
            switch event {
            case .head: continue
            case .data(let data): return data
            case .end(let outcome):
                guard let error = complete(outcome) else { return nil }
                throw error
            }
        }
        throw URLError(.cancelled)
    }

    /// Ends the request if it hasn't ended yet.
    package func cancel() {
        let forwarding = state.withLock { state in
            state.isOver = true
            return state.forwarding.take()
        }
        forwarding?.cancel()
        arrivals.signal()
    }

    /// Records and reports the response. Returns the error if the network failed partway.
    private func complete(_ outcome: Forwarding.Outcome) -> URLError? {
        var step = forwarded.step(after: outcome)
        while case .goOn(let next) = step { step = next() }
        guard case .deliver(let outcome) = step else { return URLError(.networkConnectionLost) }
        return outcome.error
    }
}

/// The events that a slow reader hasn't taken yet. Only the first bytes wait in memory, and the others in a temporary file: a
/// session can't be told to receive more slowly.
private struct EventQueue: Sendable {
    private enum Waiting: Sendable {
        case event(ArrivingResponse.Event)
        /// Bytes in the file, after those of earlier events.
        case stored(Int)
    }

    /// The events, and `nil` for those that were taken since the array was last shortened.
    private var waiting: [Waiting?] = []
    private var taken = 0
    private var bytesInMemory = 0
    private var file: BodyFile?
    /// The part of the file whose bytes wait.
    private var stored = 0..<0

    /// The most bytes that wait in memory.
    private static let mostBytes = 4 << 20

    mutating func add(_ event: ArrivingResponse.Event) throws(URLError) {
        guard case .data(let data) = event else { return waiting.append(.event(event)) }
        guard bytesInMemory + data.count > Self.mostBytes else {
            bytesInMemory += data.count
            return waiting.append(.event(event))
        }
        if file == nil { file = try .nameless() }
        if stored.isEmpty { stored = 0..<0 }
        try file?.write(data, at: stored.upperBound)
        stored = stored.lowerBound..<stored.upperBound + data.count
        waiting.append(.stored(data.count))
    }

    /// Adds an outcome instead of an event that couldn't be added.
    mutating func end(_ outcome: Forwarding.Outcome) {
        waiting.append(.event(.end(outcome)))
    }

    mutating func next() -> ArrivingResponse.Event? {
        guard taken < waiting.count else { return nil }
        let next = waiting[taken].take()
        taken += 1
        // Not each time, since all later events move.
        if taken == waiting.count || taken == 1_000 {
            waiting.removeFirst(taken)
            taken = 0
        }
        switch next {
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
                (waiting, taken) = ([], 0)
                return .end(.failed(error, isPartial: true))
            }
        }
    }
}
