import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// An installed cache, and what it replaced.
    private struct Installation: @unchecked Sendable {
        // Unchecked, so that it compiles whether or not the SDK declares `URLCache` Sendable.
        let cache: LocalSubstitutionCache
        let formerCache: URLCache

        /// Restores what the cache replaced. Leaves `URLCache.shared` alone if it has been set since.
        func undo() {
            InstalledProtocol.use(nil)
            InstalledCache.ofSharedSession.use(nil)
            if URLCache.shared === cache { URLCache.shared = formerCache }
        }
    }

    /// Locked while a cache is installed or uninstalled, since both change several globals.
    private static let installation = Guarded<Installation?>(nil)

    /// Makes `URLSession.shared` use this cache's map for every request.
    ///
    /// Sets `URLCache.shared` and registers a protocol. Call this before the process uses any session. It doesn't reach sessions
    /// that other code makes with its own configuration: attach the cache to those. A cache that was installed before is
    /// uninstalled.
    ///
    /// - Parameters:
    ///   - unmatched: What happens to requests that no entry answers. By default, they're loaded from the network.
    ///   - recorder: Keeps responses from the network, and answers with them when the network fails.
    /// - Throws: An error if an exception of `unmatched` is neither a URL nor a match pattern, or if a session was used before. On
    ///   watchOS, which has no custom protocols, also if `unmatched` is strict or there's a recorder. If it throws, nothing is
    ///   installed.
    public func install(
        unmatched: Unmatched = .load,
        recorder: SubstitutionRecorder? = nil
    ) throws(AttachmentError) {
        let rule = try UnmatchedRule(unmatched)
        #if os(watchOS)
        guard !rule.isStrict, recorder == nil else { throw .withoutProtocols }
        #endif
        guard Self.reachesSharedSession else {
            throw AttachmentError(
                .sessionInUse,
                "A session was used before the cache was installed, so URLSession.shared doesn't use it. Install it first thing "
                    + "in the process, or attach it to the configurations of your own sessions."
            )
        }
        let attachment = Attachment(of: responder, to: .default, unmatched: rule, recorder: recorder)
        let former = Self.installation.withLock { installation in
            let former = installation
            former?.undo()
            installation = Installation(cache: self, formerCache: URLCache.shared)
            InstalledProtocol.use(attachment)
            InstalledCache.ofSharedSession.use(self)
            URLCache.shared = self
            if rule.isStrict { responder.takeCacheOffline() }
            return former
        }
        // Releases the former cache, if this is its last reference, only after the lock is released.
        withExtendedLifetime(former) {}
    }

    /// The installed cache, which an app can attach to its own sessions; `nil` if none is installed.
    public static var installed: LocalSubstitutionCache? { installation.withLock { $0 }?.cache }

    /// Restores what was in place before this cache was installed. Does nothing if this cache isn't installed.
    public func uninstall() {
        let undone = Self.installation.withLock { installation -> Installation? in
            guard installation?.cache === self else { return nil }
            installation?.undo()
            return installation.take()
        }
        withExtendedLifetime(undone) {}
    }

    /// Whether `URLSession.shared` has the package's protocol and cache. The session keeps those that it finds when it's first
    /// used. They change nothing while no cache is installed.
    private static let reachesSharedSession: Bool = {
        let formerCache = URLCache.shared
        URLCache.shared = InstalledCache.ofSharedSession
        defer { URLCache.shared = formerCache }
        guard URLProtocol.registerClass(InstalledProtocol.self) else { return false }
        let configuration = URLSession.shared.configuration
        guard configuration.urlCache === InstalledCache.ofSharedSession, isAskedFirst(configuration) else {
            URLProtocol.unregisterClass(InstalledProtocol.self)
            return false
        }
        return true
    }()

    /// Returns whether a configuration has the package's protocol before Foundation's own. On Linux, it doesn't if a session was
    /// made before.
    private static func isAskedFirst(_ configuration: URLSessionConfiguration) -> Bool {
        #if canImport(Darwin)
        // Apple's sessions consult registered classes first, but don't list them.
        return true
        #else
        let own = (URLSessionConfiguration.ephemeral.protocolClasses ?? []).map { ObjectIdentifier($0) }
        let classes = (configuration.protocolClasses ?? []).map { ObjectIdentifier($0) }
        guard let position = classes.firstIndex(of: ObjectIdentifier(InstalledProtocol.self)) else { return false }
        return !classes[..<position].contains(where: own.contains)
        #endif
    }
}
