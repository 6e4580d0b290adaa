import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An archive that's imported, and as a test's map", .sessions, .timeLimit(.minutes(2)))
struct ImportedArchiveTests {
    struct Archive: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let recordings: [Recording]

        init(_ testDescription: String, _ recordings: [Recording]) {
            (self.testDescription, self.recordings) = (testDescription, recordings)
        }
    }

    private static let json = "application/json"
    private static let form = "application/x-www-form-urlencoded"

    private static func post(_ request: String, _ type: String, text: String) -> Recording {
        Recording(method: "POST", text: text, request: (request, type))
    }

    private static func bytes(_ bytes: [UInt8], _ type: String?, at url: String = "https://h.com/a") -> Recording {
        Recording(url: url, mimeType: type, text: Data(bytes).base64EncodedString(), encoding: "base64")
    }

    private static let textTypes: [String?] = [
        "Text/HTML; Charset=UTF-8", "text/css; charset=ISO-8859-1", json, "application/ld+json", "x-unknown", nil,
        "text/plain; format=flowed; charset=x", "text/plain; token=s3cr3t", "text/event-stream", "image/svg+xml",
        "application/javascript", "application/x-list", "text/html, text/plain", "*/*", "text/markdown;x",
    ]
    private static let byteTypes: [String?] = [
        "Text/HTML", "text/css;charset=ISO-8859-1", json, "application/json; charset=utf-16", "x-unknown", nil,
        "text/plain; token=s3cr3t", "text/event-stream", "application/octet-stream", "image/png", "TEXT/plain",
    ]
    private static let names = ["a.js", "a.txt", "a.json", "a.png", "a.unknown"]
    private static let urls = [
        "https://h.com/a?x=1&y=2", "https://h.com/a?y=2&x=1", "https://H.com:443/a", "http://h.com/a",
        "https://h.com/%61", "https://h.com/a*b", "https://h.com/a%2Ab", "https://h.com/a?", "https://h.com/a?*",
        "https://h.com/%7Eb", "https://h.com/~b", "https://h.com", "https://h.com/#b", "https://h.com/A",
    ]

    static let archives: [Archive] = [
        Archive(
            "methods and statuses",
            [
                Recording(text: "get"), Recording(method: "POST", status: 201, text: "post"),
                Recording(method: "put", status: 204, text: nil),
                Recording(method: "PATCH", status: 409, text: "patch"),
                Recording(method: "DELETE", status: 299, text: "delete"),
                Recording(method: "OPTIONS", status: 204, text: nil, headers: [("access-control-allow-origin", "*")]),
                Recording(method: "PROPFIND", status: 207, mimeType: "application/xml", text: "<a/>"),
                Recording(url: "https://h.com/b", status: 503, text: "later", headers: [("Retry-After", "1")]),
                Recording(url: "https://h.com/c", status: 599, text: "no"),
                Recording(url: "https://h.com/d", method: "HEAD", mimeType: "text/css", text: nil, size: 10),
            ]
        ),
        Archive(
            "redirects",
            [
                Recording(text: "target"), Recording(method: "POST", text: "posted"),
                Recording(url: "https://h.com/1", status: 301, text: nil, headers: [("Location", "https://h.com/a")]),
                Recording(url: "https://h.com/2", status: 302, text: "", size: 178, headers: [("Location", "/1")]),
                Recording(url: "https://h.com/3", method: "POST", status: 303, text: nil, headers: [("location", "a")]),
                Recording(url: "https://h.com/4", method: "POST", status: 307, text: "", headers: [("Location", "/a")]),
                Recording(url: "https://h.com/5", status: 308, text: nil, headers: [("Location", "https://i.com/")]),
                Recording(url: "https://h.com/6", status: 302, text: "<p>", headers: [("Location", "/elsewhere")]),
                Recording(url: "https://h.com/7", status: 302, text: nil),
            ]
        ),
        Archive(
            "empty bodies",
            [
                Recording(mimeType: json, text: "", size: 0), Recording(url: "https://h.com/b", text: "", size: 3),
                Recording(url: "https://h.com/c.gif", mimeType: "image/gif", text: nil, size: 0),
                Recording(url: "https://h.com/d", status: 404, mimeType: nil, text: "", size: 0),
                Recording(url: "https://h.com/e", method: "PUT", status: 205, text: "lost"),
                Recording(method: "POST", status: 201, text: nil, size: 0, headers: [("location", "/items/2")]),
                Recording(url: "https://h.com/f", text: nil, size: 3), Recording(url: "https://h.com/g.js", text: nil),
                Recording(url: "https://h.com/h.css", mimeType: "text/event-stream", text: "", size: 0),
            ]
        ),
        Archive(
            "responses in order",
            [
                Recording(text: "1"), Recording(text: "1"), Recording(method: "POST", text: "2"),
                Recording(status: 500, text: "1"), Recording(text: "?", encoding: "base64"),
                Recording(text: "1", headers: [("X-RateLimit-Remaining", "1")]), Recording(method: "HEAD", text: nil),
                Recording(method: "POST", status: 204, text: nil), Recording(text: "3"), Recording(text: "1"),
                Recording(text: nil), Recording(status: 304, text: nil, size: 0),
            ]
        ),
        Archive(
            "bodies of requests",
            [
                post(#"{"a": 1}"#, json, text: "1"), post(#"{"a": 1, "b": 2}"#, json, text: "2"),
                post(#"{ "a":1 }"#, json, text: "3"), post("{}", json, text: "4"), post("[1, 2]", json, text: "5"),
                post(#"{"user": "ada", "password": "p"}"#, json, text: "6"),
                post(#"{"user": "ada", "password": "q"}"#, json, text: "7"), post("x=1&y=2", form, text: "8"),
                post("x=1&token=t", form, text: "9"), post("x=1&token=u", form, text: "10"),
                post("plain text", "text/plain", text: "11"), post("other text", "text/plain", text: "12"),
                post("password=p", form, text: "13"), Recording(method: "POST", text: "14"),
                Recording(method: "PUT", text: "15", params: [("x", "1"), ("y", "2")]),
                Recording(method: "PUT", text: "16", params: [("x", "3")]),
                Recording(text: "17", request: (#"{"a": 1}"#, json)), Recording(text: "18"),
            ]
        ),
        Archive(
            "types of texts",
            textTypes.enumerated().map { number, type in
                Recording(url: "https://h.com/\(number)", mimeType: type, text: "data: ä\n\ndata: b\n\n")
            }
        ),
        Archive("types and names", names.map { Recording(url: "https://h.com/\($0)") }),
        Archive(
            "types of bytes",
            [bytes(Array(ArchiveImportTests.png), nil), bytes(Array(ArchiveImportTests.png), json)]
                + byteTypes.enumerated().map { bytes(Array("{}".utf8), $1, at: "https://h.com/\($0)") }
        ),
        Archive(
            "types of bytes that aren't UTF-8",
            byteTypes.enumerated().map { bytes([0x22, 0xE9, 0x22], $1, at: "https://h.com/\($0).json") }
        ),
        Archive(
            "types of bytes with a byte order mark",
            byteTypes.enumerated().map { bytes([0xFF, 0xFE, 0x61, 0], $1, at: "https://h.com/\($0).txt") }
        ),
        Archive(
            "headers",
            [
                Recording(headers: [
                    ("Set-Cookie", "s3cr3t"), ("Cache-Control", "private"), ("etag", "x"), ("X-Api-Key", "s3cr3t"),
                    ("access-control-allow-origin", "*\n*"), ("Link", "<https://h.com/2>; rel=\"next\""),
                    ("x-frame-options", "a"), ("X-Frame-Options", "b"), ("x-ratelimit-limit", "9"),
                    ("Content-Language", "en\r\nde"), ("Content-Type", "text/css"), ("Content-Length", "9"),
                    ("content-encoding", "gzip"), ("Refresh", "1; url=/?token=s3cr3t"),
                ])
            ]
        ),
        Archive(
            "responses from a client's cache",
            [
                Recording(status: 304, mimeType: "text/html", text: "<p>"),
                Recording(mimeType: "text/html", text: "<p>"),
                Recording(status: 304, text: nil, size: 0), Recording(method: "POST", status: 304, text: "<p>"),
            ]
        ),
        Archive(
            "parts of files",
            [
                Recording(status: 206, headers: [("Content-Range", "bytes 0-4/5")]),
                Recording(status: 206, headers: [("Content-Range", "bytes 0-4/9")]), Recording(text: "other"),
                Recording(url: "https://h.com/b", status: 206, headers: [("Content-Range", "bytes 4-8/9")]),
            ]
        ),
        Archive(
            "what can't be used",
            [
                Recording(text: "a"), Recording(url: nil), Recording(url: "https://h.com/b", status: 0, text: nil),
                Recording(url: "https://h.com/c", status: 101), Recording(url: "https://h.com/d", status: 600),
                Recording(url: "https://h.com/e", method: nil), Recording(url: "data:text/plain,x"),
                Recording(url: "https://h.com/f", encoding: "gzip"),
                Recording(url: "https://h.com/g", mimeType: "image/png", text: "\u{FFFD}PNG"),
                bytes([0x1F, 0x8B, 8, 0, 0xFF], json, at: "https://h.com/h"),
                Recording(url: "https://h.com/i", status: 302, text: nil, headers: [("Location", "/?token=s3cr3t")]),
                Recording(url: "https://h.com/j", text: nil, file: "/etc/hosts"),
            ]
        ),
        Archive("URLs", urls.enumerated().map { Recording(url: $1, text: "\($0)") }),
    ]

    private struct Response: Equatable {
        let status: Int
        let headers: [String: String]
        let body: Data
    }

    /// Returns a cache's response to the request of a recording, without the headers that depend on the body's file.
    private static func response(_ cache: LocalSubstitutionCache, to recording: Recording) async throws -> Response? {
        guard let url = recording.url.flatMap({ URL(string: $0) }) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = recording.method
        let fields = recording.params.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        request.httpBody = Data((recording.request?.text ?? fields).utf8)
        guard let (body, head) = try await cache.answer(to: request) else { return nil }
        var headers: [String: String] = [:]
        for case let (name as String, value as String) in head.allHeaderFields
        where !["cache-status", "date", "etag"].contains(name.lowercased()) {
            headers[name] = value
        }
        return Response(status: head.statusCode, headers: headers, body: body)
    }

    @Test("Each request of the archive gets the same response from both maps, also later", arguments: archives)
    func same(_ archive: Archive) async throws {
        let fixture = try ArchiveFixture()
        let items = try fixture.take(archive.recordings)
        let own = LocalSubstitutionCache(map: try HTTPArchive(Recording.archive(archive.recordings)).map())
        let imported = LocalSubstitutionCache(map: try fixture.map())
        for isLater in [false, true] {
            for (recording, item) in zip(archive.recordings, items) {
                let response = try await Self.response(imported, to: recording)
                #expect(try await Self.response(own, to: recording) == response, "\(recording), later: \(isLater)")
                if item.file != nil { #expect(response != nil, "\(recording)") }
            }
        }
    }

    @Test("What's left out has the same reasons", arguments: archives)
    func reasons(_ archive: Archive) throws {
        let left = try ArchiveFixture().take(archive.recordings, isDryRun: true).compactMap(\.left)
        let problems = try HTTPArchive(Recording.archive(archive.recordings)).map().problems.map(\.message)
        let expected = left.filter { $0 != .headOfGet }.map(\.description)
        #expect(problems.count == expected.count)
        for (problem, reason) in zip(problems, expected) { #expect(problem.hasSuffix(reason)) }
    }

    @Test(
        "A selection leaves out some responses, and adds none",
        arguments: [
            ["--match", "https://h.com/1*"], ["--type", "text/*"], ["--status", "200"], ["--methods", "POST"],
        ]
    )
    func selected(_ option: [String]) throws {
        let values = { (name: String) in option[0] == name ? [option[1]] : [] }
        let selection = try HTTPArchive.Selection(
            patterns: values("--match"),
            types: values("--type"),
            statuses: values("--status").compactMap { Int($0) },
            methods: values("--methods")
        )
        for archive in Self.archives {
            let all = try ArchiveFixture().take(archive.recordings, isDryRun: true)
            let some = try ArchiveFixture().take(archive.recordings, selection, isDryRun: true)
            for (one, other) in zip(some, all) where one.file != nil { #expect(other.file != nil) }
        }
    }
}
