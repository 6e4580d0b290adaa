import Foundation
import LocalSubstitution
import MapWriting

/// The kept responses to one URL. There are several if they differ, and the server chose between them by request headers
/// that its `Vary` names.
struct Representations: Sendable {
    typealias Response = RecorderIndex.Response

    /// The responses, in the order in which they were first requested.
    private(set) var all: [Response] = []
    /// The entry's value in the map, as JSON. If there are several responses, it's a list of alternatives.
    private(set) var text = ""

    /// How many responses a URL has at most, and how many different requests a response.
    private static let most = 16

    /// Creates the representations that were found in a folder.
    ///
    /// - Parameter text: The entry's value in the map; `nil` if it must be written again.
    init(_ responses: [Response], text: String?) {
        all = responses
        // In damaged notes, two responses may have the same request.
        let names = names
        var known: [[String: String]] = []
        for place in all.indices {
            all[place].requests.removeAll { request in known.contains { Self.areEqual($0, request, in: names) } }
            known += all[place].requests
        }
        if all.count > 1 { all.removeAll(where: \.requests.isEmpty) }
        self.text = text ?? currentText
    }

    /// Creates the representations of a URL without a response. Add one.
    init() {}

    var bytes: Int { all.reduce(0) { $0 + $1.notes.bytes } }
    var files: Set<String> { Set(all.map(\.notes.file)) }
    /// The response that was recorded or confirmed before all others; `nil` if there's no response.
    var oldest: Response? { all.min { $0.notes.date < $1.notes.date } }

    /// The names of the request headers by which the server chose.
    private var names: [String] {
        all.flatMap { $0.notes.vary ?? [] }.reduce(into: []) { names, name in
            if !names.contains(where: name.isSameHeader) { names.append(name) }
        }
    }

    /// Returns whether two requests have the same values of some headers.
    private static func areEqual(_ one: [String: String], _ other: [String: String], in names: [String]) -> Bool {
        names.allSatisfy { one[header: $0] == other[header: $0] }
    }

    // MARK: Responses

    /// Returns the response that was recorded for a request with these headers. Returns `nil` if the server may have
    /// another response to this request.
    func recorded(for headers: [String: String]) -> Response? {
        let names = names
        return names.isEmpty
            ? all.first
            : all.first { $0.requests.contains { Self.areEqual($0, headers, in: names) } }
    }

    /// Returns the response that the map has for a request with these headers.
    func answer(to headers: [String: String]) -> Response? {
        let names = comparedNames
        return all.first { $0.requests.contains { Self.areEqual($0, headers, in: names) } } ?? fallback
    }

    /// Keeps a response to a request with these headers, in place of an earlier one. If the response's file is already
    /// that of another request's response, both have the same response from now on.
    mutating func put(_ new: Response, to headers: [String: String]) {
        var names = names
        names += (new.notes.vary ?? []).filter { name in !names.contains(where: name.isSameHeader) }
        var request: [String: String] = [:]
        // A value that may be a credential counts as missing.
        for name in names { request[name] = headers[header: name].flatMap { SecretName.isIn($0) ? nil : $0 } }
        if !names.isEmpty, Self.isDocument(headers) { request[Self.destination] = headers[header: Self.destination] }
        for place in all.indices {
            all[place].requests.removeAll { Self.areEqual($0, request, in: names) }
        }
        var new = new
        if let place = all.firstIndex(where: { $0.notes.file == new.notes.file }) {
            new.requests = (all[place].requests + [request]).suffix(Self.most)
            all[place] = new
        } else {
            new.requests = [request]
            if let place = all.firstIndex(where: \.requests.isEmpty) { all[place] = new } else { all.append(new) }
        }
        all.removeAll(where: \.requests.isEmpty)
        if all.count > Self.most, let oldest { drop(oldest.notes.file) }
        text = currentText
    }

    /// Drops the response with a file. Does nothing if there's none.
    mutating func drop(_ file: String) {
        all.removeAll { $0.notes.file == file }
        text = currentText
    }

    /// Sets the date of the response with a file.
    mutating func setDate(_ date: Int, of file: String) {
        for place in all.indices where all[place].notes.file == file { all[place].notes.date = date }
    }

    // MARK: Alternatives

    private static let destination = "Sec-Fetch-Dest"

    /// Returns whether a browser sent a request to show the response as a page.
    private static func isDocument(_ headers: [String: String]) -> Bool {
        headers[header: destination]?.asciiLowercased == "document"
    }

    /// The names of the headers in which the requests differ.
    private var comparedNames: [String] {
        guard all.count > 1 else { return [] }
        let requests = all.flatMap(\.requests)
        return names.filter { name in Set(requests.map { $0[header: name] }).count > 1 }
    }

    /// The response for all other requests: the one whose request had the fewest of the headers. Of several, one that a
    /// browser loaded as a page comes first, then the one that was requested first. `nil` if there's no response.
    private var fallback: Response? {
        let names = comparedNames
        func rank(_ request: [String: String]) -> (Int, Int) {
            (names.count { request[header: $0] != nil }, Self.isDocument(request) ? 0 : 1)
        }
        // Of equal ones, `min` returns the first.
        return all.min { one, other in
            guard let one = one.requests.map(rank).min(by: <), let other = other.requests.map(rank).min(by: <) else {
                return false
            }
            return one < other
        }
    }

    private var currentText: String {
        guard all.count > 1, let fallback else { return all.first?.text ?? "" }
        let names = comparedNames
        var alternatives: [EntryText.Members] = []
        for response in all where response.notes.file != fallback.notes.file {
            for request in response.requests {
                let headers = names.map { name in
                    (name, request[header: name].map { JSONText.string(Glob.escaped($0.utf8)) } ?? "null")
                }
                let when = JSONText.object([("headers", JSONText.object(headers))])
                alternatives.append([("when", when)] + response.members)
            }
        }
        return EntryText.value(of: alternatives + [fallback.members])
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
