import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Access to the responses that `URLCache` itself has stored, for code that may outlive the cache.
///
/// The cache lends its storage to this object, and takes it back in its `deinit`. Afterward, lookups find nothing, and
/// nothing is stored.
final class DefaultCache: Sendable {
    /// `URLCache`'s own methods, which the cache overrides, so that only the cache can call them. The request is the
    /// key.
    struct Storage: Sendable {
        let find: @Sendable (URLRequest) -> CachedURLResponse?
        let store: @Sendable (CachedURLResponse, URLRequest) -> Void
        let remove: @Sendable (URLRequest) -> Void
        /// The larger of the memory and disk capacities, in bytes. A longer response can't be stored.
        let capacity: @Sendable () -> Int
    }

    private let lent = Guarded<Storage?>(nil)
    /// The folder whose status shows whether `URLCache` is empty; `nil` to ask `URLCache` in every lookup.
    private let folder: String?
    private let emptiness = Guarded(Emptiness.unknown)
    private let traits: LoaderTraits
    /// Held while a response is stored, if an older one must be removed first.
    private let storing = Guarded(())

    /// - Parameter folder: The folder in which `URLCache` stores responses on disk; `nil` if that isn't known.
    init(folder: URL?, _ traits: LoaderTraits) {
        self.folder = traits.contains(.storageIsFolder) ? folder?.path : nil
        self.traits = traits
    }

    func lend(_ storage: Storage) { lent.withLock { $0 = storage } }
    func takeBack() { lent.withLock { $0 = nil } }

    /// Whether the cache still lends its storage.
    var isLent: Bool { storage != nil }
    var capacity: Int { storage?.capacity() ?? 0 }

    /// - Parameter key: `nil` if nothing can be stored under a key. It's evaluated only if the cache may have responses,
    ///   since making a key takes longer than that check.
    func response(under key: @autoclosure () -> URLRequest?) -> CachedURLResponse? {
        guard let folder else { return find(key()) }
        let known = emptiness.withLock { $0 }
        if case .ended = known { return find(key()) }
        let status = FileStatus(path: folder)
        if case .empty(status) = known { return nil }
        guard let key = key() else { return nil }
        let found = find(key)
        if found == nil { noteEmpty(folder, status) }
        return found
    }

    func remove(under key: URLRequest) { storage?.remove(key) }

    func store(_ response: CachedURLResponse, under key: URLRequest) {
        guard let storage else { return }
        emptiness.withLock { $0 = .ended }
        guard traits.contains(.trapsAfterStoringTwice) else { return storage.store(response, key) }
        // If a key is stored twice, Linux's cache lists it twice in its order of eviction, and traps when it evicts it
        // (`URLCache.swift`, `evictFromMemoryCacheAssumingLockHeld`). So an older response is removed first. The lock keeps
        // other threads from storing in between.
        storing.withLock { _ in
            storage.remove(key)
            storage.store(response, key)
        }
    }

    private func find(_ key: URLRequest?) -> CachedURLResponse? { key.flatMap { key in storage?.find(key) } }

    private var storage: Storage? { lent.withLock { $0 } }
}

extension DefaultCache {
    /// The folder in which `URLCache` stores responses on disk by default; `nil` to let `URLCache` choose it.
    ///
    /// Linux's `URLCache` chooses the same folder (`URLCache.swift`, `init(memoryCapacity:diskCapacity:diskPath:)`).
    static func standardFolder(_ traits: LoaderTraits) -> URL? {
        guard traits.contains(.storageIsFolder) else { return nil }
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        let name = (Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName).map {
            "/\\:".contains($0) ? "_" : $0
        }
        return caches?.appendingPathComponent("org.swift.foundation.URLCache", isDirectory: true)
            .appendingPathComponent(String(name), isDirectory: true)
    }

    // MARK: Keys

    /// `nil` if the response can't be stored. A key is a request, by default the request itself.
    ///
    /// Linux's `URLCache` compares only host, port and path (`URLCache.swift`, `identifier(for:)`), so URLs that differ
    /// only in scheme or query would share a response. Also, it doesn't store a response on disk if the path is long. So
    /// the key's path there is a digest of the URL's normal form, and only `http` and `https` URLs have a key. The key is
    /// short because each of its bytes costs time: see the benchmark “misses”.
    ///
    /// - Parameter normalized: The request's URL in normal form; `nil` if the URL has no normal form.
    func key(for request: URLRequest, _ normalized: String?) -> URLRequest? {
        guard traits.contains(.storesByPath) else { return request }
        guard let text = normalized ?? request.url.flatMap(Self.textWithUserInfo) else { return nil }
        return URL(string: "http://h/" + Digest.base64(of: text)).map { URLRequest(url: $0) }
    }

    /// `nil` for a URL without user info. A URL with user info has no normal form. It needs its own key, since the
    /// server may respond differently without the user info.
    private static func textWithUserInfo(_ url: URL) -> String? {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https", url.user != nil else {
            return nil
        }
        return String(url.absoluteString.prefix { $0 != "#" })
    }
}

extension DefaultCache {
    /// Whether `URLCache` is empty, as far as that's known. A lookup doesn't search a cache that's certainly empty.
    ///
    /// Linux's `URLCache` lists its folder for every response that it doesn't find in memory. Linux's loader never
    /// stores a response by itself, so the folder is nearly always empty. The folder's status shows whether that has
    /// changed, even if another process or another cache stores responses there.
    private enum Emptiness: Sendable {
        case unknown
        /// The folder had no responses when it had this status; `nil` if the folder didn't exist.
        case empty(FileStatus?)
        /// A response was stored, perhaps only in memory, so `URLCache` must be asked from now on.
        case ended
    }

    /// Notes that the cache is empty, if that's certain. Call this after a search that found nothing.
    ///
    /// - Parameter status: The folder's status before the search; `nil` if the folder didn't exist then.
    private func noteEmpty(_ folder: String, _ status: FileStatus?) {
        if let status {
            // The status might not show a response that was stored within a tick of the file system's clock. And a
            // folder that can't be listed, perhaps because the process has no descriptor left, may contain anything.
            guard !status.isTooFresh(at: System.now),
                let names = try? FileManager.default.contentsOfDirectory(atPath: folder), names.isEmpty
            else { return }
        }
        emptiness.withLock { if case .ended = $0 {} else { $0 = .empty(status) } }
    }
}
