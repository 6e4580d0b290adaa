import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An answer without URLSession", .sessions, .timeLimit(.minutes(2)))
struct AnswerToTests {
    private static let map = #"""
        "http://h/file": "a.txt",
        "http://h/text": { "text": "t", "status": 404, "delay": 0.02 },
        "http://h/times": [{ "text": "first", "times": 1 }, { "text": "rest" }],
        "http://h/post": { "when": { "json": { "a": 1 } }, "text": "met", "methods": ["POST"] },
        "http://h/stream": { "stream": ["a", { "text": "b", "delay": 0.02 }, { "file": "a.txt" }] },
        "http://h/throttled": { "text": "abcd", "bytesPerSecond": 100 },
        "http://h/error": { "error": "timedOut", "delay": 0.01 },
        "http://h/cut": { "stream": ["a", { "error": "networkConnectionLost" }] },
        "http://h/null": null,
        "http://h/redirect": { "status": 302, "headers": { "Location": "/file" } },
        "http://h/unfollowed": { "status": 302, "headers": { "Location": "/file" }, "follow": false },
        "http://h/away": { "status": 302, "headers": { "Location": "http://elsewhere/" } },
        "http://h/loop": { "status": 302, "headers": { "Location": "/loop" } },
        "http://h/sent": { "forwardTo": "ORIGIN/x" },
        "http://h/offline": { "file": "a.txt", "use": "whenOffline" },
        "http://h/late": { "text": "t", "delay": 3600 },
        "ORIGIN/up": { "file": "a.txt", "use": "whenOffline" },
        "ORIGIN/headers": { "setRequestHeaders": { "A": "b" } }
        """#

    @Test(
        "It's what a session would answer",
        arguments: [
            ("file", "local", 200), ("text", "t", 404), ("stream", "ablocal", 200), ("throttled", "abcd", 200),
            ("redirect", "local", 200), ("unfollowed", "", 302), ("away", "", 302), ("sent", "network GET", 200),
            ("offline", "local", 200), ("/up", "network GET", 200),
        ]
    )
    func answers(path: String, text: String, status: Int) async throws {
        let session = try EntrySession(Self.map)
        let request = try session.request(path.hasPrefix("/") ? path : "http://h/\(path)")
        let (data, head) = try #require(try await session.cache.answer(to: request))
        #expect(String(decoding: data, as: UTF8.self) == text)
        #expect(head.statusCode == status)
    }

    @Test(
        "A status that allows no body has none, here and elsewhere",
        arguments: [204, 205, 304],
        ["text", "file", "json"]
    )
    func bodiless(status: Int, field: String) async throws {
        let session = try EntrySession(#""http://h/a": { "status": \#(status), "\#(field)": "a.txt" }"#)
        let request = try session.request("http://h/a")
        let (data, head) = try #require(try await session.cache.answer(to: request))
        #expect(data.isEmpty)
        #expect(head.statusCode == status)
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "0")
        let loaded = try await session.load(request)
        #expect(loaded.text.isEmpty)
        #expect(loaded.head.statusCode == status)
        #expect(session.cache.cachedResponse(for: request)?.data.isEmpty ?? true)
    }

    @Test(
        "It's nil for what the map says nothing about",
        arguments: ["http://h/none", "http://h/null", "data:,a", "file:///"]
    )
    func nothing(url: String) async throws {
        let session = try EntrySession(Self.map)
        #expect(try await session.cache.answer(to: request(url)) == nil)
        #expect(session.cache.statistics.unmatched == 1)
    }

    @Test(
        "It throws an entry's error, or that the entry's delay is longer than the request's timeout",
        arguments: [("error", 60, -1001), ("cut", 60, -1005), ("loop", 60, -1007), ("late", 0.05, -1001)]
    )
    func errors(path: String, timeout: Double, code: Int) async throws {
        let session = try EntrySession(Self.map)
        let error = await #expect(throws: URLError.self) {
            var request = try request("http://h/\(path)")
            request.timeoutInterval = timeout
            return try await session.cache.answer(to: request)
        }
        #expect(error?.code.rawValue == code)
    }

    @Test("Each request is an event, whether it's answered or not")
    func events() async throws {
        let session = try EntrySession(Self.map)
        let heard = HeardEvents(of: session.cache)
        for path in ["file", "none", "null", "error", "sent", "away"] {
            _ = try? await session.cache.answer(to: request("http://h/\(path)"))
        }
        #expect(heard.kinds == ["matched", "missed", "bypassed", "matched", "forwarded", "matched"])
    }

    @Test("It counts, and sees the body that is set, but not a stream's")
    func conditions() async throws {
        let session = try EntrySession(Self.map)
        func text(_ request: URLRequest) async throws -> String? {
            try await session.cache.answer(to: request).map { String(decoding: $0.0, as: UTF8.self) }
        }
        let times = try request("http://h/times")
        #expect(try await text(times) == "first")
        #expect(try await text(times) == "rest")
        var post = try request("http://h/post", method: "POST")
        #expect(try await text(post) == nil)
        post.httpBody = Data(#"{"a": 1}"#.utf8)
        #expect(try await text(post) == "met")
        let stream = InputStream(data: post.httpBody ?? Data())
        post.httpBodyStream = stream
        #expect(try await text(post) == nil)
        #expect(stream.streamStatus == .notOpen)
        #expect(session.cache.statistics.matched == 3)
        #expect(try await text(request(session.origin.url("headers").absoluteString)) == "network GET")
        #expect(session.origin.requests.last?.header("A") == "b")
    }

    @Test("Cancelling the task cancels it", arguments: ["http://h/late", "http://h/stream"])
    func cancelled(url: String) async throws {
        let session = try EntrySession(
            #"""
            "http://h/late": { "text": "t", "delay": 3600 },
            "http://h/stream": { "stream": ["a", { "text": "b", "delay": 3600 }] }
            """#
        )
        let task = Task { try await session.cache.answer(to: request(url)) }
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
    }

    @Test("A cancelled task asks for nothing, so no alternative is counted, and the request has failed")
    func alreadyCancelled() async throws {
        let session = try EntrySession(Self.map)
        let request = try request("http://h/times")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.cache.answer(to: request)
        }
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
        #expect(session.cache.statistics.failures == 1)
        #expect(try await session.cache.answer(to: request)?.0 == Data("first".utf8))
        #expect(session.cache.statistics.failures == 1)
    }

    @Test("A redirect that the network answers is followed only to an entry's URL")
    func redirectOfNetwork() async throws {
        let session = try EntrySession(Self.map) { request in
            request.path == "/x" ? .redirect(to: "http://h/file") : .redirect(to: "/elsewhere")
        }
        #expect(try await session.cache.answer(to: request("http://h/sent"))?.0 == Data("local".utf8))
        let url = session.origin.url("headers").absoluteString
        let head = try await session.cache.answer(to: request(url))?.1
        #expect(head?.statusCode == 302)
        #expect(session.origin.requestCount(path: "/elsewhere") == 0)
    }

    @Test(
        "A redirect that's followed counts as in a session",
        arguments: ["http://h/redirect", "http://h/loop", "http://h/sent", "ORIGIN/up", "http://h/away-offline"]
    )
    func countsOfRedirect(url: String) async throws {
        func counts(
            _ load: (EntrySession, URLRequest) async throws -> Void
        ) async throws -> (LocalSubstitutionCache.Statistics, [String]) {
            let away = #"{ "status": 302, "headers": { "Location": "/file" }, "use": "whenOffline" }"#
            let session = try EntrySession(Self.map + ", \"http://h/away-offline\": \(away)") { _ in
                .redirect(to: "http://h/file")
            }
            let heard = HeardEvents(of: session.cache)
            let base = String(session.origin.baseURL.absoluteString.dropLast())
            try? await load(session, session.request(url.replacingOccurrences(of: "ORIGIN", with: base)))
            let events = heard.all.map { "\($0.kind.rawValue) \($0.url?.path ?? "") \($0.bytes ?? 0)" }
            return (session.cache.statistics, events)
        }
        let direct = try await counts { session, request in _ = try await session.cache.answer(to: request) }
        let attached = try await counts { session, request in _ = try await session.load(request) }
        #expect(direct.0 == attached.0)
        #expect(direct.1 == attached.1)
        #expect(direct.1.count == 1)
    }

    @Test("A handler's answer, and a large file whole")
    func handler() async throws {
        let fixture = try CacheFixture("", files: [:])
        let large = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        try large.write(to: fixture.resources.appendingPathComponent("large.bin"))
        let map = try SubstitutionMap(
            [
                "http://h/*": .handler { .text($0.captures[0] + ($0.body.map { "\($0.count)" } ?? "none")) },
                "http://h/large": "large.bin",
            ],
            resources: fixture.resources
        )
        let cache = LocalSubstitutionCache(map: map)
        let got = try await cache.answer(to: request("http://h/a", method: "POST"))
        #expect(got.map { String(decoding: $0.0, as: UTF8.self) } == "anone")
        #expect(try await cache.answer(to: request("http://h/large"))?.0 == large)
    }

    #if os(Linux)
    // The storage belongs to the process, so this runs in a separate one.
    @Test("A request that's forwarded has the cookies of the default configuration")
    func cookies() async {
        await #expect(processExitsWith: .success) {
            // The folder of the storage's file.
            setenv("XDG_DATA_HOME", try CacheFixture("").folder.path, 1)
            let session = try EntrySession(AnswerToTests.map)
            let properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "b", .domain: "127.0.0.1", .path: "/"]
            HTTPCookieStorage.shared.setCookie(try #require(HTTPCookie(properties: properties)))
            _ = try await session.cache.answer(to: request("http://h/sent"))
            #expect(session.origin.requests.last?.header("Cookie") == "a=b")
        }
    }
    #endif
}
