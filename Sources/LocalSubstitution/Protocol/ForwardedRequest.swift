import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that is sent to the network, perhaps with a fallback for when that fails.
struct ForwardedRequest: Sendable {
    /// What answers if the network fails.
    enum Fallback: Sendable {
        case entry(Substitution)
        case keeper(any ResponseKeeper)
    }

    let chain: RequestChain
    let plan: Plan
    /// What answers if the network fails; `nil` if nothing does.
    let fallback: Fallback?
    /// The request to send: changed by its entry, and with the validators of the kept copy if there is one.
    let request: URLRequest
    /// Whether this added validators to the request, so that a 304 confirms the kept copy.
    private let isConditional: Bool
    /// The header by which the session identifies its user, if any. It's read before sending, since a response may set a cookie.
    private let credentialHeader: String?

    init(
        _ chain: RequestChain,
        _ plan: Plan,
        _ fallback: Fallback?,
        isConditional: Bool = true
    ) {
        self.chain = chain
        self.plan = plan
        self.fallback = fallback
        credentialHeader = chain.attachment.forwarder.credentialHeader(for: plan.request.url)
        var request = plan.request
        plan.substitution?.change(&request)
        let validators = isConditional ? fallback?.keeper?.validators(for: request) : nil
        validators?.makeConditional(&request)
        self.isConditional = validators != nil
        self.request = request
    }

    /// The number of seconds that the complete response may take; `nil` for the configuration's timeout.
    var timeout: Double? {
        fallback?.substitution?.timeout
    }

    /// Whether something answers if the network fails. By then, the kept copy may be gone.
    var hasFallback: Bool { fallback?.keeper.map { $0.hasAnswer(to: plan.request) } ?? (fallback != nil) }

    /// The headers that the session must not add, because the entry sets or removes them.
    var fixedHeaders: [String] { plan.substitution.map { Array($0.requestHeaders.keys) } ?? [] }

    private var attachment: Attachment { chain.attachment }
    private var responder: Responder { attachment.responder }

    /// Returns what to do about a redirect: answer it as a request for its target, or follow it. It's also followed if a fallback
    /// waits for the network to fail.
    func answer(toRedirect request: URLRequest) -> Forwarding.RedirectAnswer {
        guard !attachment.isDirect else { return .deliver }
        return step(forRedirectTo: request).map { .local($0) } ?? .follow
    }

    /// Returns how a redirect goes on without following it; `nil` to follow it.
    private func step(forRedirectTo request: URLRequest) -> RequestStep? {
        guard let url = request.url else { return nil }
        let original = plan.original(of: url)
        let hop = original.map { plan.request.redirected(to: $0, as: request) } ?? request
        let next = chain.lookUp(hop, body: RequestBody(hop))
        guard !chain.isSuperseded else { return .deliver(.failed(next, URLError(.cancelled))) }
        switch attachment.action(for: next) {
        case nil where original == nil: return nil
        case .forward where original == nil && next.substitution?.target == nil: return nil
        case .answer(_, let substitution) where original == nil && !attachment.unmatched.fails(hop):
            guard substitution.delay == nil, !substitution.isRedirect else { break }
            let answer = responder.serve(next, by: substitution)
            return answer.hasFailed ? nil : .deliver(answer)
        default: break
        }
        guard chain.follow() else { return .deliver(.failed(next, URLError(.httpTooManyRedirects))) }
        return chain.step(for: attachment.actionToTake(next))
    }

    /// Returns a piece of the response with the entry's changes.
    func changed(_ piece: ResponseCollector.Piece) -> ResponseCollector.Piece {
        guard case .head(let head) = piece else { return piece }
        return .head(plan.changed(head))
    }

    /// Returns what to do after the network has answered or failed.
    func step(after outcome: Forwarding.Outcome) -> RequestStep {
        switch outcome {
        case .local(let step):
            return step
        case .failed(let error, let isPartial):
            guard let fallback, !isPartial, NetworkFailure.codes.contains(error.code) else {
                return .deliver(fail(error))
            }
            return chain.after(fallback.substitution?.delay) { fallBack(fallback, error) }
        case .passedOn(let head, let redirects, let limit):
            // The app already has the body.
            let rest = CachedURLResponse(response: head, data: Data())
            return step(afterNetwork: rest, attachment.isDirect ? [] : redirects, obstacle: .notHeld(most: limit))
        case .network(let response, let redirects):
            // A direct client gets the redirect itself.
            return step(afterNetwork: response, attachment.isDirect ? [] : redirects)
        }
    }

    private func step(
        afterNetwork response: CachedURLResponse,
        _ redirects: [URLRequest],
        obstacle: Exchange.Obstacle? = nil
    ) -> RequestStep {
        guard let fallback else { return .deliver(.loaded(plan, loaded(response))) }
        responder.reportForwarded(plan)
        guard let keeper = fallback.keeper, let http = response.response as? HTTPURLResponse else {
            return .deliver(.loaded(plan, response))
        }
        guard isConditional, http.statusCode == 304 else {
            return keep(response, http, redirects, in: keeper, obstacle: obstacle)
        }
        return chain.after(nil) { confirm(redirects, keeper) }
    }

    /// Reports a network response that has no fallback, and returns it as the entry changes it.
    private func loaded(_ response: CachedURLResponse) -> CachedURLResponse {
        guard plan.substitution != nil else {
            responder.reportUnanswered(plan, since: plan.reason)
            return response
        }
        responder.use(plan)
        responder.reportForwarded(plan)
        let head = plan.changed(response.response)
        return CachedURLResponse(response: head, data: response.data, userInfo: nil, storagePolicy: .notAllowed)
    }

    private func fallBack(_ fallback: Fallback, _ error: URLError) -> RequestStep {
        let step: RequestStep =
            switch fallback {
            case .entry(let substitution): chain.answer(plan, by: substitution)
            case .keeper(let keeper): chain.replay(plan, keeper) ?? .deliver(fail(error))
            }
        if case .deliver(let answer) = step, answer.hasFailed { return step }
        responder.reportFallback(plan, error)
        return step
    }

    /// Reports that nothing answers.
    private func fail(_ error: URLError) -> RequestOutcome {
        responder.reportUnanswered(plan, since: error.localizedDescription)
        return .failed(plan, error)
    }

    /// Answers with the kept copy, which the server has confirmed.
    private func confirm(_ redirects: [URLRequest], _ keeper: any ResponseKeeper) -> RequestStep {
        guard redirects.isEmpty, let kept = responder.replay(plan, keeper, isConfirmed: true), !kept.hasFailed
        else {
            return .forward(ForwardedRequest(chain, plan, fallback, isConditional: false))
        }
        keeper.confirm(plan.request)
        return .deliver(kept)
    }

    private func keep(
        _ response: CachedURLResponse,
        _ http: HTTPURLResponse,
        _ redirects: [URLRequest],
        in keeper: any ResponseKeeper,
        obstacle: Exchange.Obstacle?
    ) -> RequestStep {
        guard !responder.excludes(http.url) else { return .deliver(.loaded(plan, response)) }
        let exchange = Exchange(
            request: plan.request,
            response: http,
            body: response.data,
            redirects: redirects,
            isBrowsed: attachment.isBrowsed,
            obstacle: sessionCredential(redirects) ?? obstacle
        )
        // Registered before delivery so that a flush waits for it; written afterwards so that delivery isn't delayed.
        // Doesn't capture `self`, which would keep the keeper alive as long as the keeper holds this closure.
        keeper.keep(exchange) { [responder, plan] in responder.report($0, plan) }
        guard keeper.isBehind else { return .deliver(.loaded(plan, response)) }
        return .goOn {
            keeper.writeBodies()
            return .deliver(.loaded(plan, response))
        }
    }

    /// Returns a credential that the session adds to the request or to the redirects' requests.
    private func sessionCredential(_ redirects: [URLRequest]) -> Exchange.Obstacle? {
        if let credentialHeader { return .credential(header: credentialHeader, isAfterRedirect: false) }
        let header = redirects.lazy.compactMap { attachment.forwarder.credentialHeader(for: $0.url) }.first
        return header.map { .credential(header: $0, isAfterRedirect: true) }
    }
}

extension ForwardedRequest.Fallback {
    fileprivate var substitution: Substitution? {
        guard case .entry(let substitution) = self else { return nil }
        return substitution
    }

    fileprivate var keeper: (any ResponseKeeper)? {
        guard case .keeper(let keeper) = self else { return nil }
        return keeper
    }
}

extension Plan {
    /// Returns the head of a response to a forwarded request, with the URL that was requested and the entry's headers.
    func changed(_ head: URLResponse) -> URLResponse {
        guard let substitution, case .network(let target) = substitution.content,
            target != nil || !substitution.headers.isEmpty, let http = head as? HTTPURLResponse, let url = http.url
        else { return head }
        var fields: [String: String] = [:]
        for (name, value) in http.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name] = value }
        }
        if let location = fields[header: "Location"].flatMap({ URL(string: $0, relativeTo: url)?.absoluteURL }),
            let original = original(of: location)
        {
            fields[header: "Location"] = original.absoluteString
        }
        for (name, value) in substitution.headers { fields[header: name] = value }
        return HTTPURLResponse(
            url: (url == target?.url ? request.url : original(of: url)) ?? url,
            statusCode: http.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        ) ?? head
    }

    /// Returns the URL that the entry forwards to another URL, such as a redirect's target; `nil` if it forwards no URL there.
    func original(of url: URL) -> URL? {
        guard let match, let winner = match.winner,
            let original = substitution?.target?.original(of: url),
            let target = try? NormalizedURL(url.absoluteString).text,
            let normal = try? NormalizedURL(original.absoluteString),
            let same = map.storage.index.candidates(for: normal).first(where: { $0.number == match.number }),
            case .network(let filled?) = try? Substitution.Content(winner, filledWith: same.captures, for: normal),
            (try? NormalizedURL(filled.url.absoluteString).text) == target
        else { return nil }
        return original
    }
}

/// The changes that an entry makes to a request that is sent on.
extension Substitution {
    /// The URL that the request is sent to instead of its own; `nil` if it goes to its own.
    var target: ForwardTarget.Filled? { if case .network(let target) = content { target } else { nil } }

    func change(_ request: inout URLRequest) {
        if let target {
            request.url = target.url
            // The target's host is sent instead.
            request.setValue(nil, forHTTPHeaderField: "Host")
        }
        for (name, value) in requestHeaders { request.setValue(value, forHTTPHeaderField: name) }
    }
}

/// Errors that mean that the network, the host or the connection isn't available. An HTTP error status isn't one: it's a response.
private enum NetworkFailure {
    static let codes: Set<URLError.Code> = {
        var codes: Set<URLError.Code> = [
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
