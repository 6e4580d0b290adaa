import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that was sent to the network, and its progress.
final class ForwardedTask: Sendable {
    enum Outcome: Sendable {
        /// The network's response. A body that's longer than the limit has already been passed on.
        case received(ResponseCollector.Response, limit: Int)
        /// A redirect that the session doesn't follow. The load continues with the step instead: see
        /// ``RedirectAnswer/answer(_:)``.
        case answered(RequestLoad.Step)
        /// - Parameter isPartial: Whether part of the response has been passed on. If so, nothing else can answer.
        case failed(URLError, isPartial: Bool)
    }

    /// What to do about a redirect.
    enum RedirectAnswer: Sendable {
        case follow
        /// The redirect itself is the response.
        case deliver
        /// The load continues with a step instead of following the redirect.
        case answer(RequestLoad.Step)
    }

    private struct State: Sendable {
        var isCancelled = false
        var isPartial = false
        var isEnded = false
    }

    /// How the request ended.
    let outcome = FirstValue<Outcome>()
    private let task: URLSessionDataTask
    private let receiver: Forwarder.Receiver
    private let limit: Int
    private let state = Guarded(State())

    /// The longest body to hold in memory by default, in bytes. A longer body is passed on.
    private static let standardLimit = 256 << 20

    /// - Parameter limit: The longest body to hold in memory, in bytes; `nil` for 256 MiB.
    init(_ task: URLSessionDataTask, limit: Int?, to receiver: Forwarder.Receiver) {
        self.task = task
        self.receiver = receiver
        self.limit = limit ?? Self.standardLimit
    }

    /// Starts the request.
    ///
    /// - Parameter timeout: The number of seconds that the complete response may take; `nil` for the configuration's timeout.
    func resume(timeout: Double?) {
        task.resume()
        guard let timeout else { return }
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + timeout) { [weak self] in
            guard let self else { return }
            LoaderThread.runAsDelegate { self.end(URLError(.timedOut)) }
            endTask()
        }
    }

    /// Cancels the request. Nothing more is passed on.
    func cancel() {
        end(URLError(.cancelled))
        endTask()
    }

    private func endTask() {
        state.withLock { $0.isCancelled = true }
        #if canImport(Darwin)
        task.cancel()
        #else
        // On Linux, `cancel` waits for the loader's queue, so it must not be called there, where a protocol is stopped.
        // Also, the answer to a redirect must reach that queue first, or the loader traps (`HTTPURLProtocol.swift`,
        // `didCompleteRedirectCallback`).
        LoaderThread.runAsDelegate { [task] in
            DispatchQueue.global(qos: .userInitiated).async { task.cancel() }
        }
        #endif
    }

    // MARK: The session's delegate

    /// The owner of the task for ``ResponseCollector``.
    var collectorOwner: ResponseCollector.Owner {
        var answerChallenge: ResponseCollector.Owner.AnswerChallenge?
        #if canImport(Darwin)
        answerChallenge = { [receiver] challenge, answer in
            receiver.answerChallenge(
                URLAuthenticationChallenge(authenticationChallenge: challenge, sender: ChallengeRelay(answer))
            )
        }
        #endif
        let heldLimit = receiver.keepsBody ? limit : 0
        return ResponseCollector.Owner(
            limit: { _ in heldLimit },
            body: receiver.passesAtOnce ? .pieces { self.pass($0) } : .wholeOrPieces { self.pass($0) },
            redirect: { self.redirect(to: $0, $1) },
            answerChallenge: answerChallenge
        ) { [self] result in
            switch result {
            case .success(let response): end { _ in .received(response, limit: limit) }
            case .failure(let error): end(error)
            }
        }
    }

    /// Passes a piece on, unless the request has ended: after a timeout, the fallback may have answered. Once a piece
    /// has been passed on, nothing else may answer.
    private func pass(_ piece: ResponseCollector.Piece) {
        let mayPass = state.withLock { state in
            if !state.isEnded { state.isPartial = true }
            return !state.isEnded
        }
        if mayPass { receiver.pass(piece) }
    }

    /// Follows a redirect, unless the receiver decides otherwise. The session stops endless redirects. ``RequestLoad``
    /// stops the ones that go through the map.
    private func redirect(to request: URLRequest, _ follow: @escaping @Sendable (URLRequest?) -> Void) {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let answer = receiver.answerRedirect(request)
            LoaderThread.runAsDelegate { [self] in
                // Sets the outcome first, since the task ends when it's told not to follow the redirect.
                if case .answer(let step) = answer { end { _ in .answered(step) } }
                let next = if case .follow = answer { request } else { nil as URLRequest? }
                state.withLock { state in
                    // Holds the lock, so that no `cancel` comes in between. A cancelled task doesn't wait for an answer
                    // any more, and answering it traps on Linux.
                    if !state.isCancelled { follow(next) }
                }
            }
        }
    }

    private func end(_ error: URLError) { end { .failed(error, isPartial: $0) } }

    /// Sets the outcome, which may depend on whether a piece was passed on. Only the first call has an effect.
    private func end(_ make: (_ isPartial: Bool) -> Outcome) {
        let isPartial = state.withLock { state -> Bool? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            return state.isPartial
        }
        if let isPartial { outcome.set(make(isPartial)) }
    }
}
