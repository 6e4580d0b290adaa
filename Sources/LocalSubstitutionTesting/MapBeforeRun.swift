#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The map as it was before a recording run. It decides which of a test's requests the run records.
struct MapBeforeRun: Sendable {
    /// What the map lacks to answer a request.
    enum Missing {
        case entry
        /// A URL to forward the request to: the field `forwardTo`.
        case target
        /// An entry for the server's redirect, which led to a URL that an entry answers.
        case redirect
    }

    /// `nil` if the map didn't exist.
    let file: MapFile?
    /// The map without the tests' handlers.
    let map: SubstitutionMap
    /// The recorded entries; `nil` in a run that only records what's missing, or if the map didn't exist.
    let recorded: RecordingAgain?
    /// Explains how the map answers a request while no alternative is used up.
    private let cache: LocalSubstitutionCache

    init(_ file: MapFile?, _ map: SubstitutionMap) {
        (self.file, self.map) = (file, map)
        recorded = Recording.mode == .all ? file.map { RecordingAgain($0.json, of: map) } : nil
        cache = LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0)
    }

    /// Returns what the map lacks to answer a request; `nil` if nothing.
    func missing(for request: TestSubstitutions.Request) -> Missing? {
        let isAnswered = request.outcome == .answered
        guard !isAnswered || request.isRedirected else { return nil }
        let explanation = cache.explain(request.withBody)
        switch explanation.verdict {
        case .noEntry, .methodNotListed, .ruledOut: return isAnswered ? .redirect : .entry
        case .excluded, .notHTTP, .unreadableFile: return .entry
        default:
            guard request.needsOrigin, let winner = explanation.winner else { return nil }
            if request.usedUp.contains(where: winner.isSame) { return .entry }
            return request.entry.map(winner.isSame) == true ? .target : nil
        }
    }

    /// Returns the recorded sequence that answers a request and can be recorded again; `nil` if there's none.
    func sequence(answering request: TestSubstitutions.Request) -> RecordingAgain.Sequence? {
        guard let recorded, request.outcome != .answered, let winner = cache.explain(request.withBody).winner else {
            return nil
        }
        // If the winner was used up, `entry` is a later alternative. Otherwise, it may be that of a redirect's target.
        let isUsedUp = request.usedUp.contains(where: winner.isSame)
        return (isUsedUp ? request.entry : winner).flatMap(recorded.sequence)
    }

    /// Follows the map's redirects. Returns the last request, which is the one that the map has to answer with the
    /// response.
    ///
    /// In a run that records everything again, the server's redirects replace recorded ones. Returns `nil` if the
    /// server's redirects lead to another URL than the map's.
    func followed(_ request: TestSubstitutions.Request) -> TestSubstitutions.Request? {
        var request = request
        var isOfServer = false
        for _ in 0..<20 where request.isRedirected {
            guard let entry = cache.explain(request.withBody).winner else { break }
            let targets = redirects(of: entry).compactMap { request.request.redirected(by: $0, to: $1) }
            let end = targets.first { $0.url.isSame(as: request.response?.response.url) }
            guard let next = end ?? targets.first else { break }
            isOfServer = isOfServer || recorded?.sequence(of: entry) != nil
            if next.httpMethod != request.request.httpMethod { request.body = nil }
            request.request = next
        }
        return isOfServer && request.isRedirected ? nil : request
    }

    /// Returns the status and target of each redirect among an entry's answers.
    private func redirects(of reference: SubstitutionMap.EntryReference) -> [(Int, String)] {
        let entry = map.entries.first { $0.key == reference.key && !$0.isPattern }
        return (entry?.answering ?? []).compactMap { answer in
            let options = answer.options
            guard RedirectChain.statuses.contains(options.status) else { return nil }
            return options.fields.headers[header: "Location"].map { (options.status, $0) }
        }
    }
}

extension TestSubstitutions.Request {
    /// The request with its body, even if the body was read from a stream.
    fileprivate var withBody: URLRequest {
        var request = request
        if let body { request.httpBody = body }
        return request
    }

    /// Whether the response is that of another URL, to which redirects led.
    fileprivate var isRedirected: Bool {
        guard let end = response?.response.url else { return false }
        return !request.url.isSame(as: end)
    }
}

extension URL? {
    /// Returns whether both are the same URL in its normal form.
    fileprivate func isSame(as other: URL?) -> Bool {
        let urls = [self, other].map { $0.flatMap { try? NormalizedURL($0.absoluteString).canonical } }
        return urls[0] == urls[1]
    }
}

extension SubstitutionMap.EntryReference {
    /// Returns whether both refer to the same entry or alternative, even in different versions of the map.
    fileprivate func isSame(_ other: Self) -> Bool { key == other.key && alternative == other.alternative }
}
#endif
