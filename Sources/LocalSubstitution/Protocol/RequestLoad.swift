import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads a request from decision to outcome, for one attempt of a client.
///
/// On Linux, and from macOS 15 and iOS 18 on, it runs on Dispatch's threads, since it may read files, and a test may block all of
/// Swift's threads while it waits for a response. On older systems, it runs on Swift's.
final class RequestLoad: Sendable {
    /// The receiver of the response.
    struct Client: Sendable {
        /// The task that is answered; `nil` for a client that isn't a URLSession.
        var task: URLSessionTask?
        /// How many seconds after its start the request may still wait for its body or a delay.
        var timeout = Double.infinity
        /// Receives a piece of the response before the rest.
        let pass: @Sendable (ResponseCollector.Piece) -> Void
        /// Answers a server's authentication challenge.
        let answerChallenge: @Sendable (URLAuthenticationChallenge) -> Void
        /// Hears of a body that was read from its stream.
        var hearBody: @Sendable (Data) -> Void = { _ in }
        /// Called once. If the Swift task is cancelled, ignore the outcome.
        let end: @Sendable (RequestOutcome) -> Void
    }

    /// The result of doing what a plan says.
    enum Step: Sendable {
        case end(RequestOutcome)
        /// Goes on with another plan: that of a redirect at the network, or one that knows the request's body.
        case next(Plan)
        /// Decides about the target of a redirect through the map.
        case follow(URLRequest)
    }

    private let chain: RequestChain
    private let first: Plan
    private let client: Client
    private let began = DispatchTime.now()

    init(_ chain: RequestChain, _ plan: Plan, for client: Client) {
        self.chain = chain
        self.client = client
        first = plan
    }

    private var attachment: Attachment { chain.attachment }
    private var responder: Responder { attachment.responder }

    /// Starts loading.
    func start() -> Task<Void, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            Task(executorPreference: DispatchExecutor.shared) { self.client.end(await self.run()) }
        } else {
            Task { self.client.end(await self.run()) }
        }
    }

    private func run() async -> RequestOutcome {
        var plan = first
        do throws(URLError) {
            while true {
                try checkCancellation()
                switch try await step(plan) {
                case .end(let outcome):
                    return outcome
                case .next(let next):
                    plan = next
                case .follow(let request):
                    guard chain.follow() else { return .failed(plan, URLError(.httpTooManyRedirects)) }
                    plan = chain.lookUp(request, body: RequestBody(request))
                }
            }
        } catch {
            return fail(plan, error)
        }
    }

    private func step(_ plan: Plan) async throws(URLError) -> Step {
        switch plan.action {
        case .refuse:
            return .end(attachment.refuse(plan))
        case .fail(let substitution, let code):
            try await wait(substitution.options.fields.delay)
            return .end(responder.fail(plan, by: substitution, code))
        case .answer(let substitution):
            try await wait(substitution.options.fields.delay)
            return answer(plan, by: substitution)
        case .replay(let recorder):
            return replay(plan, recorder) ?? .end(attachment.refuse(plan))
        case .readBody:
            let (request, body) = try await readBody(of: plan.request)
            return .next(chain.lookUp(request, body: body))
        case .forward(nil), .pass:
            // A protocol can't give a request back to the loader, so it sends it.
            try await wait(plan.substitution?.options.fields.delay)
            return try await forward(plan, nil)
        case .forward(let fallback):
            return try await forward(plan, fallback)
        }
    }

    private func checkCancellation() throws(URLError) {
        // A stopped attempt must not report what it can't deliver.
        if Task.isCancelled { throw URLError(.cancelled) }
    }

    /// Waits until so many seconds after loading began. Linux's loader doesn't time out a request that a protocol answers.
    private func wait(_ seconds: Double?) async throws(URLError) {
        guard let seconds else { return }
        let end = FirstValue<Void>()
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: began + min(seconds, client.timeout)) {
            [weak end] in end?.set(())
        }
        await end.wait { end.set(()) }
        try checkCancellation()
        if seconds >= client.timeout { throw URLError(.timedOut) }
    }

    /// Reports that a request fails before anything could answer it.
    private func fail(_ plan: Plan, _ error: URLError) -> RequestOutcome {
        if !Task.isCancelled {
            responder.reportUnanswered(plan, since: error.localizedDescription)
        } else if attachment.isDirect {
            responder.reportUnanswered(plan, since: "the client disconnected")
        }
        return .failed(plan, error)
    }

    /// Reads a request's body. Returns the request with the body that was read, and the part of the body that conditions see.
    private func readBody(of request: URLRequest) async throws(URLError) -> (URLRequest, RequestBody) {
        guard let stream = request.httpBodyStream else { return (request, RequestBody(request)) }
        if chain.body == nil {
            guard stream.streamStatus == .notOpen else {
                let message = "The body was partly read when the task was suspended. Set httpBody instead of a stream."
                throw .explained(.requestBodyStreamExhausted, message, request.url)
            }
            let timeout = client.timeout.isFinite ? began + client.timeout : nil
            let body = try await BodyReader.read(stream, until: timeout)
            chain.body = body
            if case .data(let data) = body { client.hearBody(data) }
        }
        var request = request
        chain.body?.replaceStream(of: &request)
        return (request, chain.body?.shown ?? .none)
    }

    // MARK: Answering

    /// Answers with an entry, without its delay. An attached session doesn't see an entry's redirect, but what it leads to.
    private func answer(_ plan: Plan, by substitution: Substitution) -> Step {
        guard !attachment.isDirect, substitution.isRedirect, let next = plan.request.redirected(by: substitution)
        else { return .end(attachment.serve(plan, by: substitution)) }
        responder.use(plan)
        return .follow(next)
    }

    /// Answers with a kept copy; returns `nil` if there is none.
    private func replay(_ plan: Plan, _ recorder: any ResponseRecorder) -> Step? {
        guard let outcome = responder.replay(plan, recorder) else { return nil }
        guard !attachment.isDirect, let http = outcome.response?.response as? HTTPURLResponse,
            RedirectChain.statuses.contains(http.statusCode),
            let next = plan.request.redirected(by: http.statusCode, to: http.value(forHTTPHeaderField: "Location"))
        else { return .end(outcome) }
        return .follow(next)
    }

    // MARK: Forwarding

    /// Sends a request to the network.
    ///
    /// - Parameters:
    ///   - fallback: What answers if the network fails; `nil` if nothing does.
    ///   - isConditional: Whether the server may confirm the kept copy instead of sending the response.
    private func forward(
        _ plan: Plan,
        _ fallback: Plan.Fallback?,
        isConditional: Bool = true
    ) async throws(URLError) -> Step {
        if let error = UnsupportedTask.error(forForwarding: client.task, first.request) {
            responder.uncount(plan)
            return .end(fail(plan, error))
        }
        let sent = ForwardedRequest(plan, fallback, in: attachment, body: chain.body, isConditional: isConditional)
        let pass: @Sendable (ResponseCollector.Piece) -> Void = { [client] in client.pass($0.changed(by: plan)) }
        let receiver = Forwarder.Receiver(
            answerRedirect: { self.answer(toRedirect: $0, of: plan) },
            answerChallenge: client.answerChallenge,
            pass: attachment.streams ? pass : nil,
            passesAtOnce: attachment.streams && !sent.hasFallback
        )
        let outcome = await attachment.forwarder.send(sent, priority: client.task?.priority, to: receiver)
        guard !Task.isCancelled else { return .end(.failed(plan, URLError(.cancelled))) }
        switch outcome {
        case .answered(let step):
            return step
        case .received(let response, let limit):
            return try await finish(sent, with: response, limit: limit)
        case .failed(let error, let isPartial):
            guard let fallback, !isPartial, error.isOfNetwork else { return .end(fail(plan, error)) }
            try await wait(sent.entryFallback?.options.fields.delay)
            return fallBack(plan, fallback, error)
        }
    }

    /// Returns what to do about a redirect: answer it as a request for its target, or follow it. It's also followed if a fallback
    /// waits for the network to fail.
    private func answer(toRedirect request: URLRequest, of plan: Plan) -> ForwardedTask.RedirectAnswer {
        // A direct client follows redirects itself.
        guard !attachment.isDirect else { return .deliver }
        guard let url = request.url else { return .follow }
        let original = plan.original(of: url)
        let hop = original.map { plan.request.redirected(to: $0, as: request) } ?? request
        let next = chain.lookUp(hop, body: RequestBody(hop))
        guard !chain.isSuperseded else { return .deliver }
        switch next.action {
        case .pass where original == nil: return .follow
        case .forward where original == nil && next.substitution?.target == nil: return .follow
        case .answer(let substitution) where original == nil && !attachment.rules.fails(hop):
            guard substitution.options.fields.delay == nil, !substitution.isRedirect else { break }
            let outcome = responder.serve(next, by: substitution)
            return outcome.hasFailed ? .follow : .answer(.end(outcome))
        default: break
        }
        guard chain.follow() else { return .answer(.end(.failed(next, URLError(.httpTooManyRedirects)))) }
        return .answer(.next(next))
    }

    /// Ends with a network's response, which its entry may change and a recorder may keep.
    private func finish(
        _ sent: ForwardedRequest,
        with received: ResponseCollector.Response,
        limit: Int
    ) async throws(URLError) -> Step {
        let plan = sent.plan
        // Without a body, the client has already received all of it.
        func outcome(_ head: URLResponse) -> Step {
            let body = received.body ?? Data()
            return .end(
                .loaded(plan, CachedURLResponse(response: head, data: body, userInfo: nil, storagePolicy: .notAllowed))
            )
        }
        guard let fallback = sent.fallback else {
            guard plan.substitution != nil else {
                responder.reportUnanswered(plan, since: plan.reasonText)
                return outcome(received.head)
            }
            responder.use(plan)
            responder.reportForwarded(plan)
            return outcome(plan.changed(received.head))
        }
        responder.reportForwarded(plan)
        guard case .recorder(let recorder) = fallback, let http = received.head as? HTTPURLResponse else {
            return outcome(received.head)
        }
        let redirects = attachment.isDirect ? [] : received.redirects
        if sent.isConditional, http.statusCode == 304 {
            guard redirects.isEmpty, let kept = responder.replay(plan, recorder, isConfirmed: true), !kept.hasFailed
            else { return try await forward(plan, fallback, isConditional: false) }
            recorder.confirm(plan.request)
            return .end(kept)
        }
        if !responder.excludes(http.url) {
            let exchange = Exchange(
                request: plan.request,
                response: http,
                body: received.body ?? Data(),
                redirects: redirects,
                isBrowsed: attachment.isBrowsed,
                obstacle: sent.credential(after: redirects) ?? (received.body == nil ? .notHeld(most: limit) : nil)
            )
            // Registered before delivery so that a flush waits for it; written afterwards so that delivery isn't delayed.
            // Captures neither `self` nor the plan, which would keep the recorder alive as long as the recorder holds this closure.
            recorder.keep(exchange) { [responder, url = plan.request.url] report in
                if let url { responder.report(report, of: url) }
            }
            if recorder.isBehind { recorder.writeBodies() }
        }
        return outcome(received.head)
    }

    private func fallBack(_ plan: Plan, _ fallback: Plan.Fallback, _ error: URLError) -> Step {
        let step: Step =
            switch fallback {
            case .entry(let substitution): answer(plan, by: substitution)
            case .recorder(let recorder): replay(plan, recorder) ?? .end(fail(plan, error))
            }
        if case .end(let outcome) = step, outcome.hasFailed { return step }
        responder.reportFallback(plan, error)
        return step
    }
}

/// Runs async functions on Dispatch's threads, of which there are more when some block.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class DispatchExecutor: TaskExecutor {
    static let shared = DispatchExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        DispatchQueue.global(qos: .userInitiated).async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

extension URLError {
    /// Whether the network, the host or the connection isn't available. An HTTP error status isn't such an error: it's a response.
    fileprivate var isOfNetwork: Bool { Self.ofNetwork.contains(code) }

    private static let ofNetwork: Set<Code> = {
        var codes: Set<Code> = [
            .notConnectedToInternet, .networkConnectionLost, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed,
            .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed, .secureConnectionFailed,
        ]
        // Linux's loader reports these for a connection that ends before a response's head or within its body.
        #if !canImport(Darwin)
        codes.formUnion([.badServerResponse, .unknown])
        #endif
        return codes
    }()
}

extension ResponseCollector.Piece {
    /// Returns the piece with the changes of a plan's entry.
    fileprivate func changed(by plan: Plan) -> Self {
        guard case .head(let head) = self else { return self }
        return .head(plan.changed(head))
    }
}
