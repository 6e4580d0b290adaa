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
    /// The attachment that the class serves; `nil` if there is none.
    class var attachment: Attachment? { nil }

    private let delivery = Guarded(Delivery())

    /// Whether an entry applies to a request, a recorder keeps its response, or the session must fail the request.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard !request.isOwn else { return false }
        guard let attachment else { return Slots.isEmptied(self) && request.reachesNetwork }
        let responder = attachment.responder
        if responder.retains(request, isStrict: attachment.unmatched.isStrict) {
            responder.noteTaken(request, nil)
            return true
        }
        let lookup = attachment.lookUp(request)
        guard attachment.action(for: lookup) != nil else { return false }
        responder.noteTaken(request, lookup)
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
        guard let attachment = Self.attachment else { return end(.failure(.detached(request.url)), attempt) }
        let responder = attachment.responder
        let taken = responder.startTaken(request)
        let isStrict = attachment.unmatched.isStrict
        if !UnsupportedTask.isUnfinishable(task),
            let retained = responder.retainedResponse(for: request, cachedResponse, isStrict: isStrict)
        {
            return end(.success(retained), attempt)
        }
        guard let action = attachment.actionAtStart(for: request, taken) else {
            return end(.failure(URLError(.resourceUnavailable)), attempt)
        }
        responder.reportGoneFiles(action.lookup)
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

    /// Cancels the forwarded request, and delivers nothing more. Resuming a suspended task starts the protocol again.
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

    /// Performs a step. Must run where ``LoaderThread`` says.
    private func perform(_ step: ForwardedRequest.Step, _ attempt: Int) {
        nonisolated(unsafe) let this = self
        switch step {
        case .deliver(let result):
            end(result, attempt)
        case .find(let find):
            let thread = LoaderThread()
            DispatchQueue.global(qos: .userInitiated).async {
                let next = find()
                thread.run { this.perform(next, attempt) }
            }
        case .retry(let other):
            forward(other, attempt)
        }
    }

    // MARK: Delivering

    /// Delivers a result to the client, unless the task was stopped before. Must run where ``LoaderThread`` says.
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
