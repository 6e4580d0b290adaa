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
    /// `nil` where the request's URL is none that a map can name.
    let match: MapMatch?

    init(_ request: URLRequest, in map: SubstitutionMap) {
        guard let url = request.url, let normalized = try? NormalizedURL(url.absoluteString) else {
            verdict = .notHTTP
            match = nil
            return
        }
        let match = map.match(normalized)
        verdict = Self.verdict(request, match)
        self.match = match
    }

    /// What the winning entry gives, if it is the answer.
    var answer: Substitution? { verdict == .substituted ? match?.substitution : nil }

    /// Whether a response for this request is kept out of the default cache: the entry would answer, were it not for the
    /// request's cache policy.
    var keepsOutOfDefaultCache: Bool { verdict == .substituted || verdict == .ignoresLocalData }

    private static func verdict(_ request: URLRequest, _ match: MapMatch) -> Verdict {
        guard match.winner != nil else { return .noEntry }
        guard let substitution = match.substitution else { return .excluded }
        let method = request.httpMethod ?? "GET"
        guard substitution.lists(method: method) else { return .methodNotListed(method) }
        guard !request.ignoresLocalData else { return .ignoresLocalData }
        guard substitution.use != .whenOffline else { return .waitsForOffline }
        if let refusal = LoaderRules.refusal(of: substitution, for: request) { return .refused(refusal) }
        return .substituted
    }
}

extension URLRequest {
    /// Whether the cache policy says that nothing stored locally may answer. Linux's loader asks a cache all the same.
    var ignoresLocalData: Bool {
        switch cachePolicy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: true
        default: false
        }
    }
}
