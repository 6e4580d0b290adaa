import Dispatch
public import Foundation
import Guarded
import Synchronization

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
    // Unchecked, since a subclass of `URLCache` has to restate what its superclass says. All that it adds is Sendable.

    /// Everything that changes, but for what stands in `retained` as well, so that hits need not wait here.
    struct State: Sendable {
        var map: SubstitutionMap
        /// Counts the maps, so that nothing built by one is retained under another.
        var generation = 0
        var retention = Retention()
        var reads: [String: FileRead] = [:]
        var attachments: [ObjectIdentifier: Attachment] = [:]
        /// The request that a protocol has taken and that the loader is about to ask the cache for.
        var taken: URLRequest?
        var statistics = Statistics()
        var onEvent: (@Sendable (Event) -> Void)?
        /// The proofs that this cache answered a verification, by the token in its request.
        var proofs: [String: String] = [:]
    }

    let state: Guarded<State>
    let retained = RetainedTable()
    let updates = Updates()
    let liveReload: LiveReload?
    private let isObserved = Atomic(false)
    private let eventQueue = DispatchQueue(label: "LocalSubstitutionCache.events")

    /// Makes a cache with a map that is loaded already. Neither map nor files are watched for changes.
    ///
    /// - Parameters:
    ///   - map: The map.
    ///   - memoryCapacity: The default cache's, in bytes; 4 MiB by default. Retained responses don't count.
    ///   - diskCapacity: The default cache's, in bytes; 20 MiB by default.
    ///   - diskPath: The default cache's folder; by default where `URLCache` has it.
    public convenience init(
        map: SubstitutionMap,
        memoryCapacity: Int = 4 << 20,
        diskCapacity: Int = 20 << 20,
        diskPath: String? = nil
    ) {
        self.init(map, nil, memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: diskPath)
    }

    init(
        _ map: SubstitutionMap,
        _ liveReload: LiveReload?,
        memoryCapacity: Int = 4 << 20,
        diskCapacity: Int = 20 << 20,
        diskPath: String? = nil
    ) {
        state = Guarded(State(map: map))
        self.liveReload = liveReload
        // Mac Catalyst does not have the initializer that all others have.
        #if targetEnvironment(macCatalyst)
        super.init(
            memoryCapacity: memoryCapacity,
            diskCapacity: diskCapacity,
            directory: diskPath.map { URL(fileURLWithPath: $0, isDirectory: true) }
        )
        #else
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: diskPath)
        #endif
    }

    /// Makes a cache with a map in a folder.
    ///
    /// - Parameters:
    ///   - mapFile: The map, a JSON file.
    ///   - resources: The folder with the entries' files; by default the folder `Resources` beside the map.
    ///   - strict: Whether any problem with the map is an error; see ``SubstitutionMap/init(contentsOf:resources:strict:)``.
    ///   - reloadsChanges: Whether a changed map or file is served from the next request on.
    /// - Throws: All that is wrong with the map, each with its key and line.
    public convenience init(
        contentsOf mapFile: URL,
        resources: URL? = nil,
        strict: Bool = true,
        reloadsChanges: Bool = true
    ) throws(SubstitutionMapError) {
        let map = try SubstitutionMap(contentsOf: mapFile, resources: resources, strict: strict)
        self.init(map, reloadsChanges ? LiveReload(map) : nil)
    }

    /// Makes a cache with the map in a bundle.
    ///
    /// Files of 64 KiB and more are mapped into memory and not read, so that large ones cost nothing until they are used.
    ///
    /// - Parameters:
    ///   - bundle: The bundle. Its files are taken from the folder `Resources` beside the map, if there is one, or from the
    ///     bundle's resource folder.
    ///   - name: The map's name, without its extension `json`.
    ///   - strict: Whether any problem with the map is an error; see ``SubstitutionMap/init(contentsOf:resources:strict:)``.
    /// - Throws: All that is wrong with the map, each with its key and line.
    public convenience init(
        bundle: Bundle = .main,
        map name: String = "substitutions",
        strict: Bool = true
    ) throws(SubstitutionMapError) {
        self.init(map: try SubstitutionMap(bundle: bundle, map: name, strict: strict))
    }

    // MARK: Map, counts and events

    /// The map in use. Setting another is atomic, and drops every retained response.
    public var map: SubstitutionMap {
        get { state.withLock { $0.map } }
        set {
            if let liveReload { liveReload.follow(newValue, use: use) } else { use(newValue) }
        }
    }

    /// What has been counted so far.
    public var statistics: Statistics {
        var statistics = state.withLock { $0.statistics }
        let hits = retained.counts
        statistics.lookups += hits.hits
        statistics.substituted += hits.hits
        statistics.bytes += hits.bytes
        return statistics
    }

    /// Is called for everything that the cache does, in order, on a queue of its own; `nil`, the default, costs nothing.
    public var onEvent: (@Sendable (Event) -> Void)? {
        get { state.withLock { $0.onEvent } }
        set {
            state.withLock { $0.onEvent = newValue }
            isObserved.store(newValue != nil, ordering: .relaxed)
        }
    }

    /// Waits until ``onEvent`` has been told everything that has happened so far. Not to be called from within it.
    public func flushEvents() {
        eventQueue.sync {}
    }

    func use(_ map: SubstitutionMap) {
        state.withLock { state in
            state.map = map
            dropAll(&state)
        }
    }

    /// Delivers an event to whoever listens. It is only made if somebody does.
    func emit(_ event: @autoclosure () -> Event) {
        guard isObserved.load(ordering: .relaxed), let onEvent = state.withLock({ $0.onEvent }) else { return }
        let event = event()
        eventQueue.async { onEvent(event) }
    }

    // MARK: Looking up

    /// The response for a request: the local file's if an entry answers it, else the default cache's.
    ///
    /// The first lookup of a file reads it, on the caller's thread.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        hit(request) ?? finish(prepare(request))
    }

    /// Returns the response of an entry that answers without a protocol; `nil` if there isn't one. Doesn't ask the default cache.
    package func localResponse(for request: URLRequest) -> CachedURLResponse? {
        if let response = hit(request) { return response }
        let lookup = prepare(request)
        guard let substitution = lookup.decision.answer, let url = request.url else { return nil }
        // An unreadable file is reported when the loader asks.
        return try? substitute(lookup, with: substitution, url)
    }

    /// Calls back at once where the response is retained or nothing has to be read; else on another queue.
    public override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let request = dataTask.currentRequest else { return completionHandler(nil) }
        if let response = hit(request) { return completionHandler(response) }
        let isTaken = forgetTaken(request)
        // A changed map would have to be read.
        let lookup = liveReload?.isCurrent(map) ?? true ? prepare(request) : nil
        if let lookup, needsNoRead(lookup, isTaken: isTaken) {
            return completionHandler(finish(lookup, isTaken: isTaken))
        }
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            completionHandler(finish(lookup ?? prepare(request), isTaken: isTaken))
        }
    }

    /// The retained response for a plain `GET`, without anything that costs time: see `Benchmarks`.
    private func hit(_ request: URLRequest) -> CachedURLResponse? {
        guard request.isPlainGet, !request.ignoresLocalData, let url = request.url?.absoluteString,
            let item = retained.item(for: url)
        else { return nil }
        if let watch = item.watch {
            guard watch.holds else { return nil }
            count(substituted: item.size)
        }
        emit(event(forHit: url, item))
        return item.response
    }

    private func event(forHit url: String, _ item: RetainedTable.Item) -> Event {
        let record = state.withLock { $0.retention.record(for: url) }
        return .substituted(
            item.response.response.url ?? URL(fileURLWithPath: "/"),
            key: record?.key ?? "",
            // Where a newer copy answers, that has no path.
            file: (item.watch?.path ?? record?.path).map { URL(fileURLWithPath: $0) },
            bytes: item.size
        )
    }

    // MARK: Storing and removing

    /// Stores a response in the default cache, unless an entry would answer its request.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        let lookup = prepare(request)
        guard !lookup.decision.keepsOutOfDefaultCache, let key = lookup.defaultCacheKey else { return }
        defaultStore(cachedResponse, under: key)
    }

    /// Stores a response in the default cache, unless an entry would answer the task's request.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Drops a request's retained response and the default cache's, and a newer copy of an `untilUpdated` entry's file. The next
    /// lookup builds the first anew.
    public override func removeCachedResponse(for request: URLRequest) {
        if let url = request.url?.absoluteString { drop(url) }
        let match = Decision(request, in: map).match
        removeCopy(for: match)
        if let key = DefaultCacheKey.request(for: request, match?.url) { defaultRemove(under: key) }
    }

    /// Drops a task's retained response and the default cache's. The next lookup builds the former anew.
    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        removeCachedResponse(for: request)
    }

    /// Drops all responses, retained ones and the default cache's, newer copies included. The map stays.
    public override func removeAllCachedResponses() {
        state.withLock { dropAll(&$0) }
        super.removeAllCachedResponses()
        updates.removeAll()
    }

    /// Drops every retained response, and keeps those that are being built from being retained.
    private func dropAll(_ state: inout State) {
        state.generation += 1
        state.retention.removeAll()
        retained.removeAll()
    }

    func drop(_ url: String) {
        state.withLock { state in
            state.retention.remove(url)
            retained.remove(url)
        }
    }

    // MARK: The default cache

    func defaultResponse(under key: URLRequest) -> CachedURLResponse? {
        super.cachedResponse(for: key)
    }

    func defaultRemove(under key: URLRequest) {
        super.removeCachedResponse(for: key)
    }

    func defaultStore(_ response: CachedURLResponse, under key: URLRequest) {
        #if canImport(Darwin)
        super.storeCachedResponse(response, for: key)
        #else
        // Stored twice under one key, a response makes Linux's cache trap when it evicts it: the key then stands twice in its
        // order of eviction (`URLCache.swift`, `evictFromMemoryCacheAssumingLockHeld`). So it is removed first, by one at a time.
        storing.withLock {
            super.removeCachedResponse(for: key)
            super.storeCachedResponse(response, for: key)
        }
        #endif
    }

    #if !canImport(Darwin)
    private let storing = NSLock()
    #endif
}

extension URLRequest {
    /// Whether it is a `GET` without a header that changes what it gets from a cache.
    fileprivate var isPlainGet: Bool {
        guard httpMethod == "GET" else { return false }
        guard let headers = allHTTPHeaderFields, !headers.isEmpty else { return true }
        return ["Range", "Authorization", "Proxy-Authorization", LocalSubstitutionCache.proofHeader].allSatisfy {
            value(forHTTPHeaderField: $0) == nil
        }
    }
}
