import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A `URLCache` that answers requests for the URLs that a map names from local files, and leaves all others to the default
/// cache and the network.
///
/// Set it once, before the first request, and change no networking code:
/// ```swift
/// URLCache.shared = try LocalSubstitutionCache(bundle: .main)
/// ```
/// It works for what loads through `URLSession` in this process, with `URLSession.shared` or a configuration made afterwards.
/// It may be used from any thread.
public final class LocalSubstitutionCache: URLCache, @unchecked Sendable {
    // Unchecked, because a subclass of `URLCache` has to restate what its superclass says. All that it adds is Sendable.

    let responder: Responder

    /// Creates a cache with a map.
    ///
    /// - Parameters:
    ///   - map: The map.
    ///   - reloadsChanges: Whether a changed map or file is used from the next request on. For a map that was made in code, only
    ///     the entries' files are watched.
    ///   - memoryCapacity: The default cache's memory capacity, in bytes; 4 MiB by default. Retained responses don't count.
    ///   - diskCapacity: The default cache's disk capacity, in bytes; 20 MiB by default.
    ///   - directory: The default cache's folder; by default, the one that `URLCache` uses.
    public init(
        map: SubstitutionMap,
        reloadsChanges: Bool = false,
        memoryCapacity: Int = 4 << 20,
        diskCapacity: Int = 20 << 20,
        directory: URL? = nil
    ) {
        let directory = directory ?? DefaultCache.standardFolder
        responder = Responder(map, reloadsChanges: reloadsChanges, defaultCacheIn: directory)
        #if canImport(Darwin)
        // The one with `directory` is a convenience of Apple's overlay, which a subclass can't call here.
        super.init(__memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directoryURL: directory)
        #else
        // Linux's `URLCache` lets a subclass call no other initializer.
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

    /// Creates a cache with a map in a folder. A changed map or file is used from the next request on.
    ///
    /// - Parameters:
    ///   - mapFile: The map, a JSON file.
    ///   - resources: The folder with the entries' files; see ``SubstitutionMap/init(contentsOf:resources:invalidEntries:)``.
    ///   - invalidEntries: Whether a problem with an entry is an error, which is the default.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public convenience init(
        contentsOf mapFile: URL,
        resources: URL? = nil,
        invalidEntries: SubstitutionMap.InvalidEntries = .reject
    ) throws(SubstitutionMapError) {
        let map = try SubstitutionMap(contentsOf: mapFile, resources: resources, invalidEntries: invalidEntries)
        self.init(map: map, reloadsChanges: true)
    }

    /// Creates a cache with the map in a bundle. Files of 64 KiB and more are mapped into memory instead of being read.
    ///
    /// - Parameters:
    ///   - bundle: The bundle.
    ///   - name: The map's name, without its extension `json`.
    ///   - invalidEntries: Whether a problem with an entry is an error, which is the default.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public convenience init(
        bundle: Bundle,
        named name: String = "substitutions",
        invalidEntries: SubstitutionMap.InvalidEntries = .reject
    ) throws(SubstitutionMapError) {
        self.init(map: try SubstitutionMap(bundle: bundle, named: name, invalidEntries: invalidEntries))
    }

    deinit {
        responder.defaultCache.takeBack()
        responder.observers.end()
        // Classes made by attaching keep the responder. A session that's still in use retains responses again.
        responder.retained.removeAll()
    }

    // MARK: Map, counts and events

    /// The map in use. Setting another is atomic, and drops every retained response.
    public var map: SubstitutionMap {
        get { responder.maps.map }
        set { responder.use(newValue) }
    }

    /// What has been counted so far.
    public var statistics: Statistics { responder.statistics }

    /// Everything that the cache does from now on, in order. Each call returns a stream for one listener.
    ///
    /// The stream has an event before the session has the response. The stream doesn't keep the cache alive, and ends when the
    /// cache is deallocated.
    ///
    /// - Parameter limit: The number of events to buffer. If the listener falls behind, the oldest are dropped.
    public func events(bufferingNewest limit: Int = 10_000) -> AsyncStream<Event> {
        responder.events(bufferingNewest: limit)
    }

    /// Has a closure hear everything that the cache does from now on, on the thread on which it happens and before the response
    /// is delivered.
    package func hear(_ listener: @escaping @Sendable (Event) -> Void) { responder.hear(listener) }

    /// The entries that haven't answered a request since the map was set or reloaded, without `null` and disabled ones.
    public var unusedEntries: [SubstitutionMap.EntryReference] { responder.maps.unusedEntries }

    /// Explains what a request gets, by the map as it is now. Changes and counts nothing.
    public func explain(_ request: URLRequest) -> Explanation { responder.explain(request) }

    // MARK: Looking up

    /// Returns the response to a request: the local file's if an entry answers it, otherwise the default cache's.
    ///
    /// The first lookup of a file reads it, on the caller's thread.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        responder.retainedResponse(for: request) ?? responder.cachedResponse(to: responder.lookUp(request))
    }

    /// Calls back at once if the response is retained or nothing has to be read, and on another queue otherwise.
    public override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let request = dataTask.currentRequest else { return completionHandler(nil) }
        // The protocol answers it, also with what is retained, and reports what becomes of it.
        if responder.leavesToProtocol(request) { return completionHandler(nil) }
        if let response = responder.retainedResponse(for: request) { return completionHandler(response) }
        // A changed map would have to be read.
        let lookup = responder.maps.isCurrent(map) ? responder.lookUp(request) : nil
        if let lookup, responder.needsNoDisk(lookup) { return completionHandler(responder.cachedResponse(to: lookup)) }
        DispatchQueue.global(qos: .userInitiated).async { [responder] in
            completionHandler(responder.cachedResponse(to: lookup ?? responder.lookUp(request)))
        }
    }

    // MARK: Storing and removing

    /// Stores a response in the default cache, unless an entry would answer its request.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        responder.store(cachedResponse, for: request)
    }

    /// Stores a response in the default cache, unless an entry would answer the task's request.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { responder.store(cachedResponse, for: request) }
    }

    /// Removes a request's retained response, the default cache's response, and the newer copy of an `untilUpdated` entry's file.
    /// The next lookup builds the retained response again.
    public override func removeCachedResponse(for request: URLRequest) { responder.remove(request) }

    /// Removes the same for a task's current request: see ``removeCachedResponse(for:)-(URLRequest)``.
    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { responder.remove(request) }
    }

    /// Removes all retained responses and everything in the default cache, newer copies included. The map stays.
    public override func removeAllCachedResponses() {
        responder.removeAll { super.removeAllCachedResponses() }
    }

    /// Drops all retained responses, and those of the default cache that were stored after a date, newer copies included.
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
