import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a map says about a request, and why. The cache, the protocol and explanations all decide here.
struct Decision: Sendable {
    enum Outcome: Sendable {
        /// The entry answers.
        case answer(Substitution)
        /// The network answers. If it fails, the entry does.
        case answerOffline(Substitution)
        /// The request fails.
        case fail(Substitution, URLError.Code)
        /// The network answers, perhaps at another URL.
        case forward(Substitution)
        /// Whether the entry answers depends on the request's body, which hasn't been read yet.
        case readBody
        /// No entry answers.
        case nothing(Cause)
    }

    /// Why no entry answers.
    enum Cause: Sendable, Hashable {
        case notHTTP
        case noEntry
        /// The file of the entry that would have won is gone, and no other entry names the URL.
        case fileIsGone
        /// The winning entry is `null`.
        case excluded
        case methodNotListed(String)
        /// The entries that name the URL are for other requests, or have answered as many requests as they may.
        case ruledOut
    }

    /// Why a cache alone can't do what the map says.
    enum CacheObstacle: Sendable, Hashable {
        /// The request's cache policy ignores local data, so neither the file nor the default cache may answer.
        case ignoresLocalData
        case waitsForOffline
        /// The entry has a field that only the protocol can follow.
        case needsProtocol(field: String)
        case refused(LoaderRules.Refusal)
    }

    let outcome: Outcome
    /// What keeps a cache from doing what the map says; `nil` if nothing does.
    let cacheObstacle: CacheObstacle?
    /// Whether a response to this request is kept out of the default cache, because the entry answers the request or would if its
    /// cache policy allowed that.
    let keepsOutOfDefaultCache: Bool
    /// The map's match; `nil` if a map can't name the request's URL.
    let match: MapMatch?

    /// Decides about a request.
    ///
    /// - Parameters:
    ///   - body: The request's body, if more of it is known than the request shows.
    ///   - isUsedUp: Returns whether an alternative has already answered as many requests as it may.
    init(
        _ request: URLRequest,
        body: RequestBody? = nil,
        in map: SubstitutionMap,
        isUsedUp: @escaping (AnswerCount) -> Bool = { _ in false }
    ) {
        let url = request.url.flatMap { try? NormalizedURL($0.absoluteString) }
        match = url.map { map.match($0, for: RequestFacts(request, body: body), isUsedUp: isUsedUp) }
        outcome = Self.outcome(match)
        let obstacle = Self.obstacle(request, outcome, match)
        let applies = if case .nothing = outcome { false } else { true }
        keepsOutOfDefaultCache = applies && obstacle == nil
        cacheObstacle = applies && request.ignoresLocalData ? .ignoresLocalData : obstacle
    }

    /// The substitution that a cache alone can return; `nil` if there is none.
    var cacheAnswer: Substitution? {
        guard cacheObstacle == nil, case .answer(let substitution) = outcome else { return nil }
        return substitution
    }

    /// The substitution of the entry that answers, at once or if the network fails.
    var substitution: Substitution? {
        switch outcome {
        case .answer(let substitution), .answerOffline(let substitution), .fail(let substitution, _),
            .forward(let substitution):
            substitution
        case .readBody, .nothing: nil
        }
    }

    /// Whether the map leaves the answer to the server at the request's URL, perhaps with changed request headers.
    var needsOrigin: Bool {
        switch outcome {
        case .nothing: true
        case .forward(let substitution): if case .network(nil) = substitution.content { true } else { false }
        case .answer, .answerOffline, .fail, .readBody: false
        }
    }

    /// The entry that names the URL: the one that wins, or would if its file still existed or the request were different.
    var namingEntry: Entry? { match?.winner ?? match?.goneFile ?? match?.ruledOut?.entry }

    private static func outcome(_ match: MapMatch?) -> Outcome {
        guard let match else { return .nothing(.notHTTP) }
        guard match.winner != nil else { return .nothing(cause(match)) }
        guard !match.needsBody else { return .readBody }
        guard let substitution = match.substitution else { return .nothing(.excluded) }
        switch substitution.content {
        case .error(let code): return .fail(substitution, code)
        case .network: return .forward(substitution)
        case .file, .inline, .empty:
            return substitution.use == .whenOffline ? .answerOffline(substitution) : .answer(substitution)
        }
    }

    private static func cause(_ match: MapMatch) -> Cause {
        guard match.goneFile == nil else { return .fileIsGone }
        switch match.ruledOut?.why {
        case .methodNotListed(let method): return .methodNotListed(method)
        case nil: return .noEntry
        default: return .ruledOut
        }
    }

    /// Returns what keeps a cache from doing what the map says, apart from the request's cache policy.
    private static func obstacle(_ request: URLRequest, _ outcome: Outcome, _ match: MapMatch?) -> CacheObstacle? {
        if let field = match?.protocolField { return .needsProtocol(field: field) }
        switch outcome {
        case .nothing, .fail, .forward, .readBody: return nil
        case .answerOffline: return .waitsForOffline
        case .answer(let substitution):
            return
                (LoaderRules.refusal(of: request)
                ?? LoaderRules.refusal(ofStatus: substitution.status, headers: substitution.headers))
                .map { .refused($0) }
        }
    }
}

extension Decision {
    /// Why a cache answers the request as it does, without a period.
    var reason: String {
        switch (cacheObstacle, outcome) {
        case (.ignoresLocalData?, _): "the request's cache policy ignores local data"
        case (.waitsForOffline?, _): "the entry answers only when the network fails (\"use\": \"whenOffline\")"
        case (_, .nothing(let cause)): reason(cause)
        case (.needsProtocol(let field)?, _):
            "the entry's field “\(field)” works only in a session to which the cache is attached"
        case (.refused(let refusal)?, _): refusal.message
        case (nil, _): "an entry answers it"
        }
    }

    private func reason(_ cause: Cause) -> String {
        switch cause {
        case .notHTTP: "only http and https URLs with a host and no user info are substituted"
        case .fileIsGone: "the file of the entry that names it no longer exists"
        case .noEntry where match?.passedOver.isEmpty == false:
            "the entries that name it are disabled or have no file for it"
        case .noEntry: "no entry names it"
        case .excluded: "the entry is null, so the URL is never substituted"
        case .methodNotListed(let method): "the entry doesn't list the method \(method)"
        case .ruledOut: "every entry that names it is passed over"
        }
    }
}
