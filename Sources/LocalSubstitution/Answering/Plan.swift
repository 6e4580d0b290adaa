import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What to do about a request, and why. The cache, the protocol, the server and explanations all use plans.
///
/// The map decides which entry matches. The session's rules, if any, decide what that means for the request.
final class Plan: Sendable {
    enum Action: Sendable {
        /// The entry's response is returned.
        case answer(Substitution)
        /// The entry's handler is called, and decides.
        case call(Entry.Handler, Substitution)
        /// The entry makes the request fail.
        case fail(Substitution, URLError.Code)
        /// The network responds, perhaps at another URL. If it fails, the fallback responds; without a fallback, the
        /// request fails.
        case forward(Fallback?)
        /// The recorded response is returned. Without one, the request fails.
        case replay(any ResponseRecorder)
        /// The request's body must be read first, since it decides which entry matches.
        case readBody
        /// Nothing responds, and the request isn't allowed to reach the network.
        case refuse
        /// The request isn't intercepted. The loader may ask the default cache or the network.
        case pass
    }

    /// What responds if the network fails.
    enum Fallback: Sendable {
        case entry(Substitution)
        case recorder(any ResponseRecorder)
    }

    /// The request, with the headers that entries of earlier maps have changed.
    let request: URLRequest
    /// The request's body, as far as it's known.
    let body: RequestFacts.Body
    private let traits: LoaderTraits
    /// The rules of the attached session; `nil` for a cache-only lookup.
    let rules: SessionRules?
    /// Whether the request must not reach the network. If so, the network isn't asked for a newer file, and no
    /// refreshed file is returned.
    let isOffline: Bool
    /// The maps in which the request was looked up.
    let layers: MapLayers
    /// The value of ``ResponsesInMemory/generation`` when the request was looked up.
    let generation: Int
    /// The map's match; `nil` if no map can match the request's URL.
    let match: MapMatch?
    let action: Action
    /// Why the client doesn't get the response of an entry; `nil` if it does, if the entry forwards the request or makes
    /// it fail, or if the request's body must be read first.
    let obstacle: Obstacle?
    /// The response of the winning entry or of its handler. `nil` if no entry wins, if the handler declined, or if the
    /// request's body must be read first.
    let substitution: Substitution?
    /// Whether the response is a handler's. Such a response isn't held in memory.
    let isHandled: Bool
    let done = Guarded(Done())

    struct Done: Sendable {
        /// The alternatives with a limit of `times` that ``Plan/count()`` has counted. ``Plan/uncount()`` can take that
        /// back.
        var counted: [(layer: MapLayer, count: MapMatch.Count)] = []
        /// Whether a refreshed file responds instead of the entry's file. The response's `Cache-Status` may not say so,
        /// since the entry can set that header.
        var usesRefreshedFile = false
    }

    /// - Parameter body: The request's body; by default, the one that the request contains.
    @inline(never)  // Otherwise, each of its callers would contain a copy.
    init(
        _ request: URLRequest,
        body: RequestFacts.Body? = nil,
        rules: SessionRules? = nil,
        isOffline: Bool = false,
        in layers: MapLayers,
        generation: Int = 0,
        traits: LoaderTraits
    ) {
        self.traits = traits
        self.rules = rules
        self.isOffline = isOffline
        self.layers = layers
        self.generation = generation
        let url = request.url.flatMap { try? NormalizedURL($0.absoluteString) }
        let facts = RequestFacts(request, body: body)
        let match = url.map { layers.match($0, for: facts) }
        self.body = facts.body
        self.match = match
        self.request = match?.changes.reduce(into: request) { $1.change(&$0) } ?? request
        (substitution, isHandled) = (match?.substitution, false)
        (action, obstacle) = Self.decide(request, match, traits, for: rules)
    }

    /// Looks a request up in one map, none of whose entries has responded yet.
    convenience init(_ request: URLRequest, in map: SubstitutionMap, traits: LoaderTraits) {
        self.init(request, in: MapLayers(map), traits: traits)
    }

    /// Continues a plan after the entry's handler was called.
    ///
    /// - Parameter answer: The handler's answer; `nil` if the handler declined.
    convenience init(_ called: Plan, answeredWith answer: Substitution?) {
        let declined: Obstacle? = answer == nil ? .declined : nil
        let decision = called.rules.map { Self.decide(called.request, answer, declined, called.traits, in: $0) }
        self.init(called, decision ?? (.pass, declined), answer, isHandled: answer != nil, for: called.rules)
    }

    /// Decides what another client gets for the same request, with the same match.
    ///
    /// - Parameter rules: The rules of an attached session; `nil` for a cache-only lookup.
    convenience init(_ other: Plan, for rules: SessionRules?) {
        let decision = Self.decide(other.request, other.match, other.traits, for: rules)
        self.init(other, decision, other.match?.substitution, isHandled: false, for: rules)
    }

    private init(
        _ other: Plan,
        _ decision: (Action, Obstacle?),
        _ substitution: Substitution?,
        isHandled: Bool,
        for rules: SessionRules?
    ) {
        (request, body, traits, isOffline) = (other.request, other.body, other.traits, other.isOffline)
        (layers, generation, match) = (other.layers, other.generation, other.match)
        (self.rules, self.substitution, self.isHandled) = (rules, substitution, isHandled)
        (action, obstacle) = decision
    }

    // MARK: Deciding

    /// Decides what a client gets: the action and, if that isn't an entry's, the obstacle.
    ///
    /// - Parameter rules: The rules of an attached session; `nil` for a cache-only lookup.
    private static func decide(
        _ request: URLRequest,
        _ match: MapMatch?,
        _ traits: LoaderTraits,
        for rules: SessionRules?
    ) -> (Action, Obstacle?) {
        let unmatched = Obstacle(match)
        guard let rules else {
            let policy: Obstacle? = request.ignoresLocalData ? .policy : nil
            let obstacle = unmatched ?? policy ?? cacheOnlyObstacle(request, match, traits)
            guard obstacle == nil, let substitution = match?.substitution else { return (.pass, obstacle) }
            return (.answer(substitution), nil)
        }
        if match?.needsBody == true { return (.readBody, nil) }
        return decide(request, match?.substitution, unmatched, traits, in: rules)
    }

    /// Returns why a winning entry doesn't respond cache only; `nil` if it does, or if no entry wins. Ignores the request's
    /// cache policy.
    private static func cacheOnlyObstacle(
        _ request: URLRequest,
        _ match: MapMatch?,
        _ traits: LoaderTraits
    ) -> Obstacle? {
        let ofEntry = match?.cacheOnlyObstacle
        return switch ofEntry {
        case .field?, .whenOffline?: ofEntry
        default: LoaderRules.refusal(of: request, traits).map { .refused($0) } ?? ofEntry
        }
    }

    /// Decides what an attached session gets.
    ///
    /// - Parameters:
    ///   - substitution: The response of the entry or of its handler; `nil` if there's none.
    ///   - unmatched: Why there's none.
    private static func decide(
        _ request: URLRequest,
        _ substitution: Substitution?,
        _ unmatched: Obstacle?,
        _ traits: LoaderTraits,
        in rules: SessionRules
    ) -> (Action, Obstacle?) {
        guard let substitution else {
            return (actionWithoutEntry(for: request, unmatched, in: rules, traits), unmatched)
        }
        switch substitution.answer {
        case .handler(let handler): return (.call(handler, substitution), nil)
        case .error(let code): return (.fail(substitution, code), nil)
        // The entry has no `forwardTo`. With a `forwardTo`, even a strict session may load the target.
        case .network(nil)
        where rules.forbidsNetwork(to: request) && !(rules.isRecorded && substitution.onlyChangesRequest):
            return (.refuse, .noNetwork)
        case .network: return (.forward(nil), nil)
        case .file, .inline, .stream, .never:
            guard substitution.use == .whenOffline, !rules.forbidsNetwork(to: request) else {
                return (.answer(substitution), nil)
            }
            return (.forward(.entry(substitution)), nil)
        }
    }

    private static func actionWithoutEntry(
        for request: URLRequest,
        _ unmatched: Obstacle?,
        in rules: SessionRules,
        _ traits: LoaderTraits
    ) -> Action {
        if unmatched?.exclusion == nil, let recorder = rules.recorder, recorder.refusal(of: request) == nil {
            return rules.forbidsNetwork(to: request) ? .replay(recorder) : .forward(.recorder(recorder))
        }
        guard rules.isStrict || rules.listener != nil, request.reachesNetwork else { return .pass }
        let isRecorded = isRecorded(request, unmatched, in: rules)
        if rules.forbidsNetwork(to: request), !isRecorded { return .refuse }
        // The URL may redirect to a URL that isn't allowed. The protocol can check the redirect's target only if it
        // forwards the request. In a recording run, the protocol also intercepts the request of an upload task whose
        // body Foundation hides. That request then fails.
        let mayBeForwarded = request.showsItsBody(traits) || isRecorded
        return request.isHTTP && mayBeForwarded ? .forward(nil) : .pass
    }

    /// Returns whether a test's recording run records the response to a request that no entry matches.
    private static func isRecorded(_ request: URLRequest, _ unmatched: Obstacle?, in rules: SessionRules) -> Bool {
        rules.isRecorded && unmatched?.exclusion == nil && !rules.allows(request)
    }

    // MARK: What follows from the decision

    /// Whether a test's recording run records the response to the request: no entry matches it.
    var isRecorded: Bool { needsOrigin && rules.map { Self.isRecorded(request, obstacle, in: $0) } == true }

    /// The obstacle in words, without a period.
    var reason: String {
        // With a recorder, a map without entries is usual, so that isn't worth saying.
        if case .noEntry? = obstacle, rules?.recorder == nil, layers.all.allSatisfy({ $0.map.count == 0 }) {
            return "the map has no entries"
        }
        return obstacle?.reason ?? "an entry matches it"
    }

    /// Whether a cache-only lookup doesn't even ask the default cache, since the request's policy ignores local data.
    var ignoresLocalData: Bool { if case .policy? = obstacle { true } else { false } }

    /// Whether an entry responds, or may respond once the request's body is read.
    var hasEntry: Bool { substitution != nil || match?.needsBody == true }

    /// Whether responses to this request must stay out of the default cache: an entry responds cache only, or would
    /// under another cache policy.
    var keepsOutOfDefaultCache: Bool {
        Obstacle(match) == nil && Self.cacheOnlyObstacle(request, match, traits) == nil
    }

    /// Whether only the server at the request's URL can respond: no entry does, or the entry only changes the request's
    /// headers.
    var needsOrigin: Bool {
        substitution.map(\.onlyChangesRequest) ?? !hasEntry
    }

    /// The entry that matches the URL: the winner, or the entry that would win if its file still existed or the request
    /// were different.
    var namingEntry: Entry? { match?.winner ?? naming?.entry }

    private var naming: (entry: Entry, layer: MapLayer, why: MapMatch.Skipped)? {
        match?.goneFile ?? match?.skippedForRequest
    }

    var namingReference: SubstitutionMap.EntryReference? {
        match?.winner.map { layers.reference(to: $0, in: layer) }
            ?? naming.map { layers.reference(to: $0.entry, in: $0.layer) }
    }

    // MARK: What the layers count

    /// Notes that the entry has responded to a request.
    func use() { match?.forEachWinner { $0.layer.use($0) } }

    /// Counts the response, if its alternative has a limit of `times`. Returns whether the plan may be carried out:
    /// `false` only if the limit was already reached. Nothing is counted in that case. The plan must then be made again.
    func count() -> Bool {
        var counted: [(layer: MapLayer, count: MapMatch.Count)] = []
        var isAllowed = true
        match?.forEachWinner { match in
            guard isAllowed, let count = match.count else { return }
            if match.layer.count(count) { counted.append((match.layer, count)) } else { isAllowed = false }
        }
        guard !counted.isEmpty else { return isAllowed }
        done.withLock { $0.counted = counted }
        if !isAllowed { uncount() }
        return isAllowed
    }

    /// Takes back what ``count()`` counted, for a request that didn't get the response after all. A second call has no
    /// effect.
    func uncount() {
        let counted = done.withLock { done in
            defer { done.counted = [] }
            return done.counted
        }
        for (layer, count) in counted { layer.uncount(count) }
    }

    // MARK: What the response needs

    /// The layer of the entry that matches; the cache's own map if no map can match the request's URL.
    var layer: MapLayer { match?.layer ?? layers.map }

    var folder: ResourcesFolder? { layer.map.storage.folder }

    /// The request's `rangeHeader`; `nil` for a handler's response, which is always sent whole.
    var range: String? { isHandled ? nil : request.rangeHeader }

    /// The path of the response's file; `nil` without one.
    var path: String? { substitution?.fileName.flatMap { name in folder?.path(of: name) } }

    /// The question for the network about the entry's file; `nil` if the entry isn't `untilUpdated`, if the method is
    /// neither GET nor HEAD, or if the request must not reach the network.
    var question: RefreshedFiles.Question? {
        guard let substitution, substitution.use == .untilUpdated, !isOffline,
            ["GET", "HEAD"].contains(request.httpMethod ?? "GET"), let match, let requested = request.url,
            let name = substitution.fileName, let folder
        else { return nil }
        return RefreshedFiles.Question(
            url: match.url.canonical,
            requested: requested,
            key: substitution.key,
            fileName: name,
            folder: folder
        )
    }
}

extension URLRequest {
    fileprivate var isHTTP: Bool { ["http", "https"].contains(url?.scheme?.lowercased()) }

    /// Whether loading the request would reach the network. `data` and `file` URLs don't.
    var reachesNetwork: Bool {
        ["http", "https", "ws", "wss", "ftp"].contains(url?.scheme?.lowercased() ?? "")
    }
}
