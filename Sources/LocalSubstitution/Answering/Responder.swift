import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers requests with a map. A cache and the protocols attached for it share one responder, which may outlive the cache.
final class Responder: Sendable {
    let maps: MapInUse
    let retained: RetainedResponses
    let copies: NewerCopies
    let observers = Observers()
    let defaultCache: DefaultCache
    let proofs = VerificationProofs()
    /// The request that a protocol has taken and hasn't started yet.
    private let taken = Guarded<TakenRequest?>(nil)
    private let isCacheOffline = Guarded(false)

    /// Creates a responder.
    ///
    /// - Parameter folder: The folder where `URLCache` keeps responses; `nil` if it isn't known.
    init(_ map: SubstitutionMap, reloadsChanges: Bool, defaultCacheIn folder: URL?) {
        defaultCache = DefaultCache(folder: folder)
        maps = MapInUse(map, reloadsChanges: reloadsChanges)
        retained = RetainedResponses(checksFiles: reloadsChanges)
        copies = NewerCopies(in: defaultCache, files: retained, observers: observers)
    }

    /// Uses another map from now on and drops the responses made with the old one.
    func use(_ map: SubstitutionMap) { maps.set(map, forget: retained.removeAll) }

    /// Stops the cache's own lookups from asking the network for newer copies. A session that must not reach the network also asks
    /// the cache, and the cache can't see which session asks.
    func takeCacheOffline() { isCacheOffline.withLock { $0 = true } }

    /// What has been counted so far.
    var statistics: LocalSubstitutionCache.Statistics {
        var statistics = observers.statistics
        let hits = retained.counts
        statistics.lookups += hits.hits
        statistics.substituted += hits.hits
        statistics.bytes += hits.bytes
        return statistics
    }

    /// Returns a stream of everything that happens from now on, for one listener.
    func events(bufferingNewest limit: Int) -> AsyncStream<LocalSubstitutionCache.Event> {
        retained.observe()
        return observers.events(bufferingNewest: limit)
    }

    /// Calls a listener for everything that happens from now on, as it happens.
    func hear(_ listener: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void) {
        retained.observe()
        _ = observers.add(Observers.Listener(hear: listener))
    }

    /// Calls a listener when the map is reloaded or fails to reload. Hits don't become slower.
    func hearReloads(_ listener: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void) {
        _ = observers.add(Observers.Listener(hear: listener, hearsOnlyReloads: true))
    }

    // MARK: Retained responses

    /// Returns the retained response to a plain `GET` if it's still valid. This path is hot, so it neither reads a file nor looks
    /// in the map.
    ///
    /// - Parameters:
    ///   - checked: A retained response that is known to be valid. It's returned without looking at its files again.
    ///   - isStrict: Whether the session must not reach the network. Newer copies don't answer there.
    func retainedResponse(
        for request: URLRequest,
        checked: RetainedResponse? = nil,
        isStrict: Bool = false
    ) -> CachedURLResponse? {
        guard request.isPlainGet, !request.ignoresLocalData, let url = request.url,
            let (response, isObserved) = retained.response(for: url.absoluteString)
        else { return nil }
        if let validity = response.validity {
            guard response === checked || validity.holds, !(isStrict && validity.mayBeNewer) else { return nil }
            observers.countSubstituted(response.size)
        }
        if isObserved {
            observers.emit(
                .substituted(
                    url,
                    key: response.key,
                    file: response.file.map { URL(fileURLWithPath: $0) },
                    bytes: response.size
                )
            )
        }
        return response
    }

    /// Returns a request's retained response if it's still valid, without counting a hit.
    func validRetainedResponse(for request: URLRequest, isStrict: Bool) -> RetainedResponse? {
        guard request.isPlainGet, !request.ignoresLocalData, let url = request.url?.absoluteString,
            let response = retained.peek(url)
        else { return nil }
        guard let validity = response.validity else { return response }
        return validity.holds && !(isStrict && validity.mayBeNewer) ? response : nil
    }

    /// Returns the retained response to a request that a protocol answers.
    ///
    /// - Parameters:
    ///   - cached: The response that the loader got from a cache. If it's the retained one, it has already been counted.
    ///   - taken: What was noted when the protocol took the request.
    func retainedResponse(
        for request: URLRequest,
        _ cached: CachedURLResponse?,
        _ taken: TakenRequest?,
        isStrict: Bool
    ) -> CachedURLResponse? {
        if let cached, let url = request.url?.absoluteString, let known = retained.peek(url), known === cached,
            !(isStrict && known.validity?.mayBeNewer == true)
        {
            return cached
        }
        return retainedResponse(for: request, checked: taken?.checkedResponse, isStrict: isStrict)
    }

    // MARK: Deciding

    /// Looks a request up in the current map, after reloading the map if its file has changed.
    ///
    /// - Parameters:
    ///   - body: The request's body, if more of it is known than the request shows.
    ///   - isOffline: Whether the request must not reach the network, not even for a newer copy.
    func lookUp(_ request: URLRequest, body: RequestBody? = nil, isOffline: Bool) -> Lookup {
        switch maps.reloadIfChanged(forget: retained.removeAll) {
        case .none: break
        case .reloaded(let map): observers.emit(.mapReloaded(entries: map.count), isReload: true)
        case .failed(let error): observers.emit(.mapNotReloaded(error), isReload: true)
        }
        // The generation must be read before the map: see `RetainedResponses.retain`.
        let (generation, map) = (retained.generation, maps.map)
        return Lookup(request, body: body, isOffline: isOffline, in: map, generation: generation) { [maps] count in
            maps.isUsedUp(count, of: map)
        }
    }

    /// Counts a lookup's answer if the alternative that answers has a limit. Returns `false` if the limit has been reached.
    func count(_ lookup: Lookup) -> Bool {
        guard let count = lookup.decision.match?.count else { return true }
        guard maps.count(count, of: lookup.map) else { return false }
        lookup.isCounted.withLock { $0 = true }
        return true
    }

    /// Notes that a lookup's entry answered.
    func use(_ lookup: Lookup) {
        if let number = lookup.decision.match?.number { maps.use(number, of: lookup.map) }
    }

    /// Takes back what ``count(_:)`` counted, since nothing was answered. Does so at most once.
    func uncount(_ lookup: Lookup) {
        guard let count = lookup.decision.match?.count,
            lookup.isCounted.withLock({ isCounted in
                defer { isCounted = false }
                return isCounted
            })
        else { return }
        maps.uncount(count, of: lookup.map)
    }

    /// Looks up a request for which the loader asks a cache.
    func lookUp(_ request: URLRequest) -> Lookup { lookUp(request, isOffline: isCacheOffline.withLock { $0 }) }

    /// Returns whether everything that an entry's response needs is in memory.
    func isAtHand(_ substitution: Substitution, _ lookup: Lookup) -> Bool {
        guard let path = lookup.path(of: substitution) else { return true }
        guard let file = retained.currentFile(at: path) else { return false }
        return lookup.question(about: substitution).map { copies.isAtHand($0.url, file: file) } ?? true
    }

    // MARK: Requests that a protocol has taken

    /// Remembers that a protocol has taken a request.
    ///
    /// One at a time is enough. Linux's loader asks the protocol, then the cache, and then starts the protocol, all on a queue that
    /// the process's sessions share (`URLSession.swift`, `sharedQueue`). Apple's loader promises no such order.
    func noteTaken(_ request: TakenRequest) {
        #if !canImport(Darwin)
        taken.withLock { $0 = request }
        #endif
    }

    /// Returns whether the cache leaves a request to the protocol that has taken it. The protocol then reports it, too.
    func leavesToProtocol(_ request: URLRequest) -> Bool {
        taken.withLock { taken in
            guard taken?.isOf(request) == true, taken?.isLeft == false else { return false }
            taken?.isLeft = true
            return true
        }
    }

    /// Forgets that a protocol has taken a request, because it was stopped before it was started.
    func forgetTaken(_ request: URLRequest) {
        taken.withLock { if $0?.isOf(request) == true { $0 = nil } }
    }

    /// Forgets the taken request, because a protocol is being started. Returns it if that protocol has taken it.
    func startTaken(_ request: URLRequest) -> TakenRequest? {
        taken.withLock { taken in
            defer { taken = nil }
            return taken?.isOf(request) == true ? taken : nil
        }
    }

    // MARK: Answering

    /// Returns an entry's response. Reads the file, asks for a newer copy, builds the response and retains it.
    func response(
        to lookup: Lookup,
        by substitution: Substitution
    ) throws(FileProblem) -> CachedURLResponse? {
        guard let url = lookup.request.url else { return nil }
        var file: FileBytes?
        if let name = substitution.fileName, let folder = lookup.folder { file = try retained.file(name, in: folder) }
        var newer: NewerCopies.Answer?
        if let read = file, let question = lookup.question(about: substitution) {
            let answer = copies.answer(question, file: read)
            (newer, file) = (answer, answer.bytes)
        }
        use(lookup)
        let proof = proofs.proof(for: lookup.request)
        let builder = ResponseBuilder(substitution: substitution, file: file, copy: newer?.copy, proof: proof)
        let method = lookup.request.httpMethod ?? "GET"
        if method == "HEAD" { return builder.head(for: url) }
        if method == "GET", let range = lookup.request.rangeHeader { return builder.part(range, for: url) }
        guard proof == nil, let name = retainedName(lookup, substitution) else { return builder.full(for: url) }
        if let known = retained.response(name, madeOf: file, generation: lookup.generation) { return known }
        guard let response = builder.full(for: url) else { return nil }
        return retain(response, as: name, to: lookup, by: substitution, madeOf: file, newer: newer)
    }
}

extension URLRequest {
    /// Whether this is a `GET` without a header that changes what it gets from a cache.
    fileprivate var isPlainGet: Bool {
        guard httpMethod == "GET" else { return false }
        guard let headers = allHTTPHeaderFields, !headers.isEmpty else { return true }
        return ["Range", "Authorization", "Proxy-Authorization", VerificationProofs.header].allSatisfy {
            value(forHTTPHeaderField: $0) == nil
        }
    }
}
