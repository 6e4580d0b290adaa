import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The next step for a request that a protocol has taken.
enum RequestStep: Sendable {
    /// Tell the client how the request ends.
    case deliver(RequestOutcome)
    /// Run a closure that may take long on a queue.
    case goOn(@Sendable () -> RequestStep)
    /// Wait until so many seconds after loading started, then go on. The request fails if its timeout is earlier.
    case wait(Double, @Sendable () -> RequestStep)
    /// Read a request's body, then go on with the request and the body that was read.
    case readBody(URLRequest, @Sendable (URLRequest, RequestBody) -> RequestStep)
    /// Send a request to the network.
    case forward(ForwardedRequest)
}

extension RequestChain {
    /// Returns the first step of an action.
    func step(for action: Attachment.Action) -> RequestStep {
        let responder = attachment.responder
        switch action {
        case .refuse(let lookup):
            return .deliver(unmatched(lookup))
        case .fail(let lookup, let substitution, let code):
            return after(substitution.delay) { .deliver(responder.fail(lookup, by: substitution, code)) }
        case .answer(let lookup, let substitution):
            if substitution.delay == nil, responder.isAtHand(substitution, lookup) {
                return answer(lookup, by: substitution)
            }
            return after(substitution.delay) { [self] in answer(lookup, by: substitution) }
        case .replay(let lookup, let keeper):
            return .goOn { [self] in replay(lookup, keeper) ?? .deliver(unmatched(lookup)) }
        case .forward(let lookup, let fallback):
            return after(fallback == nil ? lookup.decision.substitution?.delay : nil) { [self] in
                .forward(ForwardedRequest(self, lookup, fallback))
            }
        case .readBody(let lookup):
            return .readBody(lookup.request) { [self] request, body in
                decide(request, body: body)
            }
        }
    }

    private func unmatched(_ lookup: Lookup) -> RequestOutcome {
        attachment.responder.unmatched(lookup, isBrief: attachment.listener?.explainsUnmatched == true)
    }

    /// Returns the step that answers with an entry, without its delay.
    func answer(_ lookup: Lookup, by substitution: Substitution) -> RequestStep {
        guard !attachment.isDirect else {
            let responder = attachment.responder
            return .deliver(
                responder.serveInPieces(lookup, by: substitution) ?? responder.serve(lookup, by: substitution)
            )
        }
        guard substitution.isRedirect, let next = lookup.request.redirected(by: substitution) else {
            return .deliver(attachment.responder.serve(lookup, by: substitution))
        }
        attachment.responder.use(lookup)
        return .goOn { [self] in follow(next, from: lookup) }
    }

    /// Returns the step that answers with a kept copy; `nil` if there is none.
    func replay(_ lookup: Lookup, _ keeper: any ResponseKeeper) -> RequestStep? {
        guard let outcome = attachment.responder.replay(lookup, keeper) else { return nil }
        guard !attachment.isDirect, let http = outcome.response?.response as? HTTPURLResponse,
            RedirectChain.statuses.contains(http.statusCode),
            let next = lookup.request.redirected(by: http.statusCode, to: http.value(forHTTPHeaderField: "Location"))
        else { return .deliver(outcome) }
        return follow(next, from: lookup)
    }

    private func follow(_ next: URLRequest, from lookup: Lookup) -> RequestStep {
        guard follow() else { return .deliver(.failed(lookup, URLError(.httpTooManyRedirects))) }
        return decide(next, body: RequestBody(next))
    }

    /// Decides about a request, and returns the step that follows.
    private func decide(_ request: URLRequest, body: RequestBody) -> RequestStep {
        let lookup = lookUp(request, body: body)
        guard !isSuperseded else { return .deliver(.failed(lookup, URLError(.cancelled))) }
        return step(for: attachment.actionToTake(lookup))
    }

    /// Returns a step that goes on at once, or after a delay.
    func after(_ delay: Double?, _ next: @escaping @Sendable () -> RequestStep) -> RequestStep {
        delay.map { .wait($0, next) } ?? .goOn(next)
    }
}
