import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that goes to the network, with something that answers if that fails.
struct ForwardedRequest: Sendable {
    typealias Result = Swift.Result<CachedURLResponse, URLError>

    let attachment: Attachment
    let lookup: Lookup
    let fallback: Fallback
    /// What is sent: the request, with the validators of the recorder's copy if it has one.
    let request: URLRequest
    /// Whether the server may say that the recorder's copy is still right.
    private let isConditional: Bool
    /// The header by which the session itself identifies its user; `nil` for most. As it is sent: a response may set a cookie.
    private let credentialHeader: String?

    init(
        _ attachment: Attachment,
        _ lookup: Lookup,
        _ fallback: Fallback,
        isConditional: Bool = true
    ) {
        self.attachment = attachment
        self.lookup = lookup
        self.fallback = fallback
        credentialHeader = attachment.forwarder.credentialHeader(for: lookup.request.url)
        var request = lookup.request
        let validators = isConditional ? fallback.recorder?.validators(for: request) : nil
        validators?.makeConditional(&request)
        self.isConditional = validators != nil
        self.request = request
    }

    /// How many seconds the complete response may take; `nil` for what the configuration says.
    var timeout: Double? {
        guard case .entry(let substitution) = fallback else { return nil }
        return substitution.timeout
    }

    /// Whether something answers if the network fails. A recorder may have lost its copy by then.
    var hasFallback: Bool { fallback.recorder.map { $0.hasAnswer(to: lookup.request) } ?? true }

    private var responder: Responder { attachment.responder }

    /// What an entry answers to the target of a redirect; `nil` to follow it, also where an entry waits for the network to fail.
    func answer(toRedirect request: URLRequest) -> CachedURLResponse? {
        let lookup = responder.lookUp(request)
        guard case .answer(let substitution) = lookup.decision.outcome else { return nil }
        return try? responder.serve(lookup, by: substitution).get()
    }

    /// What is to be done next about a request.
    enum Step: Sendable {
        /// Deliver a result.
        case deliver(Result)
        /// Find out on a queue, since it reads or writes files.
        case find(DispatchQueue = .global(qos: .userInitiated), @Sendable () -> Step)
        /// Send another request in place of this one.
        case retry(ForwardedRequest)
    }

    /// What to do next.
    func step(after outcome: Forwarding.Outcome) -> Step {
        switch outcome {
        case .local(let response):
            return .deliver(.success(response))
        case .failed(let error, let isPartial):
            guard !isPartial, NetworkFailure.codes.contains(error.code) else { return .deliver(fail(error)) }
            return .find { .deliver(fallBack(error)) }
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
        responder.reportForwarded(lookup)
        guard let recorder = fallback.recorder, let http = response.response as? HTTPURLResponse else {
            return .deliver(.success(response))
        }
        guard isConditional, http.statusCode == 304 else {
            return record(response, http, redirects, in: recorder, obstacle: obstacle)
        }
        return .find { confirm(redirects, recorder) }
    }

    private func fallBack(_ error: URLError) -> Result {
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

    /// The server says that the recorder's copy is still right.
    private func confirm(_ redirects: [URLRequest], _ recorder: SubstitutionRecorder) -> Step {
        guard redirects.isEmpty, let kept = responder.replay(lookup, recorder), case .success = kept else {
            return .retry(ForwardedRequest(attachment, lookup, fallback, isConditional: false))
        }
        recorder.keeping().confirm(lookup.request)
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
        let keeping = recorder.keeping()
        let keep: @Sendable () -> Void = {
            responder.report(
                keeping.keep(
                    response: http,
                    body: response.data,
                    for: lookup.request,
                    redirects: redirects,
                    obstacle: obstacle
                ),
                lookup
            )
            keeping.end()
        }
        // In the order in which they came, so that the last one stays.
        guard keeping.isTimely else {
            return .find(recorder.keepingQueue) {
                keep()
                return .deliver(.success(response))
            }
        }
        recorder.keepingQueue.async(execute: keep)
        return .deliver(.success(response))
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
