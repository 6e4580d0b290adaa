import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The responses that a cache returns if nothing is retained: an entry's, or the default cache's.
extension Responder {
    /// Returns whether ``cachedResponse(to:)`` can answer without reading a file or looking in the default cache.
    func needsNoDisk(_ lookup: Lookup) -> Bool {
        if lookup.decision.cacheObstacle == .ignoresLocalData { return true }
        return lookup.decision.cacheAnswer.map { isAtHand($0, lookup) } ?? false
    }

    func cachedResponse(to lookup: Lookup) -> CachedURLResponse? {
        reportGoneFiles(lookup)
        guard lookup.decision.cacheObstacle != .ignoresLocalData else {
            reportUnanswered(lookup, since: lookup.decision.reason)
            return nil
        }
        guard let substitution = lookup.decision.cacheAnswer, let url = lookup.request.url else {
            return defaultResponse(to: lookup, since: lookup.decision.reason)
        }
        do throws(FileProblem) {
            let response = try response(to: lookup, by: substitution)
            if let response { reportSubstituted(url, by: substitution, response) }
            return response
        } catch {
            report(error, of: substitution, url)
            return defaultResponse(to: lookup, since: "the file \(error.fragment)")
        }
    }

    private func defaultResponse(to lookup: Lookup, since reason: @autoclosure () -> String) -> CachedURLResponse? {
        let response = lookup.defaultCacheKey.flatMap(defaultCache.response(under:))
        if response != nil, lookup.decision.namingEntry == nil {
            observers.count {
                $0.lookups += 1
                $0.fallbackHits += 1
            }
            if let url = lookup.request.url { observers.emit(.fallbackHit(url)) }
        } else {
            reportUnanswered(lookup, since: reason())
        }
        return response
    }

    // MARK: Reporting

    /// Counts and reports a lookup that an entry answered.
    func reportSubstituted(_ url: URL, by substitution: Substitution, _ response: CachedURLResponse) {
        observers.countSubstituted(response.data.count)
        observers.emit(
            .substituted(url, key: substitution.key, file: substitution.fileURL, bytes: response.data.count)
        )
    }

    /// Counts and reports a lookup that no entry answered, as bypassed if an entry names its URL and otherwise as a miss.
    func reportUnanswered(_ lookup: Lookup, since reason: @autoclosure () -> String) {
        if let entry = lookup.decision.namingEntry {
            observers.count {
                $0.lookups += 1
                $0.bypassed += 1
            }
            let url = lookup.request.url ?? URL(fileURLWithPath: "/")
            observers.emit(.bypassed(url, key: entry.key, reason: reason()))
            return
        }
        observers.count {
            $0.lookups += 1
            $0.misses += 1
        }
        if let url = lookup.request.url { observers.emit(missed(url, lookup)) }
    }

    private func missed(_ url: URL, _ lookup: Lookup) -> LocalSubstitutionCache.Event {
        .missed(url, nearMisses: lookup.decision.match.map { lookup.map.storage.nearMisses(of: $0.url) } ?? [])
    }

    // MARK: Storing

    /// Stores a response in the default cache, unless an entry would answer the request or has made the response.
    func store(_ response: CachedURLResponse, for request: URLRequest) {
        guard response.response.substitutionStatus == nil else { return }
        let lookup = lookUp(request)
        guard !lookup.decision.keepsOutOfDefaultCache, let key = lookup.defaultCacheKey else { return }
        defaultCache.store(response, under: key)
    }
}
