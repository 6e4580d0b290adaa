import Dispatch
import Foundation
import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The load of a client's request, and of the requests that its redirects lead to, from decision to outcome.
final class RequestLoad {
    /// The receiver of the response.
    struct Client: Sendable {
        /// The client's task; `nil` for a client that isn't a URLSession.
        var task: URLSessionTask?
        /// Answers a server's authentication challenge. By default, the system answers, so that a 401 is a response
        /// like any other.
        var answerChallenge: @Sendable (URLAuthenticationChallenge) -> Void = { challenge in
            (challenge.sender as? ForwardedRequest.ChallengeRelay)?.performDefaultHandling(for: challenge)
        }
        /// The end of the client's request, for which this load's outcome is reported. `nil` if the load is only a part
        /// of what the client waits for.
        var end: RequestEnd?
        /// Receives the request's body if it was read from a stream.
        var hearBody: @Sendable (Data) -> Void = { _ in }
        /// Receives the end of each request that a handler sent to the server.
        var hearServer: @Sendable (URLRequest, RequestOutcome) -> Void = { _, _ in }
        /// Receives the events, in order. Called on any thread.
        let receive: @Sendable (Event) -> Void
    }

    /// An event of a load.
    enum Event: Sendable {
        /// The head of a response that isn't complete yet. Its body follows in pieces.
        case head(URLResponse, RequestOutcome.Kind)
        case data(Data)
        /// The outcome, always the last event. Ignore it if the load's Swift task was cancelled.
        case end(RequestOutcome)
    }

    /// The step after a plan was carried out.
    enum Step: Sendable {
        case end(RequestOutcome)
        /// The load continues with another plan: for a network redirect's target, with the request's body, or with a
        /// handler's answer.
        case next(Plan)
        /// The load follows an entry's redirect, or a recorded one.
        case follow(URLRequest)
    }

    /// How a request began.
    enum Begun {
        case ended(RequestOutcome)
        /// A load is under way, and the client receives its events. The Swift task can be cancelled.
        case loading(Task<Void, Never>)
    }

    private let first: Plan
    private let attachment: Attachment
    private let client: Client
    private let timeout: RequestTimeout
    /// The URL of the request that was decided about last: the client's own, or one after a redirect.
    private var url: URL?
    /// The body that was read from the request's stream, which can be read only once; `nil` if it wasn't needed.
    private var body: BodyReader.Body?
    private var redirects = 0
    /// The redirect that's followed to an entry, for a client that loads unmatched requests itself. The client gets it
    /// if the entry doesn't respond after all.
    private var redirect: RequestOutcome?
    /// Why the network failed, if something responds in its place; `nil` if it hasn't failed.
    private var networkError: URLError?
    /// The first request to record that a server redirected to a URL for which there's another plan.
    private var redirected: URLRequest?
    /// The time from which an entry's delay is counted: when the request began, or when its handler returned.
    private var delaysFrom: DispatchTime

    private init(
        _ plan: Plan,
        body: BodyReader.Body?,
        in attachment: Attachment,
        for client: Client,
        _ timeout: RequestTimeout
    ) {
        first = plan
        self.body = body
        self.attachment = attachment
        self.client = client
        self.timeout = timeout
        url = plan.request.url
        delaysFrom = timeout.began
    }

    private var responder: Responder { attachment.responder }
    /// Whether the client's task is an upload task whose body Foundation hides.
    private var hidesBody: Bool { client.task?.hidesBody(attachment.traits) == true }

    /// Begins a request. Every client's request begins here: with the response in memory, with an outcome that needs no
    /// waiting, or with a load. An outcome that's returned is reported already.
    ///
    /// - Parameters:
    ///   - inMemory: The request's response in memory, which is counted already; `nil` if there's none.
    ///   - intercepted: The plan that was made when a protocol intercepted the request; `nil` if there's none.
    ///   - task: The client's task; `nil` for a client that isn't a URLSession.
    ///   - tell: Tells the session's listener what happens to the request; `nil` without a listener.
    ///   - client: Returns the receiver of a load's events. Called only if a load is needed.
    static func begin(
        _ request: URLRequest,
        inMemory: CachedURLResponse?,
        intercepted: Plan? = nil,
        of task: URLSessionTask? = nil,
        tell: (@Sendable (SessionRules.Listener.Progress) -> Void)? = nil,
        in attachment: Attachment,
        for client: (RequestEnd) -> Client
    ) -> Begun {
        if let inMemory {
            let plan = tell.map { _ in attachment.lookUp(request, body: .none) }
            let outcome = RequestOutcome(.matched, plan, .success(Response(inMemory)))
            tell?(.ended(outcome, isHiddenUpload: false))
            return .ended(outcome)
        }
        // `canInit(with:)` didn't know the task, and so took a hidden body for none.
        let isHidden = task?.hidesBody(attachment.traits) == true
        let body = attachment.body(of: request, isHidden: isHidden)
        let plan = attachment.decide(request, body: body, isHidden ? nil : intercepted)
        let end = RequestEnd(of: plan, isHiddenUpload: isHidden, in: attachment.responder, tell: tell)
        if let outcome = attachment.downloadFailure(plan, task) ?? attachment.outcomeAtOnce(plan) {
            end.report(outcome)
            return .ended(outcome)
        }
        var client = client(end)
        if let tell { client.hearServer = { tell(.askedServer($0, $1)) } }
        return .loading(start(plan, in: attachment, for: client))
    }

    /// Starts loading. Returns the load's Swift task, which can be cancelled.
    ///
    /// - Parameters:
    ///   - plan: The plan for the client's own request, before any redirect.
    ///   - requestBody: The request's body if it was read from a stream; otherwise, `nil`, the default.
    @inline(never)  // Otherwise, each of its callers would contain a copy.
    static func start(
        _ plan: Plan,
        requestBody: BodyReader.Body? = nil,
        in attachment: Attachment,
        for client: Client
    ) -> Task<Void, Never> {
        let timeout = RequestTimeout(attachment.client.readsBodies ? 0 : plan.request.timeoutInterval)
        return TaskThreads.loads.task {
            let load = RequestLoad(plan, body: requestBody, in: attachment, for: client, timeout)
            let outcome = await load.run().after(load.networkError, redirectOf: load.redirected)
            client.end?.report(outcome)
            client.receive(.end(outcome))
        }
    }

    private func run() async -> RequestOutcome {
        LoaderThread.prepare(attachment.traits)
        var plan = first
        do throws(URLError) {
            while true {
                try Self.checkCancellation()
                switch try await step(plan) {
                case .end(let outcome):
                    if case .passed = outcome.kind, let redirect { return redirect }
                    guard let request = attachment.request(after: outcome) else { return outcome }
                    guard follow() else { return .failed(outcome.plan, URLError(.httpTooManyRedirects)) }
                    redirect = outcome
                    if let plan = outcome.plan { noteRedirect(of: plan) }
                    plan = decide(request, body: attachment.body(of: request, isHidden: hidesBody))
                case .next(let next):
                    plan = next
                case .follow(let request):
                    guard follow() else { return .failed(plan, URLError(.httpTooManyRedirects)) }
                    plan = decide(request, body: attachment.body(of: request, isHidden: hidesBody))
                }
            }
        } catch {
            return .failed(plan, error)
        }
    }

    /// Decides about the request again, with its body, or about the next request after a redirect.
    private func decide(_ request: URLRequest, body: RequestFacts.Body) -> Plan {
        // Missing files are reported once for each URL, even if the request is decided about again after its body was
        // read.
        defer { url = request.url }
        return attachment.decide(request, body: body, reportsGoneFiles: url != request.url)
    }

    /// Notes that the server redirected a plan's request to a URL for which there's another plan.
    private func noteRedirect(of plan: Plan) {
        if redirected == nil, plan.isRecorded { redirected = plan.request }
    }

    /// Notes that a redirect is followed. Returns `false` if there were too many.
    private func follow() -> Bool {
        redirects += 1
        return redirects <= Redirect.most
    }

    private func step(_ plan: Plan) async throws(URLError) -> Step {
        switch plan.action {
        case .refuse:
            return .end(attachment.unmatched(plan))
        case .fail(let substitution, let code):
            try await wait(substitution.options.fields.delay)
            return .end(attachment.fail(plan, by: substitution, code))
        case .answer(let substitution):
            try await wait(substitution.options.fields.delay)
            return try await answer(plan, by: substitution)
        case .call(let handler, let substitution):
            try await wait(substitution.options.fields.delay)
            let call = HandlerCall(of: handler, substitution, for: plan, body: body, in: attachment, for: client)
            let step = try await call.step(within: timeout)
            delaysFrom = .now()
            return step
        case .replay(let recorder):
            return replay(plan, recorder) ?? .end(attachment.unmatched(plan))
        case .readBody:
            let (request, body) = try await readBody(of: plan.request)
            return .next(decide(request, body: body))
        case .forward where hidesBody, .pass where hidesBody:
            return .end(failUpload(plan))
        case .forward(nil) where isLeftToClient(plan), .pass where isLeftToClient(plan):
            return .end(RequestOutcome(.passed, plan, .failure(URLError(.resourceUnavailable))))
        case .forward(nil), .pass:
            // A protocol can't give a request back to the loader, so the load sends it to the network.
            try await wait(plan.substitution?.options.fields.delay)
            return try await forward(plan, nil)
        case .forward(let fallback):
            return try await forward(plan, fallback)
        }
    }

    /// Returns whether the client loads a plan's request itself. What a test's recording records is loaded here.
    private func isLeftToClient(_ plan: Plan) -> Bool {
        attachment.client.loadsUnmatched && plan.substitution == nil && !plan.isRecorded
    }

    /// Throws an error if the Swift task was cancelled. A cancelled load must not report a response that it can't
    /// deliver.
    static func checkCancellation() throws(URLError) {
        if isCancelled { throw URLError(.cancelled) }
    }

    private static var isCancelled: Bool { Task.isCancelled || HandlerCall.isAbandoned }

    private func wait(_ delay: Double?) async throws(URLError) {
        guard let delay else { return }
        try await timeout.waitOrTimeOut(until: delaysFrom + delay, since: timeout.began, for: url)
    }

    /// Fails a request that can't be forwarded, since Foundation hides its body.
    private func failUpload(_ plan: Plan) -> RequestOutcome {
        plan.uncount()
        return .failed(
            plan,
            .explained(
                .requestBodyStreamExhausted,
                "On Linux, Foundation hides an upload task's body from a URLProtocol, so the request can't be forwarded. "
                    + "Set the request's httpBody, and use a data task.",
                first.request.url
            )
        )
    }

    /// Reads a request's body from its stream, if it has one. Returns the request with the body in it, and the body as
    /// the map's conditions see it.
    private func readBody(of request: URLRequest) async throws(URLError) -> (URLRequest, RequestFacts.Body) {
        guard let stream = request.httpBodyStream else {
            return (request, RequestFacts.Body(request))
        }
        if body == nil {
            let body = try await BodyReader.read(stream, timeout)
            self.body = body
            if case .data(let data) = body { client.hearBody(data) }
        }
        var request = request
        body?.replaceStream(of: &request)
        return (request, body?.shown ?? .none)
    }

    // MARK: Responding

    /// Returns an entry's response, without waiting for its delay. Follows the entry's redirect, unless the client
    /// does: the client gets only the response from the redirect's target.
    private func answer(_ plan: Plan, by substitution: Substitution) async throws(URLError) -> Step {
        if !attachment.client.followsRedirects, substitution.isFollowed,
            let next = plan.request.redirected(by: substitution.status, to: substitution.headers[header: "Location"])
        {
            plan.use()
            return .follow(next)
        }
        if case .stream(let pieces) = substitution.answer {
            return .end(try await send(pieces, plan, substitution))
        }
        return .end(await rate(attachment.serve(plan, by: substitution), plan))
    }

    /// Sends a stream's head and its pieces, each when it's due.
    private func send(
        _ pieces: [Entry.Piece],
        _ plan: Plan,
        _ substitution: Substitution
    ) async throws(URLError) -> RequestOutcome {
        var (sent, bytes) = (DispatchTime.now(), 0)
        if pieces.count == 1, let code = pieces[0].error {
            try await timeout.waitOrTimeOut(until: sent + pieces[0].delay, since: sent, for: url)
            return attachment.fail(plan, by: substitution, code)
        }
        do throws(URLError) {
            guard let url = plan.request.url,
                let head = ResponseBuilder(
                    substitution: substitution,
                    file: nil,
                    isHandled: plan.isHandled,
                    traits: attachment.traits
                ).streamHead(for: url)
            else { return .failed(plan, URLError(.badURL)) }
            plan.use()
            client.receive(.head(head, .matched))
            for piece in plan.request.httpMethod == "HEAD" ? [] : pieces {
                try await timeout.waitOrTimeOut(until: sent + piece.delay, since: sent, for: url)
                let data: Data
                switch piece.content {
                case .error(let code): return attachment.fail(plan, by: substitution, code, after: bytes)
                case .data(let own): data = own
                case .file(let name): data = try attachment.bytes(of: name, plan, substitution)
                }
                client.receive(.data(data))
                (sent, bytes) = (.now(), bytes + data.count)
            }
            return RequestOutcome(.matched, plan, .success(Response(head, nil)), wasStreamed: true, bytes: bytes)
        } catch {
            return .failed(plan, error)
        }
    }

    /// Sends a body to the client at the entry's rate, unless the client does.
    private func rate(_ outcome: RequestOutcome, _ plan: Plan) async -> RequestOutcome {
        guard !attachment.client.readsBodies, let rate = outcome.rate, let response = outcome.response,
            let data = response.data, !data.isEmpty
        else { return outcome }
        client.receive(.head(response.head, .matched))
        var body = ThrottledBody(.data(data), at: rate)
        do throws(URLError) {
            while let (bytes, since, due) = try body.next() {
                try await timeout.waitOrTimeOut(until: due, since: since, for: url)
                client.receive(.data(bytes))
            }
            return outcome.streamed
        } catch {
            return .failed(plan, error)
        }
    }

    /// Returns `nil` if there's no recorded response.
    private func replay(_ plan: Plan, _ recorder: any ResponseRecorder) -> Step? {
        guard let outcome = attachment.replay(plan, recorder) else { return nil }
        guard !attachment.client.followsRedirects, let next = plan.request.redirected(by: outcome.response?.head)
        else { return .end(outcome) }
        return .follow(next)
    }

    // MARK: Forwarding

    /// Sends a request to the network, and continues with the redirect, response or error that arrives.
    ///
    /// - Parameters:
    ///   - fallback: What responds if the network fails; `nil` if nothing does.
    ///   - isConditional: Whether the server may confirm the recorded response with a 304 instead of sending the whole
    ///     response; `true` by default.
    private func forward(
        _ plan: Plan,
        _ fallback: Plan.Fallback?,
        isConditional: Bool = true
    ) async throws(URLError) -> Step {
        let sent = ForwardedRequest(
            plan,
            fallback,
            in: attachment,
            for: client,
            body: body,
            isConditional: isConditional
        )
        try Self.checkCancellation()
        sent.send()
        for await event in sent.events where !Task.isCancelled {
            switch event {
            case .redirected(_, let answer) where attachment.client.followsRedirects:
                answer(nil)
            case .redirected(let request, let answer):
                guard let step = step(toward: request, from: plan) else {
                    answer(request)
                    continue
                }
                // The entry has forwarded the request, even if another one matches the redirect's target.
                if fallback == nil, plan.substitution != nil { plan.use() }
                noteRedirect(of: plan)
                sent.stop()
                answer(nil)
                if Task.isCancelled { sent.cancel() }
                return step
            case .received(let response):
                return try await finish(sent, with: response)
            case .failed(let error, let fallback):
                guard let fallback else {
                    reportUnfinished(sent)
                    return .end(.failed(plan, error))
                }
                try await wait(sent.entryFallback?.options.fields.delay)
                return try await fallBack(plan, fallback, error)
            }
        }
        sent.cancel()
        reportUnfinished(sent)
        return .end(.failed(plan, URLError(.cancelled)))
    }

    /// Reports that the recorder doesn't get a response of which the client already has a part.
    private func reportUnfinished(_ sent: ForwardedRequest) {
        guard case .recorder? = sent.fallback, sent.isPartial, let url = sent.plan.request.url else { return }
        let reason = Complaint("the response was cut off, or the client didn't wait for its end")
        responder.report(.notRecorded(reason), of: url)
    }

    /// Returns the next step for the target of a network redirect. Returns `nil` if the network responds: for example,
    /// if no entry matches the target, if its entry is only a fallback, or if the entry's file can't be read.
    ///
    /// - Parameter request: The request for the redirect's target.
    private func step(toward request: URLRequest, from plan: Plan) -> Step? {
        guard let url = request.url else { return nil }
        let original = plan.original(of: url)
        let hop = original.map { plan.request.redirected(to: $0, as: request) } ?? request
        let next = decide(hop, body: RequestFacts.Body(hop))
        switch next.action {
        case .pass where original == nil: return nil
        case .forward where original == nil && next.substitution?.target == nil: return nil
        case .answer(let substitution)
        where original == nil && !attachment.rules.forbidsNetwork(to: hop) && attachment.respondsAtOnce(substitution):
            let outcome = attachment.serve(next, by: substitution)
            return outcome.hasFailed ? nil : .end(outcome)
        default: break
        }
        return follow() ? .next(next) : .end(.failed(next, URLError(.httpTooManyRedirects)))
    }

    /// Ends with the network's response. The entry may change it, and the recorder may record it.
    private func finish(
        _ sent: ForwardedRequest,
        with received: Response
    ) async throws(URLError) -> Step {
        let plan = sent.plan
        func outcome(_ head: URLResponse, then: (@Sendable () -> Void)? = nil) -> Step {
            let response = Response(head, received.body)
            return .end(RequestOutcome(.forwarded, plan, .success(response), wasStreamed: sent.isPartial, then: then))
        }
        guard let fallback = sent.fallback else {
            guard plan.substitution != nil else {
                let reason = attachment.rules.recorder?.refusal(of: plan.request)
                return outcome(received.head) { [responder, url = plan.request.url] in
                    if let reason, let url { responder.report(.notRecorded(reason), of: url) }
                }
            }
            plan.use()
            return outcome(plan.changed(received.head))
        }
        guard case .recorder(let recorder) = fallback, let http = received.head as? HTTPURLResponse else {
            return outcome(received.head)
        }
        let redirects = attachment.client.followsRedirects ? [] : received.redirects
        if sent.isConditional, http.statusCode == 304 {
            guard redirects.isEmpty, let replayed = attachment.replay(plan, recorder, isConfirmed: true),
                !replayed.hasFailed
            else { return try await forward(plan, fallback, isConditional: false) }
            recorder.confirm(plan.request)
            return .end(replayed)
        }
        guard !attachment.excludes(http.url) else { return outcome(received.head) }
        let exchange = Exchange(
            request: plan.request,
            response: http,
            body: received.data ?? Data(),
            redirects: redirects,
            isBrowsed: attachment.rules.isBrowsed,
            credential: sent.credential(after: redirects),
            notHeld: received.body == nil ? .notHeld(most: sent.limit) : nil
        )
        // The recorder gets the response before the client does, so that `flush()` waits for it. The recorder writes it
        // later, so that delivery isn't delayed. The closures capture neither `self` nor the plan: both hold the
        // recorder, which holds the inner closure.
        return outcome(received.head) { [responder, url = plan.request.url] in
            recorder.record(exchange) { report in
                if let url { responder.report(report, of: url) }
            }
            if recorder.isBehind { recorder.writeBodies() }
        }
    }

    private func fallBack(
        _ plan: Plan,
        _ fallback: Plan.Fallback,
        _ error: URLError
    ) async throws(URLError) -> Step {
        networkError = error
        return switch fallback {
        case .entry(let substitution): try await answer(plan, by: substitution)
        case .recorder(let recorder): replay(plan, recorder) ?? .end(.failed(plan, error))
        }
    }
}

extension AsyncStream<RequestLoad.Event> {
    /// Waits for a load's outcome. Returns it with the whole body, which may have arrived in pieces. Returns `nil` if the
    /// Swift task is cancelled, or once the pieces have more bytes than the limit.
    func outcome(upTo limit: Int = .max) async -> (outcome: RequestOutcome, body: Data?)? {
        var pieces = Data()
        for await event in self where !Task.isCancelled {
            switch event {
            // If a redirect was followed, the former pieces were its own.
            case .head: pieces = Data()
            case .data(let data):
                pieces.append(data)
                if pieces.count > limit { return nil }
            case .end(let outcome): return (outcome, outcome.wasStreamed ? pieces : outcome.response?.data)
            }
        }
        return nil
    }
}
