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
        case .refuse(let plan):
            return .deliver(unmatched(plan))
        case .fail(let plan, let substitution, let code):
            return after(substitution.delay) { .deliver(responder.fail(plan, by: substitution, code)) }
        case .answer(let plan, let substitution):
            if substitution.delay == nil, responder.isAtHand(substitution, plan) {
                return answer(plan, by: substitution)
            }
            return after(substitution.delay) { [self] in answer(plan, by: substitution) }
        case .replay(let plan, let keeper):
            return after(nil) { [self] in replay(plan, keeper) ?? .deliver(unmatched(plan)) }
        case .forward(let plan, let fallback):
            return after(fallback == nil ? plan.substitution?.delay : nil) { [self] in
                .forward(ForwardedRequest(self, plan, fallback))
            }
        case .readBody(let plan):
            return .readBody(plan.request) { [self] request, body in
                decide(request, body: body)
            }
        }
    }

    private func unmatched(_ plan: Plan) -> RequestOutcome {
        attachment.responder.unmatched(plan, isBrief: attachment.listener?.explainsUnmatched == true)
    }

    /// Returns the step that answers with an entry, without its delay.
    func answer(_ plan: Plan, by substitution: Substitution) -> RequestStep {
        guard !attachment.isDirect else {
            let responder = attachment.responder
            return .deliver(
                responder.serveInPieces(plan, by: substitution) ?? responder.serve(plan, by: substitution)
            )
        }
        guard substitution.isRedirect, let next = plan.request.redirected(by: substitution) else {
            return .deliver(attachment.responder.serve(plan, by: substitution))
        }
        attachment.responder.use(plan)
        return .goOn { [self] in follow(next, from: plan) }
    }

    /// Returns the step that answers with a kept copy; `nil` if there is none.
    func replay(_ plan: Plan, _ keeper: any ResponseKeeper) -> RequestStep? {
        guard let outcome = attachment.responder.replay(plan, keeper) else { return nil }
        guard !attachment.isDirect, let http = outcome.response?.response as? HTTPURLResponse,
            RedirectChain.statuses.contains(http.statusCode),
            let next = plan.request.redirected(by: http.statusCode, to: http.value(forHTTPHeaderField: "Location"))
        else { return .deliver(outcome) }
        return follow(next, from: plan)
    }

    private func follow(_ next: URLRequest, from plan: Plan) -> RequestStep {
        guard follow() else { return .deliver(.failed(plan, URLError(.httpTooManyRedirects))) }
        return decide(next, body: RequestBody(next))
    }

    /// Decides about a request, and returns the step that follows.
    private func decide(_ request: URLRequest, body: RequestBody) -> RequestStep {
        let plan = lookUp(request, body: body)
        guard !isSuperseded else { return .deliver(.failed(plan, URLError(.cancelled))) }
        return step(for: attachment.actionToTake(plan))
    }

    /// Returns a step that goes on at once, or after a delay, unless a later attempt has taken over by then.
    func after(_ delay: Double?, _ next: @escaping @Sendable () -> RequestStep) -> RequestStep {
        let next: @Sendable () -> RequestStep = { [self] in
            isSuperseded ? .deliver(.failed(plan, URLError(.cancelled))) : next()
        }
        return delay.map { .wait($0, next) } ?? .goOn(next)
    }
}
