import Guarded

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension LocalSubstitutionCache {
    /// An installed cache, and the `URLCache.shared` that it replaced.
    private struct Installation: @unchecked Sendable {
        // Unchecked, so that this also compiles with an SDK that doesn't declare `URLCache` Sendable.
        let cache: LocalSubstitutionCache
        let formerCache: URLCache

        /// Restores the former `URLCache.shared`, unless another cache has been set since.
        func undo() {
            InstalledProtocol.use(nil)
            SharedSessionCache.only.use(nil)
            if URLCache.shared === cache { URLCache.shared = formerCache }
        }
    }

    /// Installing and uninstalling hold the lock, since both change several globals.
    private static let installation = Guarded<Installation?>(nil)

    /// Makes `URLSession.shared` use this cache's map for every request.
    ///
    /// ```swift
    /// try LocalSubstitutionCache(bundle: .main).install()
    /// let (data, response) = try await URLSession.shared.data(from: url)
    /// ```
    ///
    /// Call this before the process uses any session. A session with its own configuration doesn't use an installed
    /// cache: attach the cache to that configuration. This method sets `URLCache.shared` and registers a protocol. If
    /// another cache is installed, it's uninstalled first.
    ///
    /// On Apple platforms, this method doesn't throw if `URLSession.shared` already has another cache, because the
    /// protocol may still respond. The cache then reports the event `sharedSessionInUse`. If `URLSession.shared` uses
    /// the newer of Apple's two loaders, which might not use the protocol, the cache reports the event `newerLoader`.
    ///
    /// - Parameter unmatched: What happens to requests that no entry matches. By default, they're loaded from the
    ///   network.
    /// - Throws: An error if an allowed URL of `unmatched` is neither a URL nor a match pattern. On Linux, also if the
    ///   process has already used a session. On watchOS, which has no custom URL protocols, also if `unmatched` isn't
    ///   `.load`. After an error, nothing has changed.
    public func install(unmatched: Unmatched = .load) throws(AttachmentError) {
        try install(unmatched: unmatched, responseRecorder: nil)
    }

    package func install(unmatched: Unmatched, responseRecorder recorder: (any ResponseRecorder)?)
        throws(AttachmentError)
    {
        let rules = try SessionRules(unmatched, recorder: recorder)
        if !responder.traits.contains(.hasProtocols), rules.isStrict || recorder != nil { throw .withoutProtocols }
        guard Self.reachesSharedSession else { throw Self.unreachable(responder.traits) }
        let attachment = attachment(to: .default, rules: rules)
        let (former, reason) = Self.installation.withLock { installation in
            let former = installation
            former?.undo()
            installation = Installation(cache: self, formerCache: URLCache.shared)
            InstalledProtocol.use(attachment)
            SharedSessionCache.only.use(self)
            URLCache.shared = self
            return (former, missing(in: URLSession.shared.configuration))
        }
        // Keeps the former cache until here, so that its `deinit` doesn't run while the lock is held.
        withExtendedLifetime(former) {}
        if responder.traits.contains(.hasProtocols), URLSession.shared.configuration.usesNewerLoader(responder.traits) {
            let reason = Verification.Reason.newerLoaderOfSharedSession.description
            responder.observers.emit(Event(kind: .newerLoader, url: nil, reason: reason))
        }
        if reason != nil {
            let advice =
                "URLSession.shared has another cache, probably because the process used that session first. Call verify(_:) to see "
                + "whether the installed protocol responds anyway. If not, install the cache before the process uses any session."
            responder.observers.emit(Event(kind: .sharedSessionInUse, url: nil, reason: advice))
        }
    }

    /// The installed cache; `nil` if no cache is installed. Attach it to the configurations of your own sessions:
    ///
    /// ```swift
    /// try LocalSubstitutionCache.installed?.attach(to: configuration)
    /// ```
    public static var installed: LocalSubstitutionCache? { installation.withLock { $0 }?.cache }

    /// Uninstalls this cache. `URLCache.shared` becomes the cache that was replaced, unless other code has set a
    /// different cache since. Does nothing if this cache isn't installed.
    public func uninstall() {
        let undone = Self.installation.withLock { installation -> Installation? in
            guard installation?.cache === self else { return nil }
            installation?.undo()
            return installation.take()
        }
        withExtendedLifetime(undone) {}
    }

    static func unreachable(_ traits: LoaderTraits) -> AttachmentError {
        let cause =
            traits.contains(.sharedSessionKeepsItsCache)
            ? "A session was used before the cache was installed, so URLSession.shared doesn't use the cache. Install "
                + "the cache before the process uses any session, or attach it"
            : "URLProtocol.registerClass failed, so URLSession.shared doesn't use the cache. Attach the cache"
        return AttachmentError(.sessionInUse, "\(cause) to the configurations of your own sessions.")
    }

    /// Makes `URLSession.shared` use this cache's map for some requests, whether or not a cache is installed. Call this
    /// only if ``reachesSharedSession`` is `true`.
    ///
    /// - Parameters:
    ///   - unmatched: What happens to requests that use the map, but that no entry matches.
    ///   - listener: A listener for the requests that use the map.
    ///   - takes: Returns whether a request uses the map. On Linux, it's called on the thread that resumes the
    ///     request's task.
    /// - Returns: A closure that makes the session stop using the map.
    /// - Throws: An error if an allowed URL of `unmatched` is neither a URL nor a match pattern.
    package func answerSharedSession(
        unmatched: Unmatched,
        listener: SessionRules.Listener,
        takes: @escaping @Sendable (URLRequest) -> Bool
    ) throws(AttachmentError) -> @Sendable () -> Void {
        let rules = try SessionRules(unmatched, listener: listener)
        return SharedSessionProtocol.use(attachment(to: .default, rules: rules), takes: takes)
    }

    /// Calls a closure with each request of `URLSession.shared` that no test's map intercepts, although an entry of
    /// this cache's map would respond, or may respond once the request's body is read. It may be called several times
    /// for a request. Returns a closure that ends this.
    package func watchSharedSession(
        _ witness: @escaping @Sendable (URLRequest) -> Void
    ) -> @Sendable () -> Void {
        SharedSessionProtocol.watch { [responder] request in
            let body = RequestFacts.Body.onLoaderQueue(request)
            if responder.lookUp(request, body: body, rules: .load).hasEntry { witness(request) }
        }
    }

    /// Whether `URLSession.shared` can use the package's protocols and cache. The first access registers the protocols
    /// and uses the session. `false` on Linux if a session was used before the first access.
    package static let reachesSharedSession = prepareSharedSession(.current)

    /// Registers the protocols, and lets `URLSession.shared` keep the cache if it keeps what it finds at its first use.
    /// Otherwise, it's enough to register the protocols. They have no effect unless a cache is installed or a test uses
    /// the session.
    ///
    /// - Returns: Whether the session can use the protocols and the cache.
    static func prepareSharedSession(_ traits: LoaderTraits) -> Bool {
        let formerCache = URLCache.shared
        URLCache.shared = SharedSessionCache.only
        defer { URLCache.shared = formerCache }
        let protocols = protocolsToRegister(traits)
        guard protocols.allSatisfy({ URLProtocol.registerClass($0) }) else { return false }
        // Uses the shared session now, so that it keeps the protocols and the cache.
        let configuration = URLSession.shared.configuration
        guard traits.contains(.sharedSessionKeepsItsCache) else { return true }
        guard configuration.urlCache === SharedSessionCache.only, isAskedFirst(configuration) else {
            for one in protocols { URLProtocol.unregisterClass(one) }
            return false
        }
        return true
    }

    /// Returns the protocols for `URLSession.shared`, in the order of their registration. The one of tests is asked first.
    static func protocolsToRegister(_ traits: LoaderTraits) -> [SubstitutionURLProtocol.Type] {
        // Where registered protocols are asked first, the last one is the first of them.
        traits.contains(.asksRegisteredProtocolsFirst)
            ? [InstalledProtocol.self, SharedSessionProtocol.self]
            : [SharedSessionProtocol.self, InstalledProtocol.self]
    }

    /// Returns whether a configuration lists the package's protocol before Foundation's protocols. Returns `false` if a
    /// session was made before the protocol was registered.
    private static func isAskedFirst(_ configuration: URLSessionConfiguration) -> Bool {
        let own = (URLSessionConfiguration.ephemeral.protocolClasses ?? [])
            .filter { !($0 is SubstitutionURLProtocol.Type) }.map { ObjectIdentifier($0) }
        let classes = (configuration.protocolClasses ?? []).map { ObjectIdentifier($0) }
        guard let position = classes.firstIndex(of: ObjectIdentifier(InstalledProtocol.self)) else { return false }
        return !classes[..<position].contains(where: own.contains)
    }
}

extension LocalSubstitutionCache {
    /// Installs a cache whose map is given in the process's environment, for example by a UI test. Call this before the
    /// process does anything else.
    ///
    /// ```swift
    /// try LocalSubstitutionCache.installFromEnvironment()
    /// ```
    ///
    /// The variable `LOCAL_SUBSTITUTION_MAP` contains one of these:
    ///
    /// - The path of a map file. The path contains a slash or ends in `.json`. The map is reloaded when the file
    ///   changes.
    /// - The name of a map in the main bundle.
    /// - The map itself: JSON that begins with `{`. Use this on a device, where an app can't read the test runner's
    ///   files. The entries' files are in the main bundle, in the same folder as those of a map in the bundle.
    ///
    /// With `LOCAL_SUBSTITUTION_UNMATCHED=fail`, requests that no entry matches fail. Without the variable, or with
    /// `load`, they're loaded from the network. In both cases, the installed cache prints a line to standard error for
    /// each request that reaches it and gets no response from it. If your code makes its own sessions, attach
    /// ``installed`` to their configurations.
    ///
    /// - Parameters:
    ///   - allowInRelease: Whether to install the cache even in a build without `DEBUG`, such as the one that your
    ///     users have; `false` by default.
    ///   - handlers: The handlers by name. An entry's field `handler` contains such a name. Empty by default.
    /// - Returns: The cache. Returns `nil` and does nothing if the variable isn't set, or if the build has no `DEBUG`
    ///   and `allowInRelease` is `false`.
    /// - Throws: A ``SubstitutionMapError`` that lists every problem with the map. Throws an ``AttachmentError`` if
    ///   `LOCAL_SUBSTITUTION_UNMATCHED` is neither `fail` nor `load`, and the errors of ``install(unmatched:)``. After
    ///   an error, nothing is installed.
    @discardableResult
    public static func installFromEnvironment(
        allowInRelease: Bool = false,
        handlers: [String: SubstitutionMap.Handler] = [:]
    ) throws -> LocalSubstitutionCache? {
        #if DEBUG
        let isAllowed = true
        #else
        let isAllowed = allowInRelease
        #endif
        return try install(from: ProcessInfo.processInfo.environment, isAllowed: isAllowed, handlers: handlers)
    }

    static func install(
        from environment: [String: String],
        isAllowed: Bool,
        handlers: [String: SubstitutionMap.Handler] = [:]
    ) throws -> LocalSubstitutionCache? {
        let name = environment["LOCAL_SUBSTITUTION_MAP"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        guard isAllowed, !name.isEmpty else { return nil }
        let unmatched = try unmatched(environment["LOCAL_SUBSTITUTION_UNMATCHED"])
        let cache = try cache(named: name, handlers)
        cache.hear { event in
            guard [.missed, .bypassed, .failed, .sharedSessionInUse, .newerLoader].contains(event.kind) else { return }
            FileHandle.standardError.write(Data(utf8: "LocalSubstitution: \(event)\n"))
        }
        try cache.install(unmatched: unmatched)
        return cache
    }

    private static func cache(
        named name: String,
        _ handlers: [String: SubstitutionMap.Handler]
    ) throws(SubstitutionMapError) -> LocalSubstitutionCache {
        if name.hasPrefix("{") {
            // The files are where those of a map in the bundle are.
            let map = Bundle.main.resourceURL?.appendingPathComponent("substitutions.json", isDirectory: false)
            let folder = map.map { ResourcesFolder(beside: $0, or: nil).url }
            let json = Data(utf8: name)
            return LocalSubstitutionCache(map: try SubstitutionMap(json: json, resources: folder, handlers: handlers))
        }
        guard name.contains("/") || name.hasSuffix(".json") else {
            return try LocalSubstitutionCache(bundle: .main, named: name, handlers: handlers)
        }
        return try LocalSubstitutionCache(contentsOf: URL(fileURLWithPath: name), handlers: handlers)
    }

    private static func unmatched(_ value: String?) throws(AttachmentError) -> Unmatched {
        switch value {
        case nil, "", "load": return .load
        case "fail": return .fail
        case .some(let value):
            throw AttachmentError(
                .invalidUnmatched,
                "LOCAL_SUBSTITUTION_UNMATCHED is “\(value)”. Set it to “fail” or “load”."
            )
        }
    }
}
