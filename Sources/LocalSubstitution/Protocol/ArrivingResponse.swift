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
        /// The events that haven't been taken yet.
        var events: [Event] = []
        /// The number of bytes that wait to be taken.
        var bytes = 0
        var forwarding: Forwarding?
        var isOver = false
    }

    private let forwarded: ForwardedRequest
    private let isWanted: @Sendable () -> Bool
    private let state = Guarded(State())
    private let arrivals = DispatchSemaphore(value: 0)

    static let secondsBetweenQuestions = 0.5

    /// The most bytes that may wait. A session can't be told to receive more slowly, so a client that falls this far behind loses
    /// the response.
    private static let mostBytes = 64 << 20

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
        let (isTooMuch, ended) = state.withLock { state -> (Bool, Forwarding?) in
            guard !state.isOver else { return (false, nil) }
            state.events.append(event)
            if case .data(let data) = event { state.bytes += data.count }
            guard case .end = event else { return (state.bytes > Self.mostBytes, nil) }
            state.isOver = true
            return (false, state.forwarding.take())
        }
        // Released outside the lock, since that may end a session.
        withExtendedLifetime(ended) {}
        arrivals.signal()
        if isTooMuch { cancel() }
    }

    /// Waits for the next event and returns it. Returns `nil` if the response isn't wanted any more.
    func next() -> Event? {
        while arrivals.wait(timeout: .now() + Self.secondsBetweenQuestions) == .timedOut {
            guard isWanted() else {
                cancel()
                return nil
            }
        }
        return state.withLock { state in
            guard !state.events.isEmpty else { return nil }
            let event = state.events.removeFirst()
            if case .data(let data) = event { state.bytes -= data.count }
            return event
        }
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
