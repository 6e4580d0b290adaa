import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers requests by a map. A cache and the protocol of its sessions share one, which may outlive the cache.
final class Responder: Sendable {
    let maps: MapInUse
    let retained: RetainedResponses
    let copies: NewerCopies
    let observers = Observers()
    let defaultCache: DefaultCache
    let proofs = VerificationProofs()
    /// The request that a protocol has taken and not started yet.
    private let taken = Guarded<URLRequest?>(nil)

    /// - Parameter folder: Where `URLCache` keeps responses on disk, if that is known.
    init(_ map: SubstitutionMap, reloadsChanges: Bool, defaultCacheIn folder: URL?) {
        defaultCache = DefaultCache(folder: folder)
        maps = MapInUse(map, reloadsChanges: reloadsChanges)
        retained = RetainedResponses(checksFiles: reloadsChanges)
        copies = NewerCopies(in: defaultCache, files: retained, observers: observers)
    }

    /// Uses another map from now on, and drops what was made by the former.
    func use(_ map: SubstitutionMap) { maps.set(map, forget: retained.removeAll) }

    /// Asks the network for no newer copies any more: a session must reach no network.
    func goOffline() {
        copies.goOffline()
        retained.removeAll()
    }

    /// What was counted so far.
    var statistics: LocalSubstitutionCache.Statistics {
        var statistics = observers.statistics
        let hits = retained.counts
        statistics.lookups += hits.hits
        statistics.substituted += hits.hits
        statistics.bytes += hits.bytes
        return statistics
    }

    /// Everything that happens from now on, for one listener.
    func events(bufferingNewest limit: Int) -> AsyncStream<LocalSubstitutionCache.Event> {
        retained.observe()
        return observers.events(bufferingNewest: limit)
    }

    /// Has a listener hear everything that happens from now on, at once.
    func hear(_ listener: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void) {
        retained.observe()
        _ = observers.add(Observers.Listener(hear: listener))
    }

    // MARK: Retained responses

    /// The retained response to a plain `GET`, if it still holds. It takes no file and decides nothing: see `Benchmarks`.
    func retainedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard request.isPlainGet, !request.ignoresLocalData, let url = request.url,
            let (item, isObserved) = retained.item(for: url.absoluteString)
        else { return nil }
        if let watch = item.watch {
            guard watch.holds else { return nil }
            observers.countSubstituted(item.size)
        }
        if isObserved {
            observers.emit(
                .substituted(url, key: item.key, file: item.file.map { URL(fileURLWithPath: $0) }, bytes: item.size)
            )
        }
        return item.response
    }

    /// Whether a request has a retained response that still holds.
    func retains(_ request: URLRequest) -> Bool {
        guard request.isPlainGet, !request.ignoresLocalData, let url = request.url?.absoluteString,
            let item = retained.peek(url)
        else { return false }
        return item.watch?.holds ?? true
    }

    /// The retained response to a request that a protocol answers.
    ///
    /// - Parameter cached: The response that the loader has got from a cache. If it's this one, it is counted already.
    func retainedResponse(for request: URLRequest, _ cached: CachedURLResponse?) -> CachedURLResponse? {
        if let cached, let url = request.url?.absoluteString, retained.peek(url)?.response === cached { return cached }
        return retainedResponse(for: request)
    }

    // MARK: Deciding

    /// Decides by the map as it is now, which is loaded again first if its file has changed.
    func lookUp(_ request: URLRequest) -> Lookup {
        switch maps.reloadIfChanged(forget: retained.removeAll) {
        case .none: break
        case .reloaded(let map): observers.emit(.mapReloaded(entries: map.count))
        case .failed(let error): observers.emit(.mapNotReloaded(error))
        }
        // In this order: see `RetainedResponses.retain`.
        let generation = retained.generation
        let map = maps.map
        return Lookup(request: request, decision: Decision(request, in: map), map: map, generation: generation)
    }

    /// Whether an entry's response needs nothing that isn't in memory.
    func isAtHand(_ substitution: Substitution, _ lookup: Lookup) -> Bool {
        guard let path = lookup.path(of: substitution) else { return true }
        guard let file = retained.currentFile(at: path) else { return false }
        return lookup.question(about: substitution).map { copies.isAtHand($0.url, file: file) } ?? true
    }

    // MARK: Requests that a protocol has taken

    /// Remembers which request a protocol has taken, so that the cache leaves it to the protocol to report what becomes of it;
    /// `nil` forgets it.
    ///
    /// One at a time is enough: Linux's loader asks the protocol, then the cache, then starts the protocol, all on a queue that
    /// the sessions of the process share (`URLSession.swift`, `sharedQueue`).
    func noteTaken(_ request: URLRequest?) {
        #if !canImport(Darwin)
        taken.withLock { $0 = request }
        #endif
    }

    /// Forgets that a protocol has taken a request; returns whether one had.
    @discardableResult
    func forgetTaken(_ request: URLRequest) -> Bool {
        taken.withLock { taken in
            guard taken == request else { return false }
            taken = nil
            return true
        }
    }

    // MARK: Answering

    /// The response of an entry to a request: read its file, ask for a newer copy, build, retain.
    func response(
        to lookup: Lookup,
        by substitution: Substitution
    ) throws(FileProblem) -> CachedURLResponse? {
        guard let url = lookup.request.url else { return nil }
        var file: FileBytes?
        if let name = substitution.fileName, let folder = lookup.folder { file = try retained.file(name, in: folder) }
        var newer: NewerCopies.Answer?
        if let read = file, let question = lookup.question(about: substitution) {
            newer = copies.answer(question, file: read)
            file = newer?.bytes ?? read
        }
        if let number = lookup.decision.match?.number { maps.use(number, of: lookup.map) }
        let proof = proofs.proof(for: lookup.request)
        let builder = ResponseBuilder(substitution: substitution, file: file, copy: newer?.copy, proof: proof)
        switch lookup.request.httpMethod ?? "GET" {
        case "HEAD":
            return builder.head(for: url)
        case "GET":
            if let range = lookup.request.value(forHTTPHeaderField: "Range"),
                lookup.request.value(forHTTPHeaderField: "If-Range") == nil
            {
                return builder.part(range, for: url)
            }
            guard proof == nil, let response = builder.full(for: url) else { return builder.full(for: url) }
            return retain(response, to: lookup, by: substitution, madeOf: file, newer: newer)
        default:
            return builder.full(for: url)
        }
    }

    /// Retains a response if the loader takes it for any plain `GET`.
    private func retain(
        _ response: CachedURLResponse,
        to lookup: Lookup,
        by substitution: Substitution,
        madeOf file: FileBytes?,
        newer: NewerCopies.Answer?
    ) -> CachedURLResponse {
        let refusal = LoaderRules.refusal(ofStatus: substitution.status, headers: substitution.headers)
        guard substitution.use != .whenOffline, refusal == nil, let url = lookup.request.url else { return response }
        let path = lookup.path(of: substitution)
        let item = RetainedResponses.Item(
            response: response,
            size: response.data.count,
            key: substitution.key,
            file: path,
            watch: Watch(
                maps,
                lookup.map,
                path: path,
                file: file,
                lifetime: LoaderRules.lifetime(substitution.headers),
                update: newer?.stamp
            )
        )
        return retained.retain(
            item,
            for: url.absoluteString,
            madeOf: file,
            at: newer?.place ?? path,
            isEndless: !lookup.isSpelledAsKey,
            generation: lookup.generation
        )
    }

    // MARK: Faults

    /// Counts and reports a file that can't be read, and drops what was made of it.
    func report(_ problem: FileProblem, of substitution: Substitution, _ url: URL) {
        report(problem, key: substitution.key, file: substitution.fileURL ?? URL(fileURLWithPath: "/"), url)
    }

    func report(_ problem: FileProblem, key: String, file: URL, _ url: URL) {
        retained.remove(url.absoluteString)
        observers.count { $0.faults += 1 }
        observers.emit(.fault(url, key: key, file: file, reason: problem.message))
    }
}

extension URLRequest {
    /// Whether it's a `GET` without a header that changes what it gets from a cache.
    fileprivate var isPlainGet: Bool {
        guard httpMethod == "GET" else { return false }
        guard let headers = allHTTPHeaderFields, !headers.isEmpty else { return true }
        return ["Range", "Authorization", "Proxy-Authorization", VerificationProofs.header].allSatisfy {
            value(forHTTPHeaderField: $0) == nil
        }
    }
}
