import Foundation
import HTTPSyntax
package import LocalSubstitution
import MapWriting

extension EditedMap {
    /// Imports an archive's selected responses. Requests are the same request if they have the same URL, method and
    /// condition on the body.
    ///
    /// - Parameters:
    ///   - replacing: Whether to replace existing entries; `false` by default. `null` entries are never replaced.
    ///   - onlyLast: For each request, whether to import only the last response that can be imported. If `false`, the
    ///     default, imports all responses, as ``HTTPArchive/map()`` returns them.
    package mutating func take(
        _ archive: HTTPArchive,
        _ selection: HTTPArchive.Selection,
        replacing: Bool = false,
        onlyLast: Bool = false
    ) -> HTTPArchive.Imported {
        var left: [Int: Complaint] = [:]
        let found = archive.responses(selection, onlyLast: onlyLast, into: entries, &left)
        var imported = HTTPArchive.Imported()
        imported.parts = archive.parts(left, besides: Set(found.map(\.url.canonical)), in: entries)
        var outcomes = left.mapValues { Result<ResponseFile, Complaint>.failure($0) }
        for (url, responses) in found {
            do throws(Complaint) {
                let exchanges = responses.map(\.exchange)
                let added = try undoing { map throws(Complaint) in
                    try map.add(exchanges, for: url, as: url.canonical, replacing: replacing)
                }
                for (response, outcome) in zip(responses, added) {
                    for number in response.numbers {
                        outcomes[number] = outcome.mapError { .alreadyInMap(key: $0.key ?? url.canonical) }
                    }
                }
                let isWritten = added.contains { (try? $0.get()).map { $0.change != .unchanged } == true }
                if isWritten { imported.count(exchanges) }
            } catch {
                for number in responses.flatMap(\.numbers) {
                    outcomes[number] = .failure(.unwritable(error.description))
                }
            }
        }
        imported.items = archive.entries.enumerated().compactMap { number, entry in
            outcomes[number].map { HTTPArchive.Item(HTTPArchive.Item.shown(entry.url ?? ""), $0) }
        }
        return imported
    }
}

extension HTTPArchive {
    /// A response, and the indexes of the archive's entries that recorded it. All of these entries have the same
    /// request, and no different response to this request comes between them.
    struct Response {
        fileprivate(set) var numbers: [Int]
        fileprivate(set) var exchange: RecordedExchange
    }

    /// - Parameters:
    ///   - urls: URLs in normal form, of which the archive has a response that can be imported.
    ///   - map: The map, which may have the whole files already.
    fileprivate func parts(
        _ left: [Int: Complaint],
        besides urls: Set<String>,
        in map: ForeignEntries
    ) -> (count: Int, urls: [String]) {
        var parts: (count: Int, urls: [String]) = (0, [])
        var known = urls
        for (number, entry) in entries.enumerated() where left[number] == .part {
            guard let url = entry.url.flatMap({ try? NormalizedURL($0) }), !urls.contains(url.canonical),
                map.key(of: url) == nil
            else { continue }
            parts.count += 1
            if entry.method == "GET", known.insert(url.canonical).inserted { parts.urls.append(url.canonical) }
        }
        return parts
    }

    /// Returns the selected responses for each URL. URLs are in the order of the entries, and a URL's responses in the
    /// order of the alternatives in its entry. URLs without a response are left out.
    ///
    /// - Parameters:
    ///   - onlyLast: For each request, whether to return only the last response that can be imported; `false` by default.
    ///   - map: The map's entries; `nil`, the default, if there's no map yet. URLs that a `null` entry excludes are
    ///     left out.
    ///   - left: Gets the reasons why entries of the archive are left out, by the entry's index.
    func responses(
        _ selection: Selection,
        onlyLast: Bool = false,
        into map: ForeignEntries? = nil,
        _ left: inout [Int: Complaint]
    ) -> [(url: NormalizedURL, responses: [Response])] {
        var ofURLs: [String: (url: NormalizedURL, numbers: [Int])] = [:]
        for (number, entry) in entries.enumerated() {
            do throws(Complaint) {
                guard let text = entry.url else { throw .noURL(entry: entry.position) }
                let url: NormalizedURL
                do throws(Complaint) { url = try NormalizedURL(text) } catch { throw .url(error.statement) }
                if let reason = selection.refusal(of: entry, url) { throw reason }
                if let key = map?.exclusion(of: url) { throw .excludedByMap(key: key) }
                ofURLs[url.canonical, default: (url, [])].numbers.append(number)
            } catch {
                left[number] = error
            }
        }
        return ofURLs.values.sorted { $0.numbers[0] < $1.numbers[0] }.map { url, numbers in
            (url, responses(numbers, at: url, selection, onlyLast, &left))
        }.filter { !$0.1.isEmpty }
    }

    private func responses(
        _ numbers: [Int],
        at url: NormalizedURL,
        _ selection: Selection,
        _ onlyLast: Bool,
        _ left: inout [Int: Complaint]
    ) -> [Response] {
        // Each request's responses, from the last to the first.
        var found: [RecordedExchange.Request: [Response]] = [:]
        for number in numbers.reversed() {
            let entry = entries[number]
            let request = RecordedExchange.Request(method: entry.method ?? "GET", condition: condition(of: entry))
            do throws(Complaint) {
                if onlyLast, found[request] != nil { throw .superseded }
                let response = try response(of: entry, at: url, selection)
                let exchange = RecordedExchange(response, request.condition)
                if let last = found[request]?.indices.last,
                    found[request]?[last].exchange.hasResponse(of: exchange) == true
                {
                    found[request]?[last].numbers.append(number)
                } else {
                    found[request, default: []].append(Response(numbers: [number], exchange: exchange))
                }
            } catch {
                left[number] = error
            }
        }
        for (request, heads) in found where request.method == "HEAD" {
            guard found[RecordedExchange.Request(method: "GET", condition: request.condition)] != nil else { continue }
            found[request] = nil
            for number in heads.flatMap(\.numbers) { left[number] = .headOfGet }
        }
        let sorted = found.sorted { one, other in
            let areGets = (one.key.method == "GET", other.key.method == "GET")
            return areGets.0 == areGets.1 ? RecordedExchange.Request.isBefore(one.key, other.key) : areGets.0
        }
        guard sorted.reduce(0, { $0 + $1.value.count }) <= EntryFieldsReader.mostAlternatives else {
            for number in sorted.flatMap({ $0.value.flatMap(\.numbers) }) { left[number] = .tooMany }
            return []
        }
        return sorted.flatMap { _, responses in
            var after = 0
            return responses.enumerated().reversed().map { place, response in
                var response = response
                response.exchange.after = after
                // The last response, at place 0, is for any number of requests.
                if place > 0 { response.exchange.times = response.numbers.count }
                after += response.numbers.count
                return response
            }
        }
    }

    /// Returns the response that an entry recorded. Throws a refusal if the archive doesn't have the response's body, or
    /// has only a part of it.
    private func response(
        of entry: Entry,
        at url: NormalizedURL,
        _ selection: Selection
    ) throws(Complaint) -> RecordedResponse {
        if entry.status == 206, entry.lengthOfWhole == nil { throw .part }
        // The content of a 304 is what the client had from a 200, and that of a 206 is what a 200 would have.
        let status = entry.status.map { [206, 304].contains($0) ? 200 : $0 } ?? 200
        let hasBody = HTTPSyntax.hasBody(status: status)
        let body = hasBody ? try body(of: entry, atMost: selection.largest) : Body()
        if let length = entry.lengthOfWhole, !entry.mayHaveLength(length, body) { throw .part }
        let type = hasBody ? entry.contentType(of: body) : nil
        if let lost = entry.typeWithLostBytes(body, type, at: url) { throw .lostBytes(type: lost) }
        var headers = RecordingRules.Headers.sorted(entry.headers).recorded
        // Without its target, it would be another response.
        if Redirect.statuses.contains(status), entry.headers["location"] != nil, headers["Location"] == nil {
            throw .secretLocation
        }
        headers["Content-Type"] = type?.text
        // No client could request it.
        guard let url = URL(string: url.canonical) else { throw .url("has a host that Foundation doesn't accept") }
        return RecordedResponse(
            method: entry.method ?? "GET",
            url: url,
            status: status,
            headers: headers,
            body: body.bytes
        )
    }
}

extension HTTPArchive {
    /// Returns a map for a test, with the archive's responses to all methods and with all statuses. Request bodies
    /// become conditions. A request's responses are returned in order, and the last one for all further requests.
    ///
    /// The map's ``SubstitutionMap/problems`` are the archive's unusable entries, such as entries without content.
    package func map() throws(SubstitutionMapError) -> SubstitutionMap {
        var left: [Int: Complaint] = [:]
        let entries = responses(.forTest, &left).map { url, responses in
            let alternatives = responses.map { Self.answer($0.exchange, at: url) }
            return (key: url.canonical, value: SubstitutionMap.Answer(alternatives: alternatives))
        }
        // An entry for `GET` also matches `HEAD`, so this isn't a problem.
        let leftOut = left.filter { $0.value != .headOfGet }.sorted { $0.key < $1.key }.map { number, reason in
            let entry = self.entries[number]
            let method = entry.method.map { "\($0): " } ?? ""
            return SubstitutionMap.Problem(
                .noFile,
                key: entry.url.map { Item.shown((try? NormalizedURL($0).canonical) ?? $0) },
                "\(method)\(reason)"
            )
        }
        return try SubstitutionMap(entries, leftOut: leftOut)
    }

    /// As an imported entry has it, but with the body in it instead of in a file.
    private static func answer(_ exchange: RecordedExchange, at url: NormalizedURL) -> SubstitutionMap.Answer {
        let body = exchange.response.body
        let imported = exchange.entry(for: url, file: body.isEmpty ? nil : "body", defaults: EntryFields())
            .substitution(for: url)
        var headers = imported.headers
        var answer = SubstitutionMap.Answer.status(imported.status)
        if !body.isEmpty {
            // It doesn't depend on the file's name.
            headers["Content-Type"] = imported.contentType(ofBody: body)
            answer = .data(body).status(imported.status)
            if exchange.response.type?.essence == MIMEType.eventStream { answer = answer.secondsPerEvent(0) }
        }
        for (name, json) in exchange.conditions { answer = answer.setting(name, json) }
        return (headers.isEmpty ? answer : answer.headers(headers)).methods(exchange.response.method)
    }
}

extension HTTPArchive {
    /// The conditions that an archive's responses must meet to be imported, regardless of the map.
    package struct Selection: Sendable {
        /// The default limit for the length of a body, in bytes.
        package static let standardLargest = 20_000_000

        /// The longest body to import, in bytes.
        private(set) var largest = 256 << 20
        /// Matches the URLs to import; `nil` for all.
        private var patterns: MapKey.Matcher?
        /// Empty for all types.
        private var types: [Glob] = []
        /// `nil` for all statuses.
        private var statuses: Set<Int>?
        /// In uppercase; `nil` for all methods.
        private var methods: Set<String>?
        /// Whether the responses are for a test's map, which is never written to disk. In such a map, URLs may contain
        /// credentials.
        private(set) var isForTest = true

        /// A selection of all responses, for a test's map.
        static let forTest = Selection()

        private init() {}

        /// Creates a selection of responses to import into a map's file. Throws an error if a pattern is invalid.
        ///
        /// - Parameters:
        ///   - patterns: Match patterns and URLs, like the keys of a map. If empty, every URL is selected.
        ///   - types: MIME types in any letter case, which may contain `*`, such as `image/*`. If
        ///     empty, every type is selected.
        ///   - statuses: HTTP statuses. If empty, every status from 200 to 599 is selected.
        ///   - methods: HTTP methods in any letter case, or `*` for all. If empty, every method is selected.
        ///   - largest: The length of the longest body to import, in bytes; 20 MB by default.
        package init(
            patterns: [String] = [],
            types: [String] = [],
            statuses: [Int] = [],
            methods: [String] = [],
            largest: Int = standardLargest
        ) throws(Complaint) {
            if !patterns.isEmpty { self.patterns = MapKey.Matcher() }
            for pattern in patterns {
                do throws(Complaint) {
                    try self.patterns?.insert(pattern)
                } catch {
                    throw Complaint(printable: "“\(pattern)” isn't a match pattern. It \(error)")
                }
            }
            self.types = types.map { Glob(Array($0.asciiLowercased.utf8)) }
            self.statuses = statuses.isEmpty ? nil : Set(statuses)
            self.methods = methods.isEmpty || methods.contains("*") ? nil : Set(methods.map { $0.uppercased() })
            self.largest = largest
            isForTest = false
        }

        /// Returns why an entry's response isn't imported; `nil` if it may be imported. Doesn't read the body, which
        /// may still prevent the import.
        func refusal(of entry: Entry, _ url: NormalizedURL) -> Complaint? {
            if let patterns, !patterns.match(url) { return .unselectedURL }
            guard let method = entry.method else { return .noMethod }
            guard let status = entry.status else { return .noStatus }
            if let methods, !methods.contains(method) { return .unselectedMethod(method) }
            guard 200...599 ~= status, statuses?.contains(status) != false else { return .unselectedStatus(status) }
            let type = entry.contentType?.essence ?? ""
            if !types.isEmpty, !types.contains(where: { $0.matches(type) }) { return .unselectedType(type) }
            return isForTest ? nil : SecretName.first(in: url).map { .query($0) }
        }
    }

    /// The outcome of importing an archive.
    package struct Imported: Sendable {
        /// What happened to the response of each archive entry, in the order of ``HTTPArchive/entries``.
        package fileprivate(set) var items: [Item] = []
        /// How many requests have several responses in the entries that were written.
        package private(set) var sequences = 0
        /// How many of the alternatives that were written have a condition made from a request's body.
        package private(set) var conditions = 0

        /// How many responses are left out because each is only a part of a file of which neither the archive nor the map
        /// has another response; and the URLs of these files, as far as `GET` requested them.
        package fileprivate(set) var parts: (count: Int, urls: [String]) = (0, [])

        /// Counts the exchanges of an entry that was written.
        fileprivate mutating func count(_ exchanges: [RecordedExchange]) {
            // Only the last response of a sequence has no `times`.
            sequences += exchanges.count { $0.times == nil && $0.after > 0 }
            conditions += exchanges.count { $0.condition.when != nil }
        }
    }

    /// The outcome of adding one response to a map, perhaps from an archive.
    package struct Item: Sendable {
        /// The complaint's kind if the response's entry or file couldn't be written. An import fails only if an item has a
        /// complaint of this kind.
        package static let failure = "unwritable"

        /// The request's URL; empty if the archive has no URL. If the response is from an archive, this is the URL that
        /// ``shown(_:)`` returns.
        package let url: String
        /// The response's file, or why the response wasn't imported.
        package let outcome: Result<EditedMap.ResponseFile, Complaint>

        package init(_ url: String, _ outcome: Result<EditedMap.ResponseFile, Complaint>) {
            (self.url, self.outcome) = (url, outcome)
        }

        /// Returns a URL for a report: without possible credentials, and cut after 300 bytes, since a `data:` URL may
        /// contain a picture. An ellipsis shows what's left out.
        static func shown(_ url: String) -> String {
            var url = url
            if let parts = try? NormalizedURL(url), let parameter = SecretName.first(in: parts) {
                url = parameter.name == nil ? "\(parts.origin)/…" : parts.withoutQuery.prefix { $0 != ";" } + "…"
            } else if let parts = try? URLParts(url), parts.hasUserInfo {
                url = "\(parts.scheme)://…@" + String(decoding: parts.host, as: UTF8.self) + "…"
            }
            return url.utf8.count > longest ? String(decoding: url.utf8.prefix(longest), as: UTF8.self) + "…" : url
        }

        private static let longest = 300
    }
}

/// The reasons why an archive's response isn't imported into a map. Each is a clause without a period, and has a kind for
/// programs, such as `noBody`.
extension Complaint {
    /// - Parameter entry: The entry's position in the archive, from 1.
    static func noURL(entry: Int) -> Complaint {
        malformed("entry \(entry) of the archive has no request with a URL")
    }
    static let noMethod = malformed("the request's method is missing in the archive, or isn't valid")
    static let noStatus = malformed("the response's status is missing in the archive")
    private static func malformed(_ problem: String) -> Complaint { Complaint(kind: "malformed", problem) }
    static let unselectedURL = Complaint(kind: "match", "no --match pattern matches the URL")
    static func unselectedMethod(_ method: String) -> Complaint {
        Complaint(kind: "method", "the method is \(method), which --methods doesn't list")
    }
    static func unselectedStatus(_ status: Int) -> Complaint {
        Complaint(
            kind: "status",
            status == 0 ? "there was no response: the status is 0" : "the status is \(status)"
        )
    }
    static func unselectedType(_ type: String) -> Complaint {
        Complaint(kind: "type", "the MIME type is \(type.isEmpty ? "unknown" : type)")
    }
    static let noBody = Complaint(kind: "noBody", "no body was recorded")
    static let compressed = Complaint(
        kind: "compressed",
        "the body is still compressed (export the archive again with decoded content)"
    )
    static func bodyFile(_ name: String, _ problem: String) -> Complaint {
        Complaint(kind: "bodyFile", "the body's file “\(name)” \(problem)")
    }
    static func encoding(_ encoding: String) -> Complaint {
        Complaint(kind: "encoding", "the archive's field “encoding” is “\(encoding)”, not “base64”")
    }
    static let brokenBody = Complaint(
        kind: "brokenBody",
        "the body can't be decoded: it isn't valid base64 or UTF-8"
    )
    static func lostBytes(type: String) -> Complaint {
        Complaint(kind: "lostBytes", "the body is \(type), but was recorded as text, which lost some of its bytes")
    }
    static func tooLarge(most: Int) -> Complaint {
        Complaint(kind: "tooLarge", "the body has more than \(most.grouped) bytes (--max-size raises the limit)")
    }
    static let secretLocation = Complaint(
        kind: "secretLocation",
        "it redirects to a URL that may contain a credential"
    )
    static let tooMany = Complaint(
        kind: "tooMany",
        "the URL has more than \(EntryFieldsReader.mostAlternatives.grouped) different responses"
    )
    static let superseded = Complaint(kind: "superseded", "a later response to the same request is used")
    static let headOfGet = Complaint(kind: "headOfGet", "the entry for GET also matches HEAD")
    static func excludedByMap(key: String) -> Complaint {
        Complaint(kind: "excluded", "the map's entry “\(key)” excludes the URL")
    }
    static func alreadyInMap(key: String) -> Complaint {
        Complaint(
            kind: "entry",
            "the map already has the entry “\(key)” for the URL (--force replaces the entry)"
        )
    }
    static func unwritable(_ problem: String) -> Complaint { Complaint(kind: HTTPArchive.Item.failure, problem) }
}
