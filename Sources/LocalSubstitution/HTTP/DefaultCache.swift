import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What `URLCache` itself has stored, for code that may outlive the cache.
///
/// The cache lends its storage and takes it back when it goes. Without it, nothing is found and nothing is stored.
final class DefaultCache: Sendable {
    /// The calls of `URLCache` that only a subclass can make, with the request as the key.
    struct Storage: Sendable {
        let find: @Sendable (URLRequest) -> CachedURLResponse?
        let store: @Sendable (CachedURLResponse, URLRequest) -> Void
        let remove: @Sendable (URLRequest) -> Void
        /// The most bytes that a response may have to be stored.
        let capacity: @Sendable () -> Int
    }

    private let lent = Guarded<Storage?>(nil)
    private let emptiness: DefaultCacheEmptiness

    /// - Parameter folder: Where `URLCache` keeps responses on disk, if that is known.
    init(folder: URL?) {
        emptiness = DefaultCacheEmptiness(of: folder?.path)
    }

    func lend(_ storage: Storage) { lent.withLock { $0 = storage } }
    func takeBack() { lent.withLock { $0 = nil } }

    /// Whether there's a cache in which something can be stored.
    var isLent: Bool { storage != nil }
    var capacity: Int { storage?.capacity() ?? 0 }

    func response(under key: URLRequest) -> CachedURLResponse? {
        emptiness.unlessEmpty { storage?.find(key) }
    }

    func remove(under key: URLRequest) { storage?.remove(key) }

    func store(_ response: CachedURLResponse, under key: URLRequest) {
        guard let storage else { return }
        emptiness.end()
        #if canImport(Darwin)
        storage.store(response, key)
        #else
        // Stored twice under one key, a response makes Linux's cache trap when it evicts it: the key then stands twice in its
        // order of eviction (`URLCache.swift`, `evictFromMemoryCacheAssumingLockHeld`). So it is removed first, one at a time.
        storing.withLock { _ in
            storage.remove(key)
            storage.store(response, key)
        }
        #endif
    }

    private var storage: Storage? { lent.withLock { $0 } }

    #if !canImport(Darwin)
    private let storing = Guarded(())
    #endif
}

extension DefaultCache {
    /// The folder in which `URLCache` keeps responses on disk unless it is told another.
    ///
    /// On Linux the same as in `URLCache.swift`, `init(memoryCapacity:diskCapacity:diskPath:)`, so that the folder is known. On
    /// Apple platforms `nil`, which leaves it to `URLCache`.
    static var standardFolder: URL? {
        #if canImport(Darwin)
        return nil
        #else
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        let name = (Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName).map {
            "/\\:".contains($0) ? "_" : $0
        }
        return caches?.appendingPathComponent("org.swift.foundation.URLCache", isDirectory: true)
            .appendingPathComponent(String(name), isDirectory: true)
        #endif
    }
}
