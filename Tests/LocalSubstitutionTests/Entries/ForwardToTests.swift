import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An entry that forwards", .sessions, .timeLimit(.minutes(5)))
struct ForwardToTests {
    private static let api = #""https://api.example.com/v2/*": { "forwardTo": "ORIGIN/*" }"#

    @Sendable private static func echo(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        .text("\(request.method) \(request.target) \(String(decoding: request.body, as: UTF8.self))")
    }

    @Test("Every method is sent to the target with its body", arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
    func methods(method: String) async throws {
        let session = try EntrySession(Self.api, unmatched: .fail, handler: Self.echo)
        let body = ["GET", "DELETE"].contains(method) ? nil : "{}"
        let headers = ["X-Own": "1", "Authorization": "Bearer x"]
        let url = "https://api.example.com/v2/users?id=7"
        let (text, head) = try await session.load(url, method, headers: headers, body: body)
        #expect(text == "\(method) /users?id=7 \(body ?? "")")
        #expect(head.url?.absoluteString == url)
        let sent = try #require(session.origin.requests.first)
        #expect(sent.header("X-Own") == "1")
        #expect(sent.header("Authorization") == "Bearer x")
        #expect(sent.header("Host")?.hasPrefix("127.0.0.1:") == true)
    }

    #if os(Linux)
    @Test(
        "Sessions that forwarded leave few descriptors open, however many there were",
        arguments: [
            ("forwardTo", false), ("forwardTo", true), ("setRequestHeaders", false), ("setRequestHeaders", true),
            ("whenOffline", false),
        ]
    )
    func descriptors(field: String, ofOneCache: Bool) async {
        await #expect(processExitsWith: .success) { [field, ofOneCache] in
            func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
            let before = try open()
            let origin = try LoopbackServer { _ in .text("network") }
            let target = origin.url("a").absoluteString
            let entries: [String: SubstitutionMap.Answer] = [
                "forwardTo": .forward(to: target), "setRequestHeaders": .requestHeaders(["A": "b"]),
                "whenOffline": .text("b").use(.whenOffline),
            ]
            let key = field == "forwardTo" ? "https://h/a" : target
            let map = try SubstitutionMap([key: try #require(entries[field])])
            let cache = LocalSubstitutionCache(map: map)
            let url = try #require(URL(string: key))
            for _ in 0..<200 {
                let own = ofOneCache ? cache : LocalSubstitutionCache(map: map)
                let session = try own.makeSession(.ephemeral, unmatched: field == "forwardTo" ? .fail : .load)
                let body = try await session.data(from: url).0
                #expect(body == Data("network".utf8))
                session.finishTasksAndInvalidate()
            }
            // The sessions and connections end on other threads.
            let deadline = ContinuousClock.now + .seconds(30)
            while try open() >= before + 64, ContinuousClock.now < deadline { await Task.yield() }
            #expect(try open() < before + 64)
        }
    }
    #endif

    @Test("Forwarders beyond the limit of those that keep their sessions go on forwarding")
    func manyForwarders() async throws {
        let origin = try LoopbackServer { .text($0.target) }
        defer { origin.stop() }
        let sessions = try (0..<20).map { number in
            let entry = SubstitutionMap.Answer.forward(to: origin.url("\(number)?").absoluteString)
            return try LocalSubstitutionCache(map: SubstitutionMap(["https://h/a": entry])).makeSession(
                unmatched: .fail
            )
        }
        defer { for session in sessions { session.finishTasksAndInvalidate() } }
        let url = try #require(URL(string: "https://h/a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let body = try await sessions[number % sessions.count].data(from: url).0
                    // An empty query is forwarded, too.
                    #expect(String(decoding: body, as: UTF8.self) == "/\(number % sessions.count)?")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A body that's read from a stream is sent")
    func stream() async throws {
        let session = try EntrySession(Self.api, handler: Self.echo)
        var request = try session.request("https://api.example.com/v2/a", "POST")
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        #expect(try await session.load(request).text == "POST /a streamed")
    }

    /// They're sent by two sessions, of which one adds no headers. Each session numbers its tasks from 1.
    @Test("Requests that are sent at the same time don't mix, even if an entry replaces a header of the session")
    func atTheSameTime() async throws {
        let session = try EntrySession(
            #""http://h/a": { "forwardTo": "ORIGIN/a", "setRequestHeaders": { "X": "2" } }, "http://h/b": { "forwardTo": "ORIGIN/b" }"#
        ) { request in LoopbackServer.Answer(body: Data(request.path.utf8), delay: 0.2) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X": "1"]
        let own = try session.cache.makeSession(configuration)
        defer { own.finishTasksAndInvalidate() }
        async let first = own.data(for: session.request("http://h/a")).0
        async let second = own.data(for: session.request("http://h/b")).0
        #expect(try await [first, second] == [Data("/a".utf8), Data("/b".utf8)])
    }

    @Test("The request's headers can be set and removed, and the response's can be set")
    func headers() async throws {
        let session = try EntrySession(
            """
            "http://h/a": {
              "forwardTo": "ORIGIN/b", "headers": { "X-Answer": "entry" },
              "setRequestHeaders": { "X-Debug": "1", "X-Secret": null }
            }
            """,
            handler: { _ in LoopbackServer.Answer(headers: [("X-Answer", "server"), ("X-Kept", "1")]) }
        )
        let (_, head) = try await session.load("http://h/a", headers: ["X-Secret": "s", "Host": "elsewhere"])
        let sent = try #require(session.origin.requests.first)
        #expect(sent.header("X-Debug") == "1")
        #expect(sent.header("X-Secret") == nil)
        #expect(sent.header("Host") != "elsewhere")
        #expect(head.value(forHTTPHeaderField: "X-Answer") == "entry")
        #expect(head.value(forHTTPHeaderField: "X-Kept") == "1")
    }

    @Test("An entry without a target only sets headers, and a strict session doesn't send its requests")
    func headersAlone() async throws {
        let map = #""ORIGIN/a": { "setRequestHeaders": { "X-Debug": "1" } }"#
        let session = try EntrySession(map)
        #expect(try await session.load("/a").text == "network GET")
        #expect(session.origin.requests.first?.header("X-Debug") == "1")
        let strict = try EntrySession(map, unmatched: .fail)
        #expect(await strict.error(try strict.request("/a")) == .resourceUnavailable)
        #expect(strict.origin.requests.isEmpty)
    }

    @Test("Headers are set for a request whose file answers when the network fails")
    func offline() async throws {
        let map = #""ORIGIN/a": { "file": "a.txt", "use": "whenOffline", "setRequestHeaders": { "X-Debug": "1" } }"#
        let session = try EntrySession(map)
        #expect(try await session.load("/a").text == "network GET")
        #expect(session.origin.requests.first?.header("X-Debug") == "1")
    }

    @Test("Redirects under the target are mapped back, looked up in the map at each hop, or followed")
    func redirects() async throws {
        let session = try EntrySession(
            """
            "https://api.example.com/v2/*": { "forwardTo": "ORIGIN/api/*" },
            "https://api.example.com/v2/mapped": "a.txt",
            "https://other.example/a": { "text": "other" }
            """,
            handler: { request in
                switch request.path {
                case "/api/to-own": .redirect(to: "/api/own")
                case "/api/to-mapped": .redirect(to: "mapped")
                case "/api/to-other": .redirect(to: "https://other.example/a")
                case "/api/to-outside": .redirect(to: "/outside")
                default: .text("\(request.method) \(request.path)")
                }
            }
        )
        let base = "https://api.example.com/v2"
        var (text, head) = try await session.load(base + "/to-own")
        #expect(text == "GET /api/own")
        #expect(head.url?.absoluteString == base + "/own")
        (text, head) = try await session.load(base + "/to-mapped")
        #expect(text == "local")
        #expect(head.url?.absoluteString == base + "/mapped")
        #expect(try await session.load(base + "/to-other").text == "other")
        #expect(try await session.load(base + "/to-outside").text == "GET /outside")
    }

    @Test("A Location that isn't followed is mapped back too")
    func location() async throws {
        let session = try EntrySession(Self.api) { _ in
            LoopbackServer.Answer(status: 201, headers: [("Location", "/users/7")])
        }
        let (_, head) = try await session.load("https://api.example.com/v2/users", "POST", body: "{}")
        #expect(head.value(forHTTPHeaderField: "Location") == "https://api.example.com/v2/users/7")
    }

    @Test("The target's cookies are sent, not those of the request's URL")
    func cookies() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let session = try EntrySession(Self.api) { request in
            LoopbackServer.Answer(
                headers: [("Set-Cookie", "id=1; Path=/")],
                body: Data((request.header("Cookie") ?? "").utf8)
            )
        }
        let url = try #require(URL(string: "https://api.example.com/v2/a"))
        let own = try #require(
            HTTPCookie(properties: [.name: "sid", .value: "prod", .domain: "api.example.com", .path: "/"])
        )
        configuration.httpCookieStorage?.setCookie(own)
        let made = try session.cache.makeSession(configuration)
        defer { made.finishTasksAndInvalidate() }
        for cookies in ["", "id=1"] {
            let (data, _) = try await made.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == cookies)
        }
        #expect(configuration.httpCookieStorage?.cookies(for: url)?.map(\.name) == ["sid"])
    }

    @Test("What the session would add can be set and removed")
    func sessionHeaders() async throws {
        let map = """
            "http://h/removed": { "forwardTo": "ORIGIN/", "setRequestHeaders": { "Cookie": null, "X-Session": null } },
            "http://h/set": { "forwardTo": "ORIGIN/", "setRequestHeaders": { "Cookie": "a=1", "X-Session": "entry" } }
            """
        let session = try EntrySession(map)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "session", "X-Kept": "1"]
        let stored = try #require(
            HTTPCookie(properties: [.name: "sid", .value: "dev", .domain: "127.0.0.1", .path: "/"])
        )
        configuration.httpCookieStorage?.setCookie(stored)
        let own = try session.cache.makeSession(configuration)
        defer { own.finishTasksAndInvalidate() }
        for path in ["removed", "set"] { _ = try await own.data(for: session.request("http://h/\(path)")) }
        let sent = session.origin.requests
        #expect(sent.map { $0.header("Cookie") } == [nil, "a=1"])
        #expect(sent.map { $0.header("X-Session") } == [nil, "entry"])
        #expect(sent.map { $0.header("X-Kept") } == ["1", "1"])
    }

    @Test("A redirect loop through the map ends")
    func loops() async throws {
        let forwarding = try EntrySession(#""http://h/*": { "forwardTo": "ORIGIN/*" }"#) { .redirect(to: $0.path) }
        #expect(await forwarding.error(try forwarding.request("http://h/a")) == .httpTooManyRedirects)
        #expect(forwarding.origin.requests.count < 50)
        let mixed = try EntrySession(#""ORIGIN/a": { "status": 302, "headers": { "Location": "/b" } }"#) { _ in
            .redirect(to: "/a")
        }
        #expect(await mixed.error(try mixed.request("/b")) == .httpTooManyRedirects)
        #expect(mixed.origin.requests.count < 50)
    }

    @Test("Nothing that's meant for the target is sent to another server")
    func leak() async throws {
        let real = try EntrySession("")
        let base = String(real.origin.baseURL.absoluteString.dropLast())
        let session = try EntrySession(
            """
            "\(base)/*": { "forwardTo": "ORIGIN/*", "setRequestHeaders": { "Authorization": "secret", "X-Debug": "1" } },
            "\(base)/never": null
            """
        ) { _ in .redirect(to: "/never") }
        _ = try await session.load(base + "/a")
        #expect(real.origin.requests.count == 1)
        #expect(real.origin.requests.map { $0.header("Authorization") } == [nil])
        #expect(real.origin.requests.map { $0.header("X-Debug") } == [nil])
    }

    @Test(
        "A redirect at the target is followed if no URL of the key leads there",
        arguments: [
            ("http://h/x/*/v1", "ORIGIN/*", "http://h/x/7/v1", "/8"),
            ("http://h/a", "ORIGIN/a", "http://h/a", "/a?b=1"),
            ("http://h/*", "ORIGIN/api/*/v1", "http://h/7", "/api/8/v2"),
        ]
    )
    func notMapped(key: String, target: String, url: String, location: String) async throws {
        let map = #""\#(key)": { "forwardTo": "\#(target)" }"#
        let session = try EntrySession(map) { request in
            request.target == location ? .text("followed") : .redirect(to: location)
        }
        let (text, head) = try await session.load(url)
        #expect(text == "followed")
        #expect(head.url == session.origin.url(location))
    }

    @Test("Forwarding fails as the network does")
    func failure() async throws {
        let session = try EntrySession(#""http://h/a": { "forwardTo": "http://127.0.0.1:1/" }"#)
        #expect(await session.error(try session.request("http://h/a")) == .cannotConnectToHost)
    }
}
