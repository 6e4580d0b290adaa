import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a request gets by a map, and why. It is decided here, for the cache, the protocol and explanations alike.
struct Decision: Sendable {
    enum Outcome: Sendable {
        /// The entry answers.
        case answer(Substitution)
        /// The network answers. If it fails, the entry does.
        case answerOffline(Substitution)
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
    }

    /// Why a cache alone can't return what the entry says.
    enum CacheObstacle: Sendable, Hashable {
        /// The request's cache policy ignores local data: neither the file nor the default cache may answer.
        case ignoresLocalData
        case waitsForOffline
        case refused(LoaderRules.Refusal)
    }

    let outcome: Outcome
    /// `nil` where a cache can return the answer, and where no entry answers.
    let cacheObstacle: CacheObstacle?
    /// Whether a response to this request is kept out of the default cache: the entry answers it, or would but for the request's
    /// cache policy.
    let keepsOutOfDefaultCache: Bool
    /// `nil` where a map can't name the request's URL.
    let match: MapMatch?

    init(_ request: URLRequest, in map: SubstitutionMap) {
        match = request.url.flatMap { try? NormalizedURL($0.absoluteString) }.map { map.match($0) }
        outcome = Self.outcome(request, match)
        let obstacle = Self.obstacle(request, outcome)
        let applies = if case .nothing = outcome { false } else { true }
        keepsOutOfDefaultCache = applies && obstacle == nil
        cacheObstacle = applies && request.ignoresLocalData ? .ignoresLocalData : obstacle
    }

    /// The substitution that a cache alone can return; `nil` if there is none.
    var cacheAnswer: Substitution? {
        guard cacheObstacle == nil, case .answer(let substitution) = outcome else { return nil }
        return substitution
    }

    /// The substitution of the entry that answers, at once or when the network fails.
    var substitution: Substitution? {
        switch outcome {
        case .answer(let substitution), .answerOffline(let substitution): substitution
        case .nothing: nil
        }
    }

    /// The entry that names the URL: the one that wins, or would if its file were still there.
    var namingEntry: Entry? { match?.winner ?? match?.goneFile }

    private static func outcome(_ request: URLRequest, _ match: MapMatch?) -> Outcome {
        guard let match else { return .nothing(.notHTTP) }
        guard match.winner != nil else { return .nothing(match.goneFile == nil ? .noEntry : .fileIsGone) }
        guard let substitution = match.substitution else { return .nothing(.excluded) }
        let method = request.httpMethod ?? "GET"
        guard substitution.lists(method: method) else { return .nothing(.methodNotListed(method)) }
        return substitution.use == .whenOffline ? .answerOffline(substitution) : .answer(substitution)
    }

    /// Ignores the request's cache policy.
    private static func obstacle(_ request: URLRequest, _ outcome: Outcome) -> CacheObstacle? {
        switch outcome {
        case .nothing: nil
        case .answerOffline: .waitsForOffline
        case .answer(let substitution):
            (LoaderRules.refusal(of: request)
                ?? LoaderRules.refusal(ofStatus: substitution.status, headers: substitution.headers))
                .map { .refused($0) }
        }
    }
}

extension Decision {
    /// Why a request gets what it gets from a cache, in a sentence without a full stop.
    var reason: String {
        switch (cacheObstacle, outcome) {
        case (.ignoresLocalData?, _): "the request's cache policy ignores local data"
        case (.waitsForOffline?, _): "the entry's file answers only when the network fails (“use”: “whenOffline”)"
        case (.refused(let refusal)?, _): refusal.message
        case (nil, .answer), (nil, .answerOffline): "an entry answers it"
        case (nil, .nothing(let cause)): reason(cause)
        }
    }

    private func reason(_ cause: Cause) -> String {
        switch cause {
        case .notHTTP: "only http and https URLs with a host and without user info are substituted"
        case .fileIsGone: "the file of the entry that names it does not exist any more"
        case .noEntry where match?.passedOver.isEmpty == false:
            "the entries that name it are disabled or have no file for it"
        case .noEntry: "no entry names it"
        case .excluded: "the entry is null: such URLs are never substituted"
        case .methodNotListed(let method): "the entry does not list the method \(method)"
        }
    }
}
