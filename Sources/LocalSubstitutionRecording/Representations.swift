import Foundation
import HTTPSyntax
import LocalSubstitution
import MapWriting

/// The recorded responses to one URL. There are several if they differ, and the server chose between them by request
/// headers that its `Vary` names.
struct Representations: Sendable {
    typealias Response = RecorderIndex.Response

    /// The responses, in the order in which they were first requested.
    private(set) var all: [Response] = []
    /// The entry's value in the map, as JSON. If there are several responses, it's a list of alternatives.
    private(set) var text = ""
    /// The names of the request headers by which the server chose, in lowercase: those that its `Vary` names now, and
    /// those in which recorded requests differ, though the server may no longer name them.
    private var names: Set<String> = []

    private static let most = RecordingRules.mostRepresentations
    /// The longest value of a header that a condition compares, in bytes.
    private static let longest = 1_024

    /// - Parameter text: The entry's value in the map; `nil` if it must be written again.
    init(_ responses: [Response], text: String?) {
        all = responses
        updateNames()
        // In damaged notes, two responses may have the same request.
        var known: Set<[String: String]> = []
        for place in all.indices {
            all[place].requests = all[place].requests.map(request).filter { known.insert(compared($0)).inserted }
        }
        if all.count > 1 { all.removeAll(where: \.requests.isEmpty) }
        updateNames()
        self.text = text.flatMap { all.count == responses.count ? $0 : nil } ?? currentText
    }

    /// Without a response, the value isn't valid: add one.
    init() {}

    var bytes: Int { all.reduce(0) { $0 + $1.notes.bytes } }
    var files: Set<String> { Set(all.map(\.notes.file)) }
    /// By the date when it was recorded or last confirmed.
    var oldest: Response? { all.min { $0.notes.date < $1.notes.date } }

    private mutating func updateNames() {
        let named = all.flatMap { $0.notes.vary ?? [] }.map(\.asciiLowercased)
        let sent = all.flatMap(\.requests).flatMap(\.keys).map(\.asciiLowercased)
        names = Set(named).union(sent.filter { $0 != Self.destination })
    }

    /// Returns what's recorded of a request's headers, with their names in lowercase: those by which the server chose,
    /// and whether a browser loads a page. A value that a condition can't compare is treated as missing: it may be a
    /// credential, or is too long.
    private func request(_ headers: [String: String]) -> [String: String] {
        var request: [String: String] = [:]
        for (name, value) in headers {
            let name = name.asciiLowercased
            guard names.contains(name), value.utf8.count <= Self.longest, !SecretName.isIn(value) else { continue }
            request[name] = value
        }
        if !names.isEmpty, Self.isDocument(headers) { request[Self.destination] = headers[header: Self.destination] }
        return request
    }

    /// Returns the headers of a recorded request that tell it from others.
    private func compared(_ request: [String: String]) -> [String: String] {
        names.contains(Self.destination) ? request : request.filter { $0.key != Self.destination }
    }

    // MARK: Responses

    /// Returns the response that was recorded for a request with these headers. Returns `nil` if the server may have
    /// another response to this request.
    func recorded(for headers: [String: String]) -> Response? {
        if names.isEmpty { return all.first }
        let wanted = compared(request(headers))
        return all.first { $0.requests.contains { compared($0) == wanted } }
    }

    /// Returns the response that the map has for a request with these headers.
    func answer(to headers: [String: String]) -> Response? {
        let names = comparedNames
        let wanted = request(headers)
        return all.first { $0.requests.contains { kept in names.allSatisfy { kept[$0] == wanted[$0] } } } ?? fallback
    }

    /// Replaces an earlier response to a request with these headers. If the response's file is already that of another
    /// request's response, both have the same response from now on.
    ///
    /// - Returns: Whether the oldest response to another request was dropped, since there were too many.
    mutating func put(_ new: Response, to headers: [String: String]) -> Bool {
        names.formUnion((new.notes.vary ?? []).map(\.asciiLowercased))
        let request = request(headers)
        let wanted = compared(request)
        for place in all.indices { all[place].requests = all[place].requests.filter { compared($0) != wanted } }
        var new = new
        var hasDropped = false
        if let place = all.firstIndex(where: { $0.notes.file == new.notes.file }) {
            new.requests = all[place].requests + [request]
            if new.requests.count > Self.most, let first = new.requests.min(by: isBefore) {
                new.requests.remove(at: new.requests[0] == first ? 1 : 0)
                hasDropped = true
            }
            all[place] = new
        } else {
            new.requests = [request]
            if let place = all.firstIndex(where: \.requests.isEmpty) { all[place] = new } else { all.append(new) }
        }
        all.removeAll(where: \.requests.isEmpty)
        if all.count > Self.most {
            // The response for all other requests stays: without it, they'd get one that's meant for some.
            let spared = fallback?.notes.file
            let oldest = all.filter { $0.notes.file != spared }.min { $0.notes.date < $1.notes.date }
            all.removeAll { $0.notes.file == oldest?.notes.file }
            hasDropped = true
        } else if fallback?.notes.file == new.notes.file {
            // A request that was dropped still gets its response.
            hasDropped = false
        }
        updateNames()
        text = currentText
        return hasDropped
    }

    /// Returns how many responses others don't have, at least 1 if their entry isn't the same.
    func newOrChanged(since others: Representations?) -> Int {
        guard let others else { return all.count }
        let new = all.count { response in
            !others.all.contains { other in
                other.notes.digest == response.notes.digest && other.written.text == response.written.text
            }
        }
        return max(new, text == others.text || all.isEmpty ? 0 : 1)
    }

    /// Does nothing if no response has the file.
    mutating func drop(_ file: String) {
        all.removeAll { $0.notes.file == file }
        updateNames()
        text = currentText
    }

    func has(_ date: Int) -> Bool { all.contains { $0.notes.date == date } }

    mutating func setDate(_ date: Int, of file: String) {
        for place in all.indices where all[place].notes.file == file { all[place].notes.date = date }
    }

    // MARK: Alternatives

    private static let destination = "sec-fetch-dest"

    /// Returns whether a browser sent a request to show the response as a page.
    private static func isDocument(_ headers: [String: String]) -> Bool {
        headers[header: destination]?.asciiLowercased == "document"
    }

    /// The names of the headers in which the requests differ.
    private var comparedNames: [String] {
        guard all.count > 1 else { return [] }
        let requests = all.flatMap(\.requests)
        return names.filter { name in Set(requests.map { $0[name] }).count > 1 }.sorted()
    }

    /// The response for all other requests: the one whose request had the fewest of the headers. Of several, one that a
    /// browser loaded as a page comes first, then the one that was requested first. `nil` if there's no response.
    private var fallback: Response? {
        let first = all.map { (response: $0, request: $0.requests.min(by: isBefore) ?? [:]) }
        // Of equal ones, `min` returns the first.
        return first.min { isBefore($0.request, $1.request) }?.response
    }

    /// Returns whether the response to one request is meant for more clients than that to another.
    private func isBefore(_ one: [String: String], _ other: [String: String]) -> Bool {
        func rank(_ request: [String: String]) -> (Int, Int) {
            (compared(request).count, Self.isDocument(request) ? 0 : 1)
        }
        return rank(one) < rank(other)
    }

    private var currentText: String {
        guard all.count > 1, let fallback else { return all.first?.written.text ?? "" }
        let spelled = Dictionary(all.flatMap { $0.notes.vary ?? [] }.map { ($0.asciiLowercased, $0) }) { first, _ in
            first
        }
        let names = comparedNames.map { spelled[$0] ?? $0 }
        var alternatives: [EntryText.Members] = []
        for response in all where response.notes.file != fallback.notes.file {
            for request in response.requests {
                let headers = names.map { name in
                    (name, request[header: name].map { JSONText.string(Glob.escaped($0.utf8)) } ?? "null")
                }
                let when = JSONText.object([("headers", JSONText.object(headers))])
                alternatives.append([("when", when)] + response.written.members)
            }
        }
        return EntryText.value(of: alternatives + [fallback.written.members])
    }

    /// Returns the headers that an alternative's condition compares, by name. Returns `nil` if a recorder can't have
    /// written the condition.
    ///
    /// - Parameter when: The condition, as JSON.
    static func headers(in when: String) -> [String: String?]? {
        let conditions = EntryText.members(of: when)
        guard conditions.count == 1, conditions[0].key == "headers" else { return nil }
        var headers: [String: String?] = [:]
        for (name, json) in EntryText.members(of: conditions[0].value) {
            if json == "null" {
                headers.updateValue(nil, forKey: name)
            } else {
                guard let text = try? JSONDecoder().decode(String.self, from: Data(json.utf8)) else { return nil }
                let value = Glob(escaped: text)
                guard value.wildcards == 0 else { return nil }
                headers[name] = String(decoding: value.literals[0], as: UTF8.self)
            }
        }
        return headers
    }
}
