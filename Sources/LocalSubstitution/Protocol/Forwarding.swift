import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that was sent to the network, and its progress.
final class Forwarding: Delivery.Work {
    enum Outcome: Sendable {
        /// The network's response, and the requests for the targets of the redirects that led to it.
        case network(CachedURLResponse, redirects: [URLRequest])
        /// The body was passed on because it was longer than the limit.
        case passedOn(URLResponse, redirects: [URLRequest], limit: Int)
        /// A redirect isn't followed, because an entry names its target or the target must not be loaded.
        case local(RequestStep)
        /// - Parameter isPartial: Whether part of the response has been passed on, so nothing else can answer.
        case failed(URLError, isPartial: Bool)
    }

    /// What to do about a redirect.
    enum RedirectAnswer: Sendable {
        case follow
        /// The redirect itself is the response.
        case deliver
        /// Continues with a step instead of following the redirect.
        case local(RequestStep)
    }

    private struct State: Sendable {
        var isCancelled = false
        var isEnded = false
        var isPartial = false
        /// The forwarder. It's kept until the request has ended, since its deinitializer invalidates the session.
        var forwarder: Forwarder?
    }

    /// The receiver of a response. All closures except the first run where ``LoaderThread/runAsDelegate(_:)`` runs its closures.
    struct Owner: Sendable {
        /// Returns what to do about a redirect, given the request for its target. It may read a file.
        let answerHop: @Sendable (URLRequest) -> RedirectAnswer
        /// Passes a challenge to the session that made the original request.
        let askOuterSession: @Sendable (URLAuthenticationChallenge) -> Void
        /// Passes on a piece of the response before the rest; `nil` if the response must be whole.
        let pass: (@Sendable (ResponseCollector.Piece) -> Void)?
        /// Whether pieces are passed on as they arrive. Otherwise, they're passed on once the body is longer than the limit.
        let passesAtOnce: Bool
        /// Called once.
        let complete: @Sendable (Outcome) -> Void
    }

    private let task: URLSessionDataTask
    private let timeout: Double?
    private let owner: Owner
    private let state: Guarded<State>

    init(_ task: URLSessionDataTask, from forwarder: Forwarder, timeout: Double?, for owner: Owner) {
        self.task = task
        self.timeout = timeout
        self.owner = owner
        state = Guarded(State(forwarder: forwarder))
    }

    func resume() {
        task.resume()
        guard let timeout else { return }
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + timeout) { [weak self] in
            guard let self else { return }
            LoaderThread.runAsDelegate { self.fail(URLError(.timedOut)) }
            endTask()
        }
    }

    /// Cancels the request. Its owner isn't called any more.
    func cancel() {
        end { _ in nil }
        endTask()
    }

    private func endTask() {
        state.withLock { $0.isCancelled = true }
        #if canImport(Darwin)
        task.cancel()
        #else
        // On Linux, `cancel` waits for the loader's queue, and this runs on that queue when a protocol is stopped. The answer to a
        // redirect must also have arrived there first, or the loader traps (`HTTPURLProtocol.swift`,
        // `didCompleteRedirectCallback`).
        LoaderThread.runAsDelegate { [task] in
            DispatchQueue.global(qos: .userInitiated).async { task.cancel() }
        }
        #endif
    }

    // MARK: The session's delegate

    /// The longest body to hold in memory if a longer one can be passed on, in bytes.
    private static let standardLimit = 256 << 20

    /// Returns the receiver that the collector calls.
    ///
    /// - Parameter limit: The longest body to hold, in bytes; `nil` for the default. By default, a body that can't be passed on in
    ///   pieces is held whole, as it is by the app that receives it.
    func collectorOwner(_ limit: Int?) -> ResponseCollector.Owner {
        let limit = limit ?? (owner.pass == nil ? .max : Self.standardLimit)
        var collectorOwner = ResponseCollector.Owner(limit: limit) { self.finish($0, limit) }
        if let pass = owner.pass {
            collectorOwner.pass = { piece in
                // Under the same lock as `end`. After a piece, nothing else may answer. After a timeout, the fallback may have
                // answered.
                let mayPass = self.state.withLock { state in
                    if !state.isEnded { state.isPartial = true }
                    return !state.isEnded
                }
                if mayPass { pass(piece) }
            }
        }
        collectorOwner.passesAtOnce = owner.passesAtOnce
        collectorOwner.redirect = { self.redirect(to: $0, $1) }
        #if canImport(Darwin)
        let askOuterSession = owner.askOuterSession
        collectorOwner.answerChallenge = { challenge, answer in
            askOuterSession(
                URLAuthenticationChallenge(authenticationChallenge: challenge, sender: ChallengeRelay(answer))
            )
        }
        #endif
        return collectorOwner
    }

    /// Follows a redirect, unless the owner decides otherwise. The session ends endless loops of redirects, and ``RequestChain``
    /// ends those through the map.
    private func redirect(to request: URLRequest, _ follow: @escaping @Sendable (URLRequest?) -> Void) {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let answer = owner.answerHop(request)
            LoaderThread.runAsDelegate { [self] in
                // Done first, since the task ends when it's told not to follow the redirect.
                if case .local(let step) = answer { end { _ in .local(step) } }
                let next = if case .follow = answer { request } else { nil as URLRequest? }
                state.withLock { state in
                    // Under the lock, so that no `cancel` comes in between. A cancelled task isn't waiting any more, and answering
                    // it traps on Linux.
                    if !state.isCancelled { follow(next) }
                }
            }
        }
    }

    private func finish(_ result: Result<ResponseCollector.Response, URLError>, _ limit: Int) {
        switch result {
        case .success(let response):
            let redirects = response.redirects
            guard let body = response.body else {
                return end { _ in .passedOn(response.head, redirects: redirects, limit: limit) }
            }
            let complete = CachedURLResponse(
                response: response.head,
                data: body,
                userInfo: nil,
                storagePolicy: .notAllowed
            )
            end { _ in .network(complete, redirects: redirects) }
        case .failure(let error):
            fail(error)
        }
    }

    private func fail(_ error: URLError) {
        end { .failed(error, isPartial: $0) }
    }

    /// Ends with an outcome, which may depend on whether a piece was passed on. Only the first call has an effect.
    private func end(_ outcome: (_ isPartial: Bool) -> Outcome?) {
        let (isFirst, isPartial, forwarder) = state.withLock { state in
            defer { state.isEnded = true }
            return (!state.isEnded, state.isPartial, state.forwarder.take())
        }
        if isFirst, let outcome = outcome(isPartial) { owner.complete(outcome) }
        withExtendedLifetime(forwarder) {}
    }
}
