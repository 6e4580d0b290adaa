#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TestSubstitutions.Request {
    /// Whether the response is that of another URL, to which redirects led.
    var isRedirected: Bool {
        guard let end = response?.response.url else { return false }
        return !Self.areSame(end, request.url)
    }

    /// Follows the map's redirects. Returns the last request, which is the one that the map has to answer with the
    /// response.
    ///
    /// In a run that records everything again, the server's redirects replace recorded ones. Returns `nil` if the
    /// server's redirects lead to another URL than the map's.
    ///
    /// - Parameter cache: See ``MissingAnswer/cache(_:)``.
    func followed(in base: RecordingRun.Base, _ cache: LocalSubstitutionCache) -> Self? {
        var request = self
        var isOfServer = false
        for _ in 0..<20 where request.isRedirected {
            guard let entry = cache.explain(request.withBody).winner else { break }
            let targets = base.map.redirects(of: entry).compactMap { request.request.redirected(by: $0, to: $1) }
            let end = targets.first { Self.areSame($0.url, request.response?.response.url) }
            guard let next = end ?? targets.first else { break }
            isOfServer = isOfServer || base.recorded?.sequence(of: entry) != nil
            if next.httpMethod != request.request.httpMethod { request.body = nil }
            request.request = next
        }
        return isOfServer && request.isRedirected ? nil : request
    }

    private static func areSame(_ one: URL?, _ other: URL?) -> Bool {
        let urls = [one, other].map { $0.flatMap { try? NormalizedURL($0.absoluteString).canonical } }
        return urls[0] == urls[1]
    }
}

extension SubstitutionMap {
    /// Returns the status and target of each redirect among an entry's answers.
    fileprivate func redirects(of reference: EntryReference) -> [(Int, String)] {
        let entry = entries.first { $0.key == reference.key && !$0.isPattern }
        return (entry?.answering ?? []).compactMap { answer in
            let options = answer.options
            guard RedirectChain.statuses.contains(options.status) else { return nil }
            return options.fields.headers[header: "Location"].map { (options.status, $0) }
        }
    }
}
#endif
