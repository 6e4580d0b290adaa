import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the protocol asks of a recorder.
extension SubstitutionRecorder {
    /// Whether a request goes through the recorder: kept where its response may be, answered by the kept copy without a network.
    func takes(_ request: URLRequest) -> Bool {
        guard let url = Self.url(of: request), RecordingRules.refusal(of: request, url) == nil else { return false }
        return !keepings.isClosed && !state.withLock { $0.foreign }.isExcluded(url)
    }

    /// What a request can ask the server with whether the kept copy is still right; `nil` if none is kept, if it came from
    /// another URL, or if the request has conditions of its own.
    func validators(for request: URLRequest) -> Validators? {
        let conditions = ["Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"]
        guard let url = Self.url(of: request),
            !conditions.contains(where: { request.value(forHTTPHeaderField: $0) != nil }),
            let kept = state.withLock({ $0.index.kept[url.canonical] }), !kept.isRedirected
        else { return nil }
        return Validators(entityTag: kept.entityTag, lastModified: kept.lastModified)
    }

    /// The kept copy, or what the recorder's own map gives for the URL; `nil` if there is none.
    ///
    /// Waits for the responses that are being kept: who has got one may ask for it at once.
    func answer(_ request: URLRequest) throws(FileProblem) -> CachedURLResponse? {
        keepings.waitForThoseSoFar()
        guard let url = Self.url(of: request), let requested = request.url else { return nil }
        while true {
            let (kept, foreign) = state.withLock { ($0.index.kept[url.canonical], $0.foreign) }
            let substitution =
                kept.map { Substitution($0.entry, fileName: $0.file, folder: resources, url: url) }
                ?? foreign.substitution(for: url)
            guard let substitution else { return nil }
            do throws(FileProblem) {
                let file = try substitution.fileName.map { name throws(FileProblem) in
                    try FileBytes(opening: name, in: resources)
                }
                let builder = ResponseBuilder(substitution: substitution, file: file)
                if let range = request.value(forHTTPHeaderField: "Range"),
                    request.value(forHTTPHeaderField: "If-Range") == nil
                {
                    return builder.part(range, for: requested)
                }
                return builder.full(for: requested)
            } catch {
                // A newer copy may have come meanwhile, and the old file gone.
                guard let kept, state.withLock({ $0.index.kept[url.canonical]?.file }) != kept.file else { throw error }
            }
        }
    }

    /// Whether ``answer(_:)`` has something to read.
    func hasAnswer(to request: URLRequest) -> Bool {
        guard let url = Self.url(of: request) else { return false }
        let (isKept, foreign) = state.withLock { ($0.index.kept[url.canonical] != nil, $0.foreign) }
        return isKept || foreign.substitution(for: url) != nil
    }

    /// Begins to keep a response. Call it before the response is delivered, so that whoever got it can flush.
    func keeping() -> Keeping { Keeping(self) }

    func confirm(_ request: URLRequest) {
        guard let url = Self.url(of: request) else { return }
        state.withLock { $0.index.confirm(url.canonical, now: Self.now) }
        saveSoon()
    }

    /// Drops the copy of a response whose newer version can't be kept.
    func dropCopy(of request: URLRequest) {
        guard let url = Self.url(of: request) else { return }
        state.withLock { $0.index.drop(url.canonical) }
        saveSoon()
    }

    func keep(
        _ response: HTTPURLResponse,
        _ body: Data,
        for request: URLRequest,
        redirects: [URLRequest],
        obstacle: NotKept?
    ) -> Keeping.Outcome {
        let url: NormalizedURL
        do {
            url = try NormalizedURL(request.url?.absoluteString ?? "")
        } catch {
            return .notKept(.url(error.message))
        }
        let foreign = state.withLock { $0.foreign }
        if let reason = RecordingRules.refusal(of: request, url) ?? foreign.refusal(of: url) { return .notKept(reason) }
        for name in ["Range", "Cookie"] where request.value(forHTTPHeaderField: name) != nil {
            return .notKept(.requestHeader(name))
        }
        let refusal =
            RecordingRules.refusal(ofRedirects: redirects)
            ?? Self.exclusion(ofTarget: response.url, foreign)
            ?? RecordingRules.refusal(of: response, bytes: body.count, most: limit / 20) ?? obstacle
        if let refusal {
            if [200, 404, 410].contains(response.statusCode) {
                dropCopy(of: request)
            }
            return .notKept(refusal)
        }
        return write(response, body, url, wasRedirected: !redirects.isEmpty, foreign.defaults)
    }

    static func url(of request: URLRequest) -> NormalizedURL? {
        request.url.flatMap { try? NormalizedURL($0.absoluteString) }
    }

    /// A redirect must not bring in what would not be kept by itself.
    private static func exclusion(ofTarget target: URL?, _ foreign: ForeignEntries) -> NotKept? {
        guard let target, let url = try? NormalizedURL(target.absoluteString),
            let reason = foreign.refusal(of: url), case .excluded = reason
        else { return nil }
        return reason
    }
}
