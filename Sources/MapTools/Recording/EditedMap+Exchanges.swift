package import Foundation
import LocalSubstitution

extension EditedMap {
    /// Adds exchanges that the map doesn't answer yet. A URL that has an entry gets alternatives.
    ///
    /// Exchanges with the same request and different responses become a sequence. Each response but the last answers as often as it
    /// did in the recording.
    ///
    /// - Returns: What was added for each exchange, or why it wasn't. An exchange that can't be added doesn't affect others.
    package mutating func add(_ exchanges: [RecordedExchange]) -> [Result<AddedExchange, MapToolError>] {
        var outcomes: [Result<AddedExchange, MapToolError>] = exchanges.map { _ in
            .failure(MapToolError("It wasn't reached."))
        }
        var requests: [String: [Numbered]] = [:]
        for (number, exchange) in exchanges.enumerated() {
            do throws(MapToolError) {
                let url = try Self.recordable(exchange.url)
                requests[url.canonical, default: []].append(Numbered(number: number, url: url, exchange: exchange))
            } catch {
                outcomes[number] = .failure(error)
            }
        }
        for (_, ofURL) in requests.sorted(by: { $0.key < $1.key }) {
            do throws(MapToolError) {
                for (number, outcome) in try add(ofURL) { outcomes[number] = outcome }
            } catch {
                for numbered in ofURL { outcomes[numbered.number] = .failure(error) }
            }
        }
        return outcomes
    }

    private struct Numbered {
        let number: Int
        let url: NormalizedURL
        let exchange: RecordedExchange
        let condition: RecordedCondition

        init(number: Int, url: NormalizedURL, exchange: RecordedExchange) {
            self.number = number
            self.url = url
            self.exchange = exchange
            condition = RecordedCondition(exchange.requestBody)
        }
    }

    /// What tells two requests for the same URL apart.
    private struct Question: Hashable {
        let method: String
        let condition: String?
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

    /// Adds the exchanges of one URL. Returns the outcomes by the exchanges' numbers.
    private mutating func add(_ ofURL: [Numbered]) throws(MapToolError) -> [Int: Result<AddedExchange, MapToolError>] {
        guard let url = ofURL.first?.url else { return [:] }
        if let reason = entries.refusal(of: url), case .excluded(let key) = reason {
            throw MapToolError("The entry “\(key)” is null.")
        }
        let hasGet = ofURL.contains { $0.exchange.method == "GET" }
        let groups = Dictionary(grouping: ofURL) { numbered in
            let exchange = numbered.exchange
            // An answer to GET answers HEAD too.
            let method = exchange.method == "HEAD" && hasGet ? "GET" : exchange.method
            return Question(method: method, condition: numbered.condition.json)
        }
        var change = ChangedEntry(url, in: entries)
        let isAlone = groups.count == 1 && groups.keys.allSatisfy { $0.condition == nil }
        var outcomes: [Int: Result<AddedExchange, MapToolError>] = [:]
        for (question, group) in groups.sorted(by: { Self.isBefore($0.key, $1.key) }) {
            let runs = Self.runs(group.filter { $0.exchange.method == question.method })
            let note = Self.note(on: group)
            for (index, run) in runs.enumerated() {
                guard let exchange = run.first?.exchange else { continue }
                let alternative = RecordedAlternative(
                    exchange: exchange,
                    condition: question.condition,
                    times: index + 1 < runs.count ? run.count : nil,
                    url: url,
                    defaults: entries.defaults
                )
                let outcome = add(alternative, to: &change, isAlone: isAlone && runs.count == 1)
                for numbered in run { outcomes[numbered.number] = outcome.map { AddedExchange(file: $0, note: note) } }
            }
            for numbered in group where outcomes[numbered.number] == nil {
                outcomes[numbered.number] = runs.last?.last.flatMap { outcomes[$0.number] }
            }
        }
        if let value = change.value { set(change.key, to: value) }
        return outcomes
    }

    /// Adds an alternative if the map can be loaded with it, and writes its body. Returns the file's name.
    private mutating func add(
        _ alternative: RecordedAlternative,
        to change: inout ChangedEntry,
        isAlone: Bool
    ) -> Result<String, MapToolError> {
        do throws(MapToolError) {
            // Checked before the file is written. The number in the file's name makes no difference to the entry.
            try change.check(alternative, file: alternative.fileName.candidate(0), isAlone: isAlone)
            let body = alternative.exchange.body
            let file = body.isEmpty ? "" : try write(body, as: alternative.fileName)
            change.add(alternative, file: file, isAlone: isAlone)
            return .success(file)
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

    /// Returns whether one question comes before another. Longer conditions come first, since a shorter one may be part of a longer
    /// one.
    private static func isBefore(_ one: Question, _ other: Question) -> Bool {
        let lengths = (one.condition?.utf8.count ?? 0, other.condition?.utf8.count ?? 0)
        if one.method != other.method { return one.method < other.method }
        if lengths.0 != lengths.1 { return lengths.0 > lengths.1 }
        return (one.condition ?? "") < (other.condition ?? "")
    }

    /// Returns the exchanges in runs of consecutive ones with the same response.
    private static func runs(_ exchanges: [Numbered]) -> [[Numbered]] {
        var runs: [[Numbered]] = []
        for numbered in exchanges {
            if let last = runs.last?.last, last.exchange.hasResponse(of: numbered.exchange) {
                runs[runs.count - 1].append(numbered)
            } else {
                runs.append([numbered])
            }
        }
        return runs
    }
}
