import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The responses that `URLCache` itself has stored, for code that may outlive the cache.
///
/// The cache lends its storage, and takes it back when it's deinitialized. After that, nothing is found and nothing is stored.
final class DefaultCache: Sendable {
    /// The methods of `URLCache` that only a subclass can call, with the request as the key.
    struct Storage: Sendable {
        let find: @Sendable (URLRequest) -> CachedURLResponse?
        let store: @Sendable (CachedURLResponse, URLRequest) -> Void
        let remove: @Sendable (URLRequest) -> Void
        /// The size of the largest response that can be stored, in bytes.
        let capacity: @Sendable () -> Int
    }

    private let lent = Guarded<Storage?>(nil)
    private let emptiness: DefaultCacheEmptiness

    /// - Parameter folder: The folder in which `URLCache` keeps responses on disk, if it's known.
    init(folder: URL?) {
        emptiness = DefaultCacheEmptiness(of: folder?.path)
    }

    func lend(_ storage: Storage) { lent.withLock { $0 = storage } }
    func takeBack() { lent.withLock { $0 = nil } }

    /// Whether there's a cache to store responses in.
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
        // Linux's cache traps when it evicts a response that was stored twice under one key: the key is then in its order of
        // eviction twice (`URLCache.swift`, `evictFromMemoryCacheAssumingLockHeld`). So a stored response is removed first. Only
        // one thread at a time does this.
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
    /// The folder in which `URLCache` keeps responses on disk by default.
    ///
    /// On Linux, it's the same as in `URLCache.swift`, `init(memoryCapacity:diskCapacity:diskPath:)`, so that the folder is known.
    /// On Apple platforms, it's `nil`, and `URLCache` chooses the folder.
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
