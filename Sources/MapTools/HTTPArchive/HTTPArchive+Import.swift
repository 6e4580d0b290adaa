import Foundation
import LocalSubstitution
import MapWriting

extension EditedMap {
    /// Imports an archive's responses: for each request, the last one whose body can be decoded. Requests differ in URL, method and the
    /// condition on their body.
    ///
    /// - Parameter replacing: Whether to replace existing entries. `null` entries are never replaced.
    /// - Returns: What happened to each response, in the order of the archive.
    package mutating func take(
        _ archive: HTTPArchive,
        _ selection: HTTPArchive.Selection,
        replacing: Bool = false
    ) -> [HTTPArchive.Item] {
        var outcomes: [Result<KeptFile, HTTPArchive.Refusal>?] = archive.entries.map { _ in nil }
        var candidates: [(number: Int, url: NormalizedURL)] = []
        for (number, entry) in archive.entries.enumerated() {
            do throws(HTTPArchive.Refusal) {
                candidates.append((number, try candidate(entry, number: number + 1, selection)))
            } catch {
                outcomes[number] = .failure(error)
            }
        }
        let ofURLs = Dictionary(grouping: candidates) { $0.url.canonical }.values
        for ofURL in ofURLs.sorted(by: { $0[0].number < $1[0].number }) {
            var last: [RecordedExchange.Request: (number: Int, exchange: RecordedExchange)] = [:]
            for (number, url) in ofURL.reversed() {
                let entry = archive.entries[number]
                let request = RecordedExchange.Request(entry.method ?? "GET", archive.condition(of: entry))
                do throws(HTTPArchive.Refusal) {
                    if last[request] != nil { throw .superseded }
                    last[request] = (number, try archive.exchange(entry, request, at: url, largest: selection.largest))
                } catch {
                    outcomes[number] = .failure(error)
                }
            }
            for (request, head) in last where request.method == "HEAD" {
                guard last[RecordedExchange.Request("GET", request.condition)] != nil else { continue }
                last[request] = nil
                outcomes[head.number] = .failure(.headOfGet)
            }
            for (number, outcome) in take(last, for: ofURL[0].url, replacing) { outcomes[number] = outcome }
        }
        return zip(archive.entries, outcomes).compactMap { entry, outcome in
            outcome.map { HTTPArchive.Item(entry.url, $0) }
        }
    }

    private func candidate(
        _ entry: HTTPArchive.Entry,
        number: Int,
        _ selection: HTTPArchive.Selection
    ) throws(HTTPArchive.Refusal) -> NormalizedURL {
        guard let text = entry.url else { throw .noURL(entry: number) }
        let url: NormalizedURL
        do throws(URLParts.SyntaxError) { url = try NormalizedURL(text) } catch { throw .url(error.fragment) }
        if let reason = selection.refusal(of: entry, url) { throw reason }
        if case .excluded(let key)? = entries.refusal(of: url) { throw .excluded(key: key) }
        return url
    }

    /// Keeps one URL's exchanges. Returns the outcome for each by its number.
    private mutating func take(
        _ exchanges: [RecordedExchange.Request: (number: Int, exchange: RecordedExchange)],
        for url: NormalizedURL,
        _ replacing: Bool
    ) -> [(Int, Result<KeptFile, HTTPArchive.Refusal>)] {
        let sorted = exchanges.sorted { one, other in
            let areGets = (one.key.method == "GET", other.key.method == "GET")
            return areGets.0 == areGets.1 ? RecordedExchange.Request.isBefore(one.key, other.key) : areGets.0
        }.map(\.value)
        do throws(MapToolError) {
            let kept = try keep(sorted.map(\.exchange), for: url, as: url.canonical, replacing: replacing)
            return zip(sorted, kept).map { ($0.number, $1.mapError { .entry(key: $0.key) }) }
        } catch {
            return sorted.map { ($0.number, .failure(.unwritable(error.description))) }
        }
    }
}

extension HTTPArchive {
    /// Returns the exchange that an entry recorded.
    ///
    /// - Parameter largest: The most bytes in the body.
    fileprivate func exchange(
        _ entry: Entry,
        _ request: RecordedExchange.Request,
        at url: NormalizedURL,
        largest: Int
    ) throws(Refusal) -> RecordedExchange {
        guard let body = body(of: entry) else { throw .brokenBody }
        guard body.count <= largest else { throw .tooLarge(most: largest) }
        let type = entry.typeOfBody(at: url)
        if entry.hasLostBytes(body, at: url) { throw .lostBytes(type: type?.essence ?? "") }
        let headers = RecordingRules.Headers.kept(Entry.keptHeaders) { entry.headers[$0.asciiLowercased] }
        return RecordedExchange(
            request,
            url: url.canonical,
            RecordedResponse(status: entry.status ?? 200, headers: headers, contentType: type?.text, body: body)
        )
    }
}

extension HTTPArchive {
    /// Which of an archive's responses are imported, as far as the archive alone tells.
    package struct Selection: Sendable {
        /// The default for the most bytes in a body.
        package static let standardLargest = 20_000_000

        let largest: Int
        private let takesAll: Bool
        private var patterns = MapKey.Matcher()
        private let types: [Glob]
        private let statuses: Set<Int>
        /// The methods; `nil` for all.
        private let methods: Set<String>?

        /// - Parameters:
        ///   - patterns: Match patterns and URLs, like the keys of a map. If empty, every URL.
        ///   - types: MIME types, which may contain `*`, such as `image/*`. If empty, every type.
        ///   - statuses: HTTP statuses. If empty, 200 only.
        ///   - methods: HTTP methods, or `*` for all. If empty, GET only.
        ///   - largest: The most bytes in a body.
        package init(
            patterns: [String] = [],
            types: [String] = [],
            statuses: [Int] = [],
            methods: [String] = [],
            largest: Int = standardLargest
        ) throws(MapToolError) {
            for pattern in patterns {
                do throws(URLParts.SyntaxError) {
                    try self.patterns.insert(pattern)
                } catch {
                    throw MapToolError("“\(pattern)” isn't a match pattern. It \(error.message)")
                }
            }
            takesAll = patterns.isEmpty
            self.types = types.map { Glob(Array($0.asciiLowercased.utf8)) }
            self.statuses = statuses.isEmpty ? [200] : Set(statuses)
            let names = methods.isEmpty ? ["GET"] : methods.map { $0.uppercased() }
            self.methods = names.contains("*") ? nil : Set(names)
            self.largest = largest
        }

        /// Returns why a response isn't imported, before its body is read; `nil` if there's no reason yet.
        func refusal(of entry: Entry, _ url: NormalizedURL) -> Refusal? {
            guard takesAll || patterns.match(url) else { return .pattern }
            guard let method = entry.method else { return .noMethod }
            guard let status = entry.status else { return .noStatus }
            if let methods, !methods.contains(method) { return .method(method) }
            guard statuses.contains(status) else { return .status(status) }
            let type = entry.contentType?.essence ?? ""
            if !types.isEmpty, !types.contains(where: { $0.match(Array(type.utf8)[...]) != nil }) { return .type(type) }
            if entry.body == nil { return .noBody }
            if let encoding = entry.encoding, !encoding.isEmpty, !entry.isBase64 { return .encoding(encoding) }
            return SecretName.first(in: url).map { .query($0) }
        }
    }

    /// What happened to one response in an archive.
    package struct Item: Sendable {
        /// The URL without anything that may be a credential.
        package let url: String
        package let outcome: Result<EditedMap.KeptFile, Refusal>

        init(_ url: String?, _ outcome: Result<EditedMap.KeptFile, Refusal>) {
            self.url = Self.shown(url ?? "")
            self.outcome = outcome
        }

        /// Returns a URL as a report can show it: without credentials, and shortened, since a `data:` URL may contain a picture.
        private static func shown(_ url: String) -> String {
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

    /// Why an archive's response isn't imported into a map. The description is readable.
    package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The kind of reason, for programs.
        package let kind: String
        package let description: String

        private init(_ kind: String, _ description: String) {
            self.kind = kind
            self.description = description
        }

        /// - Parameter entry: The entry's position in the archive, from 1.
        static func noURL(entry: Int) -> Self { malformed("entry \(entry) of the archive has no request with a URL") }
        static let noMethod = malformed("the archive has no valid method for it")
        static let noStatus = malformed("the archive has no response with a status for it")
        private static func malformed(_ problem: String) -> Self { Self("malformed", problem) }
        static func url(_ problem: String) -> Self { Self("url", "the URL \(problem)") }
        static let pattern = Self("match", "no --match pattern matches it")
        static func method(_ method: String) -> Self {
            Self("method", "the method is \(method), which --methods doesn't list")
        }
        static func status(_ status: Int) -> Self {
            Self("status", status == 0 ? "there was no response: the status is 0" : "the status is \(status)")
        }
        static func type(_ type: String) -> Self { Self("type", "the MIME type is \(type.isEmpty ? "unknown" : type)") }
        static let noBody = Self("noBody", "no body was recorded")
        static func encoding(_ encoding: String) -> Self {
            Self("encoding", "the body's encoding “\(encoding)” is unknown")
        }
        static let brokenBody = Self("brokenBody", "the body can't be decoded: it isn't valid base64 or UTF-8")
        static func lostBytes(type: String) -> Self {
            Self("lostBytes", "the body is \(type), but was recorded as text, which lost some of its bytes")
        }
        static func query(_ parameter: SecretName.Parameter) -> Self { Self("query", parameter.description) }
        static func tooLarge(most: Int) -> Self {
            Self("tooLarge", "the body has more than \(most.grouped) bytes (--max-size)")
        }
        static let superseded = Self("superseded", "a later response to the same request is used")
        static let headOfGet = Self("headOfGet", "the entry for GET also answers HEAD")
        static func excluded(key: String) -> Self { Self("excluded", "the map excludes it (entry “\(key)”)") }
        static func entry(key: String) -> Self {
            Self("entry", "the map has another entry for it, “\(key)” (--force replaces it)")
        }
        static func unwritable(_ problem: String) -> Self { Self(failure, problem) }

        /// The kind of reason that is a failure: a file couldn't be written.
        package static let failure = "unwritable"
    }
}
