package import LocalSubstitution
import MapWriting

/// The recorded answers in a map, which a recording run can replace.
///
/// An answer counts as recorded if its entry's key is exact, and if a recording could have written all of its fields. A
/// comment, a delay and `ignoreQuery` are also allowed.
package struct RecordingAgain: Sendable {
    /// The recorded answers to one request: an entry, or its alternatives for the same method and condition. A sequence
    /// is replaced as a whole.
    package struct Sequence: Sendable, Hashable {
        /// The entry's key, as the map writes it.
        let key: String
        let method: String
        /// Whether the answers have a condition on the request's body.
        let hasCondition: Bool
        /// The positions of the answers in the entry, from 0.
        let places: [Int]
        let files: [String]
        /// How many requests are needed to get every answer at least once.
        let count: Int
        private let texts: [String]
        private let statuses: [Int]

        fileprivate init(_ entry: Entry, _ written: EntryText, at places: [Int]) {
            let answers = entry.answering
            key = entry.key
            method = answers[places[0]].options.methods[0]
            hasCondition = written.answers[places[0]]["when"] != nil
            self.places = places
            files = places.flatMap { answers[$0].files.map(\.text) }
            count = places.dropLast().reduce(1) { $0 + (answers[$1].options.fields.times ?? 1) }
            texts = places.map { written.answers[$0].text }
            statuses = places.map { answers[$0].options.status }
        }

        /// Returns why a response can't replace the recorded answer, and what to do; `nil` if it can.
        ///
        /// - Parameter entry: The entry or alternative that answers in a run without recording. If it's `nil` or has
        ///   another key, the response is compared with the sequence's first answer.
        package func refusal(ofStatus status: Int, instead entry: SubstitutionMap.EntryReference?) -> String? {
            let place = entry?.key == key ? places.firstIndex(of: (entry?.alternative ?? 1) - 1) : 0
            let old = place.map { statuses[$0] } ?? 200
            let isError = [401, 403, 429].contains(status) || status >= 500
            // A 206 or a 304 doesn't have the whole body.
            let isPartial = [206, 304].contains(status) && status != old
            return old < 400 && isError || isPartial
                ? "the status is now \(status), and was \(old). If that's right, edit the entry." : nil
        }
    }

    /// The name of the handler that ``json`` has in place of each recorded answer. The handler leaves requests to the
    /// network.
    package static let handlerName = "LOCAL_SUBSTITUTION_RECORD"

    /// The map's text with the handler ``handlerName`` in place of each recorded answer. Everything
    /// else keeps its line.
    package let json: [UInt8]
    private var sequences: [String: [Sequence]] = [:]

    /// Finds the recorded answers in a map.
    ///
    /// - Parameters:
    ///   - json: The map's text.
    ///   - map: The same map, loaded.
    package init(_ json: [UInt8], of map: SubstitutionMap) {
        let json = json.withoutByteOrderMark
        let entries = Dictionary(map.entries.map { ($0.key, $0) }) { first, _ in first }
        var parts: [(range: Range<Int>, text: String)] = []
        for member in (try? JSONScanner(json).members()) ?? [] {
            guard let entry = entries[member.key], !entry.isPattern,
                let written = EntryText(String(decoding: json[member.range], as: UTF8.self)),
                written.answers.count == entry.answering.count
            else { continue }
            let found = Self.sequences(of: entry, written)
            guard !found.isEmpty else { continue }
            sequences[entry.key] = found
            var handled: [Int: [EntryText.Members]] = [:]
            for place in found.flatMap(\.places) {
                let method = entry.answering[place].options.methods[0]
                let kept = written.answers[place].members.filter { ["when", "times", "ignoreQuery"].contains($0.key) }
                let handler = [
                    ("methods", JSONText.array([method])), ("handler", JSONText.string(Self.handlerName)),
                    ("delay", "0"),
                ]
                handled[place] = [kept + handler]
            }
            parts.append((member.range, written.replacing(handled, keepsLines: true)))
        }
        self.json = json.replacing(parts)
    }

    /// Returns the sequence of recorded answers to which an entry or alternative belongs. Returns `nil` if the entry or
    /// alternative doesn't count as recorded (see ``RecordingAgain``).
    package func sequence(of entry: SubstitutionMap.EntryReference) -> Sequence? {
        sequences[entry.key]?.first { $0.places.contains((entry.alternative ?? 1) - 1) }
    }

    package func contains(_ sequence: Sequence) -> Bool { sequences[sequence.key]?.contains(sequence) ?? false }

    // MARK: What counts as recorded

    /// The fields that a recording writes, and the fields that stay when it replaces an answer.
    private static let fields: Set<String> = [
        "file", "mimeType", "charset", "status", "headers", "secondsPerEvent", "use", "methods", "when", "times",
        "comment", "delay", "ignoreQuery",
    ]
    private static let sharedFields: Set<String> = ["methods", "comment", "delay", "ignoreQuery"]

    private struct Request: Hashable {
        let method: String
        let when: JSONValue?
    }

    private static func sequences(of entry: Entry, _ written: EntryText) -> [Sequence] {
        guard written.shared.allSatisfy({ sharedFields.contains($0.key) }) else { return [] }
        var places: [Request: [Int]] = [:]
        var byHand: Set<Request> = []
        for (place, (answer, text)) in zip(entry.answering, written.answers).enumerated() {
            let methods = answer.options.methods
            let when = text["when"].flatMap { JSONValue($0) }
            for method in methods {
                let request = Request(method: method, when: when)
                places[request, default: []].append(place)
                if methods.count > 1 || !isRecorded(answer, text) { byHand.insert(request) }
            }
        }
        return places.filter { request, places in
            // In a recording, the last answer of a sequence answers any number of requests, so it has no `times`.
            !byHand.contains(request) && places.last.map { written.answers[$0]["times"] == nil } ?? false
        }.values.sorted { $0[0] < $1[0] }.map { Sequence(entry, written, at: $0) }
    }

    private static func isRecorded(_ answer: Entry, _ text: EntryText.Answer) -> Bool {
        guard text.members.allSatisfy({ fields.contains($0.key) }), answer.options.use == .always,
            answer.options.isEnabled, !answer.options.answersAllMethods, answer.files.allSatisfy({ $0.wildcards == 0 })
        else { return false }
        if text["secondsPerEvent"] != nil, answer.options.fields.pace != .secondsPerEvent(0) { return false }
        if let when = text["when"] {
            let names = EntryText.members(of: when).map(\.key)
            guard names == ["json"] || names == ["text"] else { return false }
        }
        switch answer.options.answer {
        case .file: return true
        default: return false
        }
    }
}

extension EntryText.Answer {
    /// Returns this answer's members with another response. Keeps `methods`, `when`, `delay`, `use`, `ignoreQuery`
    /// and `comment`, and the headers that a recording never writes.
    ///
    /// - Parameter isFurther: Whether the result becomes an additional answer after this one. If so, it doesn't get
    ///   this answer's `comment`.
    func replacing(by response: EntryText.Members, isFurther: Bool) -> EntryText.Members {
        let staying = ["methods", "when", "delay", "use", "ignoreQuery"] + (isFurther ? [] : ["comment"])
        var new = response.filter { $0.key != "methods" && !EntryText.ofEntries.contains($0.key) }
        let headers = EntryText.members(of: self["headers"] ?? "").filter {
            !RecordedExchange.Headers.isKept($0.key.asciiLowercased)
        }
        if !headers.isEmpty {
            let all = EntryText.members(of: new.first { $0.key == "headers" }?.value ?? "") + headers
            new.removeAll { $0.key == "headers" }
            new.append(("headers", JSONText.object(all)))
        }
        let kept = members.compactMap { old in
            staying.contains(old.key) ? old : new.first { $0.key == old.key }
        }
        return kept + new.filter { member in !kept.contains { $0.key == member.key } }
    }
}
