import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An entry that redirects", .sessions, .timeLimit(.minutes(5)))
struct RedirectingEntryTests {
    private static let map = """
        "ORIGIN/to-local": { "status": 302, "headers": { "Location": "/local" } },
        "ORIGIN/local": "a.txt",
        "ORIGIN/to-network": { "status": 301, "headers": { "Location": "/network" } },
        "ORIGIN/form": { "status": 303, "methods": ["POST"], "headers": { "Location": "/network" } },
        "ORIGIN/same": { "status": 307, "methods": ["POST"], "headers": { "Location": "/network" } },
        "ORIGIN/loop": { "status": 302, "headers": { "Location": "/loop" } },
        "ORIGIN/nowhere": { "status": 302, "headers": { "Location": "mailto:a@b.c" } }
        """

    struct Row: CustomTestStringConvertible, Sendable {
        let path: String
        var method = "GET"
        let text: String
        let target: String
        var testDescription: String { "\(method) \(path)" }
    }

    static let rows = [
        Row(path: "/to-local", text: "local", target: "/local"),
        Row(path: "/to-network", text: "network GET", target: "/network"),
        Row(path: "/form", method: "POST", text: "network GET", target: "/network"),
        Row(path: "/same", method: "POST", text: "network POST", target: "/network"),
        Row(path: "/nowhere", text: "", target: "/nowhere"),
    ]

    @Test("An entry's redirect is followed like a server's", arguments: rows)
    func followed(_ row: Row) async throws {
        let session = try EntrySession(Self.map)
        // Twice, since the first response could have been in memory.
        for _ in 0..<2 {
            let (text, head) = try await session.load(row.path, row.method, body: row.method == "POST" ? "x" : nil)
            #expect(text == row.text)
            #expect(head.url?.path == row.target)
        }
    }

    @Test("A redirect doesn't lead a strict session to the network or into a loop")
    func refused() async throws {
        let session = try EntrySession(Self.map, unmatched: .fail)
        #expect(await session.error(try session.request("/to-network")) == .resourceUnavailable)
        #expect(await session.error(try session.request("/loop")) == .httpTooManyRedirects)
        #expect(session.origin.requests.isEmpty)
    }

    @Test("A redirect is also followed when it answers because the network failed")
    func fallback() async throws {
        let session = try EntrySession(
            """
            "http://127.0.0.1:1/a": { "status": 302, "headers": { "Location": "/b" }, "use": "whenOffline" },
            "http://127.0.0.1:1/b": "a.txt"
            """
        )
        #expect(try await session.load("http://127.0.0.1:1/a").text == "local")
    }

    /// What a client gets of an entry's redirect that isn't followed: in each row, the response to `/a`, with `/local` mapped.
    static let unfollowed: [(entry: String, location: String, text: String)] = [
        (#"{ "status": 302, "headers": { "Location": "/local" }, "follow": false }"#, "/local", ""),
        (
            #"{ "status": 307, "text": "moved", "headers": { "location": "app://in?code=1" }, "follow": false }"#,
            "app://in?code=1", "moved"
        ),
        (
            #"{ "status": 301, "file": "a.txt", "delay": 0.01, "headers": { "Location": "/local" }, "follow": false }"#,
            "/local", "local"
        ),
        (
            #"{ "status": 303, "stream": ["mo", "ved"], "headers": { "Location": "/local" }, "follow": false }"#,
            "/local", "moved"
        ),
        (#"[{ "status": 308, "headers": { "Location": "/local" }, "follow": false, "times": 9 }]"#, "/local", ""),
        (#"{ "headers": { "Location": "/b" }, "alternatives": [{ "status": 302, "follow": false }] }"#, "/b", ""),
        (#"{ "handler": "unfollowed" }"#, "/local", ""),
    ]

    @Test("A redirect that isn't followed is the client's response", arguments: unfollowed)
    func notFollowed(entry: String, location: String, text: String) async throws {
        let origin = try LoopbackServer(handler: { _ in .text("network") })
        defer { origin.stop() }
        let redirect: SubstitutionMap.Answer = .status(302).headers(["Location": "/local"]).follow(false)
        let url = origin.url("a")
        let folder = try CacheFixture("", files: ["a.txt": "local"]).resources
        let map = try SubstitutionMap(
            json: Data(#"{ "\#(url)": \#(entry), "\#(origin.url("local"))": "a.txt" }"#.utf8),
            resources: folder,
            handlers: ["unfollowed": { _ in redirect }]
        )
        let cache = LocalSubstitutionCache(map: map)
        let session = try cache.makeSession(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        // Twice, since the first response could have been in memory.
        for _ in 0..<2 {
            let (data, response) = try await session.data(for: URLRequest(url: url))
            let head = try #require(response as? HTTPURLResponse)
            #expect((300..<400).contains(head.statusCode))
            #expect(head.value(forHTTPHeaderField: "Location") == location)
            #expect(head.url == url)
            #expect(String(decoding: data, as: UTF8.self) == text)
            #expect(try await cache.answer(to: URLRequest(url: url))?.1.statusCode == head.statusCode)
        }
        #expect(origin.requests.isEmpty)
        // The cache only can't keep URLSession from following it.
        #expect(cache.cachedResponse(for: URLRequest(url: url)) == nil)
    }

    @Test("A redirect is followed to one that isn't, and by default")
    func followedToUnfollowed() async throws {
        let session = try EntrySession(
            """
            "ORIGIN/a": { "status": 302, "headers": { "Location": "/b" }, "follow": true },
            "ORIGIN/b": { "status": 303, "headers": { "Location": "/c" }, "follow": false },
            "http://127.0.0.1:1/a": { "status": 307, "headers": { "Location": "/b" }, "follow": false, "use": "whenOffline" },
            "http://127.0.0.1:1/b": "a.txt"
            """
        ) { _ in .text("network") }
        let (text, head) = try await session.load("/a")
        #expect(text.isEmpty)
        #expect(head.statusCode == 303)
        #expect(head.url?.path == "/b")
        #expect(try await session.load("http://127.0.0.1:1/a").head.statusCode == 307)
    }

    @Test("Explaining says that a redirect that isn't followed needs an attached session")
    func explained() throws {
        let map = #""https://h/a": { "status": 302, "headers": { "Location": "/local" }, "follow": false }"#
        let explanation = try CacheFixture(map).cache().explain(request("https://h/a"))
        #expect(explanation.attached.outcome == .matched)
        #expect(explanation.cacheOnly.outcome == .unmatched)
        #expect(explanation.cacheOnly.reason == "the entry's field “follow” needs an attached session")
    }

    @Test("Verifying doesn't use a redirect")
    func verified() async throws {
        let session = try EntrySession(#""ORIGIN/a": { "status": 301, "headers": { "Location": "/new" } }"#)
        #expect(await session.cache.verify(session.session) == .notSubstituted(.nothingToLoad))
        #expect(session.origin.requests.isEmpty)
    }

    #if os(Linux)
    @Test("An upload task fails, since its body isn't available, so it can't be forwarded")
    func upload() async throws {
        let session = try EntrySession(Self.map)
        let request = try session.request("/same", "POST")
        await #expect(throws: URLError.self) {
            _ = try await session.session.upload(for: request, from: Data("body".utf8))
        }
        #expect(session.origin.requests.isEmpty)
    }
    #endif

    @Test("Credentials aren't sent to another origin")
    func credentials() async throws {
        let target = try EntrySession("")
        let session = try EntrySession(
            #""ORIGIN/a": { "status": 302, "headers": { "Location": "\#(target.origin.url("b").absoluteString)" } }"#
        )
        _ = try await session.load("/a", headers: ["Authorization": "Bearer x", "X-Own": "1"])
        #expect(target.origin.requests.map { $0.header("Authorization") } == [nil])
        #expect(target.origin.requests.map { $0.header("X-Own") } == ["1"])
    }
}
