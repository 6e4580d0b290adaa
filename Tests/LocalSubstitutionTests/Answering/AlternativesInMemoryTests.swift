import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Each request is decided, but each alternative's response is built once for each URL.
@Suite("Responses in memory of deciding entries", .sessions, .timeLimit(.minutes(5)))
struct AlternativesInMemoryTests {
    private static let map = """
        "http://h/a": [{ "when": { "headers": { "X-Plan": "pro" } }, "file": "b.txt" },
          { "methods": ["GET", "POST"], "when": { "headers": { "X-Plan": "free" } }, "file": "a.txt" },
          { "when": { "headers": { "X-Plan": "none" } }, "status": 403 },
          { "methods": ["*"], "when": { "json": { "id": 7 } }, "json": { "ok": true } }],
        "http://h/*": [{ "when": { "headers": { "X-Plan": "guest" } }, "text": "by pattern" }]
        """
    private static let files = ["a.txt": "first", "b.txt": "second"]

    struct Row: CustomTestStringConvertible, Sendable {
        var url = "http://h/a"
        var method = "GET"
        var plan = ""
        var body: String?
        let text: String
        var testDescription: String { "\(method) \(url) \(plan)" }
    }

    static let rows = [
        Row(plan: "pro", text: "second"), Row(plan: "free", text: "first"),
        Row(method: "POST", plan: "free", text: "first"),
        Row(plan: "none", text: ""), Row(method: "POST", body: #"{ "id": 7 }"#, text: #"{ "ok": true }"#),
        Row(plan: "guest", text: "by pattern"), Row(url: "http://h/b", plan: "guest", text: "by pattern"),
        Row(url: "http://h/a#x", plan: "pro", text: "second"),
    ]

    private static func load(_ row: Row, in session: EntrySession) async throws -> HTTPURLResponse {
        let headers = row.plan.isEmpty ? [:] : ["X-Plan": row.plan]
        let answer = try await session.load(row.url, row.method, headers: headers, body: row.body)
        #expect(answer.text == row.text)
        return answer.head
    }

    #if !canImport(Darwin)
    // Apple's loader may return a copy.
    @Test("The same response is returned again, even after other alternatives have answered", arguments: rows)
    func same(_ row: Row) async throws {
        let session = try EntrySession(Self.map, files: Self.files, unmatched: .fail)
        let first = try await Self.load(row, in: session)
        for other in Self.rows { _ = try await Self.load(other, in: session) }
        #expect(try await Self.load(row, in: session) === first)
    }

    @Test("Responses are rebuilt after they're removed, or after the map is set", arguments: rows, 0..<3)
    func removed(_ row: Row, _ way: Int) async throws {
        let session = try EntrySession(Self.map, files: Self.files, unmatched: .fail)
        let first = try await Self.load(row, in: session)
        switch way {
        case 0: session.cache.removeCachedResponse(for: try request(row.url))
        case 1: session.cache.removeAllCachedResponses()
        default: session.cache.map = try SubstitutionMap(contentsOf: session.fixture.mapFile)
        }
        #expect(try await Self.load(row, in: session) !== first)
    }
    #endif

    @Test("A file is read again once its responses have been removed")
    func fileAfterRemoval() async throws {
        let session = try EntrySession(Self.map, files: Self.files, unmatched: .fail)
        let row = Row(plan: "free", text: "first")
        _ = try await Self.load(row, in: session)
        try session.fixture.write("changed", to: "a.txt")
        _ = try await Self.load(row, in: session)
        session.cache.removeCachedResponse(for: try request(row.url))
        _ = try await Self.load(Row(plan: "free", text: "changed"), in: session)
    }

    @Test("With live reload, responses follow their file")
    func liveReload() async throws {
        let fixture = try CacheFixture(Self.map, files: Self.files)
        let session = try fixture.reloadingCache().makeSession(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        let request = try request("http://h/a", headers: ["X-Plan": "free"])
        for text in ["first", "changed", "changed again"] {
            try fixture.write(text, to: "a.txt")
            for _ in 0..<2 {
                #expect(String(decoding: try await session.data(for: request).0, as: UTF8.self) == text)
            }
        }
    }

    @Test("Plain requests never get one", arguments: ["pro", "free"])
    func plainRequest(_ plan: String) async throws {
        let session = try EntrySession(Self.map, files: Self.files, unmatched: .fail)
        _ = try await session.load("http://h/a", headers: ["X-Plan": plan])
        #expect(await session.error(try request("http://h/a")) == .resourceUnavailable)
        #expect(session.cache.cachedResponse(for: try request("http://h/a")) == nil)
    }
}
