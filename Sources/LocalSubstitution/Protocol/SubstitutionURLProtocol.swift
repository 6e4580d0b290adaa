import Dispatch
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
        let isStrict = attachment.unmatched.isStrict
        if let response = responder.validRetainedResponse(for: request, isStrict: isStrict) {
            responder.noteTaken(TakenRequest(request: request, response: response))
            return true
        }
        let plan = attachment.lookUp(request, body: .onLoaderQueue(request))
        guard attachment.action(for: plan) != nil else { return false }
        responder.noteTaken(TakenRequest(request: request, plan: plan))
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
        let isStrict = attachment.unmatched.isStrict
        hear(attachment)
        if !UnsupportedTask.isUnfinishable(task),
            let retained = responder.retainedResponse(for: request, cachedResponse, taken, isStrict: isStrict)
        {
            let plan = attachment.listener.map { _ in attachment.lookUp(request, body: .none) }
            return end(.answered(plan, retained), attempt)
        }
        let chain = delivery.withLock { $0.beginChain(attachment) }
        let plan = chain.lookUp(request, body: .onLoaderQueue(request), taken?.plan)
        let action = attachment.actionToTake(plan)
        if let error = UnsupportedTask.error(for: task, request, action) {
            responder.uncount(plan)
            responder.reportUnanswered(plan, since: error.localizedDescription)
            return end(.failed(plan, error), attempt)
        }
        perform(chain.step(for: action), attempt)
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
        guard let listener = attachment.listener, heard.withLock({ $0 == nil }) else { return }
        heard.withLock { $0 = listener.start(request) }
    }

    // MARK: Forwarding

    private func forward(_ forwarded: ForwardedRequest, _ attempt: Int) {
        // The loader itself hands protocols from thread to thread, but Foundation doesn't declare them Sendable.
        nonisolated(unsafe) let this = self
        let thread = LoaderThread()
        let pass: @Sendable (ResponseCollector.Piece) -> Void = { piece in
            thread.runForDelegate { this.pass(forwarded.changed(piece), attempt) }
        }
        let owner = Forwarding.Owner(
            answerHop: { forwarded.answer(toRedirect: $0) },
            askOuterSession: { challenge in
                thread.runForDelegate { this.client?.urlProtocol(this, didReceive: challenge) }
            },
            pass: forwarded.chain.attachment.streams ? pass : nil,
            passesAtOnce: forwarded.chain.attachment.streams && !forwarded.hasFallback,
            complete: { outcome in
                let step = forwarded.step(after: outcome)
                thread.runForDelegate { this.perform(step, attempt) }
            }
        )
        DispatchQueue.global(qos: .userInitiated).async {
            var request = forwarded.request
            this.delivery.withLock { $0.read }?.replaceStream(of: &request)
            let forwarding = forwarded.chain.attachment.forwarder.load(
                request,
                timeout: forwarded.timeout,
                priority: this.task?.priority,
                fixedHeaders: forwarded.fixedHeaders,
                for: owner
            )
            let goesOn = this.delivery.withLock { $0.follow(forwarding, attempt) }
            if goesOn { forwarding.resume() } else { forwarding.cancel() }
        }
    }

    /// Performs a step. Must run on the ``LoaderThread``.
    private func perform(_ step: RequestStep, _ attempt: Int) {
        nonisolated(unsafe) let this = self
        switch step {
        case .deliver(let outcome):
            end(outcome, attempt)
        case .goOn(let next):
            let thread = LoaderThread()
            DispatchQueue.global(qos: .userInitiated).async {
                // A stopped attempt must not report what it can't deliver.
                guard this.delivery.withLock({ $0.isUnderWay(attempt) }) else { return }
                let step = next()
                thread.run { this.perform(step, attempt) }
            }
        case .wait(let seconds, let next):
            wait(seconds, next, attempt)
        case .readBody(let request, let next):
            readBody(of: request, next, attempt)
        case .forward(let forwarded):
            if let error = UnsupportedTask.error(forForwarding: task, request) {
                let responder = forwarded.chain.attachment.responder
                responder.uncount(forwarded.plan)
                responder.reportUnanswered(forwarded.plan, since: error.localizedDescription)
                return end(.failed(forwarded.plan, error), attempt)
            }
            forward(forwarded, attempt)
        }
    }

    private func wait(_ seconds: Double, _ next: @escaping @Sendable () -> RequestStep, _ attempt: Int) {
        nonisolated(unsafe) let this = self
        let thread = LoaderThread()
        let timeout = timeout
        let time = delivery.withLock { $0.time(after: min(seconds, timeout)) }
        let delay = Delay(until: time) {
            guard this.delivery.withLock({ $0.isUnderWay(attempt) }) else { return }
            let step = seconds < timeout ? next() : this.timedOut()
            thread.run { this.perform(step, attempt) }
        }
        if !delivery.withLock({ $0.follow(delay, attempt) }) { delay.cancel() }
    }

    /// The request's timeout in seconds. Linux's loader doesn't time out a request that a protocol answers.
    private var timeout: Double { request.timeoutInterval > 0 ? request.timeoutInterval : .infinity }

    private func timedOut() -> RequestStep { failed(URLError(.timedOut)) }

    /// Reports that the request fails before its entry could answer.
    private func failed(_ error: URLError) -> RequestStep {
        let plan = delivery.withLock { $0.chain }?.plan
        if let plan {
            Self.attachment?.responder.reportUnanswered(plan, since: error.localizedDescription)
        }
        return .deliver(.failed(plan, error))
    }

    private func readBody(
        of request: URLRequest,
        _ next: @escaping @Sendable (URLRequest, RequestBody) -> RequestStep,
        _ attempt: Int
    ) {
        guard let stream = request.httpBodyStream else {
            return perform(.goOn { next(request, RequestBody(request)) }, attempt)
        }
        let goOn: @Sendable (BodyReader.Body) -> RequestStep = { read in
            var request = request
            read.replaceStream(of: &request)
            return next(request, read.shown)
        }
        if let read = delivery.withLock({ $0.read }) { return perform(.goOn { goOn(read) }, attempt) }
        guard stream.streamStatus == .notOpen else {
            let message = "The body was partly read when the task was suspended. Set httpBody instead of a stream."
            return perform(failed(.explained(.requestBodyStreamExhausted, message, request.url)), attempt)
        }
        nonisolated(unsafe) let this = self
        let thread = LoaderThread()
        let reader = BodyReader(stream) { result in
            let step: RequestStep
            switch result {
            case .success(let read):
                this.delivery.withLock { $0.read = read }
                if case .data(let body) = read { this.heard.withLock { $0 }?(.readBody(body)) }
                step = goOn(read)
            case .failure(let error):
                step = this.failed(error)
            }
            thread.run { this.perform(step, attempt) }
        }
        if timeout.isFinite {
            let time = delivery.withLock { $0.time(after: timeout) }
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: time) { [weak reader] in reader?.timeOut() }
        }
        if !delivery.withLock({ $0.follow(reader, attempt) }) { reader.cancel() }
    }

    // MARK: Delivering

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

/// Runs a closure later, unless it's cancelled or released first. It blocks no thread while it waits.
private final class Delay: Delivery.Work {
    private let body: Guarded<(@Sendable () -> Void)?>

    init(until time: DispatchTime, _ body: @escaping @Sendable () -> Void) {
        self.body = Guarded(body)
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: time) { [weak self] in
            self?.body.withLock { $0.take() }?()
        }
    }

    /// Cancels the delay and releases the closure.
    func cancel() { body.withLock { $0 = nil } }
}
