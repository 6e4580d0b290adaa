import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that goes to the network while something stands by, and what is made of what comes.
struct ForwardedRequest: Sendable {
    typealias Result = Swift.Result<CachedURLResponse, URLError>

    let cache: LocalSubstitutionCache
    let lookup: Lookup
    let standby: Standby
    let forwarder: Forwarder
    /// What is sent: the request, with the validators of the recorder's copy if it has one.
    let request: URLRequest
    /// Whether the server may say that the recorder's copy is still right.
    private let isConditional: Bool
    /// The header with which the session itself shows who asks; `nil` for most. As it is sent: what comes may bring a cookie.
    private let credentialHeader: String?

    init(
        _ cache: LocalSubstitutionCache,
        _ lookup: Lookup,
        _ standby: Standby,
        _ forwarder: Forwarder,
        isConditional: Bool = true
    ) {
        self.cache = cache
        self.lookup = lookup
        self.standby = standby
        self.forwarder = forwarder
        credentialHeader = forwarder.credentialHeader(for: lookup.request.url)
        var request = lookup.request
        let validators = isConditional ? standby.recorder?.validators(for: request) : nil
        validators?.makeConditional(&request)
        self.isConditional = validators != nil
        self.request = request
    }

    /// How many seconds the complete response may take; `nil` for what the configuration says.
    var timeout: Double? {
        guard case .file(let substitution) = standby else { return nil }
        return substitution.timeout
    }

    /// Whether there is something that answers if the network fails, as far as can be known.
    var hasStandby: Bool { standby.recorder.map { $0.hasAnswer(to: lookup.request) } ?? true }

    func answer(toRedirect request: URLRequest) -> CachedURLResponse? { cache.answer(toRedirect: request) }

    /// What is to be done next about a request.
    enum Step: Sendable {
        /// Hand out an answer.
        case deliver(Result)
        /// Find out on a queue, since it takes files.
        case find(DispatchQueue = .global(qos: .userInitiated), @Sendable () -> Step)
        /// Send another request in place of this one.
        case retry(ForwardedRequest)
    }

    /// What to do about what has come.
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
        cache.noteForwarded(lookup)
        guard case .recorder(let recorder) = standby, let http = response.response as? HTTPURLResponse else {
            return .deliver(.success(response))
        }
        guard isConditional, http.statusCode == 304 else {
            return record(response, http, redirects, in: recorder, obstacle: obstacle)
        }
        return .find { confirm(redirects, recorder) }
    }

    private func fallBack(_ error: URLError) -> Result {
        let answer =
            switch standby {
            case .file(let substitution): cache.serve(lookup, substitution, isCounted: false)
            case .recorder(let recorder): cache.replay(lookup, recorder) ?? fail(error)
            }
        if case .success = answer { cache.noteFallback(lookup, error) }
        return answer
    }

    /// There's no answer.
    private func fail(_ error: URLError) -> Result {
        cache.reportUnanswered(lookup, since: error.localizedDescription)
        return .failure(error)
    }

    /// The server says that the recorder's copy is still right.
    private func confirm(_ redirects: [URLRequest], _ recorder: SubstitutionRecorder) -> Step {
        guard redirects.isEmpty, let kept = cache.replay(lookup, recorder), case .success = kept else {
            return .retry(ForwardedRequest(cache, lookup, standby, forwarder, isConditional: false))
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
        guard !cache.excludes(http.url) else { return .deliver(.success(response)) }
        if let reason = credentialHeader.map(NotKept.requestHeader) ?? sessionCredential(in: redirects) {
            cache.note(.notKept(reason), lookup)
            return .deliver(.success(response))
        }
        // Begun before it is delivered, so that who got it can flush the recorder; written after, so that nobody waits for that.
        let keeping = recorder.keeping()
        let keep: @Sendable () -> Void = {
            cache.note(
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
        let header = redirects.lazy.compactMap { forwarder.credentialHeader(for: $0.url) }.first
        return header.map { .redirect(.requestHeader($0)) }
    }
}

extension Standby {
    fileprivate var recorder: SubstitutionRecorder? {
        guard case .recorder(let recorder) = self else { return nil }
        return recorder
    }
}
