import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An entry whose body is written in the map", .sessions, .timeLimit(.minutes(5)))
struct BodyInMapTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let entry: String
        var path = "/a"
        var method = "GET"
        var headers: [String: String] = [:]
        var text = ""
        var status = 200
        var type: String? = nil
        var length: String? = nil
        var testDescription: String { "\(method) \(path) of \(entry)" }
    }

    static let rows = [
        Row(
            entry: #"{ "json": { "b" : [1.0, "ü"] } }"#,
            text: #"{ "b" : [1.0, "ü"] }"#,
            type: "application/json; charset=utf-8"
        ),
        Row(entry: #"{ "json": null }"#, text: "null", type: "application/json; charset=utf-8"),
        Row(entry: #"{ "json": "text" }"#, text: #""text""#, type: "application/json; charset=utf-8"),
        Row(
            entry: #"{ "json": 7, "mimeType": "application/problem+json" }"#,
            text: "7",
            type: "application/problem+json; charset=utf-8"
        ),
        Row(entry: #"{ "text": "Grüße" }"#, text: "Grüße", type: "text/plain; charset=utf-8", length: "7"),
        Row(entry: #"{ "text": "p {}" }"#, path: "/a.css", text: "p {}", type: "text/css; charset=utf-8"),
        Row(entry: #"{ "text": "" }"#, type: "text/plain; charset=utf-8", length: "0"),
        Row(entry: #"{ "text": "gone", "status": 410 }"#, text: "gone", status: 410),
        Row(entry: #"{ "status": 503 }"#, status: 503, length: "0"),
        Row(entry: #"{ "text": "whole" }"#, method: "HEAD", length: "5"),
        Row(entry: #"{ "text": "whole" }"#, headers: ["Range": "bytes=1-2"], text: "ho", status: 206, length: "2"),
        Row(
            entry: #"{ "json": [1, 2], "methods": ["POST"], "status": 201 }"#,
            method: "POST",
            text: "[1, 2]",
            status: 201
        ),
    ]

    @Test("A body in the map answers as a file does", arguments: rows)
    func answers(_ row: Row) async throws {
        let session = try EntrySession(#""ORIGIN\#(row.path)": \#(row.entry)"#, unmatched: .fail)
        let (text, head) = try await session.load(row.path, row.method, headers: row.headers)
        #expect(text == row.text)
        #expect(head.statusCode == row.status)
        if let type = row.type { #expect(head.value(forHTTPHeaderField: "Content-Type") == type) }
        if let length = row.length { #expect(head.value(forHTTPHeaderField: "Content-Length") == length) }
        #expect(session.origin.requests.isEmpty)
    }

    @Test("A body in the map has an ETag, and the cache alone can answer with it")
    func entityTag() async throws {
        let map = #""http://h/a": { "json": [1] }, "http://h/b": { "text": "[1]" }, "http://h/c": { "text": "[2]" }"#
        let cache = try CacheFixture(map).cache()
        let tags = try ["a", "b", "c"].map { try #require(try cache.lookUp("http://h/\($0)")).header("ETag") }
        #expect(tags[0] == tags[1])
        #expect(tags[0] != tags[2])
        #expect(try cache.lookUp("http://h/a") === cache.lookUp("http://h/a"))
    }
}
