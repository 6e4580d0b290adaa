import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request that was sent on, and what has come of it so far.
final class Forwarding: Sendable {
    typealias Outcome = Result<CachedURLResponse, URLError>

    private struct State: Sendable {
        var response: URLResponse?
        var body = Data()
        var hops = 0
        var isCancelled = false
        var completion: (@Sendable (Outcome) -> Void)?
        /// Invalidates its session when nobody needs it any more: so it stays until this has ended.
        var forwarder: Forwarder?
    }

    private let task: URLSessionDataTask
    private let timeout: Double?
    private let answerHop: @Sendable (URLRequest) -> CachedURLResponse?
    let askOuterSession: @Sendable (URLAuthenticationChallenge) -> Void
    private let state: Guarded<State>

    /// As many redirects as browsers follow (Fetch §4.4).
    private static let mostHops = 20

    init(
        _ task: URLSessionDataTask,
        from forwarder: Forwarder,
        timeout: Double?,
        answerHop: @escaping @Sendable (URLRequest) -> CachedURLResponse?,
        askOuterSession: @escaping @Sendable (URLAuthenticationChallenge) -> Void,
        _ completion: @escaping @Sendable (Outcome) -> Void
    ) {
        self.answerHop = answerHop
        self.askOuterSession = askOuterSession
        self.task = task
        self.timeout = timeout
        state = Guarded(State(completion: completion, forwarder: forwarder))
    }

    func resume() {
        task.resume()
        guard let timeout else { return }
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + timeout) { [weak self] in
            self?.complete(.failure(URLError(.timedOut)))
            self?.endTask()
        }
    }

    /// Nothing comes of it any more.
    func cancel() {
        state.withLock { $0.completion = nil }
        endTask()
    }

    private func endTask() {
        state.withLock { $0.isCancelled = true }
        #if canImport(Darwin)
        task.cancel()
        #else
        // On Linux `cancel` waits for the loader's queue, on which a protocol is stopped. And what was said to a redirect must
        // have arrived there before, or it traps (`HTTPURLProtocol.swift`, `didCompleteRedirectCallback`).
        LoaderThread().run { [task] in
            DispatchQueue.global(qos: .userInitiated).async { task.cancel() }
        }
        #endif
    }

    // MARK: What the session tells

    /// Says whether the target of a redirect is to be asked for: not if an entry answers it, nor after too many.
    func redirect(to request: URLRequest, _ follow: (URLRequest?) -> Void) {
        let answer = answerHop(request)
        let isTooMany = state.withLock { state in
            state.hops += 1
            let isTooMany = state.hops > Self.mostHops
            // Under the lock, so that no `cancel` comes in between: a task that was cancelled is not waiting any more, and to
            // answer it traps on Linux.
            if !state.isCancelled { follow(answer == nil && !isTooMany ? request : nil) }
            return isTooMany
        }
        if let answer {
            complete(.success(answer))
        } else if isTooMany {
            complete(.failure(URLError(.httpTooManyRedirects)))
        }
    }

    func receive(_ response: URLResponse) { state.withLock { $0.response = response } }

    func receive(_ data: Data) { state.withLock { $0.body.append(data) } }

    /// The task has ended, or nothing more is to come of it.
    func finish(_ error: (any Error)?) {
        let (response, body) = state.withLock { ($0.response, $0.body) }
        if let error {
            complete(.failure(error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])))
        } else if let response {
            complete(
                .success(CachedURLResponse(response: response, data: body, userInfo: nil, storagePolicy: .notAllowed))
            )
        } else {
            complete(.failure(URLError(.badServerResponse)))
        }
    }

    /// The first that is known is what comes of it.
    private func complete(_ outcome: Outcome) {
        let (completion, forwarder) = state.withLock { ($0.completion.take(), $0.forwarder.take()) }
        completion?(outcome)
        withExtendedLifetime(forwarder) {}
    }
}
