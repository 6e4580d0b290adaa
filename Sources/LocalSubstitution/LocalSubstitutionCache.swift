public import Foundation
import Guarded

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A `URLCache` with a map of URLs to responses. It responds to each request that an entry of the map matches, with a
/// local file or with what the map itself contains.
///
/// All other requests go to the default cache, which is `URLCache`'s own storage, and to the network.
///
/// Install the cache once, before the process uses any session. Your networking code doesn't change:
/// ```swift
/// try LocalSubstitutionCache(bundle: .main).install()
/// ```
/// An installed cache responds to everything that this process loads with `URLSession.shared`. For a session with its
/// own configuration, call ``attach(to:unmatched:)`` before you make the session. You can use the cache from any
/// thread.
public final class LocalSubstitutionCache: URLCache, @unchecked Sendable {
    // Unchecked, because a subclass of `URLCache` must restate the superclass's conformance. All that this class adds
    // is Sendable.

    let responder: Responder
    /// The loader for ``answer(to:)``, created at first use.
    private let loader = Guarded<DirectLoader?>(nil)
    /// A test's rules for clients other than URLSession; `nil` outside a test.
    let rulesOfTest = Guarded<SessionRules?>(nil)
    /// The protocol classes of this cache's attached sessions.
    let slots = Guarded<[SubstitutionURLProtocol.Type]>([])

    /// Creates a cache with a map.
    ///
    /// - Parameters:
    ///   - map: The map.
    ///   - reloadsChanges: Whether changes to the map's file and the entries' files take effect at the next request;
    ///     `false` by default. If you made the map in code, only the entries' files are watched.
    ///   - memoryCapacity: The default cache's memory capacity, in bytes; 4 MiB by default. The map's responses in
    ///     memory have a separate limit.
    ///   - diskCapacity: The default cache's disk capacity, in bytes; 20 MiB by default.
    ///   - directory: The default cache's folder. By default, the folder that `URLCache` chooses.
    public convenience init(
        map: SubstitutionMap,
        reloadsChanges: Bool = false,
        memoryCapacity: Int = 4 << 20,
        diskCapacity: Int = 20 << 20,
        directory: URL? = nil
    ) {
        self.init(
            map: map,
            reloadsChanges: reloadsChanges,
            memoryCapacity: memoryCapacity,
            diskCapacity: diskCapacity,
            directory: directory,
            traits: .current
        )
    }

    /// Creates a cache for a loader with other traits than the platform's.
    @inline(never)  // Otherwise, the other initializers would each contain a copy.
    package init(
        map: SubstitutionMap,
        reloadsChanges: Bool = false,
        memoryCapacity: Int = 4 << 20,
        diskCapacity: Int = 20 << 20,
        directory: URL? = nil,
        traits: LoaderTraits
    ) {
        let directory = directory ?? DefaultCache.standardFolder(traits)
        let maps = MapInUse(map, reloadsChanges: reloadsChanges)
        responder = Responder(maps, defaultCacheIn: directory, traits: traits)
        #if canImport(Darwin)
        // The initializer with `directory` is a convenience initializer of Apple's overlay, which a subclass can't call
        // here.
        super.init(__memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directoryURL: directory)
        #else
        // On Linux, a subclass of `URLCache` can't call any other initializer.
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directory?.path)
        #endif
        responder.defaultCache.lend(
            DefaultCache.Storage(
                find: { [weak self] in self?.storedResponse(for: $0) },
                store: { [weak self] in self?.storeInDefaultCache($0, for: $1) },
                remove: { [weak self] in self?.removeFromDefaultCache($0) },
                capacity: { [weak self] in self.map { max($0.memoryCapacity, $0.diskCapacity) } ?? 0 }
            )
        )
    }

    /// Creates a cache with a map file. By default, changes to the map and the entries' files take effect at the next
    /// request.
    ///
    /// - Parameters:
    ///   - mapFile: The map, a JSON file.
    ///   - resources: The folder with the entries' files. By default, the folder `Substitutes` beside the map, or else
    ///     the folder `Resources` there. If neither exists, the map's own folder is used.
    ///   - invalidEntries: What happens to entries with mistakes. By default, any problem is an error.
    ///   - handlers: The handlers by name. An entry's field `handler` contains such a name. Empty by default.
    ///   - reloadsChanges: Whether changes to the map's file and the entries' files take effect at the next request;
    ///     `true` by default. With `false`, requests don't look at the files again, which saves time.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public convenience init(
        contentsOf mapFile: URL,
        resources: URL? = nil,
        invalidEntries: SubstitutionMap.InvalidEntries = .reject,
        handlers: [String: SubstitutionMap.Handler] = [:],
        reloadsChanges: Bool = true
    ) throws(SubstitutionMapError) {
        let map = try SubstitutionMap(
            contentsOf: mapFile,
            resources: resources,
            invalidEntries: invalidEntries,
            handlers: handlers
        )
        self.init(map: map, reloadsChanges: reloadsChanges)
    }

    /// Creates a cache with the map in a bundle. Files of 64 KiB and more are mapped into memory instead of being read,
    /// unless `reloadsChanges` is `true`.
    ///
    /// - Parameters:
    ///   - bundle: The bundle.
    ///   - name: The map's name, without its extension `json`; `substitutions` by default.
    ///   - invalidEntries: What happens to entries with mistakes. By default, any problem is an error.
    ///   - handlers: The handlers by name. An entry's field `handler` contains such a name. Empty by default.
    ///   - reloadsChanges: Whether changes to the map's file and the entries' files take effect at the next request;
    ///     `false` by default, since nothing changes an installed bundle.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public convenience init(
        bundle: Bundle,
        named name: String = "substitutions",
        invalidEntries: SubstitutionMap.InvalidEntries = .reject,
        handlers: [String: SubstitutionMap.Handler] = [:],
        reloadsChanges: Bool = false
    ) throws(SubstitutionMapError) {
        let map = try SubstitutionMap(bundle: bundle, named: name, invalidEntries: invalidEntries, handlers: handlers)
        self.init(map: map, reloadsChanges: reloadsChanges)
    }

    deinit {
        responder.defaultCache.takeBack()
        responder.observers.end()
        Slots.release(slots.withLock { $0 })
    }

    // MARK: Map, counts and events

    /// The map in use.
    ///
    /// Setting another map is atomic. It removes all responses in memory, and resets the counts of `times` and
    /// ``unusedEntries``.
    public var map: SubstitutionMap {
        get { responder.maps.map }
        set { responder.use(newValue) }
    }

    /// Counts of what the cache has done so far.
    public var statistics: Statistics { responder.statistics }

    /// Returns a stream of everything that the cache does from now on, in order.
    ///
    /// ```swift
    /// let events = cache.events()
    /// Task {
    ///     for await event in events { print(event) }
    /// }
    /// ```
    ///
    /// Each call returns a new stream, for a single listener. The cache adds an event to the stream before the session
    /// receives the response. The stream doesn't keep the cache alive, and ends when the cache is deallocated.
    ///
    /// - Parameter limit: The maximum number of events to buffer; 10,000 by default. If the listener falls further
    ///   behind, the oldest events are dropped.
    public func events(bufferingNewest limit: Int = 10_000) -> AsyncStream<Event> {
        responder.events(bufferingNewest: limit)
    }

    /// Calls a closure with each event, on the thread where the event occurs and before the response is delivered.
    package func hear(_ listener: @escaping @Sendable (Event) -> Void) { responder.hear(listener) }

    /// Calls a closure when the map is reloaded or fails to reload, on the thread that reloads it.
    package func hearReloads(_ listener: @escaping @Sendable (Event) -> Void) { responder.hearReloads(listener) }

    /// The entries and alternatives that haven't responded to a request since the map was set or reloaded. `null` and
    /// disabled entries are left out.
    public var unusedEntries: [SubstitutionMap.EntryReference] { responder.maps.layers.unusedEntries }

    package var layers: MapLayers { responder.maps.layers }

    /// Changes a test's layers, and removes all responses from memory.
    package func change(_ layers: (inout MapLayers) -> Void) { responder.change(layers) }

    /// Returns what responds to a request with the current map, in an attached session and cache only, and why.
    ///
    /// ```swift
    /// let explanation = cache.explain(request)
    /// print(explanation)
    /// if explanation.cacheOnly.outcome != .matched { print("Attach the cache: \(explanation.cacheOnly.reason)") }
    /// ```
    ///
    /// Nothing is loaded or changed, and the explanation isn't counted as a request.
    public func explain(_ request: URLRequest) -> Explanation { responder.explain(request) }

    /// Returns the response that an attached session would get, for code that doesn't use URLSession. Returns `nil` if
    /// your code must load the request itself, for example because no entry matches it.
    ///
    /// ```swift
    /// if let (data, response) = try await cache.answer(to: request) {
    ///     print(response.statusCode, data.count)
    /// } else {
    ///     print("no entry matches: load the request yourself")
    /// }
    /// ```
    ///
    /// Delays, conditions, handlers, redirects, statistics and events work as in a session. Forwarded requests use the
    /// default configuration. A streamed response is returned whole.
    ///
    /// A redirect is followed if an entry matches its target, and if the redirect's own entry allows it: see
    /// ``SubstitutionMap/Answer/follow(_:)``. Otherwise, the redirect itself is returned.
    ///
    /// With a test's cache, the request is one of the test's requests. If no entry matches it, the test gets an issue. If
    /// you get `nil` then, throw an error, so that nothing reaches the real server.
    ///
    /// - Parameter request: The request. Set its body as `httpBody`; a stream isn't read.
    /// - Throws: A `URLError`. It's the error of the entry, its handler or the network, or says why a file can't be read.
    ///   If the Swift task was cancelled, it's `cancelled`.
    public func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse)? {
        let loader = loader.withLock { loader in
            let rules = rulesOfTest.withLock { $0 } ?? .load
            let made = loader ?? DirectLoader(responder, .default, rules: rules, for: .caller)
            loader = made
            return made
        }
        return try await loader.answer(to: request)
    }

    // MARK: Looking up

    /// Returns an entry's response to a request. If no entry responds, returns the default cache's response, or `nil`
    /// if that cache has none.
    ///
    /// The first lookup that needs a file reads it on the caller's thread.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        responder.cachedResponse(to: request)
    }

    /// Calls the completion handler with the response to a data task's current request, or with `nil` if the cache has
    /// no response.
    ///
    /// If this needs neither a file nor the default cache, the handler is called at once. Otherwise, it's called on
    /// another queue.
    public override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let request = dataTask.currentRequest else { return completionHandler(nil) }
        responder.cachedResponse(to: request, completionHandler)
    }

    // MARK: Storing and removing

    /// Stores a response in the default cache. Does nothing if an entry made the response, or would respond to the
    /// request.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        responder.store(cachedResponse, for: request)
    }

    /// Stores a response in the default cache. Does nothing if an entry made the response, or would respond to the
    /// task's current request.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { responder.store(cachedResponse, for: request) }
    }

    /// Removes a request's response in memory, its response in the default cache, and the refreshed file of its
    /// `untilUpdated` entry. The map stays, so the next lookup uses it again.
    public override func removeCachedResponse(for request: URLRequest) { responder.remove(request) }

    /// Removes the responses to a task's current request; see ``removeCachedResponse(for:)-(URLRequest)``.
    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { responder.remove(request) }
    }

    /// Removes all responses in memory and everything in the default cache, including the refreshed files of
    /// `untilUpdated` entries. The map stays.
    public override func removeAllCachedResponses() {
        responder.removeAll { super.removeAllCachedResponses() }
    }

    /// Removes all responses in memory. From the default cache, removes what was stored after a date: responses, and
    /// refreshed files of `untilUpdated` entries.
    public override func removeCachedResponses(since date: Date) {
        responder.removeAll { super.removeCachedResponses(since: date) }
    }

    // MARK: The default cache

    private func storedResponse(for key: URLRequest) -> CachedURLResponse? { super.cachedResponse(for: key) }
    private func removeFromDefaultCache(_ key: URLRequest) { super.removeCachedResponse(for: key) }
    private func storeInDefaultCache(_ response: CachedURLResponse, for key: URLRequest) {
        super.storeCachedResponse(response, for: key)
    }
}
