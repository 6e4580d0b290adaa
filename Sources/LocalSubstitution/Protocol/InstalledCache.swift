import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cache of `URLSession.shared`, which keeps the one that it finds when it's first used. Passes every call on to the cache
/// that is installed, or else to the one that was there before.
final class InstalledCache: URLCache, @unchecked Sendable {
    // Unchecked, because a subclass of `URLCache` has to restate what its superclass says. All that it adds is Sendable.

    /// `URLCache` may be used from any thread, though Apple doesn't call it Sendable.
    private struct Target: @unchecked Sendable {
        let cache: URLCache
    }

    static let ofSharedSession = InstalledCache()

    private let current: Guarded<Target>

    private init() {
        current = Guarded(Target(cache: URLCache.shared))
        #if canImport(Darwin)
        super.init(memoryCapacity: 0, diskCapacity: 0, directory: nil)
        #else
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
        #endif
    }

    private var target: URLCache { current.withLock { $0 }.cache }

    /// Passes calls on to another cache from now on.
    func use(_ cache: URLCache) {
        let (former, target) = (current.withLock { $0 }, Target(cache: cache))
        current.withLock { $0 = target }
        withExtendedLifetime(former) {}
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? { target.cachedResponse(for: request) }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        target.getCachedResponse(for: dataTask, completionHandler: completionHandler)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        target.storeCachedResponse(cachedResponse, for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        target.storeCachedResponse(cachedResponse, for: dataTask)
    }

    override func removeCachedResponse(for request: URLRequest) { target.removeCachedResponse(for: request) }

    override func removeCachedResponse(for dataTask: URLSessionDataTask) { target.removeCachedResponse(for: dataTask) }

    override func removeCachedResponses(since date: Date) { target.removeCachedResponses(since: date) }

    override func removeAllCachedResponses() { target.removeAllCachedResponses() }
}
