import Foundation
import LocalSubstitution
import LocalSubstitutionRecording
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The responses that weren't recorded, by reason.
struct NotRecorded: Sendable {
    /// The responses that weren't recorded for one reason.
    struct Group: Sendable, Encodable {
        let reason: String
        var count = 0
        /// At most five of the URLs, the most frequent first.
        var urls: [String] = []
        /// How many URLs there are besides ``urls``.
        var more = 0
        /// The words of the command that loads the files whole, if only parts of them arrived; otherwise, `nil`.
        var command: String?

        /// - Parameter what: What wasn't done with the responses; by default, that they weren't recorded.
        func text(not what: String = "recorded") -> Output.Text {
            let times = count == 1 ? "once" : "\(count.grouped) times"
            let all = urls.count + more
            if let command {
                let some = more > 0 ? "\(urls.count) of the \(all.grouped) files whole" : "whole files"
                return "not \(what) \(times): \(reason). To record \(some): \(command)"
            }
            guard !urls.isEmpty else { return "not \(what) \(times): \(reason)" }
            let shown = urls.prefix(2)
            let others = all > shown.count ? " and \((all - shown.count).grouped) more" : ""
            return "not \(what) \(times): \(reason): \(shown.joined(separator: " "))\(others)"
        }

        fileprivate static func command(recording urls: [String], in folder: URL) -> String {
            let words = ["get", "--record", Shell.word(for: folder)] + urls.map { Shell.word($0) }
            return "\(Shell.invocation) \(words.joined(separator: " "))"
        }
    }

    /// How many URLs of a reason are named.
    fileprivate static let mostNamed = 5
    /// The map whose entries' responses are noted as not recorded, too; `nil` if they aren't noted.
    private let map: URL?
    /// How often each URL's response wasn't recorded, by reason.
    private var counts: [String: [URL: Int]] = [:]
    /// How many reasons to note, and how many URLs to count for each. All other URLs of a reason are counted as one.
    private static let most = 1_000

    /// - Parameter map: The map whose entries' responses are noted as well; `nil` if a recording may respond like an entry.
    init(besides map: URL?) { self.map = map }

    /// Notes the event of a response that wasn't recorded, or that a later one replaced. Ignores other events.
    mutating func add(_ event: LocalSubstitutionCache.Event) {
        guard let url = event.url, let reason = reason(for: event), counts[reason] != nil || counts.count < Self.most
        else { return }
        let urls = counts[reason, default: [:]]
        let other = urls.count < Self.most || urls[url] != nil ? url : urls.keys.first ?? url
        counts[reason, default: [:]][other, default: 0] += 1
    }

    private func reason(for event: LocalSubstitutionCache.Event) -> String? {
        switch event.kind {
        case .notRecorded: event.reason
        // The response may have replaced another one.
        case .recorded: RecordingRules.keptOthers.first { event.reason?.contains($0) == true }
        case .matched: map.map { "an entry of \($0.path) responded" }
        default: nil
        }
    }

    /// Returns the groups, the largest first. Leaves out the parts of a file that the recorder has.
    func groups(of recorder: SubstitutionRecorder) -> [Group] {
        let part = Complaint.part.description
        return counts.map { reason, counts in
            let counts = reason == part ? counts.filter { !recorder.hasAnswer(to: URLRequest(url: $0.key)) } : counts
            let urls = counts.sorted { ($1.value, $0.key.absoluteString) < ($0.value, $1.key.absoluteString) }.prefix(
                Self.mostNamed
            )
            .map { reason == part ? $0.key.absoluteString : ShownURL($0.key).text }
            var group = Group(
                reason: reason,
                count: counts.values.reduce(0, +),
                urls: urls,
                more: counts.count - urls.count
            )
            if reason == part { group.command = Group.command(recording: urls, in: recorder.folder) }
            return group
        }.filter { $0.count > 0 }.sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }
}

extension NotRecorded.Group {
    /// Creates the group of responses that weren't imported because they're only parts of files. Returns `nil` if there
    /// are none.
    ///
    /// - Parameter map: The map that they weren't imported into. A recorder's map has always the same name, so another map
    ///   gets no command.
    init?(parts: (count: Int, urls: [String]), notIn map: URL) {
        guard parts.count > 0 else { return nil }
        let named = Array(parts.urls.prefix(NotRecorded.mostNamed))
        self.init(
            reason: Complaint.part.description,
            count: parts.count,
            urls: named,
            more: parts.urls.count - named.count
        )
        guard !named.isEmpty, map.lastPathComponent == "substitutions.json" else { return }
        command = Self.command(recording: named, in: map.deletingLastPathComponent())
    }
}
