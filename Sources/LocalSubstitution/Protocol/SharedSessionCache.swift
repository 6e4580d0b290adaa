import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cache of `URLSession.shared`. That session keeps the cache that it finds at its first use, so every call goes to
/// the installed cache, or to `URLCache.shared` if none is installed.
final class SharedSessionCache: URLCache, @unchecked Sendable {
    // Unchecked, because a subclass of `URLCache` must restate the superclass's conformance. All that this class adds
    // is behind a lock, or doesn't change after `only` is initialized.

    /// The installed cache, if any. Unchecked, so that this also compiles with an SDK that doesn't declare `URLCache`
    /// Sendable.
    private struct Installed: @unchecked Sendable {
        var cache: URLCache?
    }

    static let only = SharedSessionCache(inPlaceOf: URLCache.shared)

    private let installed = Guarded(Installed())
    private let formerShared: URLCache
    private var isMade = false

    // `NSURLCache` also has NSObject's `init()`, which would trap here: it sends `self` another initializer, which this
    // class doesn't override.
    private init(inPlaceOf formerShared: URLCache) {
        self.formerShared = formerShared
        #if canImport(Darwin)
        super.init(__memoryCapacity: 0, diskCapacity: 0, directoryURL: nil)
        #else
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
        #endif
        isMade = true
    }

    /// The cache that gets the calls.
    var target: URLCache {
        if let cache = installed.withLock({ $0 }).cache { return cache }
        let shared = URLCache.shared
        return shared === self ? formerShared : shared
    }

    /// From now on, calls go to the given cache, or to `URLCache.shared` if it's `nil`.
    func use(_ cache: URLCache?) {
        let next = Installed(cache: cache)
        let former = installed.withLock { installed in
            defer { installed = next }
            return installed
        }
        withExtendedLifetime(former) {}
    }

    // MARK: Responses

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? { target.cachedResponse(for: request) }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        target.getCachedResponse(for: dataTask, completionHandler: completionHandler)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        if isStorable(cachedResponse) { target.storeCachedResponse(cachedResponse, for: request) }
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if isStorable(cachedResponse) { target.storeCachedResponse(cachedResponse, for: dataTask) }
    }

    /// Returns whether a response may be stored: only if it isn't a substitution. A substitution may arrive after its
    /// cache was uninstalled.
    private func isStorable(_ response: CachedURLResponse) -> Bool { response.response.substitutionStatus == nil }

    override func removeCachedResponse(for request: URLRequest) { target.removeCachedResponse(for: request) }

    override func removeCachedResponse(for dataTask: URLSessionDataTask) { target.removeCachedResponse(for: dataTask) }

    override func removeCachedResponses(since date: Date) { target.removeCachedResponses(since: date) }

    override func removeAllCachedResponses() { target.removeAllCachedResponses() }

    // MARK: Capacities

    // The capacities are the target's, too, since Apple's loader offers a cache only responses that are small enough
    // for its disk capacity. `URLCache`'s initializer may set them too, before `isMade` is `true`. That must not change
    // the target's capacities.

    override var memoryCapacity: Int {
        get { target.memoryCapacity }
        set { if isMade { target.memoryCapacity = newValue } }
    }

    override var diskCapacity: Int {
        get { target.diskCapacity }
        set { if isMade { target.diskCapacity = newValue } }
    }

    override var currentMemoryUsage: Int { target.currentMemoryUsage }
    override var currentDiskUsage: Int { target.currentDiskUsage }
}
