public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What responds to a request in an attached session and cache only, and why. Print it, or look at a property.
///
/// ```swift
/// let explanation = cache.explain(URLRequest(url: url))
/// print(explanation.winner?.key ?? "no entry matches", explanation.attached.reason)
/// ```
public struct Explanation: Sendable, CustomStringConvertible {
    /// An entry that would have won, but was skipped for this request, for example because its condition isn't met or
    /// its file is missing.
    public struct Skipped: Sendable, Hashable, CustomStringConvertible {
        /// The entry.
        public let entry: SubstitutionMap.EntryReference
        /// Why the entry was skipped, without a period.
        public let reason: String

        /// The entry and the reason.
        public var description: String { "\(entry): \(reason)" }
    }

    /// The request's URL.
    public let url: URL?
    /// The request's method.
    public let method: String
    /// What happens in an attached session. ``LocalSubstitutionCache/explain(_:)`` assumes a session attached with
    /// ``LocalSubstitutionCache/Unmatched/load``.
    public let attached: Judgement
    /// What happens cache only: in a session that only has the cache as its `urlCache`.
    public let cacheOnly: Judgement
    /// The entry that wins; `nil` if no entry does.
    public let winner: SubstitutionMap.EntryReference?
    /// The entries that also match but lose, the strongest first.
    public let shadowed: [SubstitutionMap.EntryReference]
    /// The entries and alternatives that were skipped before the winner was chosen, each with the reason.
    public let skipped: [Skipped]
    /// The file of the winning entry's response; `nil` if the response has no file, or if no entry responds.
    public let file: URL?
    /// The response's `Content-Type`, such as `text/css; charset=utf-8`, if the winning entry decides it.
    ///
    /// `nil` if no entry wins, or if the entry fails the request, calls a handler or sets an empty `Content-Type`. If the
    /// network responds, this is the `Content-Type` that the entry sets, or `nil` if the entry sets none.
    public let contentType: String?
    /// Where the MIME type comes from, in words; `nil` if ``contentType`` is `nil`.
    public let contentTypeSource: String?
    /// The status of the winning entry's response; `nil` if no entry responds.
    public let status: Int?
    /// Whether the refreshed file is returned instead of the entry's file; `nil` if no `untilUpdated` entry responds.
    public let isRefreshed: Bool?
    /// The keys that almost match the URL; empty if an entry wins.
    public let nearMisses: [SubstitutionMap.NearMiss]
    /// Whether an entry was skipped because the request's body doesn't meet its condition.
    package let isAboutBody: Bool
    /// How the winning entry excludes the request, so that not even a recording responds: a clause that follows the
    /// entry's key, such as `is null`. `nil` if no entry excludes the request.
    package let exclusion: String?
    /// Whether only the server at the request's URL can respond: no entry does, or the entry only changes the request's
    /// headers.
    package let needsServer: Bool

    /// The whole explanation in several lines, ready to print. The lines `attached` and `cache only` say what responds in
    /// an attached session and cache only.
    public var description: String { text(url?.absoluteString, ["attached": attached, "cache only": cacheOnly]) }

    /// Leaves out what happens cache only.
    func text(ofSession shownURL: String) -> String { text(shownURL, ["attached": attached]) }

    private func text(_ shownURL: String?, _ judgements: KeyValuePairs<String, Judgement>) -> String {
        var lines = ["\(method) \(shownURL ?? "a request without a URL")"]
        func add(_ name: String, _ value: String?) {
            if let value { lines.append("  " + "\(name):".padding(toLength: 14, withPad: " ", startingAt: 0) + value) }
        }
        for (name, judgement) in judgements { add(name, judgement.description) }
        add("entry", winner?.description)
        add("file", file?.path)
        add("response", isRefreshed.map { $0 ? "the refreshed file" : "the file, which hasn't been refreshed" })
        if let status, status != 200 { add("status", String(status)) }
        add("MIME type", contentType.map { "\($0)" + (contentTypeSource.map { ", \($0)" } ?? "") })
        for entry in skipped { add("skipped", entry.description) }
        for entry in shadowed { add("shadowed", entry.description) }
        for miss in nearMisses { add("near miss", miss.description) }
        return lines.map(\.printable).joined(separator: "\n")
    }
}

extension Responder {
    func explain(_ request: URLRequest) -> Explanation {
        let plan = Plan(request, in: maps.layers, traits: traits)
        return Explanation(
            plan,
            refreshed: plan.question.flatMap(refreshedFiles.explainedFile),
            isStored: isStored(plan)
        )
    }

    /// Returns whether the default cache has a response that URLSession may use for a plan's request.
    private func isStored(_ plan: Plan) -> Bool {
        !plan.request.ignoresLocalData && LoaderRules.refusal(of: plan.request, traits) == nil
            && defaultCache.response(under: key(of: plan)) != nil
    }
}

extension Explanation {
    /// Explains a plan, and what the other client gets with the same match: for an attached session's plan, a cache-only
    /// lookup, and for a cache-only plan, a session attached with ``LocalSubstitutionCache/Unmatched/load``.
    ///
    /// - Parameters:
    ///   - refreshed: The refreshed file that is returned instead of the entry's file; `nil` for the file.
    ///   - isStored: Whether the default cache has a response; `false` by default.
    init(_ plan: Plan, refreshed: RefreshedFiles.File? = nil, isStored: Bool = false) {
        let (request, layers, match) = (plan.request, plan.layers, plan.match)
        let substitution = match?.substitution
        let (beginning, problem) = Self.beginning(substitution, plan.folder)
        let isAttached = plan.rules != nil
        attached = Judgement(isAttached ? plan : Plan(plan, for: .load), problem, isStored: isStored)
        cacheOnly = Judgement(isAttached ? Plan(plan, for: nil) : plan, problem, isStored: isStored)
        url = request.url
        method = request.httpMethod ?? "GET"
        winner = match?.winner.map { layers.reference(to: $0, in: plan.layer) }
        shadowed = match.map(layers.shadowed) ?? []
        skipped =
            match?.skipped.map {
                Skipped(entry: layers.reference(to: $0.entry, in: $0.layer), reason: $0.why.reason)
            } ?? []
        file = substitution?.fileURL
        // An error has no type. A handler's isn't known yet. The network's is known only if the entry sets it.
        let typed: Substitution? =
            switch substitution?.answer {
            case .handler, .error: nil
            case .stream where substitution?.isOnlyError == true: nil
            case .network: substitution?.mimeTypeSource == .header ? substitution : nil
            default: substitution
            }
        let type = typed?.contentType(ofBody: beginning, from: refreshed?.contentType)
        // An empty text means that no type is sent.
        let sent = type?.text.isEmpty == true ? nil : type
        (contentType, contentTypeSource) = (sent?.text, sent?.source.description)
        isRefreshed = attached.outcome == .matched && substitution?.use == .untilUpdated ? refreshed != nil : nil
        // Neither an error nor the network's response has the entry's status.
        status =
            switch substitution?.answer {
            case .error, .network: nil
            default: substitution?.status
            }
        nearMisses = match.map { Self.nearMisses($0, layers) } ?? []
        exclusion = plan.obstacle?.exclusion
        needsServer = plan.needsOrigin && exclusion == nil
        isAboutBody = match?.skipped.contains { if case .bodyCondition = $0.why { true } else { false } } ?? false
    }

    private static func nearMisses(_ match: MapMatch, _ layers: MapLayers) -> [SubstitutionMap.NearMiss] {
        guard match.winner == nil, match.goneFile == nil else { return [] }
        var found: [SubstitutionMap.NearMiss] = []
        if let (method, key, layer, alternatives) = match.unlistedMethod {
            let miss = SubstitutionMap.NearMiss(alternatives, key: key, method: method)
            found.append(layers.named(miss, in: layer))
        }
        return found + layers.nearMisses(of: match.url)
    }

    /// Returns the first bytes of a response's file, enough to detect a byte order mark, and the problem if the file, or
    /// one of a stream's files, can't be read.
    private static func beginning(
        _ substitution: Substitution?,
        _ folder: ResourcesFolder?
    ) -> (bytes: Data, problem: Complaint?) {
        guard let substitution, let folder else { return (Data(), nil) }
        do throws(Complaint) {
            if case .stream(let pieces) = substitution.answer {
                for case .file(let name) in pieces.map(\.content) { _ = try folder.open(name.text) }
            }
            guard let name = substitution.fileName else { return (Data(), nil) }
            let file = try folder.open(name)
            return ((try? file.beginning()) ?? Data(), nil)
        } catch {
            return (Data(), error)
        }
    }
}

extension MapMatch.Skipped {
    fileprivate var reason: String {
        switch self {
        case .isDisabled: "it's disabled"
        case .fileIsGone(let name): "its file “\(name)” no longer exists"
        case .noSuchFile(let name): "the resources folder has no file “\(name)”"
        case .methodNotListed(let method): "it doesn't match \(method)"
        case .condition(let failure), .bodyCondition(let failure): failure
        case .usedUp(let times):
            "it has matched \(times.counted("request", "requests")), the most that its “times” allows"
        case .notFilled(let obstacle): obstacle.description
        }
    }
}
