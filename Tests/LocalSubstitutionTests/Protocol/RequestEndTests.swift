import Foundation
import Guarded
import LocalSubstitutionRecording
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Each request counts once", .sessions, .timeLimit(.minutes(5)))
struct RequestEndTests {
    /// The six counts of requests, of which each request is in one.
    enum Count: CaseIterable {
        case matched, offlineFallbacks, forwarded, defaultCacheHits, unmatched, failures

        func value(in statistics: LocalSubstitutionCache.Statistics) -> Int {
            switch self {
            case .matched: statistics.matched
            case .offlineFallbacks: statistics.offlineFallbacks
            case .forwarded: statistics.forwarded
            case .defaultCacheHits: statistics.defaultCacheHits
            case .unmatched: statistics.unmatched
            case .failures: statistics.failures
            }
        }
    }

    enum Client {
        case attached, strict, allowing, recording, cacheOnly, caller, server
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let client: Client
        /// The path at the host `h`, or at the origin if it begins with a slash.
        let path: String
        let count: Count
        var testDescription: String { "\(client) \(path): \(count)" }

        init(_ client: Client, _ path: String, _ count: Count) {
            (self.client, self.path, self.count) = (client, path, count)
        }
    }

    /// The ends that don't depend on the client.
    private static let same: [(path: String, count: Count)] = [
        ("file", .matched), ("late", .matched), ("post", .matched), ("stream", .matched), ("throttled", .matched),
        ("redirect", .matched), ("error", .matched), ("cut", .matched), ("handled", .matched), ("threw", .matched),
        ("offline-error", .matched), ("sent", .forwarded), ("wrong", .failures), ("broken", .failures),
        ("broken-stream", .failures), ("never", .failures), ("sent-dropped", .failures), ("hangs", .failures),
    ]

    static let rows = everywhere + own

    private static let everywhere: [Row] = {
        let clients: [Client] = [.attached, .strict, .allowing, .recording, .caller, .server]
        return clients.flatMap { client in
            // The server's clients decide how long to wait.
            same.filter { client != .server || $0.path != "never" }.map { Row(client, $0.path, $0.count) }
        }
    }()

    private static let own = [
        Row(.attached, "loop", .failures), Row(.attached, "away", .forwarded), Row(.attached, "sent-on", .matched),
        Row(.attached, "/waits", .forwarded), Row(.attached, "offline", .offlineFallbacks),
        Row(.attached, "offline-redirect", .offlineFallbacks), Row(.attached, "/waits-redirect", .matched),
        Row(.attached, "/updated", .matched), Row(.attached, "/declined", .forwarded),
        Row(.attached, "/null", .unmatched), Row(.attached, "/other", .unmatched),
        Row(.strict, "away", .unmatched), Row(.strict, "/waits", .matched), Row(.strict, "offline", .matched),
        Row(.strict, "/updated", .matched), Row(.strict, "/declined", .unmatched),
        Row(.strict, "/null", .unmatched), Row(.strict, "/other", .unmatched), Row(.strict, "gone", .unmatched),
        Row(.allowing, "/other", .forwarded), Row(.allowing, "/waits", .forwarded),
        Row(.allowing, "/null", .forwarded), Row(.allowing, "/dropped", .failures),
        Row(.recording, "/other", .forwarded), Row(.recording, "/null", .unmatched),
        Row(.recording, "/dropped", .failures), Row(.recording, "offline", .offlineFallbacks),
        Row(.cacheOnly, "file", .matched), Row(.cacheOnly, "/updated", .matched),
        Row(.cacheOnly, "/waits", .unmatched), Row(.cacheOnly, "/null", .unmatched),
        Row(.cacheOnly, "/other", .unmatched), Row(.cacheOnly, "broken", .unmatched),
        Row(.caller, "loop", .failures), Row(.caller, "away", .matched), Row(.caller, "sent-on", .matched),
        Row(.caller, "/waits", .forwarded), Row(.caller, "offline", .offlineFallbacks),
        Row(.caller, "offline-redirect", .offlineFallbacks), Row(.caller, "/waits-redirect", .matched),
        Row(.caller, "/null", .unmatched), Row(.caller, "/other", .unmatched),
        Row(.caller, "/declined", .unmatched),
        Row(.server, "away", .matched), Row(.server, "/waits", .forwarded),
        Row(.server, "offline", .offlineFallbacks), Row(.server, "/other", .forwarded),
        Row(.server, "/dropped", .failures),
    ]

    private static let map = #"""
        "http://h/file": "a.txt",
        "http://h/late": { "text": "t", "delay": 0.01 },
        "http://h/post": { "text": "t", "methods": ["POST"], "when": { "text": "body" } },
        "http://h/stream": { "stream": ["a", { "text": "b", "delay": 0.01 }, { "file": "a.txt" }] },
        "http://h/throttled": { "text": "ab", "bytesPerSecond": 100 },
        "http://h/redirect": { "status": 301, "headers": { "Location": "/file" } },
        "http://h/loop": { "status": 301, "headers": { "Location": "/loop" } },
        "http://h/away": { "status": 302, "headers": { "Location": "ORIGIN/other" } },
        "http://h/error": { "error": "timedOut" },
        "http://h/cut": { "stream": ["a", { "error": "networkConnectionLost", "delay": 0.01 }] },
        "http://h/offline-error": { "error": "notConnectedToInternet", "delay": 0.01 },
        "http://h/never": { "text": "t", "delay": 3600 },
        "http://h/broken": "b.txt",
        "http://h/broken-stream": { "stream": ["a", { "file": "b.txt", "delay": 0.01 }] },
        "http://h/gone": "c.txt",
        "http://h/sent": { "forwardTo": "ORIGIN/x" },
        "http://h/sent-on": { "forwardTo": "ORIGIN/to-file" },
        "http://h/sent-dropped": { "forwardTo": "ORIGIN/dropped" },
        "http://h/offline": { "file": "a.txt", "use": "whenOffline" },
        "http://h/offline-redirect": { "status": 302, "headers": { "Location": "/file" }, "use": "whenOffline" },
        "http://h/handled": { "handler": "handled" },
        "http://h/threw": { "handler": "threw" },
        "http://h/wrong": { "handler": "wrong" },
        "http://h/hangs": { "handler": "hangs" },
        "ORIGIN/declined": { "handler": "declined" },
        "ORIGIN/waits": { "file": "a.txt", "use": "whenOffline" },
        "ORIGIN/waits-redirect": { "file": "a.txt", "use": "whenOffline" },
        "ORIGIN/updated": { "file": "a.txt", "use": "untilUpdated" },
        "ORIGIN/null": null
        """#

    private struct Mistake: Error {}

    /// The call of a handler that ends only if it's cancelled.
    private final class Hanging: Sendable {
        let isUnderWay = Guarded(false)
        private let stream = AsyncStream<Void>.makeStream()

        func begin() {
            isUnderWay.withLock { $0 = true }
            stream.continuation.finish()
        }

        func hasBegun() async { for await _ in stream.stream {} }
    }

    /// Where the requests go, and what loads them.
    private final class Site: Sendable {
        let cache: LocalSubstitutionCache
        let origin: LoopbackServer
        private let hanging = Hanging()
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            origin = try LoopbackServer { request in
                switch request.path {
                case "/to-file", "/waits-redirect": .redirect(to: "http://h/file")
                case "/dropped": LoopbackServer.Answer(fault: .dropBeforeHead)
                default: .text("network")
                }
            }
            let base = String(origin.baseURL.absoluteString.dropLast())
            let fixture = try CacheFixture(
                RequestEndTests.map.replacingOccurrences(of: "ORIGIN", with: base),
                files: ["a.txt": "local", "b.txt": "b", "c.txt": "c"]
            )
            let hanging = hanging
            let map = try SubstitutionMap(
                json: Data(contentsOf: fixture.mapFile),
                resources: fixture.resources,
                handlers: [
                    "handled": { _ in .text("handled") },
                    "threw": { _ in throw URLError(.cannotConnectToHost) },
                    "wrong": { _ in throw Mistake() },
                    "declined": { _ in .notSubstituted },
                    "hangs": { _ in
                        hanging.begin()
                        try await Task.sleep(nanoseconds: 3_600_000_000_000)
                        return .notSubstituted
                    },
                ]
            )
            cache = LocalSubstitutionCache(map: map, directory: fixture.folder.appendingPathComponent("cache"))
            for name in ["b.txt", "c.txt"] { try FileManager.default.removeItem(at: fixture.file(name)) }
            try FileManager.default.createDirectory(at: fixture.file("b.txt"), withIntermediateDirectories: false)
        }

        deinit { origin.stop() }

        private func request(_ path: String) throws -> URLRequest {
            let url = path.hasPrefix("/") ? origin.url(path).absoluteString : "http://h/\(path)"
            var request = try LocalSubstitutionTests.request(url, method: path == "post" ? "POST" : "GET")
            if path == "post" { request.httpBody = Data("body".utf8) }
            if path == "never" { request.timeoutInterval = 0.2 }
            return request
        }

        func load(_ path: String, by client: Client) async throws {
            let request = try request(path)
            switch client {
            case .attached: try await load(request, in: cache.makeSession())
            case .strict: try await load(request, in: cache.makeSession(unmatched: .fail))
            case .allowing:
                let allowed = origin.baseURL.absoluteString + "*"
                try await load(request, in: cache.makeSession(unmatched: .fail(allowing: [allowed])))
            case .recording:
                let recorder = try SubstitutionRecorder(folder: folder.url)
                defer { recorder.close() }
                try await load(request, in: cache.makeSession(recorder: recorder))
            case .cacheOnly: try await load(request, in: session(with: cache))
            case .caller: await answer(to: request)
            case .server: try await serve(request)
            }
        }

        private func load(_ request: URLRequest, in session: URLSession) async throws {
            defer { session.finishTasksAndInvalidate() }
            let (ends, end) = AsyncStream<Void>.makeStream()
            let task = session.dataTask(with: request) { _, _, _ in end.finish() }
            task.resume()
            if request.url?.path == "/hangs" {
                await hanging.hasBegun()
                task.cancel()
            }
            for await _ in ends {}
        }

        private func answer(to request: URLRequest) async {
            let task = Task { [cache] in _ = try? await cache.answer(to: request) }
            if request.url?.path == "/hangs" {
                await hanging.hasBegun()
                task.cancel()
            }
            await task.value
        }

        private func serve(_ request: URLRequest) async throws {
            let loader = try cache.makeDirectLoader(
                .ephemeral,
                unmatched: .load,
                recorder: nil,
                sendsCredentials: false
            )
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [hanging] in
                    // It blocks its thread. The client of `hangs` leaves.
                    let response = loader.load(request) { !hanging.isUnderWay.withLock { $0 } }
                    if case .arriving(let next)? = response.response?.body {
                        while (try? next().get()) != nil {}
                    }
                    continuation.resume()
                }
            }
        }
    }

    @Test("In one of six counts, and with one event about its end", arguments: rows)
    func once(_ row: Row) async throws {
        let site = try Site()
        let log = EventLog(site.cache)
        let events = HeardEvents(of: site.cache)
        try await site.load(row.path, by: row.client)
        // A cancelled request may end later than its task.
        if row.path == "hangs" { _ = await log.all { $0.kind == .cancelled } }
        // Whatever a request still has to report, it does so before a later one ends.
        try await site.load("late", by: .attached)
        let statistics = site.cache.statistics
        let counts = Count.allCases.map { $0.value(in: statistics) - ($0 == .matched ? 1 : 0) }
        #expect(counts == Count.allCases.map { $0 == row.count ? 1 : 0 }, "\(events.all)")
        let ends = events.kinds.filter { !Self.others.contains($0) }
        #expect(ends.count == 2, "\(events.all)")
    }

    /// The kinds of events that don't say how a request ended.
    private static let others = [
        "fault", "recorded", "notRecorded", "refreshed", "upToDate", "refreshFailed",
    ]

    @Test("A recording's responses: confirmed, offline, and in a strict session")
    func recorded() async throws {
        let folder = try TemporaryFolder()
        let origin = try LoopbackServer { request in
            request.header("If-None-Match") == nil
                ? LoopbackServer.Answer(headers: [("ETag", "\"1\"")], body: Data("kept".utf8)) : .status(304)
        }
        let url = origin.url("a")
        let visit = try Visit(folder.url)
        for _ in 0..<2 {
            #expect(try await visit.session.data(from: url).0 == Data("kept".utf8))
            visit.recorder.flush()
        }
        origin.stop()
        #expect(try await visit.session.data(from: url).0 == Data("kept".utf8))
        let statistics = visit.cache.statistics
        #expect(statistics.forwarded == 2 && statistics.offlineFallbacks == 1 && statistics.requests == 3)
        #expect(statistics.recorded == 1 && statistics.bytes == 4)
        visit.end()
        let strict = try Visit(folder.url, unmatched: .fail)
        defer { strict.end() }
        #expect(try await strict.session.data(from: url).0 == Data("kept".utf8))
        #expect(strict.cache.statistics.matched == 1 && strict.cache.statistics.requests == 1)
    }

    @Test("The default cache's response is a hit, even if an entry matches", arguments: ["b", "null"])
    func defaultCache(path: String) async throws {
        let cache = try CacheFixture(#""http://nowhere.invalid/null": null"#).cache()
        let url = try #require(URL(string: "http://nowhere.invalid/\(path)"))
        let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        let stored = CachedURLResponse(response: head, data: Data("stored".utf8))
        cache.storeCachedResponse(stored, for: URLRequest(url: url))
        #expect(cache.cachedResponse(for: URLRequest(url: url))?.text == "stored")
        #expect(cache.statistics.defaultCacheHits == 1 && cache.statistics.requests == 1)
    }

    @Test("Cache only, each lookup counts, also one that a redirect leads to")
    func lookups() throws {
        let cache = try CacheFixture(
            #""https://h/a": { "status": 301, "headers": { "Location": "/b" } }, "https://h/b": "a.txt""#
        ).cache()
        for path in ["a", "b", "c"] { _ = try cache.lookUp("https://h/\(path)") }
        #expect(cache.statistics.matched == 2 && cache.statistics.unmatched == 1)
    }
}
