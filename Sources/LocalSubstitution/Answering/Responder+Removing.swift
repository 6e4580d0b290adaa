import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is removed when a cache is told to. Entries survive: the next lookup answers by the map again.
extension Responder {
    /// Removes a request's retained response and the default cache's, and a newer copy of its entry's file.
    func remove(_ request: URLRequest) {
        if let url = request.url?.absoluteString { removeRetained(url, in: maps.map) }
        let match = Decision(request, in: maps.map).match
        if let match, match.substitution?.use == .untilUpdated { copies.removeCopy(of: match.url.canonical) }
        if let key = DefaultCacheKey.request(for: request, match?.url.text) { defaultCache.remove(under: key) }
    }

    /// Removes all retained responses, and forgets the newer copies: those that the default cache still has are found again.
    ///
    /// - Parameter removeFromDefaultCache: Removes what is to go from the default cache.
    func removeAll(_ removeFromDefaultCache: () -> Void) {
        retained.removeAll()
        removeFromDefaultCache()
        copies.removeAll()
    }
}
