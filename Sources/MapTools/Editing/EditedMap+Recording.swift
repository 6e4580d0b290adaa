package import Foundation
import LocalSubstitution
import MapWriting

extension EditedMap {
    /// Adds exchanges that the map doesn't answer yet, and replaces recorded answers. If a URL already has an
    /// entry, adds alternatives to the entry.
    ///
    /// A test's exchanges with the same request and different responses become a sequence. Each response but the last
    /// answers as many requests as in the recording, and the last one answers all others. If tests got different
    /// responses to a request, only the responses of one test are added.
    ///
    /// - Parameter tests: The exchanges of each test.
    /// - Returns: For each exchange, what was added, or why nothing was added. Also, as conflicts, the requests to
    ///   which tests got different responses. An exchange that can't be added doesn't affect others.
    package mutating func add(
        tests: [[RecordedExchange]]
    ) -> (outcomes: [[Result<AddedExchange, MapToolError>]], conflicts: [Conflict]) {
        let recorded = tests.enumerated().map { test, exchanges in exchanges.map { Recorded($0, in: test) } }
        // The exchanges that replace recorded answers, by the entry's key; and the other exchanges, by URL.
        var (replaced, new): ([String: Group], [String: Group]) = ([:], [:])
        for item in recorded.joined() {
            do throws(MapToolError) {
                if let key = item.exchange.replaced?.key {
                    let url = try Self.normalized(key)
                    replaced[key, default: Group(url: url)].items.append(item)
                } else {
                    let url = try Self.recordable(item.exchange.url)
                    new[url.canonical, default: Group(url: url)].items.append(item)
                }
            } catch {
                item.outcome = .failure(error)
            }
        }
        var conflicts: [Conflict] = []
        for (_, group) in replaced.sorted(by: { $0.key < $1.key }) + new.sorted(by: { $0.key < $1.key }) {
            do throws(MapToolError) {
                try undoing { map throws(MapToolError) in
                    if let key = group.items[0].exchange.replaced?.key {
                        try map.replace(group, of: key, &conflicts)
                    } else {
                        try map.add(group, &conflicts)
                    }
                }
            } catch {
                for item in group.items { item.outcome = .failure(error) }
            }
        }
        return (recorded.map { $0.map(\.outcome) }, conflicts)
    }

    /// An exchange to record, and what became of it.
    private final class Recorded {
        let exchange: RecordedExchange
        /// The index of the test.
        let test: Int
        /// Stays like this if the map keeps another test's response.
        var outcome = Result<AddedExchange, MapToolError>.failure(otherResponse)

        init(_ exchange: RecordedExchange, in test: Int) { (self.exchange, self.test) = (exchange, test) }

        var condition: RecordedCondition { exchange.request.condition }
    }

    /// The exchanges for one entry, and its URL.
    private struct Group {
        let url: NormalizedURL
        var items: [Recorded] = []
    }

    /// Returns why exchanges with a URL can't be recorded, and what to do instead; `nil` if they can.
    package static func obstacle(toRecording url: URL) -> MapToolError? {
        do throws(MapToolError) {
            _ = try recordable(url.absoluteString)
            return nil
        } catch {
            return error
        }
    }

    private static func normalized(_ url: String) throws(MapToolError) -> NormalizedURL {
        do throws(URLParts.SyntaxError) {
            return try NormalizedURL(url)
        } catch {
            throw MapToolError("The URL \(error.message)")
        }
    }

    /// Returns the normal form of a URL to record. Throws an error if the URL is invalid or may contain a credential.
    private static func recordable(_ url: String) throws(MapToolError) -> NormalizedURL {
        let normalized = try normalized(url)
        if let parameter = SecretName.first(in: normalized) {
            let advice = parameter.name.map { ", with \"ignoreQuery\": [\(JSONText.string($0))]" } ?? ""
            throw MapToolError("\(parameter.sentence) Write the entry by hand\(advice).")
        }
        return normalized
    }

    /// Adds the exchanges of one URL. Throws an error if the map excludes the URL.
    private mutating func add(_ group: Group, _ conflicts: inout [Conflict]) throws(MapToolError) {
        let url = group.url
        if let key = entries.exclusion(of: url) {
            throw MapToolError("The entry “\(key)” is null. Remove the entry to record the URL.")
        }
        let gets = Set(group.items.map(\.exchange.request).filter { $0.method == "GET" })
        let requests = Dictionary(grouping: group.items) { item in
            // An answer to GET answers HEAD too.
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
        let oldKey = entries.key(of: url)
        let key = oldKey ?? url.canonical
        let old = oldKey.flatMap { value(of: $0) }
        // An alternative without `methods` has its entry's methods.
        let listsMethod = old != nil || !isAlone
        // The file may get another name when it's written. The name doesn't affect whether the entry is valid.
        let planned = additions.map {
            members($0, of: url, file: $0.fileName(for: url).candidate(0), listsMethod: listsMethod)
        }
        // Checks all additions at once. If the check fails, the loop below checks each addition separately, together
        // with the earlier additions.
        let areRight = (try? check(Self.value(old, adding: planned), of: key)) != nil
        var alternatives: [EntryText.Members] = []
        var bodies: WrittenBodies = [:]
        for (addition, planned) in zip(additions, planned) {
            let result: Result<AddedExchange, MapToolError>
            do throws(MapToolError) {
                // Checked before the file is written.
                if !areRight { try check(Self.value(old, adding: alternatives + [planned]), of: key) }
                let hasBody = !addition.exchange.response.body.isEmpty
                let name = addition.fileName(for: url)
                let file = hasBody ? try write(addition.exchange, as: name, unlessIn: &bodies) : ""
                alternatives.append(members(addition, of: url, file: file, listsMethod: listsMethod))
                result = .success(AddedExchange(change: .new, file: file, note: addition.note))
            } catch {
                result = .failure(error)
            }
            for item in addition.answers { item.outcome = result }
        }
        if !alternatives.isEmpty, let value = Self.value(old, adding: alternatives) { set(key, to: value) }
    }

    /// Returns an entry's value with more alternatives; `nil` if the entry can't have alternatives.
    ///
    /// - Parameter old: The entry's value so far; `nil` if the URL has no entry.
    private static func value(_ old: String?, adding new: [EntryText.Members]) -> String? {
        guard let old else { return EntryText.value(of: new) }
        return EntryText(old)?.adding(new)
    }

    /// Checks an entry's new value: a map that has only this entry and `$defaults` must be valid. Throws an error if it
    /// isn't, or if `value` is `nil` because the entry can't have more alternatives.
    private func check(_ value: String?, of key: String) throws(MapToolError) {
        guard let value else {
            throw MapToolError(
                "The entry “\(key)” has “ignoreQuery”, “enabled” or “use”, so it can't get alternatives. "
                    + "Add the response by hand."
            )
        }
        var values = [key: value]
        values["$defaults"] = entries.document.values["$defaults"]
        do throws(SubstitutionMapError) {
            // Without a folder, files aren't checked.
            let json = Data(JSONText.lines(values).utf8)
            let map = try SubstitutionMap(json: json, invalidEntries: .skip, handlers: .any)
            if let problem = map.problems.first(where: { $0.kind != .noResources }) {
                throw SubstitutionMapError(file: nil, problems: [problem])
            }
        } catch {
            throw MapToolError("The response's entry would be invalid. \(error.problems.first?.message ?? "\(error)")")
        }
    }

    /// Returns the fields of an alternative: its conditions on a request, and its answer.
    ///
    /// - Parameter listsMethod: Whether to write `methods` even for `GET`.
    private func members(
        _ new: Addition,
        of url: NormalizedURL,
        file: String,
        listsMethod: Bool
    ) -> EntryText.Members {
        let file = new.exchange.response.body.isEmpty ? nil : file
        let entry = new.exchange.entry(for: url, file: file, defaults: entries.defaults).members
        var members: EntryText.Members = []
        if listsMethod || entry.contains(where: { $0.key == "methods" }) {
            members.append(("methods", JSONText.array([new.exchange.method])))
        }
        return members + new.exchange.conditions + entry.filter { $0.key != "methods" }
    }

    /// A response to add, for one or more consecutive exchanges that have it.
    private struct Addition {
        var exchange: RecordedExchange
        /// A clause for ``AddedExchange/note``; `nil` if there is nothing to say.
        let note: String?
        /// How many exchanges in a row, in the test that recorded the response, got this same response.
        var count = 1
        /// All exchanges that the response answers, including those of other tests.
        var answers: [Recorded] = []

        func fileName(for url: NormalizedURL) -> RecordedFileName {
            exchange.fileName(for: url, distinguishing: exchange.method == "GET" ? nil : exchange.request)
        }
    }

    private static let otherResponse = MapToolError(
        "The map keeps another test's response to this request. A separate issue names the tests."
    )

    /// Returns a clause without a period that says which other requests the entry may answer, too, or why it may answer
    /// them. Returns `nil` if the entry can tell all requests apart.
    private static func note(on group: [Recorded]) -> String? {
        if let obstacle = group.lazy.compactMap(\.condition.obstacle).first { return obstacle }
        guard group.contains(where: \.condition.isRedacted), Set(group.map(\.exchange.requestBody)).count > 1 else {
            return nil
        }
        return "it also answers requests whose bodies differ only in possible credentials"
    }

    /// Returns a note on a new response that answers requests without the headers that it depends on; `nil` for any
    /// other status than 206 and 304.
    private static func partialNote(_ status: Int) -> String? {
        switch status {
        case 206: "it also answers requests without “Range”, with only a part of the body"
        case 304: "it also answers unconditional requests, without a body"
        default: nil
        }
    }

    /// Returns the sequence of responses to one request. Also returns a conflict if some tests got
    /// other responses; otherwise, `nil`.
    ///
    /// - Parameter fewest: The least number of responses wanted; 1 by default. A test that got at least this many is
    ///   preferred.
    private static func sequence(
        of request: RecordedExchange.Request,
        atLeast fewest: Int = 1,
        in group: Group
    ) -> ([Addition], Conflict?) {
        // The answer to GET also answers HEAD. So in a group for GET, responses to HEAD don't count.
        let items = group.items.filter { $0.exchange.request.method == request.method }
        let tests = Dictionary(grouping: items, by: \.test).sorted { $0.key < $1.key }
        // If another test got the kept responses and then more, that test's responses are kept instead.
        var kept = (tests.first { $0.value.count >= fewest } ?? tests.first)?.value ?? []
        for (_, other) in tests where !answers(kept, other) && answers(other, kept) { kept = other }
        let note = note(on: group.items)
        var sequence: [Addition] = []
        var placeOfKept: [Int] = []
        for exchange in kept.map(\.exchange) {
            if let last = sequence.indices.last, sequence[last].exchange.hasResponse(of: exchange) {
                sequence[last].count += 1
            } else {
                let partial = exchange.replaced == nil ? partialNote(exchange.response.status) : nil
                sequence.append(Addition(exchange: exchange.answering(request), note: partial ?? note))
            }
            placeOfKept.append(sequence.count - 1)
        }
        for place in sequence.indices.dropLast() { sequence[place].exchange.times = sequence[place].count }
        let right = tests.filter { answers(kept, $0.value) }
        for (_, items) in right {
            for (index, item) in items.enumerated() {
                sequence[placeOfKept[min(index, kept.count - 1)]].answers.append(item)
            }
        }
        if let last = sequence.indices.last {
            sequence[last].answers += group.items.filter { $0.exchange.request.method != request.method }
        }
        guard right.count < tests.count else { return (sequence, nil) }
        let conflict = Conflict(
            method: request.method,
            url: group.url.canonical,
            when: request.condition.when,
            isRedacted: group.items.contains(where: \.condition.isRedacted),
            tests: tests.map { test, exchanges in
                .init(
                    number: test,
                    statuses: exchanges.map(\.exchange.response.status),
                    isKept: answers(kept, exchanges)
                )
            }
        )
        return (sequence, conflict)
    }

    /// Returns whether a sequence answers the requests of a recording with the recorded responses. The sequence's last
    /// response answers all further requests.
    private static func answers(_ sequence: [Recorded], _ recorded: [Recorded]) -> Bool {
        guard let last = sequence.last else { return recorded.isEmpty }
        return recorded.enumerated().allSatisfy { index, item in
            let response = index < sequence.count ? sequence[index] : last
            return response.exchange.hasResponse(of: item.exchange, countsRates: response.test == item.test)
        }
    }

    /// Replaces recorded answers of the entry with the given key. Keeps the fields that select requests, and the fields
    /// that a recording doesn't write, such as comments and delays.
    private mutating func replace(
        _ group: Group,
        of key: String,
        _ conflicts: inout [Conflict]
    ) throws(MapToolError) {
        guard let text = entries.document.values[key].flatMap({ EntryText($0) }) else {
            throw MapToolError("The exchange was skipped. Run the tests again.")
        }
        var changed: [Int: [EntryText.Members]] = [:]
        let sequences = Dictionary(grouping: group.items, by: \.exchange.replaced)
            .compactMap { sequence, items in sequence.map { ($0, items) } }
        for (sequence, items) in sequences.sorted(by: { $0.0.places[0] < $1.0.places[0] }) {
            guard let first = items.first(where: { $0.exchange.method == sequence.method }) else {
                for item in items { item.outcome = .failure(Self.onlyHead(sequence.method)) }
                continue
            }
            let request = sequence.hasCondition ? first.exchange.request : .any(sequence.method)
            let part = Group(url: group.url, items: items)
            let (additions, conflict) = Self.sequence(of: request, atLeast: sequence.count, in: part)
            let count = additions.reduce(0) { $0 + $1.count }
            guard count >= sequence.count else {
                for item in items { item.outcome = .failure(Self.tooFew(count, of: sequence.count)) }
                continue
            }
            if let conflict { conflicts.append(conflict) }
            let own = sequence.files
            var bodies: WrittenBodies = [:]
            var answers: [Int: [EntryText.Members]] = [:]
            for place in sequence.places { answers[place] = [] }
            let isSameCount = additions.count == sequence.places.count
            var isSame = isSameCount
            for (index, addition) in additions.enumerated() {
                let body = addition.exchange.response.body
                let hasBody = body.isEmpty || own.contains { hasFile($0, body) }
                let name = addition.fileName(for: group.url)
                let file =
                    body.isEmpty ? nil : try write(addition.exchange, as: name, over: own, unlessIn: &bodies)
                // The new last answer takes the position of the old last answer. At an earlier position, it would hide
                // the handwritten alternatives that follow.
                let last = sequence.places.count - 1
                let place = sequence.places[addition.exchange.times == nil ? last : min(index, last)]
                let old = text.answers[place]
                let entry = addition.exchange.entry(for: group.url, file: file, defaults: entries.defaults)
                let new = entry.members + addition.exchange.conditions
                let answer = old.replacing(by: new, isFurther: answers[place]?.isEmpty == false)
                answers[place, default: []].append(answer)
                let isOld = JSONValue(JSONText.object(answer)) == JSONValue(JSONText.object(old.members))
                isSame = isSame && isOld
                let change: KeptFile.Change = isOld && hasBody && isSameCount ? .unchanged : .replaced
                let outcome = AddedExchange(change: change, file: file ?? "", note: addition.note)
                for item in addition.answers { item.outcome = .success(outcome) }
            }
            if !isSame { changed.merge(answers) { $1 } }
        }
        if !changed.isEmpty { set(key, to: text.replacing(changed)) }
    }

    private static func onlyHead(_ method: String) -> MapToolError {
        MapToolError(
            "the tests made this request only with HEAD, which gets no body. "
                + "To replace the answer, request it with \(method), too."
        )
    }

    private static func tooFew(_ count: Int, of wanted: Int) -> MapToolError {
        MapToolError(
            "the tests made this request only \(count.counted("time", "times")), but its recorded answers are for "
                + "\(wanted.grouped) requests. Run all tests that make the request, or remove the answers that aren't needed."
        )
    }
}

extension EditedMap {
    /// An exchange that was added to a map.
    package struct AddedExchange: Sendable {
        package let change: KeptFile.Change
        /// The name of the response's file; empty if the response's body is empty.
        package let file: String
        /// A clause about other requests that the entry may answer, too; `nil` if the entry can tell all requests
        /// apart.
        package let note: String?
    }

    /// A request to which tests got different responses. A map can't tell these tests' requests apart.
    package struct Conflict: Sendable, Hashable {
        /// A test that made the request.
        package struct Test: Sendable, Hashable {
            /// The index of the test in the argument of ``EditedMap/add(tests:)``.
            package let number: Int
            /// The statuses of the responses that the test got, in order.
            package let statuses: [Int]
            /// Whether the map has the responses that this test got.
            package let isKept: Bool
        }

        package let method: String
        package let url: String
        /// The condition on the requests' bodies, as JSON; `nil` if there is none.
        package let when: String?
        /// Whether a part of the requests' bodies isn't compared, since it may be a credential.
        package let isRedacted: Bool
        package let tests: [Test]
    }
}
