package import Foundation
import LocalSubstitution
import MapWriting

extension EditedMap {
    /// Adds the exchanges of one test: see ``add(tests:)``.
    package mutating func add(_ exchanges: [RecordedExchange]) -> [Result<AddedExchange, MapToolError>] {
        add(tests: [exchanges]).outcomes.first ?? []
    }

    /// Adds exchanges that the map doesn't answer yet. A URL that has an entry gets alternatives.
    ///
    /// A test's exchanges with the same request and different responses become a sequence. Each response but the last answers as
    /// often as it did in the recording. If another test got other responses to the request, the first test's are added.
    ///
    /// - Parameter tests: The exchanges of each test.
    /// - Returns: What was added for each exchange, or why it wasn't; and the requests to which tests got different responses. An
    ///   exchange that can't be added doesn't affect others.
    package mutating func add(
        tests: [[RecordedExchange]]
    ) -> (outcomes: [[Result<AddedExchange, MapToolError>]], conflicts: [AddedExchange.Conflict]) {
        var added = Added(outcomes: tests.map { $0.map { _ in .failure(MapToolError("It wasn't reached.")) } })
        var urls: [String: [Numbered]] = [:]
        for (test, exchanges) in tests.enumerated() {
            for (number, exchange) in exchanges.enumerated() {
                do throws(MapToolError) {
                    let url = try Self.recordable(exchange.url)
                    urls[url.canonical, default: []].append(Numbered((test, number), url, exchange))
                } catch {
                    added.outcomes[test][number] = .failure(error)
                }
            }
        }
        for (_, ofURL) in urls.sorted(by: { $0.key < $1.key }) {
            do throws(MapToolError) {
                try add(ofURL, to: &added)
            } catch {
                for numbered in ofURL { added.set(.failure(error), for: numbered) }
            }
        }
        return (added.outcomes, added.conflicts)
    }

    private struct Added {
        var outcomes: [[Result<AddedExchange, MapToolError>]]
        var conflicts: [AddedExchange.Conflict] = []

        mutating func set(_ outcome: Result<AddedExchange, MapToolError>, for numbered: Numbered) {
            outcomes[numbered.place.test][numbered.place.number] = outcome
        }
    }

    private struct Numbered {
        let place: (test: Int, number: Int)
        let url: NormalizedURL
        let exchange: RecordedExchange

        var condition: RecordedCondition { exchange.condition }

        init(_ place: (test: Int, number: Int), _ url: NormalizedURL, _ exchange: RecordedExchange) {
            (self.place, self.url, self.exchange) = (place, url, exchange)
        }
    }

    /// Returns why exchanges with a URL aren't recorded, and what to do instead; `nil` if they may be.
    package static func obstacle(toRecording url: URL) -> MapToolError? {
        do throws(MapToolError) {
            _ = try recordable(url)
            return nil
        } catch {
            return error
        }
    }

    private static func recordable(_ url: URL) throws(MapToolError) -> NormalizedURL {
        let normalized: NormalizedURL
        do throws(URLSyntaxError) {
            normalized = try NormalizedURL(url.absoluteString)
        } catch {
            throw MapToolError("The URL \(error.message)")
        }
        if let parameter = SecretName.first(in: normalized) {
            let advice = parameter.name.map { ", with \"ignoreQuery\": [\(JSONText.string($0))]" } ?? ""
            throw MapToolError("\(parameter.sentence) Write the entry by hand\(advice).")
        }
        return normalized
    }

    /// Adds the exchanges of one URL.
    private mutating func add(_ ofURL: [Numbered], to added: inout Added) throws(MapToolError) {
        guard let url = ofURL.first?.url else { return }
        if let reason = entries.refusal(of: url), case .excluded(let key) = reason {
            throw MapToolError("The entry “\(key)” is null.")
        }
        let gets = Set(ofURL.filter { $0.exchange.method == "GET" }.map { RecordedRequest("GET", $0.condition) })
        let groups = Dictionary(grouping: ofURL) { numbered in
            // An answer to GET answers HEAD too.
            let get = RecordedRequest("GET", numbered.condition)
            let method = numbered.exchange.method
            return method == "HEAD" && gets.contains(get) ? get : RecordedRequest(method, numbered.condition)
        }
        var change = ChangedEntry(url, in: entries)
        var additions: [Addition] = []
        for (request, group) in groups.sorted(by: { RecordedRequest.isBefore($0.key, $1.key) }) {
            let (runs, conflict) = Self.runs(of: request, in: group)
            if let conflict { added.conflicts.append(conflict) }
            let note = Self.note(on: group)
            for (index, run) in runs.enumerated() {
                let alternative = RecordedAlternative(
                    exchange: run.exchange,
                    condition: request.condition,
                    times: index + 1 < runs.count ? run.count : nil,
                    url: url,
                    defaults: entries.defaults
                )
                additions.append(Addition(request: request, alternative: alternative, answers: run.answers, note: note))
            }
            let others = Set(runs.flatMap(\.answers).map { [$0.place.test, $0.place.number] })
            for numbered in group where !others.contains([numbered.place.test, numbered.place.number]) {
                added.set(.failure(Self.otherResponse), for: numbered)
            }
        }
        let isAlone = additions.count == 1 && groups.keys.allSatisfy { $0.condition.when == nil }
        // Checks all of them at once. If one of them is wrong, each is checked with those before it.
        let areRight = change.canTake(additions.map(\.alternative), isAlone: isAlone)
        // A response that comes again in a sequence has the same file.
        var files: [RecordedRequest: [Data: String]] = [:]
        for addition in additions {
            let (request, body) = (addition.request, addition.alternative.exchange.body)
            let known = files[request]?[body]
            let outcome = add(addition.alternative, to: &change, file: known, isAlone: isAlone, isChecked: areRight)
            if let file = try? outcome.get() { files[request, default: [:]][body] = file }
            let result = outcome.map { AddedExchange(file: $0, note: addition.note) }
            for numbered in addition.answers { added.set(result, for: numbered) }
        }
        if let value = change.value { set(change.key, to: value) }
    }

    private struct Addition {
        let request: RecordedRequest
        let alternative: RecordedAlternative
        /// The exchanges whose responses it has.
        let answers: [Numbered]
        let note: String?
    }

    private static let otherResponse = MapToolError(
        "The map keeps another test's response to this request. A separate issue names the tests."
    )

    /// Adds an alternative if the map can be loaded with it, and writes its body. Returns the file's name.
    ///
    /// - Parameter file: The file that already has its body; `nil` if there is none.
    private mutating func add(
        _ alternative: RecordedAlternative,
        to change: inout ChangedEntry,
        file: String?,
        isAlone: Bool,
        isChecked: Bool
    ) -> Result<String, MapToolError> {
        do throws(MapToolError) {
            // Checked before the file is written.
            if !isChecked { try change.check([alternative], isAlone: isAlone) }
            let body = alternative.exchange.body
            var name = file ?? ""
            if file == nil, !body.isEmpty { name = try write(body, as: alternative.fileName) }
            change.add(alternative, file: name, isAlone: isAlone)
            return .success(name)
        } catch {
            return .failure(error)
        }
    }

    /// Returns what the entry doesn't tell apart in requests that count as the same; `nil` if there's nothing to say.
    private static func note(on group: [Numbered]) -> String? {
        if let obstacle = group.lazy.compactMap(\.condition.obstacle).first { return obstacle }
        guard group.contains(where: \.condition.isRedacted), Set(group.map(\.exchange.requestBody)).count > 1 else {
            return nil
        }
        return "it answers requests whose bodies differ only in what may be credentials"
    }

    /// Consecutive exchanges that have the same response.
    private struct Run {
        let exchange: RecordedExchange
        var count: Int
        /// These exchanges, and those of other tests that the response answers too.
        var answers: [Numbered]
    }

    /// Returns the sequence of responses to one request, and the tests that got others, if any.
    private static func runs(of request: RecordedRequest, in group: [Numbered]) -> ([Run], AddedExchange.Conflict?) {
        // HEAD is answered as GET is, so its responses don't count.
        let tests = Dictionary(grouping: group.filter { $0.exchange.method == request.method }, by: \.place.test)
            .sorted { $0.key < $1.key }
        // A test that made the request more often can have the responses of the first one, and then more.
        var kept = tests.first?.value ?? []
        for (_, other) in tests where !answers(kept, other) && answers(other, kept) { kept = other }
        var runs: [Run] = []
        var runOfKept: [Int] = []
        for numbered in kept {
            if let last = runs.last, last.exchange.hasResponse(of: numbered.exchange) {
                runs[runs.count - 1].count += 1
            } else {
                runs.append(Run(exchange: numbered.exchange, count: 1, answers: []))
            }
            runOfKept.append(runs.count - 1)
        }
        let right = tests.filter { answers(kept, $0.value) }
        for (_, exchanges) in right {
            for (index, numbered) in exchanges.enumerated() {
                runs[runOfKept[min(index, kept.count - 1)]].answers.append(numbered)
            }
        }
        if let last = runs.indices.last {
            runs[last].answers += group.filter { $0.exchange.method != request.method }
        }
        guard right.count < tests.count, let first = kept.first else { return (runs, nil) }
        let conflict = AddedExchange.Conflict(
            method: request.method,
            url: first.url.canonical,
            when: request.condition.when,
            isRedacted: group.contains(where: \.condition.isRedacted),
            tests: tests.map { test, exchanges in
                .init(number: test, statuses: exchanges.map(\.exchange.status), isKept: answers(kept, exchanges))
            }
        )
        return (runs, conflict)
    }

    /// Returns whether a sequence of responses answers requests as they were answered in a recording.
    private static func answers(_ sequence: [Numbered], _ recorded: [Numbered]) -> Bool {
        guard let last = sequence.last else { return recorded.isEmpty }
        return recorded.enumerated().allSatisfy { index, numbered in
            let response = index < sequence.count ? sequence[index] : last
            let isOfTest = response.place.test == numbered.place.test
            return response.exchange.hasResponse(of: numbered.exchange, countsRates: isOfTest)
        }
    }
}
