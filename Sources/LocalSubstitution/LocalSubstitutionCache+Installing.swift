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
    /// - Parameter unmatched: What happens to requests that no entry answers. By default, they're loaded from the network.
    /// - Throws: An error if an exception of `unmatched` is neither a URL nor a match pattern, or, on Linux, if a session was used
    ///   before. On Apple platforms, the protocol may still be asked, so you only get an event if `URLSession.shared`
    ///   doesn't have the cache. On watchOS, which has no custom protocols, it also throws if `unmatched` is strict. If it
    ///   throws, nothing is installed.
    public func install(unmatched: Unmatched = .load) throws(AttachmentError) {
        try install(unmatched: unmatched, keeper: nil)
    }

    /// Installs this cache as ``install(unmatched:)`` does, with a keeper.
    package func install(unmatched: Unmatched, keeper: (any ResponseKeeper)?) throws(AttachmentError) {
        let rule = try UnmatchedRule(unmatched)
        #if os(watchOS)
        guard !rule.isStrict, keeper == nil else { throw .withoutProtocols }
        #endif
        guard Self.reachesSharedSession else { throw Self.unreachable }
        let attachment = Attachment(of: responder, to: .default, unmatched: rule, keeper: keeper)
        let (former, reason) = Self.installation.withLock { installation in
            let former = installation
            former?.undo()
            installation = Installation(cache: self, formerCache: URLCache.shared)
            InstalledProtocol.use(attachment)
            InstalledCache.ofSharedSession.use(self)
            URLCache.shared = self
            if rule.isStrict { responder.takeCacheOffline() }
            return (former, missing(in: URLSession.shared.configuration))
        }
        // Releases the former cache, if this is its last reference, only after the lock is released.
        withExtendedLifetime(former) {}
        if reason != nil { responder.observers.emit(.sharedSessionInUse()) }
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

    private static var unreachable: AttachmentError {
        #if canImport(Darwin)
        let cause = "URLProtocol.registerClass failed, so URLSession.shared doesn't use the cache. Attach it"
        #else
        let cause =
            "A session was used before the cache was installed, so URLSession.shared doesn't use it. Install it first thing in "
            + "the process, or attach it"
        #endif
        return AttachmentError(.sessionInUse, "\(cause) to the configurations of your own sessions.")
    }

    /// Whether `URLSession.shared` has the package's protocol and cache. On Linux, the session keeps those that it finds when it's
    /// first used. On Apple platforms, it's enough that the protocol is registered. They change nothing while no cache is
    /// installed.
    private static let reachesSharedSession: Bool = {
        let formerCache = URLCache.shared
        URLCache.shared = InstalledCache.ofSharedSession
        defer { URLCache.shared = formerCache }
        guard URLProtocol.registerClass(InstalledProtocol.self) else { return false }
        // The shared session is used here, while it finds both.
        let configuration = URLSession.shared.configuration
        #if canImport(Darwin)
        // Apple's sessions consult registered classes first, but don't list them. According to Apple's documentation, the shared
        // session uses the current `URLCache.shared`.
        withExtendedLifetime(configuration) {}
        #else
        guard configuration.urlCache === InstalledCache.ofSharedSession, isAskedFirst(configuration) else {
            URLProtocol.unregisterClass(InstalledProtocol.self)
            return false
        }
        #endif
        return true
    }()

    #if !canImport(Darwin)
    /// Returns whether a configuration has the package's protocol before Foundation's own. It doesn't if a session was made before.
    private static func isAskedFirst(_ configuration: URLSessionConfiguration) -> Bool {
        let own = (URLSessionConfiguration.ephemeral.protocolClasses ?? []).map { ObjectIdentifier($0) }
        let classes = (configuration.protocolClasses ?? []).map { ObjectIdentifier($0) }
        guard let position = classes.firstIndex(of: ObjectIdentifier(InstalledProtocol.self)) else { return false }
        return !classes[..<position].contains(where: own.contains)
    }
    #endif
}
