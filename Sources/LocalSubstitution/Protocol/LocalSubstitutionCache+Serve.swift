import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the cache does for the protocol.
extension LocalSubstitutionCache {
    /// Remembers which request a protocol has taken, so that the protocol reports its outcome instead of the cache; `nil` forgets
    /// it.
    ///
    /// One at a time is enough. Linux's loader asks the protocol, asks the cache, then starts the protocol, all on a queue that
    /// the sessions of the process share (`URLSession.swift`, `sharedQueue`).
    func noteTaken(_ request: URLRequest?) {
        #if !canImport(Darwin)
        state.withLock { $0.taken = request }
        #endif
    }

    /// Forgets that a protocol has taken a request, and returns whether one had.
    @discardableResult
    func forgetTaken(_ request: URLRequest) -> Bool {
        state.withLock { state in
            guard state.taken == request else { return false }
            state.taken = nil
            return true
        }
    }

    /// Reports a request that no entry answers in a session that may not use the network, and returns its error.
    func unmatched(_ lookup: Lookup) -> URLError {
        reportUnanswered(lookup, since: lookup.decision.reason)
        return .unmatched(Explanation(lookup.request, lookup.decision, lookup.map))
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
            if !isCounted { noteServed(url, key: substitution.key, file: substitution.fileURL, response.data.count) }
            return .success(response)
        } catch {
            report(error, of: substitution, url)
            return .failure(.unreadable(error, url))
        }
    }

    /// The copy that a recorder has kept; `nil` if it has none.
    func replay(_ lookup: Lookup, _ recorder: SubstitutionRecorder) -> Result<CachedURLResponse, URLError>? {
        guard let url = lookup.request.url else { return nil }
        do throws(FileProblem) {
            guard let response = try recorder.answer(lookup.request) else { return nil }
            noteServed(url, key: url.absoluteString, file: nil, response.data.count)
            return .success(response)
        } catch {
            return .failure(.unreadable(error, url))
        }
    }

    private func noteServed(_ url: URL, key: String, file: URL?, _ bytes: Int) {
        state.withLock { state in
            state.statistics.served += 1
            state.statistics.bytes += bytes
        }
        emit(.substituted(url, key: key, file: file, bytes: bytes))
    }

    /// Whether an entry is `null` for a URL.
    func excludes(_ url: URL?) -> Bool {
        url.flatMap { try? NormalizedURL($0.absoluteString) }.map { map.match($0).isExcluded } ?? false
    }

    /// What an entry gives for the target of a redirect; `nil` if none applies, or one that waits for the network to fail.
    func answer(toRedirect request: URLRequest) -> CachedURLResponse? {
        let lookup = prepare(request)
        guard let substitution = lookup.decision.applying, substitution.use != .whenOffline else { return nil }
        return try? serve(lookup, substitution, isCounted: false).get()
    }

    /// Notes that the network has answered a request for which something stood by.
    func noteForwarded(_ lookup: Lookup) {
        state.withLock { $0.statistics.forwarded += 1 }
        guard let url = lookup.request.url else { return }
        emit(.forwarded(url, key: lookup.namingEntry?.key ?? url.absoluteString))
    }

    /// Notes that the network has failed, so that what stood by answers.
    func noteFallback(_ lookup: Lookup, _ error: URLError) {
        state.withLock { $0.statistics.fellBack += 1 }
        guard let url = lookup.request.url else { return }
        emit(.fellBack(url, key: lookup.namingEntry?.key ?? url.absoluteString, reason: error.localizedDescription))
    }

    /// Notes what a recorder has made of a response.
    func note(_ outcome: Keeping.Outcome, _ lookup: Lookup) {
        guard let url = lookup.request.url else { return }
        switch outcome {
        case .kept(let file, let bytes):
            state.withLock { $0.statistics.recorded += 1 }
            emit(.recorded(url, file: file, bytes: bytes))
        case .unchanged:
            break
        case .notKept(let reason):
            emit(.notRecorded(url, reason: reason.description))
        }
    }
}
