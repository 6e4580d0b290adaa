import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// A cache that is installed, and what was in place before.
    private struct Installation: @unchecked Sendable {
        // Unchecked, so that it doesn't depend on whether an SDK calls `URLCache` Sendable.
        let cache: LocalSubstitutionCache
        let formerCache: URLCache

        /// Puts back what was in place before, unless `URLCache.shared` has been set since.
        func undo() {
            InstalledProtocol.use(nil)
            InstalledCache.ofSharedSession.use(nil)
            if URLCache.shared === cache { URLCache.shared = formerCache }
        }
    }

    /// Locked for the whole of installing and uninstalling: each changes several places.
    private static let installation = Guarded<Installation?>(nil)

    /// Makes `URLSession.shared` use this cache's map for every request.
    ///
    /// Sets `URLCache.shared`, and registers a protocol. Call it before the process uses any session. It doesn't reach sessions
    /// that other code makes with its own configuration: attach to those. A cache that was installed before is uninstalled.
    ///
    /// - Parameters:
    ///   - unmatched: What becomes of requests that no entry answers. By default they are loaded from the network.
    ///   - recorder: Keeps responses from the network, and answers with them when the network fails.
    /// - Throws: If `unmatched` has an invalid exception, or if a session was used before. Then nothing is
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
                "a session was used before the cache was installed, so URLSession.shared doesn't use it: install it first thing "
                    + "in the process, or attach it to the configurations of your own sessions"
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
        // Its cache may go now, which is nothing to wait for with the lock.
        withExtendedLifetime(former) {}
    }

    /// The cache that is installed, for an app's own sessions to attach; `nil` if there is none.
    public static var installed: LocalSubstitutionCache? { installation.withLock { $0 }?.cache }

    /// Puts back what was in place before this cache was installed. Does nothing if this cache isn't installed.
    public func uninstall() {
        let undone = Self.installation.withLock { installation -> Installation? in
            guard installation?.cache === self else { return nil }
            installation?.undo()
            return installation.take()
        }
        withExtendedLifetime(undone) {}
    }

    /// Whether `URLSession.shared` has the package's protocol and cache. It keeps those that it finds at its first use. While no
    /// cache is installed, they change nothing.
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
