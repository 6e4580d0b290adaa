import Dispatch
import Guarded

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A `URLProtocol` that uses the same map for requests that URLSession never offers to a cache, or whose cached response it
/// rejects: those with `Authorization`, those that ignore local data, other methods, and any status.
///
/// ``LocalSubstitutionCache/attach(to:unmatched:recorder:)`` puts a subclass into a configuration's `protocolClasses`. It takes
/// only the requests for which it has something to do.
public class SubstitutionURLProtocol: URLProtocol {
    /// What the attaching has said; `nil` for a class that no attaching has made.
    class var attachment: Attachment? { nil }

    private let delivery = Guarded(Delivery())

    /// Whether an entry applies to a request, a recorder is to keep its response, or the session must fail without an answer.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard let attachment, !request.isOwn else { return false }
        guard attachment.responder.retains(request) || attachment.action(for: request) != nil else { return false }
        attachment.responder.noteTaken(request)
        return true
    }

    /// The request as it is.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Answers, forwards, or fails.
    ///
    /// On Linux this runs on a queue that all sessions of the process share (`URLSession.swift`, `sharedQueue`): reading a file
    /// here would hold up all of them, and using a session traps.
    public override func startLoading() {
        guard let start = delivery.withLock({ $0.begin() }) else { return }
        guard case .attempt(let attempt) = start else {
            client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
            return
        }
        guard let attachment = Self.attachment else { return end(.failure(URLError(.resourceUnavailable)), attempt) }
        let responder = attachment.responder
        // For a download task the loader hasn't asked the cache.
        responder.noteTaken(nil)
        if !UnsupportedTask.isUnfinishable(task),
            let retained = responder.retainedResponse(for: request, cachedResponse)
        {
            return end(.success(retained), attempt)
        }
        guard let action = attachment.action(for: request) else {
            return end(.failure(URLError(.resourceUnavailable)), attempt)
        }
        if let error = UnsupportedTask.error(for: task, request, action) {
            responder.reportUnanswered(action.lookup, since: error.localizedDescription)
            return end(.failure(error), attempt)
        }
        switch action {
        case .fail(let lookup):
            end(.failure(responder.unmatched(lookup)), attempt)
        case .answer(let lookup, let substitution):
            guard !responder.isAtHand(substitution, lookup) else {
                return end(responder.serve(lookup, by: substitution), attempt)
            }
            perform(.find { .deliver(responder.serve(lookup, by: substitution)) }, attempt)
        case .replay(let lookup, let recorder):
            perform(
                .find { .deliver(responder.replay(lookup, recorder) ?? .failure(responder.unmatched(lookup))) },
                attempt
            )
        case .forward(let lookup, let fallback):
            forward(ForwardedRequest(attachment, lookup, fallback), attempt)
        }
    }

    /// Cancels what was forwarded, and delivers nothing any more. A task that was suspended is started again.
    public override func stopLoading() {
        // If it wasn't started, the cache still expects it to report the request.
        Self.attachment?.responder.forgetTaken(request)
        delivery.withLock { $0.stop() }?.cancel()
    }

    // MARK: Forwarding

    private func forward(_ forwarded: ForwardedRequest, _ attempt: Int) {
        // The loader hands a protocol from thread to thread itself, but Foundation doesn't call it Sendable.
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
            pass: forwarded.attachment.streams ? pass : nil,
            passesAtOnce: forwarded.attachment.streams && !forwarded.hasFallback,
            complete: { outcome in
                let step = forwarded.step(after: outcome)
                thread.runForDelegate { this.perform(step, attempt) }
            }
        )
        DispatchQueue.global(qos: .userInitiated).async {
            let forwarding = forwarded.attachment.forwarder.load(
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
    private func perform(_ step: ForwardedRequest.Step, _ attempt: Int) {
        nonisolated(unsafe) let this = self
        switch step {
        case .deliver(let result):
            end(result, attempt)
        case .find(let queue, let find):
            let thread = LoaderThread()
            queue.async {
                let next = find()
                thread.run { this.perform(next, attempt) }
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
                // All of it at once: see `Attachment.streams`.
                if !response.data.isEmpty { client.urlProtocol(self, didLoad: response.data) }
            }
            client.urlProtocolDidFinishLoading(self)
        case .failure(let error):
            client.urlProtocol(self, didFailWithError: error)
        }
    }

    /// Tells the client what has arrived so far.
    private func pass(_ piece: ResponseCollector.Piece, _ attempt: Int) {
        guard delivery.withLock({ $0.pass(attempt) }), let client else { return }
        switch piece {
        case .head(let response): client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        case .data(let data): client.urlProtocol(self, didLoad: data)
        }
    }
}
