import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that is no hit, and what is to become of it.
struct Lookup: Sendable {
    let request: URLRequest
    let decision: Decision
    /// The map that decided.
    let map: SubstitutionMap
    /// Its number.
    let generation: Int

    var folder: ResourcesFolder? { map.storage.folder }
}

/// Answering what is not retained: decide, read, build, retain, or fall back.
extension LocalSubstitutionCache {
    /// Decides, by the map as it is now.
    func prepare(_ request: URLRequest) -> Lookup {
        reloadIfChanged()
        let (map, generation) = state.withLock { ($0.map, $0.generation) }
        return Lookup(request: request, decision: Decision(request, in: map), map: map, generation: generation)
    }

    /// Whether the answer takes neither a file that is not in memory yet nor the default cache, which looks on disk.
    func needsNoRead(_ lookup: Lookup, isTaken: Bool) -> Bool {
        if lookup.decision.verdict == .ignoresLocalData { return true }
        return lookup.decision.answer.map { isAtHand($0, lookup) } ?? isTaken
    }

    /// Whether the response of an entry that applies takes nothing that is not in memory yet.
    func isAtHand(_ substitution: Substitution, _ lookup: Lookup) -> Bool {
        guard let path = lookup.path(of: substitution) else { return true }
        return heldFile(at: path).map { knowsFreshest(lookup, substitution, $0) } ?? false
    }

    /// - Parameter isTaken: Whether a protocol has taken the request. If so, the protocol reports the outcome, unless the cache
    ///   answers from a file, and it doesn't want the default cache's response.
    func finish(_ lookup: Lookup, isTaken: Bool = false) -> CachedURLResponse? {
        reportGoneFiles(lookup)
        guard !isTaken else { return try? answer(lookup) }
        guard lookup.decision.verdict != .ignoresLocalData else {
            reportUnanswered(lookup, since: lookup.decision.reason)
            return nil
        }
        do throws(FileProblem) {
            return try answer(lookup) ?? fallBack(lookup, since: lookup.decision.reason)
        } catch {
            if let substitution = lookup.decision.answer, let url = lookup.request.url {
                report(error, of: substitution, url)
            }
            return fallBack(lookup, since: "the file \(error.message)")
        }
    }

    /// Returns the response of the entry that answers, and counts and reports it; `nil` if no entry does.
    private func answer(_ lookup: Lookup) throws(FileProblem) -> CachedURLResponse? {
        guard let substitution = lookup.decision.answer, let url = lookup.request.url else { return nil }
        return try substitute(lookup, with: substitution, url)
    }

    /// Returns an entry's response to a request, and counts it.
    func substitute(
        _ lookup: Lookup,
        with substitution: Substitution,
        _ url: URL
    ) throws(FileProblem) -> CachedURLResponse? {
        guard let response = try respond(lookup, with: substitution, url) else { return nil }
        count(substituted: response.data.count)
        emit(.substituted(url, key: substitution.key, file: substitution.fileURL, bytes: response.data.count))
        return response
    }

    func count(substituted bytes: Int) {
        count {
            $0.substituted += 1
            $0.bytes += bytes
        }
    }

    private func count(_ outcome: (inout Statistics) -> Void) {
        state.withLock { state in
            state.statistics.lookups += 1
            outcome(&state.statistics)
        }
    }

    // MARK: Substituting

    /// The response to a request whose entry applies.
    func respond(
        _ lookup: Lookup,
        with substitution: Substitution,
        _ url: URL
    ) throws(FileProblem) -> CachedURLResponse? {
        var file: FileBytes?
        if let name = substitution.fileName, let folder = lookup.folder { file = try read(name, in: folder) }
        let freshest = freshest(lookup, substitution, file)
        if let freshest { file = freshest.bytes }
        let proof = proof(for: lookup.request)
        let builder = ResponseBuilder(substitution: substitution, file: file, copy: freshest?.copy, proof: proof)
        let method = lookup.request.httpMethod ?? "GET"
        if method == "HEAD" { return builder.head(for: url) }
        guard method == "GET" else { return builder.full(for: url) }
        if let range = lookup.request.value(forHTTPHeaderField: "Range"),
            lookup.request.value(forHTTPHeaderField: "If-Range") == nil
        {
            return builder.part(range, for: url)
        }
        let response = builder.full(for: url)
        // What is retained answers plain requests, so it must be what the loader takes for one.
        let isForAll = proof == nil && substitution.use != .whenOffline && LoaderRules.refusal(of: substitution) == nil
        return isForAll ? retain(lookup, substitution, file, freshest, url, response) : response
    }

    /// Retains a response that was built, or gives the one that somebody else has retained meanwhile.
    private func retain(
        _ lookup: Lookup,
        _ substitution: Substitution,
        _ file: FileBytes?,
        _ freshest: Freshest?,
        _ url: URL,
        _ built: CachedURLResponse?
    ) -> CachedURLResponse? {
        guard let built else { return nil }
        let text = url.absoluteString
        let path = lookup.path(of: substitution)
        let isEndless = !isOwnURL(text, of: lookup)
        let watch = Watch(
            reload: liveReload,
            map: lookup.map,
            path: path,
            file: file,
            lifetime: LoaderRules.lifetime(of: substitution),
            update: freshest?.stamp
        )
        let item = RetainedTable.Item(response: built, size: built.data.count, watch: watch)
        return state.withLock { state in
            guard state.generation == lookup.generation else { return built }
            if state.retention.record(for: text)?.file === file, let known = retained.peek(text), !known.hasExpired {
                return known.response
            }
            retained.insert(item, for: text)
            let gone = state.retention.insert(
                text,
                key: substitution.key,
                path: freshest?.place ?? path,
                file: file,
                isEndless: isEndless
            )
            for url in gone { retained.remove(url) }
            return built
        }
    }

    /// Whether a URL is spelled as its exact entry's key is: there are no more of those than entries.
    private func isOwnURL(_ text: String, of lookup: Lookup) -> Bool {
        guard let match = lookup.decision.match, let entry = match.winner, !entry.isPattern else { return false }
        return text == entry.key || (text == match.url.canonical && match.isWithoutIgnoring)
    }

    // MARK: Faults and the default cache

    func report(_ problem: FileProblem, of substitution: Substitution, _ url: URL) {
        drop(url.absoluteString)
        state.withLock { $0.statistics.faults += 1 }
        emit(
            .fault(
                url,
                key: substitution.key,
                file: substitution.fileURL ?? URL(fileURLWithPath: "/"),
                reason: problem.message
            )
        )
    }

    private func reportGoneFiles(_ lookup: Lookup) {
        guard let match = lookup.decision.match, !match.passedOver.isEmpty, let url = lookup.request.url else { return }
        for case (let entry, .fileIsGone(let name)) in match.passedOver {
            drop(url.absoluteString)
            state.withLock { $0.statistics.faults += 1 }
            if let folder = lookup.folder {
                emit(.fault(url, key: entry.key, file: folder.url(of: name), reason: FileProblem.missing.message))
            }
        }
    }

    private func fallBack(_ lookup: Lookup, since reason: @autoclosure () -> String) -> CachedURLResponse? {
        let response = lookup.defaultCacheKey.flatMap(defaultResponse(under:))
        if response != nil, lookup.namingEntry == nil {
            count { $0.fallbackHits += 1 }
            if let url = lookup.request.url { emit(.fallbackHit(url)) }
        } else {
            reportUnanswered(lookup, since: reason())
        }
        return response
    }

    /// Counts and reports a lookup that neither an entry nor, in its place, the default cache answers.
    func reportUnanswered(_ lookup: Lookup, since reason: @autoclosure () -> String) {
        guard lookup.namingEntry == nil else {
            count { $0.bypassed += 1 }
            emit(bypassed(lookup, since: reason()))
            return
        }
        count { $0.misses += 1 }
        if let url = lookup.request.url { emit(missed(url, lookup)) }
    }

    private func bypassed(_ lookup: Lookup, since reason: String) -> Event {
        .bypassed(
            lookup.request.url ?? URL(fileURLWithPath: "/"),
            key: lookup.namingEntry?.key ?? "",
            reason: reason
        )
    }

    private func missed(_ url: URL, _ lookup: Lookup) -> Event {
        .missed(url, nearMisses: lookup.decision.match.map { lookup.map.storage.nearMisses(of: $0.url) } ?? [])
    }

    // MARK: Live reload

    private func reloadIfChanged() {
        guard let liveReload else { return }
        switch liveReload.check(use: use) {
        case .unchanged: break
        case .changed(let map):
            emit(.mapReloaded(entries: map.count))
        case .failed(let error):
            emit(.mapNotReloaded(error))
        }
    }
}

extension Lookup {
    /// The entry that names the URL: the one that wins, or would if its file were still there.
    var namingEntry: Entry? { decision.match?.winner ?? decision.match?.goneFile }

    /// The request under which the default cache stores the response; `nil` if it doesn't store it.
    var defaultCacheKey: URLRequest? { DefaultCacheKey.request(for: request, decision.match?.url) }

    func path(of substitution: Substitution) -> String? {
        substitution.fileName.flatMap { name in folder?.path(of: name) }
    }
}
