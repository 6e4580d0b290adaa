import Dispatch
import Guarded

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A `URLProtocol` that answers, by the same map, the requests that a cache is not asked for or not believed: those with
/// `Authorization`, those that ignore local data, other methods, and any status.
///
/// ``LocalSubstitutionCache/attach(to:as:unmatched:)`` puts it into a session configuration. It takes only the requests for
/// which it has something to do. To keep a session apart from the rest of a process, as a test does, give it a cache of its
/// own:
/// ```swift
/// final class CheckoutProtocol: SubstitutionURLProtocol {
///     static let checkoutCache = LocalSubstitutionCache(map: checkoutMap)
///     override class var cache: LocalSubstitutionCache? { checkoutCache }
/// }
/// ```
open class SubstitutionURLProtocol: URLProtocol {
    /// The cache that answers; by default `URLCache.shared`, if it is one.
    open class var cache: LocalSubstitutionCache? { URLCache.shared as? LocalSubstitutionCache }

    /// What keeps a copy of every response that no entry of the cache's map is about, and answers with it when the network
    /// fails; by default `nil`.
    open class var recorder: SubstitutionRecorder? { nil }

    /// Whether pieces of a response are passed on before the rest: as they arrive if there's no offline fallback, and otherwise
    /// once the body is longer than the limit.
    ///
    /// Not on Linux, where a completion handler gets the last piece only (`URLSessionTask.swift`, `urlProtocol(_:didLoad:)`).
    class var passesPieces: Bool {
        #if canImport(Darwin)
        true
        #else
        false
        #endif
    }

    private let delivery = Guarded(Delivery())

    /// Whether an entry applies to a request, a recorder is to keep its response, or the session must fail without an answer.
    open override class func canInit(with request: URLRequest) -> Bool {
        guard let cache, cache.action(for: request, by: self) != nil else { return false }
        cache.noteTaken(request)
        return true
    }

    /// The request as it is.
    open override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Answers, forwards, or fails.
    ///
    /// On Linux this runs on a queue that all sessions of the process share (`URLSession.swift`, `sharedQueue`): to read a file
    /// here would hold up all of them, and to use a session traps.
    open override func startLoading() {
        guard let start = delivery.withLock({ $0.begin() }) else { return }
        guard case .attempt(let attempt) = start else {
            client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
            return
        }
        let cache = Self.cache
        // The loader doesn't ask the cache for a download task.
        cache?.noteTaken(nil)
        guard let cache, let action = cache.action(for: request, by: Self.self) else {
            return end(.failure(URLError(.resourceUnavailable)), attempt)
        }
        if let error = UnsupportedTask.error(for: task, request, action) {
            cache.reportUnanswered(action.lookup, since: error.localizedDescription)
            return end(.failure(error), attempt)
        }
        switch action {
        case .fail(let lookup):
            end(.failure(cache.unmatched(lookup)), attempt)
        case .answer(let lookup, let substitution):
            // On Linux the loader has asked the cache already, and what that gave has been counted.
            let isCounted = cachedResponse != nil && lookup.decision.verdict == .substituted
            guard !cache.isAtHand(substitution, lookup) else {
                return end(cache.serve(lookup, substitution, isCounted: isCounted), attempt)
            }
            take(.find { .deliver(cache.serve(lookup, substitution, isCounted: isCounted)) }, attempt)
        case .replay(let lookup, let recorder):
            take(
                .find { .deliver(cache.replay(lookup, recorder) ?? .failure(cache.unmatched(lookup))) },
                attempt
            )
        case .forward(let lookup, let standby, let forwarder):
            forward(ForwardedRequest(cache, lookup, standby, forwarder), attempt)
        }
    }

    /// Ends what was forwarded, and delivers nothing any more. A task that was suspended is started again.
    open override func stopLoading() {
        // If it wasn't started, the cache still expects it to report the request.
        Self.cache?.forgetTaken(request)
        delivery.withLock { $0.stop() }?.cancel()
    }

    // MARK: Forwarding

    private func forward(_ forwarded: ForwardedRequest, _ attempt: Int) {
        // The loader hands a protocol from thread to thread itself, but Foundation does not call it Sendable.
        nonisolated(unsafe) let this = self
        let thread = LoaderThread()
        let pass: @Sendable (ResponseCollector.Piece) -> Void = { piece in
            thread.runForDelegate { this.pass(piece, attempt) }
        }
        let owner = Forwarding.Owner(
            answerHop: { forwarded.answer(toRedirect: $0) },
            askOuterSession: { challenge in
                thread.runForDelegate { this.client?.urlProtocol(this, didReceive: challenge) }
            },
            pass: Self.passesPieces ? pass : nil,
            passesAtOnce: Self.passesPieces && !forwarded.hasStandby,
            complete: { outcome in
                let step = forwarded.step(after: outcome)
                thread.runForDelegate { this.take(step, attempt) }
            }
        )
        DispatchQueue.global(qos: .userInitiated).async {
            let forwarding = forwarded.forwarder.load(
                forwarded.request,
                timeout: forwarded.timeout,
                priority: this.task?.priority,
                for: owner
            )
            let goesOn = this.delivery.withLock { $0.follow(forwarding, attempt) }
            if goesOn { forwarding.resume() } else { forwarding.cancel() }
        }
    }

    /// Does what is to be done next. Must run where ``LoaderThread`` says.
    private func take(_ step: ForwardedRequest.Step, _ attempt: Int) {
        nonisolated(unsafe) let this = self
        switch step {
        case .deliver(let result):
            end(result, attempt)
        case .find(let queue, let find):
            let thread = LoaderThread()
            queue.async {
                let next = find()
                thread.run { this.take(next, attempt) }
            }
        case .retry(let other):
            forward(other, attempt)
        }
    }

    // MARK: Delivering

    /// Tells the client how it ends, unless the task was stopped before. It must run where ``LoaderThread`` says.
    private func end(_ result: Result<CachedURLResponse, URLError>, _ attempt: Int) {
        guard let isRest = delivery.withLock({ $0.end(attempt) }), let client else { return }
        switch result {
        case .success(let response):
            if !isRest {
                #if !canImport(Darwin)
                let response = response.withoutChallenge
                #endif
                client.urlProtocol(self, didReceive: response.response, cacheStoragePolicy: .notAllowed)
                // All of it at once: see `passesPieces`.
                if !response.data.isEmpty { client.urlProtocol(self, didLoad: response.data) }
            }
            client.urlProtocolDidFinishLoading(self)
        case .failure(let error):
            client.urlProtocol(self, didFailWithError: error)
        }
    }

    /// Tells the client what has come so far.
    private func pass(_ piece: ResponseCollector.Piece, _ attempt: Int) {
        guard delivery.withLock({ $0.pass(attempt) }), let client else { return }
        switch piece {
        case .head(let response): client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        case .data(let data): client.urlProtocol(self, didLoad: data)
        }
    }
}
