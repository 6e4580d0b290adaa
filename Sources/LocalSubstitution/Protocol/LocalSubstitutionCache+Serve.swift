import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the cache does for the protocol.
extension LocalSubstitutionCache {
    /// Whether the response of an entry that applies takes no file that is not in memory yet.
    func isAtHand(_ substitution: Substitution, _ lookup: Lookup) -> Bool {
        lookup.path(of: substitution).map { heldFile(at: $0) != nil } ?? true
    }

    /// The response of an entry that applies, whatever a loader would say of it.
    ///
    /// - Parameter isCounted: Whether the loader has got it from the cache before, so that it has been counted.
    func serve(
        _ lookup: Lookup,
        _ substitution: Substitution,
        isCounted: Bool
    ) -> Result<CachedURLResponse, URLError> {
        guard let url = lookup.request.url else { return .failure(URLError(.badURL)) }
        do throws(FileProblem) {
            guard let response = try respond(lookup, with: substitution, url) else {
                return .failure(URLError(.badURL))
            }
            if !isCounted {
                let bytes = response.data.count
                state.withLock { state in
                    state.statistics.served += 1
                    state.statistics.bytes += bytes
                }
                emit(.substituted(url, key: substitution.key, file: substitution.fileURL, bytes: bytes))
            }
            return .success(response)
        } catch {
            report(error, of: substitution, url)
            return .failure(.unreadable(error, url))
        }
    }

    /// What an entry gives for the target of a redirect; `nil` if none applies, or one that waits for the network to fail.
    func answer(toRedirect request: URLRequest) -> CachedURLResponse? {
        let lookup = prepare(request)
        guard let substitution = lookup.decision.match?.substitution, substitution.use != .whenOffline,
            substitution.lists(method: request.httpMethod ?? "GET")
        else { return nil }
        return try? serve(lookup, substitution, isCounted: false).get()
    }

    /// Notes that the network has answered a request whose entry waits for it to fail.
    func noteForwarded(_ lookup: Lookup) {
        state.withLock { $0.statistics.forwarded += 1 }
        guard let url = lookup.request.url else { return }
        emit(.forwarded(url, key: lookup.namingEntry?.key ?? ""))
    }

    /// Notes that the network has failed, so that the entry's file answers.
    func noteFallback(_ lookup: Lookup, _ error: URLError) {
        state.withLock { $0.statistics.fellBack += 1 }
        guard let url = lookup.request.url else { return }
        emit(.fellBack(url, key: lookup.namingEntry?.key ?? "", reason: error.localizedDescription))
    }
}
