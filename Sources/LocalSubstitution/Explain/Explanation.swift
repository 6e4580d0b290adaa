public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What a request gets from a cache, and why.
public struct Explanation: Sendable, CustomStringConvertible {
    /// What becomes of a request.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// A file, or an entry with a status alone, answers.
        case substituted
        /// The URL is none that a map can name.
        case notHTTP
        /// No entry names the URL.
        case noEntry
        /// The entry is `null`.
        case excluded
        /// The entry does not list the request's method.
        case methodNotListed
        /// The request's cache policy ignores local data. Neither file nor default cache answers.
        case ignoresLocalData
        /// The entry's file waits for the network to fail.
        case waitsForOffline
        /// The loader would not take the response from a cache.
        case refusedByLoader
        /// The entry's file can't be read.
        case unreadableFile
    }

    /// An entry of the map.
    public struct EntryReference: Sendable, Hashable {
        /// Its key, as the map has it.
        public let key: String
        /// Its line in the map; `nil` for a map made in code.
        public let line: Int?
        /// What is to be said of it besides; empty for most.
        public let remark: String
    }

    /// The request's URL.
    public let url: URL?
    /// The request's method.
    public let method: String
    /// What becomes of the request.
    public let verdict: Verdict
    /// Why, in a sentence without a full stop.
    public let reason: String
    /// The entry that wins, if one names the URL.
    public let winner: EntryReference?
    /// The entries that match too, but lose, in the order in which they would win.
    public let shadowed: [EntryReference]
    /// The entries that would have won, but are disabled or have no file.
    public let passedOver: [EntryReference]
    /// The winning entry's file.
    public let file: URL?
    /// What the response says of the body, as `text/css; charset=utf-8`; `nil` if no entry wins.
    public let contentType: String?
    /// How the MIME type was found.
    public let contentTypeSource: String?
    /// The winning entry's status.
    public let status: Int?
    /// For an `untilUpdated` entry that answers, whether a newer copy does, and not its file; else `nil`.
    public let isNewerCopy: Bool?
    /// Keys that almost match, for a request that no entry names.
    public let nearMisses: [NearMiss]

    /// What the entry gives in a session with ``SubstitutionURLProtocol`` attached, where the cache alone gives nothing of it;
    /// else `nil`.
    public let attached: String?

    /// What serves the request instead of the entry, if the entry does not.
    public var instead: String? {
        switch verdict {
        case .substituted: nil
        case .ignoresLocalData: "the network"
        default: "the default cache, or else the network"
        }
    }

    /// Several lines, ready to print.
    public var description: String { text(servedBy: instead) }

    /// - Parameter server: What serves the request instead of the entry; `nil` if the entry does.
    func text(servedBy server: String?) -> String {
        var lines = ["\(method) \(url?.absoluteString ?? "a request without a URL")"]
        func add(_ name: String, _ value: String?) {
            if let value { lines.append("  " + "\(name):".padding(toLength: 14, withPad: " ", startingAt: 0) + value) }
        }
        add("verdict", verdict == .substituted ? "substituted" : "not substituted: \(reason)")
        add("served by", server)
        add("attached", attached)
        add("entry", winner.map(Self.describe))
        add("file", file?.path)
        add("answer", isNewerCopy.map { $0 ? "a newer copy from the network" : "the file: no newer copy is known" })
        if let status, status != 200 { add("status", String(status)) }
        add("MIME type", contentType.map { "\($0)" + (contentTypeSource.map { ", \($0)" } ?? "") })
        for entry in passedOver { add("passed over", Self.describe(entry)) }
        for entry in shadowed { add("shadowed", Self.describe(entry)) }
        for miss in nearMisses { add("near miss", miss.description) }
        return lines.map(\.printable).joined(separator: "\n")
    }

    private static func describe(_ entry: EntryReference) -> String {
        "“\(entry.key)”" + (entry.line.map { ", line \($0)" } ?? "") + (entry.remark.isEmpty ? "" : ": \(entry.remark)")
    }
}

extension LocalSubstitutionCache {
    /// Explains what a request gets, by the map as it is now. It changes nothing and counts nothing.
    public func explain(_ request: URLRequest) -> Explanation {
        let map = map
        let decision = Decision(request, in: map)
        return Explanation(request, decision, map, copy: explainedCopy(decision, in: map))
    }
}

extension Explanation {
    /// - Parameter copy: The newer copy that answers instead of the entry's file.
    init(_ request: URLRequest, _ decision: Decision, _ map: SubstitutionMap, copy: NewerCopy.Facts? = nil) {
        let match = decision.match
        let substitution = match?.substitution
        let problem = substitution.flatMap { Self.problem($0, map) }
        url = request.url
        method = request.httpMethod ?? "GET"
        if let problem, decision.verdict == .substituted {
            verdict = .unreadableFile
            reason = "the file \(problem.message)"
        } else {
            verdict = Verdict(decision.verdict)
            reason = decision.reason
        }
        winner = match?.winner.map { EntryReference($0) }
        shadowed = match?.shadowed.map { EntryReference($0) } ?? []
        passedOver = match?.passedOver.map { EntryReference($0.entry, $0.why.remark) } ?? []
        file = substitution?.fileURL
        contentType = substitution.map { Self.contentType($0, map, copy) }
        contentTypeSource = substitution.map { substitution in
            copy?.contentType != nil && ![.entry, .header].contains(substitution.mimeTypeSource)
                ? "set by the server" : substitution.mimeTypeSource.description
        }
        attached = problem == nil ? Self.attached(decision) : nil
        isNewerCopy = verdict == .substituted && substitution?.use == .untilUpdated ? copy != nil : nil
        status = substitution?.status
        nearMisses =
            match.map { $0.winner == nil && $0.goneFile == nil ? map.storage.nearMisses(of: $0.url) : [] } ?? []
    }

    private static func attached(_ decision: Decision) -> String? {
        guard decision.verdict != .substituted, let substitution = decision.applying else { return nil }
        let answer = substitution.fileName == nil ? "the entry" : "the entry's file"
        return substitution.use == .whenOffline ? "the network; if that fails, \(answer)" : answer
    }

    private static func problem(_ substitution: Substitution, _ map: SubstitutionMap) -> FileProblem? {
        guard let name = substitution.fileName, let folder = map.storage.folder else { return nil }
        do throws(FileProblem) {
            _ = try folder.open(name)
            return nil
        } catch {
            return error
        }
    }

    /// As the response has it: a byte order mark in the file may say another charset.
    private static func contentType(
        _ substitution: Substitution,
        _ map: SubstitutionMap,
        _ copy: NewerCopy.Facts?
    ) -> String {
        var start = Data()
        if let name = substitution.fileName, let folder = map.storage.folder {
            start = (try? folder.open(name).prefix(Charset.longestByteOrderMark)) ?? start
        }
        return ResponseBuilder.contentType(of: substitution, bodyBeginning: start, copy: copy)
    }
}

extension Explanation.EntryReference {
    fileprivate init(_ entry: Entry, _ remark: String = "") {
        key = entry.key
        line = entry.line > 0 ? Int(entry.line) : nil
        self.remark = remark
    }
}

extension MapMatch.PassedOver {
    fileprivate var remark: String {
        switch self {
        case .isDisabled: "it is disabled"
        case .fileIsGone(let name): "its file “\(name)” does not exist any more"
        case .noSuchFile(let name): "there is no file “\(name)”"
        case .noFileName(let obstacle): obstacle.message
        }
    }
}

extension Explanation.Verdict {
    fileprivate init(_ verdict: Decision.Verdict) {
        switch verdict {
        case .substituted: self = .substituted
        case .notHTTP: self = .notHTTP
        case .noEntry: self = .noEntry
        case .fileIsGone: self = .unreadableFile
        case .excluded: self = .excluded
        case .methodNotListed: self = .methodNotListed
        case .ignoresLocalData: self = .ignoresLocalData
        case .waitsForOffline: self = .waitsForOffline
        case .refused: self = .refusedByLoader
        }
    }
}
