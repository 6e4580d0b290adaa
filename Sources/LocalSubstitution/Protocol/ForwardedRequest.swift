import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that goes to the network, perhaps with something that answers if that fails.
struct ForwardedRequest: Sendable {
    typealias Result = Swift.Result<CachedURLResponse, URLError>

    let attachment: Attachment
    let lookup: Lookup
    /// `nil` if nothing answers when the network fails.
    let fallback: Fallback?
    /// What is sent: the request, with the validators of the recorder's copy if it has one.
    let request: URLRequest
    /// Whether the request has validators, so that a 304 can confirm the recorder's copy.
    private let isConditional: Bool
    /// The header by which the session identifies its user, if any. Read before sending, since a response may set a cookie.
    private let credentialHeader: String?

    init(
        _ attachment: Attachment,
        _ lookup: Lookup,
        _ fallback: Fallback?,
        isConditional: Bool = true
    ) {
        self.attachment = attachment
        self.lookup = lookup
        self.fallback = fallback
        credentialHeader = attachment.forwarder.credentialHeader(for: lookup.request.url)
        var request = lookup.request
        let validators = isConditional ? fallback?.recorder?.validators(for: request) : nil
        validators?.makeConditional(&request)
        self.isConditional = validators != nil
        self.request = request
    }

    /// How many seconds the complete response may take; `nil` for the configuration's timeout.
    var timeout: Double? {
        guard case .entry(let substitution) = fallback else { return nil }
        return substitution.timeout
    }

    /// Whether something answers if the network fails. A recorder may have lost its copy by then.
    var hasFallback: Bool { fallback?.recorder.map { $0.hasAnswer(to: lookup.request) } ?? (fallback != nil) }

    private var responder: Responder { attachment.responder }

    /// The result for a redirect's target: what a request for it would get; `nil` to follow the redirect, also where a fallback
    /// waits for the network to fail.
    func answer(toRedirect request: URLRequest) -> Result? {
        let lookup = attachment.lookUp(request)
        responder.reportGoneFiles(lookup)
        switch attachment.action(for: lookup) {
        case .answer(_, let substitution):
            let answer = responder.serve(lookup, by: substitution)
            if case .failure = answer, !attachment.unmatched.fails(request) { return nil }
            return answer
        case .replay(_, let recorder):
            return responder.replay(lookup, recorder) ?? .failure(responder.unmatched(lookup))
        case .fail: return .failure(responder.unmatched(lookup))
        case .forward, nil: return nil
        }
    }

    /// The next step for a request.
    enum Step: Sendable {
        /// Deliver a result.
        case deliver(Result)
        /// Run a closure on a queue, since it reads or writes files.
        case find(@Sendable () -> Step)
        /// Send another request in place of this one.
        case retry(ForwardedRequest)
    }

    /// What to do next.
    func step(after outcome: Forwarding.Outcome) -> Step {
        switch outcome {
        case .local(let result):
            return .deliver(result)
        case .failed(let error, let isPartial):
            guard let fallback, !isPartial, NetworkFailure.codes.contains(error.code) else {
                return .deliver(fail(error))
            }
            return .find { .deliver(fallBack(fallback, error)) }
        case .passedOn(let head, let redirects, let limit):
            // The app has the body already.
            let rest = CachedURLResponse(response: head, data: Data())
            return step(afterNetwork: rest, redirects, obstacle: .notHeld(most: limit))
        case .network(let response, let redirects):
            return step(afterNetwork: response, redirects)
        }
    }

    /// - Parameter obstacle: The reason why the recorder can't keep the response, if it could otherwise.
    private func step(
        afterNetwork response: CachedURLResponse,
        _ redirects: [URLRequest],
        obstacle: NotKept? = nil
    ) -> Step {
        guard let fallback else {
            responder.reportUnanswered(lookup, since: lookup.decision.reason)
            return .deliver(.success(response))
        }
        responder.reportForwarded(lookup)
        guard let recorder = fallback.recorder, let http = response.response as? HTTPURLResponse else {
            return .deliver(.success(response))
        }
        guard isConditional, http.statusCode == 304 else {
            return record(response, http, redirects, in: recorder, obstacle: obstacle)
        }
        return .find { confirm(redirects, recorder) }
    }

    private func fallBack(_ fallback: Fallback, _ error: URLError) -> Result {
        let answer =
            switch fallback {
            case .entry(let substitution): responder.serve(lookup, by: substitution)
            case .recorder(let recorder): responder.replay(lookup, recorder) ?? fail(error)
            }
        if case .success = answer { responder.reportFallback(lookup, error) }
        return answer
    }

    /// There's no answer.
    private func fail(_ error: URLError) -> Result {
        responder.reportUnanswered(lookup, since: error.localizedDescription)
        return .failure(error)
    }

    /// Answers with the recorder's copy, which the server has confirmed.
    private func confirm(_ redirects: [URLRequest], _ recorder: SubstitutionRecorder) -> Step {
        guard redirects.isEmpty, let kept = responder.replay(lookup, recorder), case .success = kept else {
            return .retry(ForwardedRequest(attachment, lookup, fallback, isConditional: false))
        }
        recorder.confirm(lookup.request)
        return .deliver(kept)
    }

    private func record(
        _ response: CachedURLResponse,
        _ http: HTTPURLResponse,
        _ redirects: [URLRequest],
        in recorder: SubstitutionRecorder,
        obstacle: NotKept?
    ) -> Step {
        guard !responder.excludes(http.url) else { return .deliver(.success(response)) }
        if let reason = credentialHeader.map(NotKept.requestHeader) ?? sessionCredential(in: redirects) {
            responder.report(.notKept(reason), lookup)
            return .deliver(.success(response))
        }
        // Registered before delivery so that `flush()` waits for it; written afterwards so that delivery isn't delayed.
        let received = ReceivedResponse(
            request: lookup.request,
            response: http,
            body: response.data,
            redirects: redirects,
            obstacle: obstacle
        )
        // Not `self`, which would hold the recorder as long as the recorder holds this.
        recorder.record(received) { [responder, lookup] in responder.report($0, lookup) }
        guard recorder.isBehind else { return .deliver(.success(response)) }
        return .find {
            recorder.writeBodies()
            return .deliver(.success(response))
        }
    }

    /// Returns why a response can't be kept, given what the session added to the requests that led to it.
    private func sessionCredential(in redirects: [URLRequest]) -> NotKept? {
        let header = redirects.lazy.compactMap { attachment.forwarder.credentialHeader(for: $0.url) }.first
        return header.map { .redirect(.requestHeader($0)) }
    }
}

extension Fallback {
    fileprivate var recorder: SubstitutionRecorder? {
        guard case .recorder(let recorder) = self else { return nil }
        return recorder
    }
}
