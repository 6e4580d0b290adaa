import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a request gets, and why: the one place in which that is decided, for answering and for explaining alike.
struct Decision: Sendable {
    enum Verdict: Sendable, Hashable {
        case substituted
        case notHTTP
        case noEntry
        /// The file of the entry that would have won is gone, and no other entry names the URL.
        case fileIsGone
        /// The winning entry is `null`.
        case excluded
        case methodNotListed(String)
        /// The request's cache policy ignores local data: neither the file nor the default cache may answer.
        case ignoresLocalData
        /// The entry's file waits for the network to fail.
        case waitsForOffline
        case refused(LoaderRules.Refusal)
    }

    let verdict: Verdict
    /// Whether a response for this request is kept out of the default cache: the entry answers, or would but for the request's
    /// cache policy.
    let keepsOutOfDefaultCache: Bool
    /// `nil` where the request's URL is none that a map can name.
    let match: MapMatch?

    init(_ request: URLRequest, in map: SubstitutionMap) {
        guard let url = request.url, let normalized = try? NormalizedURL(url.absoluteString) else {
            verdict = .notHTTP
            keepsOutOfDefaultCache = false
            match = nil
            return
        }
        let match = map.match(normalized)
        let policyAside = Self.verdict(request, match)
        keepsOutOfDefaultCache = policyAside == .substituted
        verdict = policyAside.yieldsToPolicy && request.ignoresLocalData ? .ignoresLocalData : policyAside
        self.match = match
    }

    /// What the winning entry gives, if it is the answer.
    var answer: Substitution? { verdict == .substituted ? match?.substitution : nil }

    /// What the winning entry gives, if it is for the request's method, whatever becomes of that.
    var applying: Substitution? {
        if case .methodNotListed = verdict { nil } else { match?.substitution }
    }

    /// What comes of a request, its cache policy aside.
    private static func verdict(_ request: URLRequest, _ match: MapMatch) -> Verdict {
        guard match.winner != nil else { return match.goneFile == nil ? .noEntry : .fileIsGone }
        guard let substitution = match.substitution else { return .excluded }
        let method = request.httpMethod ?? "GET"
        guard substitution.lists(method: method) else { return .methodNotListed(method) }
        guard substitution.use != .whenOffline else { return .waitsForOffline }
        if let refusal = LoaderRules.refusal(of: substitution, for: request) { return .refused(refusal) }
        return .substituted
    }
}

extension Decision.Verdict {
    /// Whether an entry applies to the request, whatever comes of it: then the request's cache policy comes first.
    fileprivate var yieldsToPolicy: Bool {
        switch self {
        case .substituted, .waitsForOffline, .refused: true
        case .notHTTP, .noEntry, .fileIsGone, .excluded, .methodNotListed, .ignoresLocalData: false
        }
    }
}

extension URLRequest {
    /// Whether the cache policy says that nothing stored locally may answer. Linux's loader asks a cache all the same.
    var ignoresLocalData: Bool { cachePolicy.ignoresLocalData }
}

extension URLRequest.CachePolicy {
    var ignoresLocalData: Bool {
        switch self {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: true
        default: false
        }
    }
}
