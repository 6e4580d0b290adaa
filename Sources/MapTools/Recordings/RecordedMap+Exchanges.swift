package import Foundation
package import LocalSubstitution
import MapWriting

extension RecordedMap {
    /// A response that was added to a recording.
    package struct Added: Sendable {
        package let change: EditedMap.ResponseFile.Change
        /// Empty if the response's body is empty.
        package let file: String
        /// A clause about other requests that the entry matches, too; `nil` if the entry can tell all requests apart.
        package let note: String?
    }

    /// A request to which the arguments of a test got different responses.
    package struct Conflict: Sendable {
        package let method: String
        package let url: String
        /// The condition on the requests' bodies, as JSON; `nil` if there is none.
        package let when: String?
        /// Whether a part of the requests' bodies isn't compared, since it may be a credential.
        package let isRedacted: Bool
        /// The positions of the arguments, and the statuses of the responses that each got, in order. The first one's
        /// responses are recorded.
        package let arguments: [(place: Int, statuses: [Int])]
    }

    /// A request whose responses in the recording on disk are no longer part of the recording.
    package struct Removed: Sendable, Hashable, CustomStringConvertible {
        let methods: String
        let key: String
        let when: String?
        /// ``when`` with sorted members, since their order doesn't matter.
        private let condition: String?

        init(methods: String, key: String, when: String?) {
            (self.methods, self.key, self.when) = (methods, key, when)
            condition = when.map(RecordedMap.normal)
        }

        package static func == (one: Self, other: Self) -> Bool {
            one.methods == other.methods && one.key == other.key && one.condition == other.condition
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(methods)
            hasher.combine(key)
            hasher.combine(condition)
        }

        /// The methods, the URL and the condition on the body.
        package var description: String {
            let url = URL(string: key).map { ShownURL($0).text } ?? key
            return "\(methods) \(url)\(when.map { " when \($0)" } ?? "")"
        }
    }

    /// Returns why exchanges with a URL can't be recorded, and what to do instead; `nil` if they can.
    package static func obstacle(toRecording url: URL) -> Complaint? {
        do throws(Complaint) {
            _ = try recordable(url)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the normal form of a URL to record. Throws an error if the URL is invalid or may contain a credential.
    private static func recordable(_ url: URL) throws(Complaint) -> NormalizedURL {
        let normalized: NormalizedURL
        do throws(Complaint) {
            normalized = try NormalizedURL(url.absoluteString)
        } catch {
            throw Complaint(printable: "The URL \(error)")
        }
        if let parameter = SecretName.first(in: normalized) {
            let advice = parameter.name.map { ", with \"ignoreQuery\": [\(JSONText.string($0))]" } ?? ""
            throw Complaint(printable: "\(parameter.sentence) Write an entry into the map by hand\(advice).")
        }
        return normalized
    }

    /// Returns whether a recorded response has a status below 300, and an exchange with the same request now has 429 or an
    /// error of the server.
    ///
    /// - Parameter count: How many earlier exchanges have the same request.
    package func losesSuccess(_ exchange: RecordedExchange, after count: Int) -> Bool {
        let response = exchange.response
        guard let old, response.status == 429 || response.status >= 500,
            let url = try? NormalizedURL(response.url.absoluteString)
        else { return false }
        let body = response.requestBody
        let recorded = old.substitution(for: url, method: response.method, body: body, after: count)
        return recorded.map { 200..<300 ~= $0.status } ?? false
    }

    /// Adds the exchanges of a test.
    ///
    /// Different responses to one request become a sequence. Each response but the last is for as many requests as in
    /// the test, and the last one is for all others. If the test's arguments got different responses to one request,
    /// the first argument's are recorded.
    ///
    /// - Parameter arguments: The exchanges of each argument; only one element for a test without arguments.
    /// - Returns: For each exchange, what was added, or why nothing was added. Also, as conflicts, the requests to
    ///   which arguments got different responses. An exchange that can't be added doesn't affect others.
    package mutating func add(
        _ arguments: [[RecordedExchange]]
    ) -> (outcomes: [[Result<Added, Complaint>]], conflicts: [Conflict]) {
        let recorded = arguments.enumerated().map { place, exchanges in exchanges.map { Recorded($0, of: place) } }
        var groups: [String: Group] = [:]
        for item in recorded.joined() {
            do throws(Complaint) {
                let url = try Self.recordable(item.exchange.response.url)
                groups[url.canonical, default: Group(url: url)].items.append(item)
            } catch {
                item.outcome = .failure(error)
            }
        }
        var conflicts: [Conflict] = []
        for (_, group) in groups.sorted(by: { $0.key < $1.key }) { add(group, &conflicts) }
        return (recorded.map { $0.map(\.outcome) }, conflicts)
    }

    package var removed: [Removed] {
        guard let old else { return [] }
        return Self.requests(of: old.document).subtracting(Self.requests(of: document))
            .sorted { ($0.key, $0.methods, $0.when ?? "") < ($1.key, $1.methods, $1.when ?? "") }
    }

    private static func requests(of document: MapDocument) -> Set<Removed> {
        let entries = document.values.filter { !$0.key.hasPrefix("$") }
        return Set(
            entries.flatMap { key, value in
                (EntryText(value)?.answers ?? []).map { request(of: $0.members, key) }
            }
        )
    }

    private static func request(of members: EntryText.Members, _ key: String) -> Removed {
        let value = { (name: String) in members.first { $0.key == name }?.value }
        let methods = texts(value("methods"))
        return Removed(methods: methods.isEmpty ? "GET" : methods.joined(separator: "/"), key: key, when: value("when"))
    }

    /// Empty for anything but an array of texts.
    private static func texts(_ json: String?) -> [String] {
        json.flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) } ?? []
    }

    /// An exchange to record, and what became of it.
    private final class Recorded {
        let exchange: RecordedExchange
        /// The position of the test's argument.
        let argument: Int
        /// Stays like this if another argument's response is recorded.
        var outcome = Result<Added, Complaint>.failure(
            Complaint(printable: "Another argument got a different response, which is recorded instead.")
        )

        init(_ exchange: RecordedExchange, of argument: Int) { (self.exchange, self.argument) = (exchange, argument) }

        var condition: RecordedCondition { exchange.condition }
    }

    /// The exchanges for one URL.
    private struct Group {
        let url: NormalizedURL
        var items: [Recorded] = []
    }

    private mutating func add(_ group: Group, _ conflicts: inout [Conflict]) {
        let url = group.url
        let gets = Set(group.items.map(\.exchange.request).filter { $0.method == "GET" })
        let requests = Dictionary(grouping: group.items) { item in
            // An answer to GET is for HEAD, too.
            let get = RecordedExchange.Request(method: "GET", condition: item.condition)
            let request = item.exchange.request
            return request.method == "HEAD" && gets.contains(get) ? get : request
        }
        var additions: [Addition] = []
        for (request, items) in requests.sorted(by: { RecordedExchange.Request.isBefore($0.key, $1.key) }) {
            let (sequence, conflict) = Self.sequence(of: request, in: Group(url: url, items: items))
            if let conflict { conflicts.append(conflict) }
            additions += sequence
        }
        let isAlone = additions.count == 1 && requests.keys.allSatisfy { $0.condition.when == nil }
        let key = keepsEntries ? old?.key(of: url) ?? url.canonical : url.canonical
        let before = document.values[key]
        // An alternative without `methods` has its entry's methods.
        let listsMethod = before != nil || !isAlone
        var alternatives: [EntryText.Members] = []
        for addition in additions {
            let result: Result<Added, Complaint>
            do throws(Complaint) {
                let file = file(for: addition, of: url)
                var members = members(addition, of: url, file: file, listsMethod: listsMethod)
                let same = answersOnDisk(toRequestOf: members, key)
                // Otherwise, each recording run could change the order of the condition's members.
                if let when = same.first?["when"], let place = members.firstIndex(where: { $0.key == "when" }) {
                    members[place].value = when
                }
                try Self.check(Self.value(before, adding: [members]), of: key, document.values["$defaults"])
                let change = change(members, addition.exchange.response.body, since: same)
                alternatives.append(members)
                result = .success(Added(change: change, file: file ?? "", note: addition.note))
            } catch {
                result = .failure(error)
            }
            for item in addition.answers { item.outcome = result }
        }
        if !alternatives.isEmpty, let value = Self.value(before, adding: alternatives) { set(key, to: value) }
    }

    /// `nil` if the response's body is empty.
    private mutating func file(for addition: Addition, of url: NormalizedURL) -> String? {
        let (exchange, response) = (addition.exchange, addition.exchange.response)
        guard !response.body.isEmpty else { return nil }
        let request = response.method == "GET" ? nil : exchange.request
        // The digest of the request covers only what the map contains anyway. A digest of the whole request would let
        // others guess a password.
        let digest = request.map { $0.condition.digest(with: $0.method) }
        let withBody = Digest.hexadecimal(of: Data((digest ?? "").utf8) + response.body)
        return take(
            response.body,
            as: [response.fileName(for: url, digest: digest), response.fileName(for: url, digest: withBody)]
        )
    }

    /// Returns the answers on disk that are for the same requests as an answer with these members.
    private func answersOnDisk(toRequestOf members: EntryText.Members, _ key: String) -> [EntryText.Answer] {
        let request = Self.request(of: members, key)
        let answers = old?.document.values[key].flatMap { EntryText($0) }?.answers ?? []
        return answers.filter { Self.request(of: $0.members, key) == request }
    }

    /// What changes, compared with the answers on disk to the same request.
    private func change(
        _ members: EntryText.Members,
        _ body: Data,
        since same: [EntryText.Answer]
    ) -> EditedMap.ResponseFile.Change {
        let isSame = same.contains { answer in
            guard Self.withoutFile(answer.members) == Self.withoutFile(members) else { return false }
            return Self.texts(answer["file"].map { "[\($0)]" }).first.map { folder.hasFile($0, body) } ?? body.isEmpty
        }
        return isSame ? .unchanged : same.isEmpty ? .new : .replaced
    }

    private static func withoutFile(_ members: EntryText.Members) -> String {
        normal(JSONText.object(members.filter { $0.key != "file" && $0.key != "methods" }))
    }

    /// JSON as it's compared: with sorted members, or as it's written if it's nested too deeply for a value.
    private static func normal(_ json: String) -> String { JSONValue(json)?.normal ?? json }

    /// Returns an entry's value with more alternatives; `nil` if the entry can't have alternatives.
    ///
    /// - Parameter old: The entry's value so far; `nil` if the URL has no entry.
    private static func value(_ old: String?, adding new: [EntryText.Members]) -> String? {
        guard let old else { return EntryText.value(of: new) }
        return EntryText(old)?.adding(new)
    }

    /// Checks an entry's new value: a map that has only this entry and `$defaults` must be valid. Throws an error if it
    /// isn't, or if `value` is `nil` because the entry can't have more alternatives.
    private static func check(_ value: String?, of key: String, _ defaults: String?) throws(Complaint) {
        guard let value else {
            throw Complaint(
                printable:
                    "The recording's entry has “ignoreQuery”, “enabled” or “use”, so it can't get alternatives. Remove that "
                    + "field, and record the test again."
            )
        }
        var values = [key: value]
        values["$defaults"] = defaults
        do throws(SubstitutionMapError) {
            // Without a folder, files aren't checked.
            let json = Data(JSONText.lines(values).utf8)
            let map = try SubstitutionMap(json: json, invalidEntries: .skip, handlers: .any)
            if let problem = map.problems.first(where: { $0.kind != .noResources }) {
                throw SubstitutionMapError(file: nil, problems: [problem])
            }
        } catch {
            throw Complaint(
                printable: "The response's entry would be invalid. \(error.problems.first?.message ?? "\(error)")"
            )
        }
    }

    /// Returns the fields of an alternative: its conditions on a request, and its answer.
    ///
    /// - Parameter listsMethod: Whether to write `methods` even for `GET`.
    private func members(
        _ new: Addition,
        of url: NormalizedURL,
        file: String?,
        listsMethod: Bool
    ) -> EntryText.Members {
        let entry = new.exchange.entry(for: url, file: file, defaults: document.defaults).members
        var members: EntryText.Members = []
        if listsMethod || entry.contains(where: { $0.key == "methods" }) {
            members.append(("methods", JSONText.array([new.exchange.response.method])))
        }
        return members + new.exchange.conditions + entry.filter { $0.key != "methods" }
    }
}

/// The sequences of responses.
extension RecordedMap {
    /// A response to add, for one or more consecutive exchanges that have it.
    private struct Addition {
        var exchange: RecordedExchange
        /// A clause for ``Added/note``; `nil` if there is nothing to say.
        let note: String?
        /// How many exchanges in a row, with the argument that recorded the response, got this same response.
        var count = 1
        /// All exchanges that got the response, including those of other arguments.
        var answers: [Recorded] = []
    }

    /// Returns a clause without a period that says which other requests the entry matches, too, or why it does. Returns
    /// `nil` if the entry can tell all requests apart.
    private static func note(on group: [Recorded]) -> String? {
        if let obstacle = group.lazy.compactMap(\.condition.obstacle).first { return obstacle }
        let bodies = Set(group.map(\.exchange.response.requestBody))
        guard group.contains(where: \.condition.isRedacted), bodies.count > 1 else { return nil }
        return "it's also returned to requests whose bodies differ only in values that may be credentials"
    }

    /// Returns a note on a response that's also for requests without the headers that it depends on; `nil` for any other
    /// status than 206 and 304.
    private static func partialNote(_ status: Int) -> String? {
        switch status {
        case 206: "it's also returned to requests without “Range”, which then get only a part of the body"
        case 304: "it's also returned to unconditional requests, which then get no body"
        default: nil
        }
    }

    /// Returns the sequence of responses to one request. Also returns a conflict if some arguments got other responses;
    /// otherwise, `nil`.
    private static func sequence(
        of request: RecordedExchange.Request,
        in group: Group
    ) -> ([Addition], Conflict?) {
        // The answer to GET is also for HEAD. So in a group for GET, responses to HEAD are ignored.
        let items = group.items.filter { $0.exchange.request.method == request.method }
        let arguments = Dictionary(grouping: items, by: \.argument).sorted { $0.key < $1.key }
        // If another argument got the first one's responses and then more, that argument's responses are recorded
        // instead.
        var kept = arguments.first?.value ?? []
        for (_, other) in arguments where !replays(kept, other) && replays(other, kept) { kept = other }
        let note = note(on: group.items)
        var sequence: [Addition] = []
        var placeOfKept: [Int] = []
        for var exchange in kept.map(\.exchange) {
            if let last = sequence.indices.last, sequence[last].exchange.hasResponse(of: exchange) {
                sequence[last].count += 1
            } else {
                let note = partialNote(exchange.response.status) ?? note
                // One spelling for the whole sequence.
                exchange.condition = request.condition
                sequence.append(Addition(exchange: exchange, note: note))
            }
            placeOfKept.append(sequence.count - 1)
        }
        for place in sequence.indices.dropLast() { sequence[place].exchange.times = sequence[place].count }
        let right = arguments.filter { replays(kept, $0.value) }
        for (_, items) in right {
            for (index, item) in items.enumerated() {
                sequence[placeOfKept[min(index, kept.count - 1)]].answers.append(item)
            }
        }
        if let last = sequence.indices.last {
            sequence[last].answers += group.items.filter { $0.exchange.request.method != request.method }
        }
        guard right.count < arguments.count, let first = kept.first?.argument else { return (sequence, nil) }
        let others = arguments.filter { place, _ in place != first && !right.contains { $0.key == place } }
        let named = arguments.filter { $0.key == first } + others
        let conflict = Conflict(
            method: request.method,
            url: group.url.canonical,
            when: request.condition.when,
            isRedacted: group.items.contains(where: \.condition.isRedacted),
            arguments: named.map { place, items in (place, items.map(\.exchange.response.status)) }
        )
        return (sequence, conflict)
    }

    /// Returns whether a sequence returns the recorded responses for a recording's requests. The sequence's last
    /// response is returned for all further requests.
    private static func replays(_ sequence: [Recorded], _ recorded: [Recorded]) -> Bool {
        guard let last = sequence.last else { return recorded.isEmpty }
        return recorded.enumerated().allSatisfy { index, item in
            let response = index < sequence.count ? sequence[index] : last
            return response.exchange.hasResponse(of: item.exchange, countsRates: response.argument == item.argument)
        }
    }
}
