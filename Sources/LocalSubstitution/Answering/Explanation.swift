public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How a cache answers a request, and why.
public struct Explanation: Sendable, CustomStringConvertible {
    /// How a request is answered.
    public struct Verdict: RawRepresentable, Sendable, Hashable {
        /// The name of the static member.
        public let rawValue: String

        /// Creates a verdict with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An entry answers: with its file, with a body from the map, or with only a status.
        public static var substituted: Verdict { Verdict(rawValue: "substituted") }
        /// No entry can match the URL, because it isn't http or https, has no host, or has user info.
        public static var notHTTP: Verdict { Verdict(rawValue: "notHTTP") }
        /// No entry matches the URL, or the entries that match it are disabled or have no file for it.
        public static var noEntry: Verdict { Verdict(rawValue: "noEntry") }
        /// The entry is `null`, or its handler answered with `.notSubstituted`.
        public static var excluded: Verdict { Verdict(rawValue: "excluded") }
        /// The entry doesn't list the request's method.
        public static var methodNotListed: Verdict { Verdict(rawValue: "methodNotListed") }
        /// The request's cache policy ignores local data, so neither an entry nor the default cache answers.
        public static var ignoresLocalData: Verdict { Verdict(rawValue: "ignoresLocalData") }
        /// The entries that match the URL are for other requests, or have reached their limit of `times`.
        public static var ruledOut: Verdict { Verdict(rawValue: "ruledOut") }
        /// Only the protocol of an attached session can do what the entry says.
        public static var needsProtocol: Verdict { Verdict(rawValue: "needsProtocol") }
        /// The entry's file answers only if the network fails.
        public static var waitsForOffline: Verdict { Verdict(rawValue: "waitsForOffline") }
        /// The loader wouldn't accept the response from a cache.
        public static var refusedByLoader: Verdict { Verdict(rawValue: "refusedByLoader") }
        /// The entry's file can't be read.
        public static var unreadableFile: Verdict { Verdict(rawValue: "unreadableFile") }
    }

    /// An entry that would have won, but was ruled out for this request: for example, by its condition or a missing
    /// file.
    public struct PassedOver: Sendable, Hashable, CustomStringConvertible {
        /// The entry.
        public let entry: SubstitutionMap.EntryReference
        /// Why the entry doesn't answer, without a period.
        public let reason: String

        /// The entry and the reason.
        public var description: String { "\(entry): \(reason)" }
    }

    /// The request's URL.
    public let url: URL?
    /// The request's method.
    public let method: String
    /// How the request is answered.
    public let verdict: Verdict
    /// Why the request is answered that way, without a period.
    public let reason: String
    /// The entry that wins; `nil` if no entry does.
    public let winner: SubstitutionMap.EntryReference?
    /// The entries that also match but lose, the strongest first.
    public let shadowed: [SubstitutionMap.EntryReference]
    /// The entries and alternatives that were ruled out before the winner was chosen, each with the reason.
    public let passedOver: [PassedOver]
    /// The file of the winning entry's answer; `nil` if the answer has no file, or if there's no answer.
    public let file: URL?
    /// The response's `Content-Type`, such as `text/css; charset=utf-8`; `nil` if no entry wins, or if the answer is an
    /// error or a handler's, or if the entry's `Content-Type` is empty. Also `nil` if the network answers, unless the
    /// entry sets the header `Content-Type`.
    public let contentType: String?
    /// Where the MIME type comes from, in words; `nil` if ``contentType`` is `nil`.
    public let contentTypeSource: String?
    /// The status of the winning entry's answer; `nil` if there's no answer.
    public let status: Int?
    /// Whether a newer copy from the network answers instead of the entry's file; `nil` unless an `untilUpdated` entry
    /// answers.
    public let isNewerCopy: Bool?
    /// The keys that almost match the URL; empty if an entry wins.
    public let nearMisses: [SubstitutionMap.NearMiss]
    /// Whether an entry was skipped because the request's body doesn't meet its condition.
    package let isAboutBody: Bool

    /// The answer in a session with the cache attached, in words, such as “the entry after 2 s”. `nil` if the cache can
    /// answer without a session's protocol, or if no entry answers.
    public let attached: String?

    /// The source of the answer if no entry answers, such as “the network”; `nil` if an entry answers.
    public var instead: String? {
        switch verdict {
        case .substituted: nil
        case .ignoresLocalData: "the network"
        default: "the default cache, or else the network"
        }
    }

    /// The whole explanation in several lines, ready to print.
    public var description: String { text(servedBy: instead) }

    /// Returns the lines of the explanation as one text.
    ///
    /// - Parameters:
    ///   - server: What answers the request instead of the entry; `nil` if the entry does.
    ///   - shownURL: The URL to show; by default, the request's.
    func text(servedBy server: String?, shownURL: String? = nil) -> String {
        var lines = ["\(method) \(shownURL ?? url?.absoluteString ?? "a request without a URL")"]
        func add(_ name: String, _ value: String?) {
            if let value { lines.append("  " + "\(name):".padding(toLength: 14, withPad: " ", startingAt: 0) + value) }
        }
        let session = attached.map { "in an attached session, \($0); otherwise " } ?? ""
        add("verdict", verdict == .substituted ? "substituted" : "\(session)not substituted: \(reason)")
        add("served by", server)
        add("entry", winner?.description)
        add("file", file?.path)
        add("answer", isNewerCopy.map { $0 ? "a newer copy from the network" : "the file; no newer copy is known" })
        if let status, status != 200 { add("status", String(status)) }
        add("MIME type", contentType.map { "\($0)" + (contentTypeSource.map { ", \($0)" } ?? "") })
        for entry in passedOver { add("passed over", entry.description) }
        for entry in shadowed { add("shadowed", entry.description) }
        for miss in nearMisses { add("near miss", miss.description) }
        return lines.map(\.printable).joined(separator: "\n")
    }
}

extension Responder {
    func explain(_ request: URLRequest) -> Explanation {
        let map = maps.map
        let plan = Plan(request, in: map, traits: traits) { [maps] in maps.isUsedUp($0, of: map) }
        let question = plan.cacheAnswer == nil ? nil : plan.question
        return Explanation(plan, copy: question.flatMap(copies.explainedCopy))
    }
}

extension Explanation {
    /// Explains a plan.
    ///
    /// - Parameters:
    ///   - copy: The newer copy that answers instead of the entry's file; `nil` if the file answers.
    ///   - refusal: Why a strict session refuses the request; `nil` to explain how the cache answers.
    init(_ plan: Plan, copy: NewerCopies.Copy? = nil, reason refusal: String? = nil) {
        let (request, map, match) = (plan.request, plan.map, plan.match)
        let substitution = match?.substitution
        let (beginning, problem) = Self.beginning(substitution, map)
        url = request.url
        method = request.httpMethod ?? "GET"
        if let problem, plan.cacheAnswer != nil {
            verdict = .unreadableFile
            reason = "the file \(problem.fragment)"
        } else {
            verdict = plan.verdict
            reason = refusal ?? plan.reason
        }
        winner = match?.winner.map { SubstitutionMap.EntryReference($0) }
        shadowed = match?.shadowed.map { SubstitutionMap.EntryReference($0) } ?? []
        passedOver =
            match?.passedOver.map { PassedOver(entry: SubstitutionMap.EntryReference($0.entry), reason: $0.why.reason) }
            ?? []
        file = substitution?.fileURL
        // An error has no type. A handler's isn't known yet. The network's is known only if the entry sets it.
        let typed: Substitution? =
            switch substitution?.answer {
            case .handler, .error: nil
            case .stream(let pieces) where pieces.count == 1 && pieces[0].error != nil: nil
            case .network: substitution?.mimeTypeSource == .header ? substitution : nil
            default: substitution
            }
        let type = typed?.contentType(ofBody: beginning, from: copy?.contentType)
        // An empty header means that no type is sent.
        let sent = type?.text.isEmpty == true ? nil : type
        (contentType, contentTypeSource) = (sent?.text, sent?.source.description)
        attached = problem == nil && refusal == nil ? Self.attached(plan) : nil
        isNewerCopy = verdict == .substituted && substitution?.use == .untilUpdated ? copy != nil : nil
        status = substitution?.status
        nearMisses = match.map { Self.nearMisses($0, map) } ?? []
        isAboutBody = match?.passedOver.contains { if case .bodyCondition = $0.why { true } else { false } } ?? false
    }

    private static func nearMisses(_ match: MapMatch, _ map: SubstitutionMap) -> [SubstitutionMap.NearMiss] {
        guard match.winner == nil, match.goneFile == nil else { return [] }
        var found: [SubstitutionMap.NearMiss] = []
        if case (let entry, .methodNotListed(let method))? = match.ruledOut {
            let alternatives = match.passedOver.filter { $0.entry.key == entry.key }.map(\.entry)
            found.append(SubstitutionMap.NearMiss(alternatives, key: entry.key, method: method))
        }
        return found + map.storage.nearMisses(of: match.url)
    }

    private static func attached(_ plan: Plan) -> String? {
        guard plan.cacheAnswer == nil else { return nil }
        if case .handler(let handler)? = plan.match?.winner?.options.answer {
            let condition = plan.match?.winner?.options.fields.when?.needsBody == true && plan.match?.needsBody == true
            return handler.description + (condition ? ", if the request's body meets its condition" : "") + body(plan)
        }
        if plan.match?.needsBody == true { return "the entry, if the request's body meets its condition" }
        guard let substitution = plan.substitution else { return nil }
        let wait = substitution.options.fields.delay.map { " after \($0.grouped) s" } ?? ""
        switch substitution.answer {
        case .error(let code):
            return error(code) + wait
        case .network: return (substitution.target.map { "the network, at \($0.url)" } ?? "the network") + wait
        case .stream(let pieces):
            // In one expression, this crashes the optimizer of Swift 6.3.1.
            let last = pieces.last?.error
            let end = last.map(error)
            let count = pieces.count - (end == nil ? 0 : 1)
            if let end, count == 0 { return end + wait }
            return "the entry, in \(count.counted("piece", "pieces"))\(wait)\(end.map { ", then \($0)" } ?? "")"
        case .file, .inline, .handler, .never: break
        }
        let pace = substitution.pace.map { ", \($0.text)" } ?? ""
        let answer = (substitution.fileName == nil ? "the entry" : "the entry's file") + wait + pace
        return substitution.use == .whenOffline ? "the network or, if that fails, \(answer)" : answer
    }

    private static func error(_ code: URLError.Code) -> String { "the error “\(URLErrorNames.text(code))”" }

    /// Returns a phrase to append to a handler's description: whether the handler gets the request's body. The phrase
    /// is empty if the request contains its body or has no body.
    private static func body(_ plan: Plan) -> String {
        switch plan.body {
        // A session's task may hide the body, but an explanation has none.
        case .none, .data, .hidden: ""
        case .unread: ", with the request's body once it's read"
        case .tooLong: ", without the request's body, which is longer than 8 MiB"
        }
    }

    /// Returns the first bytes of an answer's file, enough to detect a byte order mark, and the problem if the file
    /// can't be read.
    private static func beginning(
        _ substitution: Substitution?,
        _ map: SubstitutionMap
    ) -> (bytes: Data, problem: FileProblem?) {
        guard let name = substitution?.fileName, let folder = map.storage.folder else { return (Data(), nil) }
        do throws(FileProblem) {
            let file = try folder.open(name)
            return ((try? file.prefix(Charset.longestByteOrderMark)) ?? Data(), nil)
        } catch {
            return (Data(), error)
        }
    }
}

extension MapMatch.PassedOver {
    fileprivate var reason: String {
        switch self {
        case .isDisabled: "it's disabled"
        case .fileIsGone(let name): "its file “\(name)” no longer exists"
        case .noSuchFile(let name): "the resources folder has no file “\(name)”"
        case .methodNotListed(let method): "it doesn't answer \(method)"
        case .condition(let failure), .bodyCondition(let failure): failure
        case .usedUp(let times):
            "it has answered \(times.counted("request", "requests")), the most that its “times” allows"
        case .notFilled(let obstacle): obstacle.message
        }
    }
}
