import Foundation
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Puts the same request to an attached session, `answer(to:)`, a server, a session with the cache only, and the cache, and
/// compares what they return with what `explain` says.
@Suite("Who responds to a request", .sessions, .timeLimit(.minutes(5)))
struct AgreementTests {
    typealias Outcome = Explanation.Judgement.Outcome

    /// What happens to the entry's file after the map was loaded.
    enum Mishap: Sendable {
        case none, gone, unreadable
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let what: String
        /// The value of the key `ORIGIN/x`; `nil` for a map without entries.
        var entry: String?
        var method = "GET"
        var headers: [String: String] = [:]
        var body: String?
        var policy = URLRequest.CachePolicy.useProtocolCachePolicy
        var mishap = Mishap.none
        /// Whether the default cache has a response to the request.
        var isStored = false
        let attached: Outcome
        let cacheOnly: Outcome
        var testDescription: String { what }
    }

    private static let authorized: Outcome =
        LoaderTraits.current.contains(.refusesToAuthorizedRequests) ? .unmatched : .matched

    static let rows = [
        Row(what: "a file", entry: #""a.txt""#, attached: .matched, cacheOnly: .matched),
        Row(what: "a body", entry: #"{ "text": "entry" }"#, attached: .matched, cacheOnly: .matched),
        Row(
            what: "a status that URLSession takes from a cache",
            entry: #"{ "text": "entry", "status": 404 }"#,
            attached: .matched,
            cacheOnly: .matched
        ),
        Row(
            what: "one that it doesn't",
            entry: #"{ "text": "entry", "status": 500 }"#,
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a header that it doesn't take",
            entry: #"{ "text": "entry", "headers": { "Vary": "Accept" } }"#,
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a POST",
            entry: #"{ "text": "entry", "methods": ["POST"] }"#,
            method: "POST",
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a body's condition",
            entry: #"{ "text": "entry", "methods": ["POST"], "when": { "json": { "id": 7 } } }"#,
            method: "POST",
            body: #"{ "id": 7 }"#,
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a body's condition that isn't met",
            entry: #"{ "text": "entry", "methods": ["POST"], "when": { "json": { "id": 7 } } }"#,
            method: "POST",
            body: #"{ "id": 8 }"#,
            attached: .unmatched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "credentials",
            entry: #""a.txt""#,
            headers: ["Authorization": "Bearer x"],
            attached: .matched,
            cacheOnly: authorized
        ),
        Row(
            what: "a policy that ignores local data",
            entry: #""a.txt""#,
            policy: .reloadIgnoringLocalCacheData,
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(what: "a delay", entry: #"{ "text": "entry", "delay": 0.01 }"#, attached: .matched, cacheOnly: .unmatched),
        Row(
            what: "a delay, with a stored response",
            entry: #"{ "text": "entry", "delay": 0.01 }"#,
            isStored: true,
            attached: .matched,
            cacheOnly: .defaultCache
        ),
        Row(
            what: "a rate",
            entry: #"{ "text": "entry", "bytesPerSecond": 9000 }"#,
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a stream",
            entry: #"{ "stream": ["en", "try"], "mimeType": "text/plain" }"#,
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a limit",
            entry: #"[{ "text": "entry", "times": 100 }]"#,
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a redirect that isn't followed",
            entry: #"{ "text": "entry", "status": 302, "headers": { "Location": "/y" }, "follow": false }"#,
            attached: .matched,
            cacheOnly: .unmatched
        ),
        Row(what: "a handler", entry: #"{ "handler": "entry" }"#, attached: .matched, cacheOnly: .unmatched),
        Row(what: "an error", entry: #"{ "error": "cannotFindHost" }"#, attached: .failed, cacheOnly: .unmatched),
        Row(
            what: "a stream that only fails",
            entry: #"{ "stream": [{ "error": "cannotFindHost" }] }"#,
            attached: .failed,
            cacheOnly: .unmatched
        ),
        Row(what: "another URL", entry: #"{ "forwardTo": "ORIGIN/y" }"#, attached: .forwarded, cacheOnly: .unmatched),
        Row(
            what: "other headers",
            entry: #"{ "setRequestHeaders": { "X-A": "1" } }"#,
            attached: .forwarded,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a file for when the network fails",
            entry: #"{ "file": "a.txt", "use": "whenOffline" }"#,
            attached: .waitsForOffline,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a file for when the network fails, with a stored response",
            entry: #"{ "file": "a.txt", "use": "whenOffline" }"#,
            isStored: true,
            attached: .waitsForOffline,
            cacheOnly: .defaultCache
        ),
        Row(what: "null", entry: "null", attached: .unmatched, cacheOnly: .unmatched),
        Row(
            what: "a disabled entry",
            entry: #"{ "file": "a.txt", "enabled": false }"#,
            attached: .unmatched,
            cacheOnly: .unmatched
        ),
        Row(what: "another method", entry: #""a.txt""#, method: "PUT", attached: .unmatched, cacheOnly: .unmatched),
        Row(
            what: "a file that is gone",
            entry: #""a.txt""#,
            mishap: .gone,
            attached: .unmatched,
            cacheOnly: .unmatched
        ),
        Row(
            what: "a file that can't be read",
            entry: #""a.txt""#,
            mishap: .unreadable,
            attached: .failed,
            cacheOnly: .unmatched
        ),
        Row(what: "no entry", attached: .unmatched, cacheOnly: .unmatched),
        Row(what: "no entry, and a stored response", isStored: true, attached: .defaultCache, cacheOnly: .defaultCache),
    ]

    /// The map of a row, its origin, and who can be asked.
    private struct Asked {
        let row: Row
        let folder: TemporaryFolder
        let origin: LoopbackServer
        let served: ServedMap
        let request: URLRequest
        var cache: LocalSubstitutionCache { served.cache }

        init(_ row: Row, unmatched: LocalSubstitutionCache.Unmatched) throws {
            self.row = row
            origin = try LoopbackServer(handler: { _ in .text("network") })
            let base = String(origin.baseURL.absoluteString.dropLast())
            let folder = try TemporaryFolder()
            try folder.write("Resources/a.txt", "entry")
            let map = "{ \(row.entry.map { "\"ORIGIN/x\": \($0)" } ?? "") }"
            try folder.write("substitutions.json", map.replacing("ORIGIN", with: base))
            let cache = LocalSubstitutionCache(
                map: try SubstitutionMap(
                    contentsOf: folder.file("substitutions.json"),
                    handlers: ["entry": { _ in .text("entry") }]
                ),
                directory: folder.file("cache")
            )
            if row.mishap != .none { try folder.remove("Resources/a.txt") }
            if row.mishap == .unreadable { try folder.makeFolder("Resources/a.txt") }
            self.folder = folder
            served = try ServedMap("{}", unmatched: unmatched, cache: cache)
            var request = URLRequest(url: origin.url("x"), cachePolicy: row.policy)
            request.httpMethod = row.method
            request.httpBody = row.body.map { Data($0.utf8) }
            for (name, value) in row.headers { request.setValue(value, forHTTPHeaderField: name) }
            self.request = request
            if row.isStored {
                let head = try #require(
                    HTTPURLResponse(url: origin.url("x"), statusCode: 200, httpVersion: nil, headerFields: nil)
                )
                let stored = CachedURLResponse(
                    response: head,
                    data: Data("stored".utf8),
                    userInfo: nil,
                    storagePolicy: .allowedInMemoryOnly
                )
                cache.storeCachedResponse(stored, for: request)
            }
        }

        /// What a session returns, or its error.
        func load(in session: URLSession) async -> Result<String, any Error> {
            defer { session.finishTasksAndInvalidate() }
            do {
                return .success(String(decoding: try await session.data(for: request).0, as: UTF8.self))
            } catch {
                return .failure(error)
            }
        }

        /// What the server returns. An entry's error isn't HTTP.
        func loadFromServer() throws -> String {
            let fields = row.headers.map { "\($0): \($1)" }
            let url = origin.url("x").absoluteString
            let text = try served.request(
                url,
                method: row.method,
                fields: ["Connection: close"] + fields,
                body: row.body
            )
            let answer = try RawClient.exchange(text, with: served.port(url))
            return answer.hasPrefix("HTTP/") ? try RawResponse(answer).body : answer
        }

        /// What `answer(to:)` returns, or its error; `nil` if the request is left to the caller.
        func answer() async -> Result<String, any Error>? {
            do {
                return try await cache.answer(to: request).map { .success(String(decoding: $0.0, as: UTF8.self)) }
            } catch {
                return .failure(error)
            }
        }
    }

    @Test("An attached session, answer(to:), a server, a cache only, and explain agree", arguments: rows)
    func agree(_ row: Row) async throws {
        let asked = try Asked(row, unmatched: .load)
        defer { asked.origin.stop() }
        let explanation = asked.cache.explain(asked.request)
        #expect(explanation.attached.outcome == row.attached)
        #expect(explanation.cacheOnly.outcome == row.cacheOnly)
        let lines = explanation.description.split(separator: "\n")
        #expect(lines[1] == "  attached:     \(explanation.attached)")
        #expect(lines[2] == "  cache only:   \(explanation.cacheOnly)")

        let session = try asked.cache.makeSession(unmatched: .load)
        #expect(await asked.load(in: session).text == Self.text(row.attached))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = asked.cache
        #expect(await asked.load(in: URLSession(configuration: configuration)).text == Self.text(row.cacheOnly))
        let found: String? =
            switch row.cacheOnly {
            case .matched: "entry"
            case .defaultCache: "stored"
            default: nil
            }
        let cached = asked.cache.cachedResponse(for: asked.request)
        #expect(cached.map { String(decoding: $0.data, as: UTF8.self) } == found)

        // These don't ask the default cache.
        let isLeft = row.attached == .unmatched || row.attached == .defaultCache
        let server = try asked.loadFromServer()
        let answer = await asked.answer()
        if row.attached == .failed {
            #expect(!["entry", "network"].contains(server))
            #expect(throws: URLError.self) { try answer?.get() }
        } else {
            #expect(server == (isLeft ? "network" : Self.text(row.attached)))
            #expect(try answer?.get() == (isLeft ? nil : Self.text(row.attached)))
        }
    }

    @Test(
        "A strict session's error and the server say why no entry responds, and nothing of the cache only",
        arguments: rows.filter { $0.attached == .unmatched || $0.attached == .defaultCache }
    )
    func strict(_ row: Row) async throws {
        let asked = try Asked(row, unmatched: .fail)
        defer { asked.origin.stop() }
        let line = "\n  attached:     unmatched, because \(asked.cache.explain(asked.request).attached.reason)"
        let result = await asked.load(in: try asked.cache.makeSession(unmatched: .fail))
        let error = #expect(throws: URLError.self) { try result.get() }
        for text in [error?.localizedDescription ?? "", try asked.loadFromServer()] {
            #expect(text.contains(line), "\(text)")
            #expect(!text.contains("cache only:"))
        }
        #expect(asked.origin.requests.isEmpty)
    }

    /// The body that a session gets if the origin sends `network`; `nil` for an error.
    private static func text(_ outcome: Outcome) -> String? {
        switch outcome {
        case .matched: "entry"
        case .forwarded, .waitsForOffline, .unmatched: "network"
        case .defaultCache: "stored"
        default: nil
        }
    }
}

extension Result<String, any Error> {
    fileprivate var text: String? { try? get() }
}
