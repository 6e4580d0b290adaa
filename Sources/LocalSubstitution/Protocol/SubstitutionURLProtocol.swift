import Guarded

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A `URLProtocol` that uses the same map for requests that URLSession never offers to a cache, or whose cached response it
/// rejects: requests with `Authorization`, with a policy that ignores local data, or with methods other than GET and HEAD, and
/// responses with any status.
///
/// You don't create it. ``LocalSubstitutionCache/attach(to:unmatched:)`` adds a subclass to a configuration's
/// `protocolClasses`. The subclass takes only the requests for which it has something to do.
public class SubstitutionURLProtocol: URLProtocol {
    /// The class's attachment; `nil` if there is none.
    class var attachment: Attachment? { nil }

    private let delivery = Guarded(Delivery())
    /// Tells the session's listener what happens to the request; `nil` if there's no listener.
    private let heard = Guarded<(@Sendable (RequestListener.Progress) -> Void)?>(nil)

    /// Returns whether an entry applies to a request, a recorder may keep its response, or the session must fail it.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard !request.isOwn else { return false }
        guard let attachment else { return Slots.isEmptied(self) && request.reachesNetwork }
        let responder = attachment.responder
        let isStrict = attachment.rules.isStrict
        if let response = responder.validRetainedResponse(for: request, isStrict: isStrict) {
            responder.noteTaken(Responder.TakenRequest(request: request, response: response))
            return true
        }
        let plan = attachment.lookUp(request, body: .onLoaderQueue(request))
        if case .pass = plan.action { return false }
        responder.noteTaken(Responder.TakenRequest(request: request, plan: plan))
        return true
    }

    /// Returns the request unchanged.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Answers the request, forwards it, or fails it.
    ///
    /// On Linux, this runs on a queue that all sessions of the process share (`URLSession.swift`, `sharedQueue`). Reading a file
    /// here would hold up all of them, and using a session would trap.
    public override func startLoading() {
        guard let start = delivery.withLock({ $0.begin() }) else { return }
        guard case .attempt(let attempt) = start else {
            client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
            return
        }
        guard let attachment = Self.attachment else {
            return end(.failed(nil, .detached(request.url)), attempt)
        }
        let responder = attachment.responder
        let taken = responder.startTaken(request)
        let isStrict = attachment.rules.isStrict
        hear(attachment)
        if !UnsupportedTask.isUnfinishable(task),
            let retained = responder.retainedResponse(for: request, cachedResponse, taken, isStrict: isStrict)
        {
            let plan = attachment.rules.listener.map { _ in attachment.lookUp(request, body: .none) }
            return end(.answered(plan, retained), attempt)
        }
        let chain = delivery.withLock { $0.beginChain(attachment) }
        let plan = chain.lookUp(request, body: .onLoaderQueue(request), taken?.plan)
        if let error = UnsupportedTask.error(for: task, plan) {
            responder.uncount(plan)
            responder.reportUnanswered(plan, since: error.localizedDescription)
            return end(.failed(plan, error), attempt)
        }
        if let outcome = attachment.outcomeAtOnce(plan) { return end(outcome, attempt) }
        let load = RequestLoad(chain, plan, for: loadClient(of: attempt)).start()
        if !delivery.withLock({ $0.wait(for: load, attempt) }) { load.cancel() }
    }

    /// Cancels what the request waits for, and delivers nothing more. Resuming a suspended task starts the protocol again.
    public override func stopLoading() {
        // If the protocol wasn't started, the cache still expects it to report the request.
        Self.attachment?.responder.forgetTaken(request)
        delivery.withLock { $0.stop() }?.cancel()
    }

    // MARK: Listening

    /// Tells the session's listener, if there is one, that a request has started. Does so only once, even if a suspended task
    /// starts again.
    private func hear(_ attachment: Attachment) {
        guard let listener = attachment.rules.listener, heard.withLock({ $0 == nil }) else { return }
        heard.withLock { $0 = listener.start(request) }
    }

    // MARK: Delivering

    /// Returns the receiver of an attempt's response. Must be called on the ``LoaderThread``.
    private func loadClient(of attempt: Int) -> RequestLoad.Client {
        // The loader itself hands protocols from thread to thread, but Foundation doesn't declare them Sendable.
        nonisolated(unsafe) let this = self
        let thread = LoaderThread()
        let tell = heard.withLock { $0 }
        return RequestLoad.Client(
            task: task,
            timeout: request.timeoutInterval > 0 ? request.timeoutInterval : .infinity,
            pass: { piece in thread.runForDelegate { this.pass(piece, attempt) } },
            answerChallenge: { challenge in
                thread.runForDelegate { this.client?.urlProtocol(this, didReceive: challenge) }
            },
            hearBody: { tell?(.readBody($0)) },
            end: { outcome in thread.run { this.end(outcome, attempt) } }
        )
    }

    /// Delivers a result to the client, unless the task was stopped first. Must run on the ``LoaderThread``.
    private func end(_ outcome: RequestOutcome, _ attempt: Int) {
        guard let isRest = delivery.withLock({ $0.end(attempt) }), let client else { return }
        if let tell = heard.withLock({ $0 }) {
            var outcome = outcome
            if case .unmatched = outcome.kind { outcome.isHiddenUpload = UnsupportedTask.hidesBody(task) }
            tell(.ended(outcome))
        }
        switch outcome.result {
        case .success(let response):
            if !isRest {
                #if !canImport(Darwin)
                let response = response.withoutChallenge
                #endif
                client.urlProtocol(self, didReceive: response.response, cacheStoragePolicy: .notAllowed)
                // In one piece: see `Attachment.streams`.
                if !response.data.isEmpty { client.urlProtocol(self, didLoad: response.data) }
            }
            client.urlProtocolDidFinishLoading(self)
        case .failure(let error):
            client.urlProtocol(self, didFailWithError: error)
        }
    }

    /// Passes a piece of the response on to the client.
    private func pass(_ piece: ResponseCollector.Piece, _ attempt: Int) {
        guard delivery.withLock({ $0.pass(attempt) }), let client else { return }
        switch piece {
        case .head(let response): client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        case .data(let data): client.urlProtocol(self, didLoad: data)
        }
    }
}

#if !canImport(Darwin)
extension CachedURLResponse {
    /// The same response, without a challenge that would keep the task from ending.
    ///
    /// Linux's loader looks for a challenge in every 401 that a protocol finishes, and waits for a credential that never arrives
    /// (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`). It knows `Basic` and `Digest`.
    fileprivate var withoutChallenge: CachedURLResponse {
        guard let http = response as? HTTPURLResponse, http.statusCode == 401, let url = http.url,
            let challenge = http.value(forHTTPHeaderField: "WWW-Authenticate")?.lowercased(),
            challenge.contains("basic") || challenge.contains("digest")
        else { return self }
        let headers = (http.allHeaderFields as? [String: String] ?? [:]).filter {
            $0.key.lowercased() != "www-authenticate"
        }
        let answer = HTTPURLResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: headers)
        return answer.map { CachedURLResponse(response: $0, data: data, userInfo: nil, storagePolicy: storagePolicy) }
            ?? self
    }
}
#endif
