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
    /// What is sent: the request, with the validators of the recorder's copy if it has one.
    let request: URLRequest
    /// Whether the server may say that the recorder's copy is still right.
    private let isConditional: Bool

    init(_ cache: LocalSubstitutionCache, _ lookup: Lookup, _ standby: Standby, isConditional: Bool = true) {
        self.cache = cache
        self.lookup = lookup
        self.standby = standby
        var request = lookup.request
        let validators = isConditional ? standby.recorder?.validators(for: request) : nil
        if let tag = validators?.etag { request.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        if let date = validators?.lastModified { request.setValue(date, forHTTPHeaderField: "If-Modified-Since") }
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

    /// Makes the answer of what has come.
    ///
    /// - Parameters:
    ///   - credentialHeader: The header with which the session itself shows who asks; `nil` for most.
    ///   - retry: Sends another request in place of this one.
    ///   - deliver: Hands out the answer.
    func end(
        _ outcome: Forwarding.Outcome,
        credentialHeader: String?,
        retry: (ForwardedRequest) -> Void,
        deliver: (Result) -> Void
    ) {
        switch outcome {
        case .local(let response):
            deliver(.success(response))
        case .failed(let error):
            deliver(NetworkFailure.codes.contains(error.code) ? fallBack(error) : .failure(error))
        case .network(let response):
            cache.noteForwarded(lookup)
            guard case .recorder(let recorder) = standby, let http = response.response as? HTTPURLResponse else {
                return deliver(.success(response))
            }
            guard isConditional, http.statusCode == 304 else {
                return record(response, http, recorder, credentialHeader, deliver)
            }
            guard !wasRedirected(http), let kept = cache.replay(lookup, recorder), case .success = kept else {
                return retry(ForwardedRequest(cache, lookup, standby, isConditional: false))
            }
            recorder.keeping().confirm(lookup.request)
            deliver(kept)
        }
    }

    private func fallBack(_ error: URLError) -> Result {
        let answer =
            switch standby {
            case .file(let substitution): cache.serve(lookup, substitution, isCounted: false)
            case .recorder(let recorder): cache.replay(lookup, recorder) ?? .failure(error)
            }
        if case .success = answer { cache.noteFallback(lookup, error) }
        return answer
    }

    private func record(
        _ response: CachedURLResponse,
        _ http: HTTPURLResponse,
        _ recorder: SubstitutionRecorder,
        _ credentialHeader: String?,
        _ deliver: (Result) -> Void
    ) {
        // Before it is delivered, so that who got it can flush the recorder; written after, so that nobody waits for that.
        let keeping = recorder.keeping()
        defer { keeping.end() }
        deliver(.success(response))
        guard !cache.excludes(http.url) else { return }
        if let name = credentialHeader { return cache.note(.notKept(.requestHeader(name)), lookup) }
        cache.note(
            keeping.keep(
                response: http,
                body: response.data,
                for: lookup.request,
                wasRedirected: wasRedirected(http)
            ),
            lookup
        )
    }

    private func wasRedirected(_ response: HTTPURLResponse) -> Bool {
        response.url?.absoluteURL != lookup.request.url?.absoluteURL
    }
}

extension Standby {
    fileprivate var recorder: SubstitutionRecorder? {
        guard case .recorder(let recorder) = self else { return nil }
        return recorder
    }
}
