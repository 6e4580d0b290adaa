import Foundation
import LocalSubstitution
import LocalSubstitutionServer
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("SubstitutionServer", .sessions, .timeLimit(.minutes(5)))
struct SubstitutionServerTests {
    private static let map = """
        { "https://www.example.com/a.txt": "a.txt", "https://cdn.example.com/*": { "text": "cdn" } }
        """
    private let served: ServedMap

    init() throws { served = try ServedMap(Self.map, files: ["a.txt": "0123456789"]) }

    private func load(_ url: URL) async throws -> (body: String, status: Int?) {
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(from: url)
        return (String(decoding: data, as: UTF8.self), (response as? HTTPURLResponse)?.statusCode)
    }

    @Test("Each origin is answered on its own port")
    func answers() async throws {
        let page = try served.server.url(for: #require(URL(string: "https://www.example.com/a.txt")))
        let other = try served.server.url(for: #require(URL(string: "https://cdn.example.com/x?y#z")))
        #expect(page.host == "127.0.0.1")
        #expect(page.port != other.port)
        #expect(other.absoluteString.hasSuffix("/x?y#z"))
        #expect(try await load(page) == ("0123456789", 200))
        #expect(try await load(other) == ("cdn", 200))
        let again = try served.server.url(for: #require(URL(string: "HTTPS://WWW.Example.com:443")))
        #expect(again.port == page.port)
        #expect(again.path == "/")
    }

    @Test(
        "URLs that aren't http or https have no local URL",
        arguments: ["file:///a", "data:,a", "https://", "https://user:secret@www.example.com/", "www.example.com/a"]
    )
    func invalid(url: String) throws {
        let url = try #require(URL(string: url))
        let error = #expect(throws: SubstitutionServerError.self) { try served.server.url(for: url) }
        #expect(error?.kind == .invalidURL)
    }

    @Test("The given ports are used, and a port that can't be used is named")
    func ports() throws {
        let taken = try LoopbackServer(routes: [:])
        defer { taken.stop() }
        let free = try LoopbackServer(routes: [:])
        free.stop()
        let server = try SubstitutionServer(cache: served.cache, ports: ["https://www.example.com": free.port])
        #expect(try server.url(for: #require(URL(string: "https://www.example.com/"))).port == Int(free.port))
        let cases: [([String: UInt16], SubstitutionServerError.Kind)] = [
            (["https://www.example.com": taken.port], .portUnavailable),
            (["https://www.example.com/a": 0], .invalidPorts),
            (["www.example.com": 0], .invalidPorts),
            (["https://www.example.com": free.port, "https://cdn.example.com": free.port], .invalidPorts),
        ]
        for (ports, kind) in cases {
            let error = #expect(throws: SubstitutionServerError.self) {
                try SubstitutionServer(cache: served.cache, ports: ports)
            }
            #expect(error?.kind == kind)
        }
    }

    @Test("The server stops when it's told to and when it's released", arguments: [true, false])
    func stops(isTold: Bool) throws {
        var server: SubstitutionServer? = try SubstitutionServer(cache: served.cache)
        let url = try #require(URL(string: "https://www.example.com/a.txt"))
        let port = UInt16(try server?.url(for: url).port ?? 0)
        _ = try RawClient(port)
        if isTold {
            server?.stop()
            let error = #expect(throws: SubstitutionServerError.self) { try server?.url(for: url) }
            #expect(error?.kind == .stopped)
        }
        server = nil
        #expect(throws: (any Error).self) { try RawClient(port) }
    }

    @Test("A released server keeps nothing alive")
    func releases() throws {
        weak var cache: LocalSubstitutionCache?
        do {
            let served = try ServedMap(Self.map, files: ["a.txt": "a"])
            cache = served.cache
            _ = try served.exchange("https://www.example.com/a.txt")
        }
        #expect(cache == nil)
    }

    @Test("A changed file, or an origin that a changed map names, is served from the next request on")
    func reloads() throws {
        #expect(try served.exchange("https://www.example.com/a.txt").body == "0123456789")
        try served.folder.write("Resources/a.txt", "changed")
        #expect(try served.exchange("https://www.example.com/a.txt").body == "changed")
        try served.folder.write("substitutions.json", #"{ "https://new.example.com/": { "text": "new" } }"#)
        #expect(try served.exchange("https://new.example.com/").body == "new")
        #expect(try served.exchange("https://www.example.com/a.txt").status == 502)
    }
}
