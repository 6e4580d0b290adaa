import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Asking the network for refreshed files", .sessions, .timeLimit(.minutes(5)))
struct RefreshScheduleTests {
    @Test("It happens once an hour, whatever the number of requests and the spelling")
    func once() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try fixture.cache()
        let url = fixture.url
        _ = try await cache.refreshing {
            DispatchQueue.concurrentPerform(iterations: 200) { number in
                _ = try? cache.lookUp(number % 2 == 0 ? url : url + "#\(number)")
            }
        }
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            #expect((try? cache.lookUp(number % 2 == 0 ? url : url + "#\(number)"))?.text == "newer")
        }
        #expect(cache.schedule.isIdle)
        #expect(fixture.origin.requests.count == 1)
    }

    @Test("It happens again once the time has passed")
    func again() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try fixture.cache()
        cache.schedule.interval = 0
        for number in 1...3 {
            fixture.answer(.text("newer \(number)"))
            _ = try await cache.refreshing { () throws in #expect(try cache.lookUp(fixture.url) != nil) }
        }
        cache.schedule.interval = 3_600
        _ = try await cache.refreshing { () throws in #expect(try cache.lookUp(fixture.url)?.text == "newer 3") }
        for _ in 1...3 { #expect(try cache.lookUp(fixture.url)?.text == "newer 3") }
        #expect(cache.schedule.isIdle)
        #expect(fixture.origin.requests.count == 4)
    }

    @Test("A file's retained response lasts until then")
    func retainedFile() async throws {
        let fixture = try UpdatingFixture(.text("local"))
        let cache = try fixture.cache()
        cache.schedule.interval = 0
        for _ in 1...3 { _ = try await cache.refreshing { _ = try cache.lookUp(fixture.url) } }
        cache.schedule.interval = 3_600
        _ = try await cache.refreshing { _ = try cache.lookUp(fixture.url) }
        let known = try #require(try cache.lookUp(fixture.url))
        #expect(try cache.lookUp(fixture.url) === known)
        #expect(fixture.origin.requests.count == 4)
    }

    static let failures: [(what: String, answer: LoopbackServer.Answer, reason: String?)] = [
        ("no-store", .init(headers: [("Cache-Control", "max-age=1, No-Store")], body: Data("x".utf8)), "no-store"),
        ("vary", .init(headers: [("Vary", "Accept, *")], body: Data("x".utf8)), "Vary"),
        ("a page to sign in", .text("<p>", type: "text/html; charset=utf-8"), "text/html"),
        ("500", .init(status: 500, body: Data("x".utf8)), "500"),
        ("404", .init(status: 404, body: Data("x".utf8)), "404"),
        ("204", .status(204), "204"),
        ("304 unasked", .status(304), "304"),
        ("challenge", .init(status: 401, headers: [("WWW-Authenticate", #"Basic realm="x""#)]), "401"),
        ("half a body", .text("newer").failing(.dropAfter(bodyBytes: 2)), nil),
        (
            "half a chunked body",
            .init(body: Data("newer".utf8), chunked: true, fault: .dropAfter(bodyBytes: 2)), nil
        ),
        ("no answer", .text("newer").failing(.dropBeforeHead), nil),
        ("too large", .ok(Data(count: 200_000)), "100,000 bytes, the default cache's capacity"),
        ("just too large", .ok(Data(count: 99_990)), "didn't store"),
    ]

    @Test("A failure changes neither the file nor a copy", arguments: failures)
    func failure(_ what: String, _ answer: LoopbackServer.Answer, _ expected: String?) async throws {
        let fixture = try UpdatingFixture(answer)
        let cache = try fixture.cache(memoryCapacity: 90_000, diskCapacity: 100_000)
        for text in ["local", "newer"] {
            let event = try await cache.refreshAgain(fixture.url)
            guard let event, event.kind == .refreshFailed else {
                Issue.record("\(what): \(String(describing: event))")
                return
            }
            #expect(event.key == fixture.url)
            #expect(event.reason?.contains(expected ?? "e") == true, "\(event)")
            #expect(try cache.lookUp(fixture.url)?.text == text)
            guard text == "local" else { return }
            fixture.answer(.text("newer"))
            _ = try await cache.refreshAgain(fixture.url)
            fixture.answer(answer)
        }
    }

    @Test("It doesn't happen for other uses, methods and policies")
    func others() async throws {
        let fixture = try UpdatingFixture(
            .text("newer"),
            map: #"""
                "ORIGIN/always": "a.txt", "ORIGIN/null": null,
                "ORIGIN/offline": { "file": "a.txt", "use": "whenOffline" },
                "ORIGIN/status": { "status": 404 },
                "ORIGIN/post": { "file": "a.txt", "use": "untilUpdated", "methods": ["POST"] }
                """#
        )
        let cache = try fixture.cache()
        for path in ["always", "null", "offline", "status", "post", "unknown"] {
            _ = try cache.lookUp(fixture.origin.url(path).absoluteString)
        }
        _ = cache.cachedResponse(for: try request(fixture.origin.url("post").absoluteString, method: "POST"))
        _ = cache.cachedResponse(for: try request(fixture.url, policy: .reloadIgnoringLocalCacheData))
        #expect(cache.schedule.isIdle)
        #expect(cache.schedule.count == 0)
        #expect(fixture.origin.requests.isEmpty)
    }

    @Test("It happens for each URL of a pattern, and each has its own copy")
    func patterns() async throws {
        let fixture = try UpdatingFixture(
            .text("newer"),
            map: #""ORIGIN/p/*": { "file": "a.txt", "use": "untilUpdated" }"#
        )
        let cache = try fixture.cache()
        let names = ["1", "2", "3?v=1", "3?v=2"]
        for name in names {
            let url = fixture.origin.url("p/" + name)
            fixture.answer(.text("newer \(name)"), for: url.path)
            _ = try await cache.refreshing { () throws in #expect(try cache.lookUp(url.absoluteString)?.text == "local")
            }
        }
        fixture.origin.stop()
        for cache in [cache, try fixture.cache()] {
            for name in names {
                #expect(try cache.lookUp(fixture.origin.url("p/" + name).absoluteString)?.text == "newer \(name)")
            }
        }
        #expect(fixture.origin.requests.map(\.target) == names.map { "/p/" + $0 })
    }

    @Test("Requests are plain: without fragment, credentials or the request's own headers")
    func plain() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        fixture.answer(
            .init(headers: [("Set-Cookie", "secret=1"), ("ETag", "\"1\"")], body: Data("newer".utf8))
        )
        let cache = try fixture.cache()
        let asked = try request(fixture.url + "#part", headers: ["X-Own": "1", "Cookie": "secret=1"])
        _ = try await cache.refreshing { _ = cache.cachedResponse(for: asked) }
        _ = try await cache.refreshAgain(fixture.url)
        #expect(fixture.origin.requests.count == 2)
        for request in fixture.origin.requests {
            #expect(request.target == "/a")
            for name in ["X-Own", "Cookie", "Authorization"] { #expect(request.header(name) == nil) }
        }
    }

    @Test("At most four run at a time, and all run eventually")
    func fewAtATime() async throws {
        let running = Guarded((now: 0, most: 0))
        let schedule = RefreshSchedule()
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for number in 0..<50 {
            _ = schedule.ask(for: "\(number)") { done in
                running.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                DispatchQueue.global().async {
                    running.withLock { $0.now -= 1 }
                    done()
                    continuation.yield()
                }
            }
        }
        var count = 0
        for await _ in stream {
            count += 1
            if count == 50 { break }
        }
        #expect(running.withLock { $0.most } <= 4)
        #expect(schedule.isIdle)
    }

    @Test("Waiting requests count too, so their hits are as fast as any")
    func waiting() {
        let schedule = RefreshSchedule()
        let dueAt = (0..<9).map { schedule.ask(for: "\($0)") { _ in } }
        let now = System.steadyNow
        #expect(dueAt.allSatisfy { $0 > now })
    }

    @Test("A limited number of URLs is remembered, and none is forgotten before it may be asked for again")
    func bounded() async {
        let schedule = RefreshSchedule(limit: 3)
        let asked = Guarded<[String]>([])
        func ask(_ url: String) -> Int64 {
            schedule.ask(for: url) { done in
                asked.withLock { $0.append(url) }
                done()
            }
        }
        let dueAt = (0..<10).map { ask("\($0)") }
        #expect(schedule.count == 3)
        let now = System.steadyNow
        #expect(dueAt.allSatisfy { $0 > now })
        #expect(ask("0") >= dueAt[0])
        while !schedule.isIdle { await Task.yield() }
        #expect(Set(asked.withLock { $0 }) == ["0", "1", "2"])
        // Once they are, one of them makes room.
        schedule.removeAll()
        schedule.interval = 0
        for number in 0..<3 { _ = ask("\(number)") }
        while !schedule.isIdle { await Task.yield() }
        // Also after all were forgotten.
        for number in 0..<9 {
            _ = ask("unknown \(number)")
            while !schedule.isIdle { await Task.yield() }
            #expect(asked.withLock { $0.last } == "unknown \(number)")
        }
    }

    @Test(
        "A data task is answered immediately by a retained file, and later by what has to be read from the default cache"
    )
    func atOnce() async throws {
        let fixture = try UpdatingFixture(.text("local"))
        let cache = try fixture.cache()
        let session = session(with: nil)
        defer { session.finishTasksAndInvalidate() }
        func isAnsweredAtOnce(_ request: URLRequest) -> Bool {
            let isAnswered = Guarded(false)
            cache.getCachedResponse(for: session.dataTask(with: request)) { _ in isAnswered.withLock { $0 = true } }
            return isAnswered.withLock { $0 }
        }
        _ = try await cache.refreshing { _ = try cache.lookUp(fixture.url) }
        _ = try cache.lookUp(fixture.url)
        #expect(isAnsweredAtOnce(try request(fixture.url)))
        for request in [
            try request(fixture.url, method: "HEAD"), try request(fixture.url, headers: ["Range": "bytes=0-1"]),
        ] {
            #expect(!cache.responder.isAtHand(cache.responder.lookUp(request)))
        }
        fixture.answer(.text("newer"))
        _ = try await cache.refreshAgain(fixture.url)
        #expect(!cache.responder.isAtHand(cache.responder.lookUp(try request(fixture.url))))
        #expect(cache.responder.currentResponse(to: try request(fixture.url)) == nil)
    }

    @Test("It doesn't keep a cache alive, and ends with it")
    func end() async throws {
        let fixture = try UpdatingFixture(.text("newer").failing(.stallAfter(bodyBytes: 2)))
        weak var gone: LocalSubstitutionCache?
        let parts: () -> (RefreshSchedule?, UncachedLoader?) = try await {
            let cache = try fixture.cache()
            gone = cache
            weak let schedule = cache.schedule
            weak let loader = cache.responder.refreshedFiles.loader
            let arrived = EventLog(cache)
            _ = try cache.lookUp(fixture.url)
            _ = await arrived.all { _ in true }
            return { (schedule, loader) }
        }()
        // The block that makes the request is the only other holder, as long as it runs. The session holds the last until it's
        // invalidated.
        while gone != nil || parts().0 != nil || parts().1 != nil { await Task.yield() }
        #expect(gone == nil)
    }
}
