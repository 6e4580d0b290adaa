import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request that was sent on, and what has come of it so far.
final class Forwarding: Sendable {
    enum Outcome: Sendable {
        /// - Parameter credentialHeader: The header with which the request for a redirect's target showed who asks, if it did.
        case network(CachedURLResponse, credentialHeader: String?)
        /// An entry has answered the target of a redirect.
        case local(CachedURLResponse)
        case failed(URLError)
    }

    private struct State: Sendable {
        var isCancelled = false
        var isEnded = false
        var credentialHeader: String?
        /// Invalidates its session when nobody needs it any more: so it stays until this has ended.
        var forwarder: Forwarder?
    }

    /// Whom a forwarding asks and tells: all but the first where ``LoaderThread/runAsDelegate(_:)`` says.
    struct Owner: Sendable {
        /// Answers the target of a redirect, if an entry does; else it is followed. It may read a file.
        let answerHop: @Sendable (URLRequest) -> CachedURLResponse?
        /// Hands a challenge to the session whose request this is.
        let askOuterSession: @Sendable (URLAuthenticationChallenge) -> Void
        /// Passes on what comes, as it comes; `nil` where nobody may see a response that is not complete.
        let pass: (@Sendable (ResponseCollector.Piece) -> Void)?
        /// Is called once.
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
            LoaderThread.runAsDelegate { self.end(.failed(URLError(.timedOut))) }
            endTask()
        }
    }

    /// Nothing comes of it any more.
    func cancel() {
        end(nil)
        endTask()
    }

    private func endTask() {
        state.withLock { $0.isCancelled = true }
        #if canImport(Darwin)
        task.cancel()
        #else
        // On Linux `cancel` waits for the loader's queue, on which a protocol is stopped. And what was said to a redirect must
        // have arrived there before, or it traps (`HTTPURLProtocol.swift`, `didCompleteRedirectCallback`).
        LoaderThread.runAsDelegate { [task] in
            DispatchQueue.global(qos: .userInitiated).async { task.cancel() }
        }
        #endif
    }

    // MARK: What the session tells

    var collectorOwner: ResponseCollector.Owner {
        var collectorOwner = ResponseCollector.Owner(limit: .max) { self.finish($0) }
        collectorOwner.pass = owner.pass
        collectorOwner.passesAtOnce = owner.pass != nil
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

    /// Says whether the target of a redirect is to be asked for: not if an entry answers it. The session gives up loops.
    private func redirect(to request: URLRequest, _ follow: @escaping @Sendable (URLRequest?) -> Void) {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let answer = owner.answerHop(request)
            if answer == nil { noteCredentials(of: request) }
            LoaderThread.runAsDelegate { [self] in
                // Before the task hears that it is to go no further, and ends.
                if let answer { end(.local(answer)) }
                state.withLock { state in
                    // Under the lock, so that no `cancel` comes in between: a task that was cancelled is not waiting any more,
                    // and to answer it traps on Linux.
                    if !state.isCancelled { follow(answer == nil ? request : nil) }
                }
            }
        }
    }

    private func noteCredentials(of request: URLRequest) {
        state.withLock { state in
            state.credentialHeader =
                state.credentialHeader
                ?? RecordingRules.credentialHeaders.first { request.value(forHTTPHeaderField: $0) != nil }
                ?? state.forwarder?.credentialHeader(for: request.url)
        }
    }

    private func finish(_ result: Result<ResponseCollector.Response, URLError>) {
        switch result {
        case .success(let response):
            end(
                .network(
                    CachedURLResponse(
                        response: response.head,
                        data: response.body ?? Data(),
                        userInfo: nil,
                        storagePolicy: .notAllowed
                    ),
                    credentialHeader: state.withLock { $0.credentialHeader }
                )
            )
        case .failure(let error):
            end(.failed(error))
        }
    }

    /// The first outcome that is known counts.
    private func end(_ outcome: Outcome?) {
        let (isFirst, forwarder) = state.withLock { state in
            defer { state.isEnded = true }
            return (!state.isEnded, state.forwarder.take())
        }
        if isFirst, let outcome { owner.complete(outcome) }
        withExtendedLifetime(forwarder) {}
    }
}
