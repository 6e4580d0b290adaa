import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The article on moving in", .sessions)
struct MovingInTests {
    private static let article = Document.article("MovingIn")

    @Test("Each way of moving in has a table, a test before and a test after")
    func sections() {
        let lines = Document.lines(of: Self.article.path)
        for mock in ["a hand-written URLProtocol", "Mocker", "OHHTTPStubs", "VCR-like recorders"] {
            let section = lines.drop { $0 != "## Coming from \(mock)" }.dropFirst().prefix { !$0.hasPrefix("## ") }
            #expect(section.contains { $0.hasPrefix("| ") }, "\(mock)")
            #expect(section.count { $0.hasPrefix("```s") || $0.hasPrefix("```t") } > 1, "\(mock)")
        }
    }

    /// What an old closure returns, and what is said to become of it.
    @Test(
        "Of an old closure's response, the status, the headers and the data are delivered",
        .substituting([
            "https://h/a": .handler(for: URLRequest.self) { _ in
                let other = try #require(URL(string: "https://other/b"))
                let fields = ["X-Own": "1", "Content-Length": "99", "Content-Encoding": "gzip"]
                let head = HTTPURLResponse(url: other, statusCode: 201, httpVersion: "HTTP/9", headerFields: fields)
                return (try #require(head), Data("12345".utf8))
            }
        ])
    )
    func oldClosure() async throws {
        let url = try #require(URL(string: "https://h/a"))
        let (body, response) = try await URLSession.substituted.data(from: url)
        let head = try #require(response as? HTTPURLResponse)
        #expect(body == Data("12345".utf8))
        #expect(head.statusCode == 201)
        #expect(head.url == url)
        #expect(head.value(forHTTPHeaderField: "X-Own") == "1")
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "5")
        #expect(head.value(forHTTPHeaderField: "Cache-Status") != nil)
        for name in ["Accept-Ranges", "Cache-Control", "Content-Encoding", "Content-Type", "ETag"] {
            #expect(head.value(forHTTPHeaderField: name) == nil)
        }
    }

    @Test("A helper's reply to all URLs can be added", .substituting([:]), arguments: ["GET", "PUT"])
    func reply(_ method: String) async throws {
        try TestSubstitutions.current.add(["*://*:*/*": .text("gone").status(404).methods("*")])
        for url in ["https://h/a?b=1", "http://127.0.0.1:9/"] {
            var request = URLRequest(url: try #require(URL(string: url)))
            request.httpMethod = method
            let (body, response) = try await URLSession.substituted.data(for: request)
            #expect(body == Data("gone".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == 404)
        }
    }

    @Test(
        "The keys and conditions of the tables match what the other libraries' calls match",
        arguments: [
            ("*://*:*/*", .text("x"), "GET", "http://127.0.0.1:8080/a?b=1", nil, true),
            ("*://*:*/*", .text("x"), "GET", "https://h/", nil, true),
            ("*://*/*.png", .text("x").ignoreQuery(), "GET", "https://h/b/a.png?v=1", nil, true),
            ("*://api.example.com/*", .text("x"), "GET", "http://api.example.com/a?b", nil, true),
            ("*://api.example.com/*", .text("x"), "GET", "http://example.com/a?b", nil, false),
            ("*://*/user", .text("x").ignoreQuery(), "GET", "https://h/user?id=1", nil, true),
            ("*://*/v2/*", .text("x"), "GET", "https://h/v2/user", nil, true),
            ("https://h/a", .text("x").ignoreQuery(), "GET", "https://h/a?time=1", nil, true),
            ("https://h/s?*", .text("x").when(query: ["q": "tea"]), "GET", "https://h/s?p=1&q=tea", nil, true),
            ("https://h/s?*", .text("x").when(query: ["q": "tea"]), "GET", "https://h/s?q=coffee", nil, false),
            ("https://h/a", .text("x").methods("POST"), "POST", "https://h/a", "{}", true),
            ("https://h/a", .text("x").methods("POST"), "GET", "https://h/a", nil, false),
            ("https://h/a", .text("x").methods("*").when(json: ["a": 1]), "PUT", "https://h/a", #"{"a":1}"#, true),
            ("https://h/a", .text("x").methods("*").when(json: ["a": 1]), "PUT", "https://h/a", #"{"b":1}"#, false),
            ("https://h/a", .text("x").methods("*").when(text: "*a=1*"), "PUT", "https://h/a", "b=2&a=1", true),
        ] as [(String, SubstitutionMap.Answer, String, String, String?, Bool)]
    )
    func matches(
        _ key: String,
        _ answer: SubstitutionMap.Answer,
        method: String,
        url: String,
        body: String?,
        isMatched: Bool
    ) async throws {
        let cache = LocalSubstitutionCache(map: try SubstitutionMap([key: answer]))
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        #expect((try await cache.answer(to: request) != nil) == isMatched)
    }

    @Test(
        "URLs that begin with an ignored one are loaded",
        .substituting([:], unmatched: .fail(allowing: ["http://127.0.0.1:*/v1*"]))
    )
    func allowed() async throws {
        let origin = try LoopbackServer(routes: ["/v1/a": .text("a"), "/v2/a": .text("a")])
        defer { origin.stop() }
        #expect(try await URLSession.substituted.data(from: origin.url("v1/a")).0 == Data("a".utf8))
        await #expect(throws: URLError.self) { try await URLSession.substituted.data(from: origin.url("v2/a")) }
    }
}
