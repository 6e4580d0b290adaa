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
        /// What the reason says of each of the ``urls``, such as its response's status; `nil` if it's the same for all.
        var values: [String]?
        /// How many more there are besides ``urls``.
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
            let examples = values.map { zip($0, urls).map { "\($0) \($1)" } } ?? urls
            let shown = examples.prefix(values == nil ? 2 : 4)
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
    /// What wasn't recorded: a URL, and what the reason says of its response, such as the status.
    private struct Item: Hashable, Sendable {
        let url: URL
        let value: String?
    }

    /// How often each item wasn't recorded, by reason.
    private var counts: [String: [Item: Int]] = [:]
    /// How many reasons to note, and how many URLs to count for each. All other URLs of a reason are counted as one.
    private static let most = 1_000

    /// - Parameter map: The map whose entries' responses are noted as well; `nil` if a recording may respond like an entry.
    init(besides map: URL?) { self.map = map }

    /// Notes the event of a response that wasn't recorded, or that a later one replaced. Ignores other events.
    mutating func add(_ event: LocalSubstitutionCache.Event) {
        guard let url = event.url, var reason = reason(for: event) else { return }
        var item = Item(url: url, value: nil)
        for varied in RecordingRules.VariedReason.all {
            guard let value = varied.value(in: reason) else { continue }
            (item, reason) = (Item(url: url, value: value), varied.summary)
        }
        guard counts[reason] != nil || counts.count < Self.most else { return }
        let items = counts[reason, default: [:]]
        let other = items.count < Self.most || items[item] != nil ? item : items.keys.first ?? item
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
            let counts = counts.filter { reason != part || !recorder.hasAnswer(to: URLRequest(url: $0.key.url)) }
            let items = counts.sorted { one, other in
                let texts = (one.key.url.absoluteString, other.key.url.absoluteString)
                return (other.value, one.key.value ?? "", texts.0) < (one.value, other.key.value ?? "", texts.1)
            }.prefix(Self.mostNamed).map(\.key)
            let urls = items.map { reason == part ? $0.url.absoluteString : ShownURL($0.url).text }
            var group = Group(
                reason: reason,
                count: counts.values.reduce(0, +),
                urls: urls,
                values: items.contains { $0.value != nil } ? items.map { $0.value ?? "" } : nil,
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
