import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An archive as a map", .sessions)
struct ArchiveMapTests {
    private static func map(_ recordings: [Recording]) throws -> SubstitutionMap {
        try HTTPArchive(Recording.archive(recordings)).map()
    }

    /// Returns what a strict session gets: the status, the type and the body.
    private static func load(
        _ map: SubstitutionMap,
        _ requests: [(method: String, url: String, body: String?)]
    ) async throws -> [String] {
        let session = try LocalSubstitutionCache(map: map).makeSession(.ephemeral, unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        var answers: [String] = []
        for (method, url, body) in requests {
            var request = URLRequest(url: try #require(URL(string: url)))
            request.httpMethod = method
            request.httpBody = body.map { Data($0.utf8) }
            guard let (data, response) = try? await session.data(for: request), let http = response as? HTTPURLResponse
            else {
                answers.append("fails")
                continue
            }
            let type = http.value(forHTTPHeaderField: "Content-Type") ?? "none"
            answers.append("\(http.statusCode) \(type) \(String(decoding: data, as: UTF8.self))")
        }
        return answers
    }

    @Test("All methods and statuses answer, bodies are conditions, and repeated requests get their responses in order")
    func answers() async throws {
        let json = "application/json"
        let url = "https://h.com/a"
        let map = try Self.map([
            Recording(text: "1"), Recording(status: 500, text: "2"), Recording(text: "3"),
            Recording(method: "POST", status: 201, mimeType: json, text: "{}", request: (#"{"a": 1}"#, json)),
            Recording(method: "POST", status: 409, text: "no", request: (#"{"a": 2}"#, json)),
            Recording(method: "DELETE", status: 204, text: nil),
            Recording(url: "https://h.com/moved", status: 302, text: nil, size: 0, headers: [("Location", url)]),
            Recording(url: "https://h.com/b?token=t", mimeType: "text/event-stream", text: "data: a\n\n"),
            Recording(url: "https://h.com/p", mimeType: "image/png", text: "iVBORw==", encoding: "base64"),
        ])
        #expect(map.problems.isEmpty, "\(map.problems)")
        let got = try await Self.load(
            map,
            [
                ("GET", url, nil), ("GET", url, nil), ("GET", url, nil), ("GET", url, nil), ("POST", url, #"{"a":2}"#),
                ("POST", url, #"{"a":1,"b":2}"#), ("POST", url, "{}"), ("DELETE", url, nil), ("PUT", url, nil),
                ("GET", "https://h.com/moved", nil), ("GET", "https://h.com/b?token=t", nil),
            ]
        )
        let text = "text/plain; charset=utf-8"
        #expect(
            got == [
                "200 \(text) 1", "500 \(text) 2", "200 \(text) 3", "200 \(text) 3", "409 \(text) no",
                "201 application/json; charset=utf-8 {}", "fails", "204 none ", "fails",
                "200 \(text) 3",
                "200 text/event-stream; charset=utf-8 data: a\n\n",
            ]
        )
        let image = try #require(map.match(try NormalizedURL("https://h.com/p")).localSubstitution)
        #expect(image.contentType(ofBody: Data()) == "image/png")
        let stream = try #require(map.match(try NormalizedURL("https://h.com/b?token=t")).substitution)
        #expect(stream.rate == .secondsPerEvent(0))
    }

    @Test(
        "A response without a body keeps its type, and gets none if it had none or can't have a body",
        arguments: [
            (200, "application/json", "application/json; charset=utf-8"),
            (404, "text/html", "text/html; charset=utf-8"),
            (200, "image/png", "image/png"), (200, nil, "none"), (200, "x-unknown", "none"), (200, "", "none"),
            (404, "x-unknown", "none"), (500, nil, "none"), (204, "text/html", "none"), (204, nil, "none"),
            (205, "text/html", "none"),
        ]
    )
    func emptyBody(_ status: Int, type: String?, expected: String) async throws {
        let recording = Recording(status: status, mimeType: type, text: "", size: 0)
        #expect(try ArchiveFixture().take([recording]).first?.file?.contentType == (expected == "none" ? "" : expected))
        let map = try Self.map([recording])
        let got = try await Self.load(map, [("GET", "https://h.com/a", nil), ("HEAD", "https://h.com/a", nil)])
        #expect(got == Array(repeating: "\(status) \(expected) ", count: 2))
    }

    @Test("Redirects need no content", arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        let headers = [("Location", "/a")]
        let map = try Self.map([
            Recording(text: "target"),
            Recording(url: "https://h.com/moved", status: status, text: nil, headers: headers),
            Recording(url: "https://h.com/empty", status: status, text: "", size: 178, headers: headers),
            Recording(url: "https://h.com/nowhere", status: status, text: nil),
        ])
        #expect(map.problems.map(\.key) == ["https://h.com/nowhere"])
        let got = try await Self.load(map, ["moved", "empty"].map { ("GET", "https://h.com/\($0)", nil) })
        #expect(got == Array(repeating: "200 text/plain; charset=utf-8 target", count: 2))
    }

    @Test("Entries without content are listed, and don't answer")
    func leftOut() async throws {
        let map = try Self.map([
            Recording(text: nil, size: 10), Recording(url: "https://h.com/b?token=s3cr3t", text: ""),
            Recording(url: "https://h.com/c", status: 0, text: nil, size: 0), Recording(url: "https://h.com/d"),
            Recording(url: "https://h.com/d", method: "HEAD", text: nil), Recording(url: nil),
        ])
        #expect(map.count == 1)
        #expect(
            map.problems.map(\.description) == [
                "“https://h.com/a”: GET: no body was recorded", "“https://h.com/b…”: GET: no body was recorded",
                "“https://h.com/c”: GET: there was no response: the status is 0",
                "GET: entry 6 of the archive has no request with a URL",
            ]
        )
    }

    @Test("Entries with content that can't be used are listed, and all others answer")
    func unusable() async throws {
        let map = try Self.map([
            Recording(text: "@@@", encoding: "base64"),
            Recording(url: "https://h.com/p", mimeType: "image/png", text: "\u{FFFD}PNG"),
            Recording(url: "https://h.com/b", text: "b"),
        ])
        #expect(map.problems.map(\.key) == ["https://h.com/a", "https://h.com/p"])
        #expect(try await Self.load(map, [("GET", "https://h.com/b", nil)]) == ["200 text/plain; charset=utf-8 b"])
    }
}
