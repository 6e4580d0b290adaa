import Foundation
import Guarded
import LoopbackOrigin
import MapTools
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import LocalSubstitutionRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session with a recorder", .threads, .timeLimit(.minutes(5)))
struct RecordingTests {
    private let folder: TemporaryFolder
    private var recorded: URL { folder.url.appendingPathComponent("recorded", isDirectory: true) }

    init() throws { folder = try TemporaryFolder() }

    /// Runs a visit, and releases the folder.
    private func visit<Value>(
        map: String = "{}",
        _ body: (Visit) async throws -> Value
    ) async throws -> Value {
        let visit = try Visit(recorded, map: map)
        defer { visit.end() }
        return try await body(visit)
    }

    private func keys() throws -> [String] {
        let map = try Data(contentsOf: recorded.appendingPathComponent("substitutions.json"))
        return try JSONDecoder().decode([String: JSONValue].self, from: map).keys.sorted()
    }

    private enum JSONValue: Decodable { init(from: any Decoder) { self = .any }; case any }

    // MARK: A site

    @Test("A new process serves the recorded site without a network, and nothing is requested twice")
    func site() async throws {
        let site = RecordedSite()
        let origin = try LoopbackServer { site.answer($0) }
        let base = origin.baseURL
        let map = #"{ "http://127.0.0.1:*/img/*0.png": null }"#
        try await visit(map: map) { visit in
            for part in site.parts {
                let got = try await visit.part(part.path, base)
                #expect(got == part.withoutCharset)
            }
        }
        origin.stop()

        // A new process has everything that was visited, except for what's excluded.
        let parts = try JSONEncoder().encode(site.parts).base64EncodedString()
        let (recorded, address) = (recorded.path, base.absoluteString)
        await #expect(processExitsWith: .success) {
            [recorded = recorded as String, address = address as String, parts = parts as String, map = map as String]
            in
            let data = try #require(Data(base64Encoded: parts))
            let visit = try Visit(URL(fileURLWithPath: recorded, isDirectory: true), map: map)
            let base = try #require(URL(string: address))
            for part in try JSONDecoder().decode([RecordedSite.Part].self, from: data) {
                let got = try? await visit.part(part.path, base)
                guard got == (part.path.hasSuffix("0.png") ? nil : part.withoutCharset) else { _exit(EXIT_FAILURE) }
            }
            _exit(EXIT_SUCCESS)
        }

        // Online again, one part has changed.
        let changed = try #require(site.parts.first { $0.path.hasSuffix(".css") })
        site.changed.withLock { $0 = [changed.path] }
        site.bodies.withLock { $0 = 0 }
        let again = try LoopbackServer(port: origin.port) { site.answer($0) }
        defer { again.stop() }
        try await visit(map: map) { visit in
            for part in site.parts where !part.path.hasSuffix("0.png") {
                let got = try await visit.part(part.path, base)
                #expect(got == site.current(part).withoutCharset)
            }
        }
        #expect(site.bodies.withLock { $0 } == 1)
        #expect(!again.requests.isEmpty)
    }

    @Test("What was recorded works like any other map, and cache only")
    func asMap() async throws {
        let site = RecordedSite(count: 10)
        let origin = try LoopbackServer { site.answer($0) }
        defer { origin.stop() }
        try await visit { visit in
            for part in site.parts { _ = try await visit.part(part.path, origin.baseURL) }
        }
        let cache = try LocalSubstitutionCache(contentsOf: recorded.appendingPathComponent("substitutions.json"))
        for part in site.parts {
            let response = try #require(try cache.lookUp(origin.url(part.path).absoluteString))
            #expect(response.data == part.body)
            #expect(response.response.mimeType == part.withoutCharset.type)
        }
        #expect(MapReview(cache.map).warnings.isEmpty)
    }

    // MARK: One response

    @Test("Offline, a range is part of a recorded response; online, it's forwarded and not recorded")
    func ranges() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("0123456789"), "/b": .text("0123456789")])
        let url = origin.url("a")
        try await visit { visit in
            _ = try await visit.session.data(from: url)
            let range = try request(origin.url("b").absoluteString, headers: ["Range": "bytes=2-3"])
            _ = try await visit.session.data(for: range)
            origin.stop()
            let (data, response) = try await visit.session.data(
                for: request(url.absoluteString, headers: ["Range": "bytes=2-3"])
            )
            #expect(String(decoding: data, as: UTF8.self) == "23")
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
        }
        #expect(try keys() == [url.absoluteString])
    }

    @Test("A copy also answers HEAD, without its body, and HEAD doesn't change it", arguments: [false, true])
    func head(isStrict: Bool) async throws {
        let origin = try LoopbackServer { $0.method == "HEAD" ? .status(404) : .text("kept") }
        let head = try request(origin.url("a").absoluteString, method: "HEAD")
        try await visit { visit in
            _ = try await visit.session.data(from: origin.url("a"))
            visit.recorder.flush()
            let heard = HeardEvents(of: visit.cache)
            let answer = try await visit.session.data(for: head).1 as? HTTPURLResponse
            #expect(answer?.statusCode == 404)
            #expect(heard.kinds == ["forwarded"])
        }
        if !isStrict { origin.stop() }
        let offline = try Visit(recorded, unmatched: isStrict ? .fail : .load)
        defer { offline.end() }
        for (method, length) in [("HEAD", 0), ("GET", 4)] {
            let asked = try request(origin.url("a").absoluteString, method: method)
            let (body, response) = try await offline.session.data(for: asked)
            #expect(body.count == length)
            let answer = try #require(response as? HTTPURLResponse)
            #expect(answer.statusCode == 200 && answer.value(forHTTPHeaderField: "Content-Length") == "4")
            #expect(answer.mimeType == "text/plain")
        }
        let other = try request(origin.url("b").absoluteString, method: "HEAD")
        await #expect(throws: URLError.self) { try await offline.session.data(for: other) }
        #expect(origin.requestCount(path: "/b") == 0)
    }

    @Test("In a strict session, only recorded responses are returned")
    func strict() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("kept")])
        defer { origin.stop() }
        try await visit { _ = try await $0.session.data(from: origin.url("a")) }
        let count = origin.requests.count
        let strict = try Visit(recorded, unmatched: .fail)
        defer { strict.end() }
        #expect(try await strict.session.data(from: origin.url("a")).0 == Data("kept".utf8))
        await #expect(throws: URLError.self) { try await strict.session.data(from: origin.url("b")) }
        #expect(origin.requests.count == count)
    }

    @Test("An event stream that has ended is recorded, and one that was cut off isn't")
    func eventStreams() async throws {
        let stream = LoopbackServer.Answer(
            headers: [("Content-Type", "text/event-stream")],
            body: Data("data: a\n\ndata: b\n\n".utf8),
            chunked: true
        )
        let origin = try LoopbackServer(routes: ["/whole": stream, "/cut": stream.failing(.dropAfter(bodyBytes: 9))])
        let (whole, cut) = (origin.url("whole"), origin.url("cut"))
        try await visit { visit in
            for url in [whole, cut] {
                let request = try request(url.absoluteString, headers: ["Accept": "text/event-stream"])
                _ = try? await visit.session.data(for: request)
            }
            origin.stop()
            #expect(try await visit.session.data(from: whole).0 == stream.body)
        }
        #expect(try keys() == [whole.absoluteString])
        let text = try String(contentsOf: recorded.appendingPathComponent("substitutions.json"), encoding: .utf8)
        #expect(text.contains(#""secondsPerEvent": 0"#), "\(text)")
    }

    @Test("An event stream arrives while it lasts, even if there's a copy to fall back on")
    func lastingEventStream() async throws {
        let first = LoopbackServer.Answer(
            headers: [("Content-Type", "text/event-stream")],
            body: Data("data: a\n\n".utf8)
        )
        var lasting = first
        lasting.body += Data("data: b\n\n".utf8)
        let answers = Guarded([first, lasting.failing(.stallAfter(bodyBytes: 9))])
        let origin = try LoopbackServer { _ in answers.withLock { $0.removeFirst() } }
        defer { origin.stop() }
        let url = origin.url("events")
        try await visit { visit in
            _ = try await visit.session.data(from: url)
            let delegate = TaskRecorder()
            let session = URLSession(configuration: visit.session.configuration, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: url)
            task.resume()
            while delegate.current.data.isEmpty { await Task.yield() }
            #expect(delegate.current.data == first.body)
            task.cancel()
            session.finishTasksAndInvalidate()
        }
    }

    @Test("A redirect's target answers for the requested URL, and isn't asked later")
    func redirect() async throws {
        let origin = try LoopbackServer { request in
            request.path == "/a"
                ? .redirect(to: "/b") : LoopbackServer.Answer(headers: [("ETag", "\"b\"")], body: Data("target".utf8))
        }
        let url = origin.url("a")
        try await visit { visit in
            for _ in 0..<2 { _ = try await visit.session.data(from: url) }
            #expect(origin.requests.allSatisfy { $0.header("If-None-Match") == nil })
            origin.stop()
            let (data, _) = try await visit.session.data(from: url)
            #expect(data == Data("target".utf8))
        }
    }

    @Test("A copy isn't confirmed just because the redirect's target says so")
    func redirectedValidator() async throws {
        let isMoved = Guarded(false)
        let origin = try LoopbackServer { request in
            if request.path == "/a", isMoved.withLock({ $0 }) { return .redirect(to: "/b") }
            let isKnown = request.header("If-None-Match") == "\"1\""
            return isKnown
                ? .status(304) : LoopbackServer.Answer(headers: [("ETag", "\"1\"")], body: Data(request.path.utf8))
        }
        defer { origin.stop() }
        try await visit { visit in
            _ = try await visit.session.data(from: origin.url("a"))
            isMoved.withLock { $0 = true }
            let (data, _) = try await visit.session.data(from: origin.url("a"))
            #expect(data == Data("/b".utf8))
        }
    }

    @Test("URLs that the cache's own map excludes aren't recorded, and neither are redirects to them")
    func excluded() async throws {
        let origin = try LoopbackServer { request in
            request.path == "/a" ? .redirect(to: "/never") : .text("excluded")
        }
        defer { origin.stop() }
        try await visit(map: #"{ "http://127.0.0.1:*/never": null }"#) { visit in
            for path in ["a", "never"] { _ = try await visit.session.data(from: origin.url(path)) }
        }
        #expect(try keys().isEmpty)
    }

    @Test("What a handler leaves to the network isn't recorded")
    func leftByHandler() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        defer { origin.stop() }
        let map = #"{ "http://127.0.0.1:*/left": { "handler": "leave" } }"#
        let visit = try Visit(recorded, map: map, handlers: ["leave": { _ in .notSubstituted }])
        defer { visit.end() }
        let (data, _) = try await visit.session.data(from: origin.url("left"))
        #expect(data == Data("network".utf8))
        visit.recorder.flush()
        #expect(try keys().isEmpty)
    }

    @Test("The answer to a redirected request with a cookie isn't recorded, which is reported")
    func redirectedCookie() async throws {
        let origin = try LoopbackServer { request in
            request.path == "/login"
                ? LoopbackServer.Answer(
                    status: 302,
                    headers: [("Location", "/home"), ("Set-Cookie", "user=ada; Path=/")]
                ) : .text("for \(request.header("Cookie") ?? "all")")
        }
        defer { origin.stop() }
        try await visit { visit in
            let events = HeardEvents(of: visit.cache)
            let (data, _) = try await visit.session.data(from: origin.url("login"))
            #expect(data == Data("for user=ada".utf8))
            visit.recorder.flush()
            let reason = "not recorded \(origin.url("login")): after a redirect, the request has the header “Cookie”"
            #expect(events.all.map(\.description).contains(reason))
        }
        #expect(try keys().isEmpty)
    }

    @Test("A closed recorder keeps nothing, and lets another one have the folder")
    func closed() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("a")])
        defer { origin.stop() }
        let visit = try Visit(recorded)
        #expect(throws: SubstitutionRecorderError.self) { try SubstitutionRecorder(folder: recorded) }
        visit.recorder.close()
        let other = try SubstitutionRecorder(folder: recorded)
        _ = try await visit.session.data(from: origin.url("a"))
        visit.end()
        other.close()
        #expect(try keys().isEmpty)
    }

    @Test("A copy whose file is gone is requested again")
    func fileIsGone() async throws {
        let origin = try LoopbackServer { request in
            request.header("If-None-Match") == nil
                ? LoopbackServer.Answer(
                    headers: [("ETag", "\"1\""), ("Content-Type", "text/plain")],
                    body: Data("one".utf8)
                )
                : .status(304)
        }
        defer { origin.stop() }
        try await visit { visit in
            _ = try await visit.session.data(from: origin.url("a"))
            visit.recorder.flush()
            try FileManager.default.removeItem(at: recorded.appendingPathComponent("Substitutes"))
            let (data, _) = try await visit.session.data(from: origin.url("a"))
            #expect(data == Data("one".utf8))
        }
    }

    @Test("A copy that the network says is current is reported as confirmed, and once it changes, as loaded")
    func confirmed() async throws {
        let tag = Guarded("\"1\"")
        let origin = try LoopbackServer { request in
            let current = tag.withLock { $0 }
            return request.header("If-None-Match") == current
                ? .status(304) : LoopbackServer.Answer(headers: [("ETag", current)], body: Data(current.utf8))
        }
        defer { origin.stop() }
        try await visit { visit in
            let events = HeardEvents(of: visit.cache)
            for body in ["\"1\"", "\"1\"", "\"2\""] {
                tag.withLock { $0 = body }
                let (data, response) = try await visit.session.data(from: origin.url("a"))
                #expect(data == Data(body.utf8))
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                visit.recorder.flush()
            }
            #expect(
                events.all.map(\.kind) == [.forwarded, .recorded, .confirmed, .forwarded, .recorded]
            )
            let url = origin.url("a").absoluteString
            let about = "confirmed \(url): the network says that the recorded response is current (3 bytes)"
            #expect(events.all.map(\.description).contains(about))
            #expect(visit.cache.statistics.forwarded == 3 && visit.cache.statistics.requests == 3)
        }
    }

    @Test("It reports what it recorded, and why it didn't")
    func events() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("kept"), "/no": .status(500)])
        defer { origin.stop() }
        try await visit { visit in
            let events = HeardEvents(of: visit.cache)
            for path in ["a", "no"] { _ = try await visit.session.data(from: origin.url(path)) }
            visit.recorder.flush()
            let about = events.all.map { $0.description.replacingOccurrences(of: recorded.path, with: "FOLDER") }
                .filter { $0.contains("recorded") }
            let host = "127.0.0.1_\(origin.port)"
            #expect(
                about == [
                    "recorded \(origin.url("a")) → FOLDER/Substitutes/\(host)/a.txt (4 bytes)",
                    "not recorded \(origin.url("no")): the status is 500, which isn't recorded",
                ]
            )
            #expect(visit.cache.statistics.recorded == 1)
        }
    }

    @Test("Pieces of a response are delivered as they arrive, if there's no fallback")
    func pieces() async throws {
        let origin = try LoopbackServer(routes: [
            "/a": LoopbackServer.Answer(body: Data(count: 200_000), fault: .stallAfter(bodyBytes: 100_000))
        ])
        defer { origin.stop() }
        let visit = try Visit(recorded)
        defer { visit.end() }
        let (bytes, continuation) = AsyncStream.makeStream(of: Int.self)
        let session = URLSession(
            configuration: visit.session.configuration,
            delegate: ByteCounter(continuation),
            delegateQueue: nil
        )
        let task = session.dataTask(with: origin.url("a"))
        task.resume()
        var received = 0
        for await count in bytes {
            received += count
            if received == 100_000 { break }
        }
        #expect(received == 100_000)
        task.cancel()
        session.finishTasksAndInvalidate()
    }
}

/// Counts the bytes that have arrived.
private final class ByteCounter: NSObject, URLSessionDataDelegate, Sendable {
    private let continuation: AsyncStream<Int>.Continuation

    init(_ continuation: AsyncStream<Int>.Continuation) { self.continuation = continuation }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        continuation.yield(data.count)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish()
    }
}
