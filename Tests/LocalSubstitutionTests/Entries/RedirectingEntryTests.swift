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
        // Twice, since the first response could have been retained.
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

    @Test("Verifying doesn't use a redirect")
    func verified() async throws {
        let session = try EntrySession(#""ORIGIN/a": { "status": 301, "headers": { "Location": "/new" } }"#)
        #expect(await session.cache.verify(session.session) == .notSubstituted(.nothingToLoad))
        #expect(session.origin.requests.isEmpty)
    }

    #if os(Linux)
    @Test("An upload task fails, since its body can't be seen and sent on")
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
