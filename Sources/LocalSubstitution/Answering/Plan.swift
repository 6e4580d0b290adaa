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
        /// The entry answers.
        case answer(Substitution)
        /// The entry's handler answers.
        case call(Entry.Handler, Substitution)
        /// The entry makes the request fail.
        case fail(Substitution, URLError.Code)
        /// The network answers, perhaps at another URL. If it fails, the fallback answers; without a fallback, the
        /// request fails.
        case forward(Fallback?)
        /// The recorder's copy answers. Without a copy, the request fails.
        case replay(any ResponseRecorder)
        /// The request's body must be read first, since it decides which entry answers.
        case readBody
        /// Nothing answers, and the request isn't allowed to reach the network.
        case refuse
        /// The request is left to the loader, which may ask the default cache or the network.
        case pass
    }

    /// A verdict, and the reason in words, without a period.
    private typealias Judgement = (verdict: Explanation.Verdict, reason: String)

    /// What answers if the network fails.
    enum Fallback: Sendable {
        case entry(Substitution)
        case recorder(any ResponseRecorder)
    }

    let request: URLRequest
    /// The request's body, as far as it's known.
    let body: RequestFacts.Body
    private let traits: LoaderTraits
    /// The rules of the session; `nil` if the cache alone decides.
    let rules: SessionRules?
    /// Whether the request must not reach the network. If so, the network isn't asked for a newer copy, and no newer
    /// copy answers.
    let isOffline: Bool
    /// The map in which the request was looked up.
    let map: SubstitutionMap
    /// The value of ``RetainedResponses/generation`` when the request was looked up.
    let generation: Int
    /// The map's match; `nil` if no map can match the request's URL.
    let match: MapMatch?
    /// How a cache without a protocol answers the request.
    let verdict: Explanation.Verdict
    /// The reason for the verdict, in words, without a period.
    let reason: String
    let action: Action
    /// The answer of the winning entry or of its handler. `nil` if no entry answers, if the handler declined, or if the
    /// request's body must be read first.
    let substitution: Substitution?
    /// The answer that a cache without a protocol can return; `nil` if only a protocol can answer, or nothing does.
    let cacheAnswer: Substitution?
    /// Whether an entry's handler has answered. A handler's answer isn't retained.
    let isHandled: Bool
    /// Whether ``MapInUse/count(_:)`` has counted the answer toward its alternative's limit of `times`. If so,
    /// ``MapInUse/uncount(_:)`` can take that back.
    let isCounted = Guarded(false)

    /// Decides how to answer a request.
    ///
    /// - Parameters:
    ///   - body: The request's body; by default, the one that the request contains.
    ///   - isUsedUp: Returns whether an alternative has already reached its limit of `times`; by default, `false`.
    init(
        _ request: URLRequest,
        body: RequestFacts.Body? = nil,
        rules: SessionRules? = nil,
        isOffline: Bool = false,
        in map: SubstitutionMap,
        generation: Int = 0,
        traits: LoaderTraits,
        isUsedUp: @escaping (MapMatch.Count) -> Bool = { _ in false }
    ) {
        self.request = request
        self.traits = traits
        self.rules = rules
        self.isOffline = isOffline
        self.map = map
        self.generation = generation
        let url = request.url.flatMap { try? NormalizedURL($0.absoluteString) }
        let facts = RequestFacts(request, body: body)
        let match = url.map { map.match($0, for: facts, isUsedUp: isUsedUp) }
        self.body = facts.body
        self.match = match
        let policy: Judgement? =
            request.ignoresLocalData ? (.ignoresLocalData, "the request's cache policy ignores local data") : nil
        (verdict, reason) =
            Self.unanswered(match) ?? policy ?? Self.obstacle(request, match, traits)
            ?? (.substituted, "an entry answers it")
        cacheAnswer = verdict == .substituted ? match?.localSubstitution : nil
        (substitution, isHandled) = (match?.substitution, false)
        if let rules {
            let isExcluded = match?.isExcluded == true
            action =
                match?.needsBody == true
                ? .readBody : Self.action(for: request, match?.substitution, isExcluded: isExcluded, in: rules, traits)
        } else {
            action = cacheAnswer.map { .answer($0) } ?? .pass
        }
    }

    /// Continues a plan after the entry's handler was called.
    ///
    /// - Parameter answer: The handler's answer; `nil` if the handler declined.
    init(_ called: Plan, answeredWith answer: Substitution?) {
        (request, body, traits) = (called.request, called.body, called.traits)
        (rules, isOffline) = (called.rules, called.isOffline)
        (map, generation, match) = (called.map, called.generation, called.match)
        (substitution, isHandled, cacheAnswer) = (answer, answer != nil, nil)
        (verdict, reason) =
            answer == nil
            ? (.excluded, "the entry's handler answered with .notSubstituted") : (called.verdict, called.reason)
        action =
            called.rules.map { Self.action(for: called.request, answer, isExcluded: true, in: $0, called.traits) }
            ?? .pass
    }

    /// Returns why the map leaves the request unanswered; `nil` if an entry answers the request, forwards it or makes
    /// it fail.
    private static func unanswered(_ match: MapMatch?) -> Judgement? {
        guard let match else {
            return (.notHTTP, "only http and https URLs with a host and no user info are substituted")
        }
        guard match.winner == nil else {
            return match.isExcluded ? (.excluded, "the entry is null, so the URL is never substituted") : nil
        }
        guard match.goneFile == nil else {
            return (.unreadableFile, "the file of the entry that names it no longer exists")
        }
        switch match.ruledOut?.why {
        case .methodNotListed(let method): return (.methodNotListed, "the entry doesn't list the method \(method)")
        case nil where match.passedOver.isEmpty: return (.noEntry, "no entry names it")
        case nil: return (.noEntry, "every entry that names it is disabled or has no file for it")
        default: return (.ruledOut, "every entry that names it is passed over")
        }
    }

    /// Returns why a cache without a protocol can't do what the entry says; `nil` if it can, or if no entry answers.
    /// Ignores the request's cache policy.
    private static func obstacle(_ request: URLRequest, _ match: MapMatch?, _ traits: LoaderTraits) -> Judgement? {
        if let field = match?.protocolField {
            return (
                .needsProtocol, "the entry's field “\(field)” works only in a session to which the cache is attached"
            )
        }
        guard let substitution = match?.localSubstitution else { return nil }
        guard substitution.use != .whenOffline else {
            return (.waitsForOffline, "the entry answers only when the network fails (\"use\": \"whenOffline\")")
        }
        let refusal =
            LoaderRules.refusal(of: request, traits)
            ?? LoaderRules.refusal(ofStatus: substitution.status, headers: substitution.headers)
        return refusal.map { (.refusedByLoader, $0) }
    }

    /// Returns what to do about a request of an attached session.
    ///
    /// - Parameters:
    ///   - substitution: The entry's answer; `nil` if no entry answers.
    ///   - isExcluded: Whether the entry is `null` or its handler declined. The recorder then doesn't take the request.
    private static func action(
        for request: URLRequest,
        _ substitution: Substitution?,
        isExcluded: Bool,
        in rules: SessionRules,
        _ traits: LoaderTraits
    ) -> Action {
        guard let substitution else {
            return actionWithoutEntry(for: request, isExcluded: isExcluded, in: rules, traits)
        }
        switch substitution.answer {
        case .handler(let handler): return .call(handler, substitution)
        case .error(let code): return .fail(substitution, code)
        // The entry has no `forwardTo`. With a `forwardTo`, even a strict session may load the target.
        case .network(nil) where rules.forbidsNetwork(to: request): return .refuse
        case .network: return .forward(nil)
        case .file, .inline, .stream, .never:
            guard substitution.use == .whenOffline, !rules.forbidsNetwork(to: request) else {
                return .answer(substitution)
            }
            return .forward(.entry(substitution))
        }
    }

    private static func actionWithoutEntry(
        for request: URLRequest,
        isExcluded: Bool,
        in rules: SessionRules,
        _ traits: LoaderTraits
    ) -> Action {
        if !isExcluded, let recorder = rules.recorder, recorder.refusal(of: request) == nil {
            return rules.forbidsNetwork(to: request) ? .replay(recorder) : .forward(.recorder(recorder))
        }
        guard rules.isStrict || rules.listener != nil, request.reachesNetwork else { return .pass }
        if rules.forbidsNetwork(to: request) { return .refuse }
        // The URL may redirect to a URL that isn't allowed. The protocol can check the redirect's target only if
        // it forwards the request.
        let mayBeSentOn = request.showsItsBody(traits) || rules.listener?.mustHear(request) == true
        return request.isHTTP && mayBeSentOn ? .forward(nil) : .pass
    }

    /// Whether an entry answers the request, or may answer it once its body is read.
    var hasEntry: Bool { substitution != nil || match?.needsBody == true }

    /// Whether responses to this request must stay out of the default cache: an entry answers the request, or would
    /// answer it under another cache policy.
    var keepsOutOfDefaultCache: Bool { Self.unanswered(match) == nil && Self.obstacle(request, match, traits) == nil }

    /// Whether only the server at the request's URL can answer: no entry answers the request, or its entry only changes
    /// headers.
    var needsOrigin: Bool {
        guard let substitution else { return !hasEntry }
        return if case .network(nil) = substitution.answer { true } else { false }
    }

    /// The entry that matches the URL: the winner, or the entry that would win if its file still existed or the request
    /// were different.
    var namingEntry: Entry? { match?.winner ?? match?.goneFile ?? match?.ruledOut?.entry }

    // MARK: What the answer needs

    var folder: ResourcesFolder? { map.storage.folder }

    /// The request's `rangeHeader`; `nil` for a handler's answer, which is always sent whole.
    var range: String? { isHandled ? nil : request.rangeHeader }

    /// The path of the answer's file; `nil` without a file.
    var path: String? { substitution?.fileName.flatMap { name in folder?.path(of: name) } }
}

extension URLRequest {
    fileprivate var isHTTP: Bool { ["http", "https"].contains(url?.scheme?.lowercased()) }

    /// Whether loading the request would reach the network. `data` and `file` URLs don't.
    var reachesNetwork: Bool {
        ["http", "https", "ws", "wss", "ftp"].contains(url?.scheme?.lowercased() ?? "")
    }
}
