import Dispatch
import Foundation
import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What responds to requests with a map. A cache and its attached protocols share one responder, which may outlive the
/// cache.
final class Responder: Sendable {
    let traits: LoaderTraits
    let maps: MapInUse
    let inMemory: ResponsesInMemory
    let refreshedFiles: RefreshedFiles
    let observers = Observers()
    let defaultCache: DefaultCache
    /// The proofs of the verifications in progress, by token; see ``LocalSubstitutionCache/verify(_:)``.
    ///
    /// A verification's request has a token in a header, and the cache's response has the matching proof in a header.
    /// The network never sees the proof, so a server can't pretend to be the cache. A response with a proof isn't held
    /// in memory.
    let proofs = Guarded<[String: String]>([:])
    /// The header that contains a token in a request, or a proof in a response.
    static let proofHeader = "LocalSubstitution-Proof"
    let notes: LookupNotes
    private let isCacheOffline = Guarded(false)

    /// - Parameter folder: The folder where `URLCache` stores responses on disk; `nil` if the folder isn't known.
    init(_ maps: MapInUse, defaultCacheIn folder: URL?, traits: LoaderTraits) {
        self.traits = traits
        self.maps = maps
        notes = LookupNotes(traits)
        defaultCache = DefaultCache(folder: folder, traits)
        inMemory = ResponsesInMemory(checksFiles: maps.reloadsChanges)
        refreshedFiles = RefreshedFiles(in: defaultCache, files: inMemory, observers: observers, traits)
    }

    /// Also drops the responses made with the old map.
    func use(_ map: SubstitutionMap) { maps.set(map, forget: inMemory.removeAll) }

    /// Also drops the responses made with a test's old layers.
    func change(_ layers: (inout MapLayers) -> Void) { maps.change(layers, forget: inMemory.removeAll) }

    /// Stops lookups in the cache itself from asking the network for newer files. Call this when a strict session uses
    /// the cache: its loader also asks the cache, which can't tell the session's lookups from others.
    func takeCacheOffline() { isCacheOffline.withLock { $0 = true } }

    /// The counts so far, including the hits of responses in memory.
    var statistics: LocalSubstitutionCache.Statistics {
        var statistics = observers.statistics
        let hits = inMemory.counts
        statistics.matched += hits.hits
        statistics.bytes += hits.bytes
        return statistics
    }

    func events(bufferingNewest limit: Int) -> AsyncStream<LocalSubstitutionCache.Event> {
        inMemory.observe()
        return observers.events(bufferingNewest: limit)
    }

    func hear(_ listener: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void) {
        inMemory.observe()
        observers.add(Observers.Listener(hear: listener))
    }

    /// A listener added with ``hear(_:)`` slows down hits; this one doesn't.
    func hearReloads(_ listener: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void) {
        observers.add(Observers.Listener(hearsOnlyReloads: true, hear: listener))
    }

    // MARK: Responses in memory

    /// Returns the response in memory to a plain `GET` if it's still current, and counts a hit. This is the fastest
    /// path: it neither reads a file nor searches the map.
    ///
    /// - Parameter checked: A response that was current a moment ago. If it's still in memory, it isn't checked again.
    ///   `nil`, the default, if there's none.
    func responseInMemory(
        for request: URLRequest,
        checked: ResponsesInMemory.Response? = nil
    ) -> CachedURLResponse? {
        guard let url = request.urlInMemory, let (response, isCounted) = inMemory.response(for: url.absoluteString),
            response === checked || response.isCurrent
        else { return nil }
        if !isCounted {
            observers.report(.matched, url, key: response.key, file: response.file, bytes: response.size)
        }
        return response
    }

    /// Returns a request's response in memory if it's still current, without counting a hit.
    func currentResponse(to request: URLRequest) -> ResponsesInMemory.Response? {
        responseInMemory(underURLOf: request).flatMap { $0.isCurrent ? $0 : nil }
    }

    /// Returns the response in memory to a request that a protocol has intercepted.
    ///
    /// - Parameters:
    ///   - cached: The response that URLSession got from a cache; `nil` if it got none. If this responder returned it a
    ///     moment ago, it's returned without another check or count, since the cache did both.
    ///   - note: The note that the protocol made when it intercepted the request; `nil` if it made none.
    func responseInMemory(
        for request: URLRequest,
        _ cached: CachedURLResponse?,
        _ note: LookupNotes.Intercepted?
    ) -> CachedURLResponse? {
        if let cached, hasReturned(cached, to: request) { return cached.meetingPreconditions(of: request) }
        return responseInMemory(for: request, checked: note?.checkedResponse)
    }

    /// Neither checks nor counts the response.
    func responseInMemory(underURLOf request: URLRequest) -> ResponsesInMemory.Response? {
        request.urlInMemory.flatMap { inMemory.peek($0.absoluteString) }
    }

    /// Returns whether URLSession got a cached response from this responder. URLSession may give the protocol another
    /// object, so its head is compared: the `ETag` identifies a file's version or a body in the map.
    private func hasReturned(_ cached: CachedURLResponse, to request: URLRequest) -> Bool {
        guard let http = cached.response as? HTTPURLResponse else { return false }
        if let response = responseInMemory(underURLOf: request),
            response === cached || (response.response as? HTTPURLResponse)?.isSameHead(as: http) == true
        {
            _ = notes.removeCount(of: request)
            return true
        }
        return notes.removeCount(of: request, (head: http, generation: inMemory.generation)) != nil
    }

    // MARK: Deciding

    /// Looks a request up in the current map, after reloading the map if its file has changed.
    ///
    /// - Parameters:
    ///   - body: The request's body; by default, the one that the request contains.
    ///   - rules: The rules of the attached session; `nil` for a cache-only lookup.
    ///   - traits: The traits of the request's client; by default, those of the cache.
    func lookUp(
        _ request: URLRequest,
        body: RequestFacts.Body? = nil,
        rules: SessionRules? = nil,
        traits: LoaderTraits? = nil
    ) -> Plan {
        if let event = maps.reloadIfChanged(forget: inMemory.removeAll) { observers.emit(event, isReload: true) }
        // Reads the generation before the map. Then `ResponsesInMemory.hold` doesn't hold a response made with an
        // outdated map.
        let (generation, layers) = (inMemory.generation, maps.layers)
        return Plan(
            request,
            body: body,
            rules: rules,
            isOffline: rules?.isStrict ?? isCacheOffline.withLock { $0 },
            in: layers,
            generation: generation,
            traits: traits ?? self.traits
        )
    }

    /// Returns whether a plan's entry can respond from memory, without reading from disk.
    func isAtHand(_ plan: Plan) -> Bool {
        plan.question == nil && plan.path.map { inMemory.currentFile(at: $0) != nil } ?? true
    }

    // MARK: Responding

    /// Returns the bytes of a file that a plan's response needs. The bytes stay in memory, unless the response is a
    /// handler's.
    func read(_ name: String, in folder: ResourcesFolder, for plan: Plan) throws(Complaint) -> FileBytes {
        plan.isHandled
            ? try FileBytes(opening: name, in: folder, mayMap: false) : try inMemory.file(name, in: folder)
    }

    /// Returns an entry's response; `nil` if the request has no URL. Reads the file, asks for a newer file if that's
    /// due, builds the response and holds it in memory.
    func response(
        to plan: Plan,
        by substitution: Substitution
    ) throws(Complaint) -> CachedURLResponse? {
        guard let url = plan.request.url else { return nil }
        var file: FileBytes?
        if let name = substitution.fileName, let folder = plan.folder { file = try read(name, in: folder, for: plan) }
        let found = file.flatMap { file in plan.question.map { refreshedFiles.answer($0, file: file) } }
        if found?.refreshed != nil { plan.done.withLock { $0.usesRefreshedFile = true } }
        let token = plan.request.value(forHTTPHeaderField: Self.proofHeader)
        if token == nil { plan.use() }
        let proof = token.flatMap { token in proofs.withLock { $0[token] } }
        let builder = ResponseBuilder(
            substitution: substitution,
            file: file,
            refreshed: found?.refreshed,
            proof: proof,
            isHandled: plan.isHandled,
            traits: traits
        )
        let method = plan.request.httpMethod ?? "GET"
        if method == "HEAD" { return builder.head(for: url) }
        if let range = plan.range { return builder.part(range, for: url) }
        // A refreshed file is read from the default cache each time.
        guard proof == nil, found?.refreshed == nil, let name = ResponsesInMemory.name(for: plan, by: substitution)
        else {
            return builder.full(for: url)
        }
        if let known = inMemory.response(name, madeOf: file, generation: plan.generation) { return known }
        guard let response = builder.full(for: url) else { return nil }
        let held = ResponsesInMemory.Response(
            response,
            to: plan,
            by: substitution,
            madeOf: file,
            dueAt: found?.dueAt,
            in: maps
        )
        return inMemory.hold(held, as: name, generation: plan.generation)
    }
}

extension URLRequest {
    /// The URL under which a response to this request may be held in memory. `nil` if the method isn't GET, if the
    /// request has a header on which the response depends, or if its cache policy ignores local data.
    var urlInMemory: URL? {
        guard httpMethod == "GET", !ignoresLocalData else { return nil }
        guard let headers = allHTTPHeaderFields, !headers.isEmpty else { return url }
        return headers.contains(headerIn: Self.decisive) ? nil : url
    }

    /// Whether this is the request of a verification. It uses no entry, and isn't counted or reported.
    fileprivate var isVerification: Bool { value(forHTTPHeaderField: Responder.proofHeader) != nil }

    private static let decisive =
        ["Range", "Authorization", "Proxy-Authorization", Responder.proofHeader] + Preconditions.headers
}

/// Lookups of requests without a response in memory: an entry responds, or else the default cache.
extension Responder {
    func cachedResponse(to request: URLRequest) -> CachedURLResponse? {
        responseInMemory(for: request) ?? cachedResponse(by: lookUp(request))
    }

    /// Calls back at once if this needs neither a file nor the default cache, and otherwise on another queue.
    func cachedResponse(to request: URLRequest, _ done: @escaping @Sendable (CachedURLResponse?) -> Void) {
        // If a protocol has intercepted the request, the protocol responds and reports it, even if the response is in
        // memory.
        if notes.leavesToProtocol(request) { return done(nil) }
        if let response = responseInMemory(for: request) { return done(response) }
        // If the map's file has changed, a lookup would read it, so the lookup is left to the other queue.
        let plan = maps.isCurrent(maps.layers.map) ? lookUp(request) : nil
        if let plan, needsNoDisk(plan) { return done(cachedResponse(by: plan)) }
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            done(cachedResponse(by: plan ?? lookUp(request)))
        }
    }

    /// Returns whether ``cachedResponse(by:)`` can respond without reading a file or looking in the default cache.
    private func needsNoDisk(_ plan: Plan) -> Bool {
        if case .answer = plan.action { isAtHand(plan) } else { plan.ignoresLocalData }
    }

    /// Returns the response that a plan leads to: an entry's, or else the default cache's; `nil` if there's neither.
    /// Reports which.
    func cachedResponse(by plan: Plan) -> CachedURLResponse? {
        reportGoneFiles(plan)
        let (response, substitution, problem) = find(plan)
        if plan.request.isVerification { return response }
        if let response, let substitution {
            let bytes = response.data.count
            reportMatched(plan, plan.substitution?.fileURL, bytes: bytes)
            let isFinal = substitution.use == .always && !substitution.isFollowed
            note(plan, .matched, bytes: bytes, isFinal ? response : nil)
        } else if response != nil {
            observers.report(.defaultCacheHit, plan.request.url, key: plan.namingEntry?.key)
            note(plan, .defaultCacheHit)
        } else {
            reportUnmatched(plan, since: problem)
            note(plan, .missed)
        }
        return response
    }

    /// Notes how a lookup was counted, in case a protocol gets the request. Notes nothing for a response that is in
    /// memory under its URL, since the protocol finds it there.
    private func note(
        _ plan: Plan,
        _ kind: LocalSubstitutionCache.Event.Kind,
        bytes: Int = 0,
        _ response: CachedURLResponse? = nil
    ) {
        guard notes.notesCounts, response == nil || responseInMemory(underURLOf: plan.request) !== response
        else { return }
        let count = LookupNotes.Count(kind: kind, bytes: bytes)
        notes.note(plan.request, count, response, generation: plan.generation)
    }

    /// Takes back the count of a request's lookup, if URLSession asked the cache before it started a protocol that now
    /// decides about the request.
    func uncountLookup(of request: URLRequest) {
        if let count = notes.removeCount(of: request) { observers.uncount(count.kind, bytes: count.bytes) }
    }

    /// Returns what the map or the default cache has for a plan's request.
    ///
    /// - Returns: The response; `nil` if neither has one. Then the substitution of the matching entry, if any. The problem is
    ///   why that entry doesn't respond; `nil` to report the plan's reason.
    private func find(_ plan: Plan) -> (CachedURLResponse?, by: Substitution?, problem: String?) {
        guard !plan.ignoresLocalData else { return (nil, nil, nil) }
        var problem: String?
        if case .answer(let substitution) = plan.action, let url = plan.request.url {
            do throws(Complaint) {
                return (try response(to: plan, by: substitution), substitution, nil)
            } catch {
                report(error, key: substitution.key, file: substitution.fileURL, url)
                problem = "the file \(error.fragment)"
            }
        }
        return (defaultCache.response(under: key(of: plan)), nil, problem)
    }

    // MARK: Reporting

    /// Reports the end of a request that a session, the server or ``LocalSubstitutionCache/answer(to:)`` handled. Does
    /// nothing for a verification.
    ///
    /// - Parameter plan: What was decided about the request.
    func report(_ outcome: RequestOutcome, of plan: Plan) {
        guard !plan.request.isVerification else { return }
        let (url, key) = (plan.request.url, plan.substitution?.key)
        let (file, bytes) = (outcome.recordedFile ?? plan.substitution?.fileURL, outcome.bytes)
        switch outcome.kind {
        case .matched, .erred: reportMatched(plan, file, bytes: bytes)
        case .usedOffline(let error):
            let reason = error.localizedDescription
            observers.report(.usedOffline, url, key: key, file: file, bytes: bytes, reason: reason)
        case .confirmed: observers.report(.confirmed, url, key: key, file: file, bytes: bytes)
        case .forwarded: observers.report(.forwarded, url, key: key)
        case .passed, .unmatched: reportUnmatched(plan)
        case .failed, .mishandled:
            let isCancelled = outcome.error?.code == .cancelled
            let reason = isCancelled ? nil : outcome.error?.localizedDescription
            observers.report(isCancelled ? .cancelled : .failed, url, key: plan.namingEntry?.key, reason: reason)
        }
    }

    /// Reports a request that ended with an entry's response or error, or with a recording.
    ///
    /// - Parameter file: The file of the entry or of the recording; `nil` if it has none.
    private func reportMatched(_ plan: Plan, _ file: URL?, bytes: Int) {
        let isRefreshed = plan.substitution?.use == .untilUpdated && plan.done.withLock { $0.usesRefreshedFile }
        observers.report(
            .matched,
            plan.request.url,
            key: plan.substitution?.key,
            file: file,
            bytes: bytes,
            reason: isRefreshed ? "the file was refreshed" : nil
        )
    }

    /// Reports a request for which nothing was found: as bypassed if an entry matches its URL, and otherwise as a miss.
    ///
    /// - Parameter problem: Why the matching entry doesn't respond; `nil` to report the plan's reason.
    private func reportUnmatched(_ plan: Plan, since problem: String? = nil) {
        let url = plan.request.url
        if let entry = plan.namingEntry {
            observers.report(.bypassed, url, key: entry.key, reason: problem ?? plan.reason)
        } else {
            observers.report(.missed, url) { plan.match.map { plan.layers.nearMisses(of: $0.url) } ?? [] }
        }
    }

    func report(_ report: Exchange.Report, of url: URL) {
        switch report {
        case .recorded(let file, let bytes, let note):
            observers.report(.recorded, url, file: file, bytes: bytes, reason: note)
        case .unchanged: break
        case .notRecorded(let reason): observers.report(.notRecorded, url, reason: reason.fragment)
        }
    }

    // MARK: Storing

    /// Does nothing if an entry made the response, or would respond to the request.
    func store(_ response: CachedURLResponse, for request: URLRequest) {
        guard response.response.substitutionStatus == nil else { return }
        let plan = lookUp(request)
        guard !plan.keepsOutOfDefaultCache, let key = key(of: plan) else { return }
        defaultCache.store(response, under: key)
    }

    /// The default cache's key for a response to a plan's request; `nil` if the default cache can't store the response.
    func key(of plan: Plan) -> URLRequest? { defaultCache.key(for: plan.request, plan.match?.url.text) }
}

/// Removes responses from memory and from the default cache. The map's entries stay, and match the next lookup again.
extension Responder {
    func remove(_ request: URLRequest) {
        if let url = request.url?.absoluteString { inMemory.removeAll(for: url, in: maps.layers.all.map(\.map)) }
        let match = Plan(request, in: maps.map, traits: traits).match
        if let match, match.substitution?.use == .untilUpdated { refreshedFiles.removeFile(of: match.url.canonical) }
        if let key = defaultCache.key(for: request, match?.url.text) { defaultCache.remove(under: key) }
    }

    /// Removes all responses from memory, and forgets when the network was asked for newer files. If the default cache
    /// still has a refreshed file afterward, the next lookup finds it again.
    ///
    /// - Parameter removeFromDefaultCache: A closure that removes the responses from the default cache.
    func removeAll(_ removeFromDefaultCache: () -> Void) {
        removeFromDefaultCache()
        refreshedFiles.schedule.removeAll()
        inMemory.removeAll()
    }
}

/// Counts files that can't be read, and reports them as events. The next matching entry responds instead of a missing
/// file, and the default cache instead of an unreadable file.
extension Responder {
    /// Reports that an entry's file can't be read, and drops the URL's response in memory.
    func report(_ problem: Complaint, key: String, file: URL?, _ url: URL) {
        inMemory.remove(url.absoluteString)
        observers.report(.fault, url, key: key, file: file, reason: problem.fragment)
    }

    func reportGoneFiles(_ plan: Plan) {
        guard let match = plan.match, match.goneFile != nil, let url = plan.request.url else { return }
        for case (let entry, let layer, .fileIsGone(let name)) in match.skipped {
            report(.missingFile, key: entry.key, file: layer.map.storage.folder?.url(of: name), url)
        }
    }
}
