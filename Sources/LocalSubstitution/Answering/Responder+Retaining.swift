import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides which responses are retained, and under which names.
extension Responder {
    /// Returns the name under which an entry's response is retained; `nil` if it isn't.
    ///
    /// It's the URL if every plain `GET` gets the response. Otherwise the map decides each request, and the name says what answers.
    func retainedName(_ lookup: Lookup, _ substitution: Substitution) -> String? {
        guard let url = lookup.request.url?.absoluteString, let match = lookup.decision.match, let number = match.number
        else { return nil }
        if match.isConditional || match.protocolField != nil {
            return Self.decidedName(url, entry: number, alternative: match.winner?.options.place?.number ?? 0)
        }
        let isAccepted = LoaderRules.refusal(ofStatus: substitution.status, headers: substitution.headers) == nil
        let answersAtOnce = substitution.use == .always || (substitution.use == .untilUpdated && !lookup.isOffline)
        let isPlain = lookup.request.httpMethod == "GET" && !substitution.isRedirect
        return isAccepted && answersAtOnce && isPlain ? url : nil
    }

    func retain(
        _ response: CachedURLResponse,
        as name: String,
        to lookup: Lookup,
        by substitution: Substitution,
        madeOf file: FileBytes?,
        newer: NewerCopies.Answer?
    ) -> CachedURLResponse {
        let path = lookup.path(of: substitution)
        let kept = RetainedResponse(
            response,
            key: substitution.key,
            file: path,
            validity: RetainedResponse.Validity(
                maps,
                lookup.map,
                path: path,
                file: file,
                missing: lookup.decision.match?.missingFiles ?? [],
                lifetime: LoaderRules.lifetime(substitution.headers),
                update: newer?.stamp
            )
        )
        return retained.retain(
            kept,
            for: name,
            madeOf: file,
            at: newer?.place ?? path,
            isEndless: !lookup.isSpelledAsKey,
            generation: lookup.generation
        )
    }

    /// Drops all responses to a URL.
    func removeRetained(_ url: String, in map: SubstitutionMap) {
        retained.remove(url)
        guard let normal = try? NormalizedURL(url) else { return }
        for candidate in map.storage.index.candidates(for: normal) {
            let alternatives = map.storage.index.entries[candidate.number].options.alternatives
            for alternative in 0...alternatives.count {
                retained.remove(Self.decidedName(url, entry: candidate.number, alternative: alternative))
            }
        }
    }

    /// Returns the name for the response of an entry or of an alternative, counted from 1. URLs don't have spaces, so a hit never
    /// finds it.
    private static func decidedName(_ url: String, entry: Int, alternative: Int) -> String {
        "\(url) \(entry) \(alternative)"
    }
}
