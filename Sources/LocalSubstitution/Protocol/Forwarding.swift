import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request that was sent on, and what has come of it so far.
final class Forwarding: Sendable {
    enum Outcome: Sendable {
        /// The response, and the requests for the targets of the redirects that led to it.
        case network(CachedURLResponse, redirects: [URLRequest])
        /// An entry has answered the target of a redirect.
        case local(CachedURLResponse)
        case failed(URLError)
    }

    /// What has come of a response, passed on before the rest.
    enum Piece: Sendable {
        case head(URLResponse)
        case data(Data)
    }

    private struct State: Sendable {
        var response: URLResponse?
        var body = Data()
        /// The requests for the targets of redirects that were followed.
        var redirects: [URLRequest] = []
        var isCancelled = false
        var isEnded = false
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
        let pass: (@Sendable (Piece) -> Void)?
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

    /// Says whether the target of a redirect is to be asked for: not if an entry answers it. The session gives up loops.
    func redirect(to request: URLRequest, _ follow: @escaping @Sendable (URLRequest?) -> Void) {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let answer = owner.answerHop(request)
            LoaderThread.runAsDelegate { [self] in
                // Before the task hears that it is to go no further, and ends.
                if let answer { end(.local(answer)) }
                state.withLock { state in
                    // Under the lock, so that no `cancel` comes in between: a task that was cancelled is not waiting any more,
                    // and to answer it traps on Linux.
                    if answer == nil { state.redirects.append(request) }
                    if !state.isCancelled { follow(answer == nil ? request : nil) }
                }
            }
        }
    }

    func ask(_ challenge: URLAuthenticationChallenge) { owner.askOuterSession(challenge) }

    func receive(_ response: URLResponse) {
        state.withLock { $0.response = response }
        owner.pass?(.head(response))
    }

    func receive(_ data: Data) {
        state.withLock { $0.body.append(data) }
        owner.pass?(.data(data))
    }

    /// The task has ended, or nothing more is to come of it.
    func finish(_ error: (any Error)?) {
        let (response, body, redirects) = state.withLock { ($0.response, $0.body, $0.redirects) }
        if let error {
            end(.failed(error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])))
        } else if let response {
            let whole = CachedURLResponse(response: response, data: body, userInfo: nil, storagePolicy: .notAllowed)
            end(.network(whole, redirects: redirects))
        } else {
            end(.failed(URLError(.badServerResponse)))
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
