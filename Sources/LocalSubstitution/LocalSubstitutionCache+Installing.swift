import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// What was in place before a cache was installed.
    private struct Installation: Sendable {
        let cache: LocalSubstitutionCache
        /// - Parameter isInPlace: Whether the cache still is `URLCache.shared`.
        let putBack: @Sendable (_ isInPlace: Bool) -> Void
    }

    private static let installation = Guarded<Installation?>(nil)

    /// Makes `URLSession.shared` use this cache's map for every request.
    ///
    /// Sets `URLCache.shared`, and registers a protocol. Call it before the process uses any session. It doesn't reach sessions
    /// that other code makes with its own configuration: attach to those. A cache that was installed before is uninstalled.
    ///
    /// - Parameters:
    ///   - unmatched: What becomes of requests that no entry answers. By default they are loaded from the network.
    ///   - recorder: Keeps responses of the network, and answers with them when the network fails.
    /// - Throws: The errors of ``attach(to:unmatched:recorder:)``, and an error if a session was used before. Then nothing is
    ///   installed.
    public func install(
        unmatched: Unmatched = .load,
        recorder: SubstitutionRecorder? = nil
    ) throws(AttachmentError) {
        let rule = try UnmatchedRule(unmatched)
        guard Self.reachesSharedSession else {
            throw AttachmentError(
                .sessionInUse,
                "a session was used before the cache was installed, so URLSession.shared doesn't use it: install it first thing "
                    + "in the process, or attach it to the configurations of your own sessions"
            )
        }
        Self.installation.withLock { $0 }?.cache.uninstall()
        let formerCache = URLCache.shared
        let installation = Installation(cache: self) { isInPlace in
            InstalledCache.ofSharedSession.use(formerCache)
            if isInPlace { URLCache.shared = formerCache }
        }
        Self.installation.withLock { $0 = installation }
        InstalledProtocol.use(Attachment(of: responder, to: .default, unmatched: rule, recorder: recorder))
        InstalledCache.ofSharedSession.use(self)
        URLCache.shared = self
        if rule.isStrict { responder.goOffline() }
    }

    /// Puts back what was in place before this cache was installed. Does nothing if this cache isn't installed.
    public func uninstall() {
        let installation = Self.installation.withLock { installation in
            installation?.cache === self ? installation.take() : nil
        }
        guard let installation else { return }
        InstalledProtocol.use(nil)
        installation.putBack(URLCache.shared === self)
    }

    /// Whether `URLSession.shared` has our protocol and cache, which it keeps from its first use on. Without an installed cache
    /// they change nothing.
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

    /// Whether a configuration has our protocol before Foundation's own. On Linux it hasn't if a session was made before.
    private static func isAskedFirst(_ configuration: URLSessionConfiguration) -> Bool {
        #if canImport(Darwin)
        // Apple's session consults registered classes first, without listing them.
        return true
        #else
        let own = (URLSessionConfiguration.ephemeral.protocolClasses ?? []).map { ObjectIdentifier($0) }
        let classes = (configuration.protocolClasses ?? []).map { ObjectIdentifier($0) }
        guard let position = classes.firstIndex(of: ObjectIdentifier(InstalledProtocol.self)) else { return false }
        return !classes[..<position].contains(where: own.contains)
        #endif
    }
}
