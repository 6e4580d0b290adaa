#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The rules that choose the requests of a test whose responses a recording run keeps. The run compares each request of
/// a test with the map as it was before the run.
///
/// For each request that a test made, the run asks in this order:
///
/// 1. ``followed(_:)``: which request's response can be recorded, after the map's own redirects?
/// 2. ``sequence(answering:)``: which recorded answers would have answered the request? The response replaces them.
/// 3. ``missing(for:)``: if there are none, does the map have no answer? Then the response is added.
struct RecordingChoice: Sendable {
    /// What a map needs before it can answer a request.
    enum Missing {
        /// An entry that answers the request.
        case entry
        /// The field `forwardTo` of the request's entry: the URL to forward the request to.
        case target
        /// An entry for a redirect: the server redirected the request to a URL that has an entry.
        case redirect
    }

    /// The map's file; `nil` if it didn't exist before the run.
    let file: MapFile?
    /// The map's entries, without the handlers that tests pass; empty if the file didn't exist before the run.
    let map: SubstitutionMap
    /// The recorded answers that the run replaces; `nil` in a run with the mode ``Recording/Mode/missing``, or if the
    /// file didn't exist before the run.
    let recorded: RecordingAgain?
    /// A cache that explains how the map answers a request. It counts no requests, so no alternative reaches its
    /// `times`.
    private let cache: LocalSubstitutionCache

    init(_ file: MapFile?, _ map: SubstitutionMap) {
        (self.file, self.map) = (file, map)
        recorded = Recording.mode == .all ? file.map { RecordingAgain($0.json, of: map) } : nil
        cache = LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0)
    }

    /// Returns what the map needs before it can answer a request.
    ///
    /// Returns `nil` if the map needs nothing: an entry answered the request without a redirect, or an entry decides
    /// how the request ends, for example with an error.
    func missing(for request: TestSubstitutions.Request) -> Missing? {
        let isAnswered = request.outcome == .matched
        guard !isAnswered || request.isRedirected else { return nil }
        let explanation = cache.explain(request.withBody)
        guard let winner = explanation.winner else { return isAnswered ? .redirect : .entry }
        if explanation.isExcluded || explanation.attached.servedBy == nil { return .entry }
        guard request.needsOrigin else { return nil }
        if request.usedUp.contains(where: winner.isSame) { return .entry }
        return request.entry.map(winner.isSame) == true ? .target : nil
    }

    /// Returns the recorded answers that a request's new response replaces.
    ///
    /// Returns `nil` if the run replaces no recorded answers, if an entry answered the request, or if no recorded entry
    /// matches the request.
    func sequence(answering request: TestSubstitutions.Request) -> RecordingAgain.Sequence? {
        guard let recorded, request.outcome != .matched, let winner = cache.explain(request.withBody).winner else {
            return nil
        }
        // If the request found the winner used up, `request.entry` is a later alternative. If it didn't,
        // `request.entry` may belong to a redirect's target, so the winner is the right one.
        let isUsedUp = request.usedUp.contains(where: winner.isSame)
        return (isUsedUp ? request.entry : winner).flatMap(recorded.sequence)
    }

    /// Follows the map's redirects from a request, at most 20. Returns the last request, whose response can be
    /// recorded. Returns the request itself if the map doesn't redirect it.
    ///
    /// Returns `nil` if one of the map's redirects was recorded, but these redirects don't lead to the URL that the
    /// response came from. Such a response can't replace the recorded redirect.
    func followed(_ request: TestSubstitutions.Request) -> TestSubstitutions.Request? {
        var request = request
        var isOfServer = false
        for _ in 0..<Redirect.most where request.isRedirected {
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

    /// Returns the status and `Location` of each redirect among an entry's answers; empty for an entry with a pattern.
    private func redirects(of reference: SubstitutionMap.EntryReference) -> [(Int, String)] {
        let entry = map.entries.first { $0.key == reference.key && !$0.isPattern }
        return (entry?.answering ?? []).compactMap { answer in
            let options = answer.options
            guard Redirect.statuses.contains(options.status) else { return nil }
            return options.fields.headers[header: "Location"].map { (options.status, $0) }
        }
    }
}

extension TestSubstitutions.Request {
    /// The request with its body as `httpBody`, even if the body was read from a stream. A body that can't be seen is
    /// missing.
    fileprivate var withBody: URLRequest {
        var request = request
        if let body { request.httpBody = body }
        return request
    }

    /// Whether redirects led to the response: it came from another URL than the request's. `false` if there's no
    /// response.
    fileprivate var isRedirected: Bool {
        guard let end = response?.response.url else { return false }
        return !request.url.isSame(as: end)
    }
}

extension URL? {
    /// Returns whether two URLs have the same normal form. Two missing or invalid URLs are the same, too.
    fileprivate func isSame(as other: URL?) -> Bool {
        let urls = [self, other].map { $0.flatMap { try? NormalizedURL($0.absoluteString).canonical } }
        return urls[0] == urls[1]
    }
}

extension SubstitutionMap.EntryReference {
    /// Returns whether two references have the same key and alternative. The references may come from different
    /// versions of a map, where the entry has different lines.
    fileprivate func isSame(_ other: Self) -> Bool { key == other.key && alternative == other.alternative }
}
#endif
