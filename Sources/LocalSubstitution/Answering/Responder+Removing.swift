import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Removes responses when the cache is asked to. Entries survive: the next lookup answers from the map again.
extension Responder {
    /// Removes a request's retained response, its response in the default cache, and the newer copy of its entry's file.
    func remove(_ request: URLRequest) {
        if let url = request.url?.absoluteString { removeRetained(url, in: maps.map) }
        let match = Decision(request, in: maps.map).match
        if let match, match.substitution?.use == .untilUpdated { copies.removeCopy(of: match.url.canonical) }
        if let key = DefaultCache.key(for: request, match?.url.text) { defaultCache.remove(under: key) }
    }

    /// Removes all retained responses and forgets the newer copies. Those that are still in the default cache are found again.
    ///
    /// - Parameter removeFromDefaultCache: Removes responses from the default cache.
    func removeAll(_ removeFromDefaultCache: () -> Void) {
        retained.removeAll()
        removeFromDefaultCache()
        copies.removeAll()
    }
}
