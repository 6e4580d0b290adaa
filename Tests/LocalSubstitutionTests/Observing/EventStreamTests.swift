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

@Suite("Streams of events", .threads, .timeLimit(.minutes(5)))
struct EventStreamTests {
    typealias Event = LocalSubstitutionCache.Event

    /// Returns the paths of a stream's events, until it ends.
    private func paths(_ stream: AsyncStream<Event>) async -> [String] {
        var paths: [String] = []
        for await event in stream { paths.append(event.url?.path ?? "") }
        return paths
    }

    private func cache() throws -> LocalSubstitutionCache { try CacheFixture(#""https://h/*": "a.txt""#).cache() }

    @Test("Each stream has every event since it was made, even of responses in memory, and ends with the cache")
    func twoListeners() async throws {
        var cache: LocalSubstitutionCache? = try cache()
        _ = try cache?.lookUp("https://h/0")
        let first = try #require(cache?.events())
        for number in [0, 1, 1] { _ = try cache?.lookUp("https://h/\(number)") }
        let second = try #require(cache?.events())
        for number in [1, 2] { _ = try cache?.lookUp("https://h/\(number)") }
        weak let gone = cache
        cache = nil
        #expect(gone == nil, "a stream doesn't hold the cache")
        #expect(await paths(first) == ["/0", "/1", "/1", "/1", "/2"])
        #expect(await paths(second) == ["/1", "/2"])
    }

    @Test("A stream ends even while a task waits for it")
    func endsWhileWaiting() async throws {
        let (stream, responder) = try {
            let cache = try cache()
            return (cache.events(), cache.responder)
        }()
        #expect(await paths(stream) == [])
        // A session that the cache was attached to may outlive it.
        #expect(await paths(responder.events(bufferingNewest: 1)) == [])
        let waiting = try cache().events()
        async let ended = paths(waiting)
        #expect(await ended == [])
    }

    @Test("A stream keeps the newest events up to its buffer's limit")
    func bounded() async throws {
        var cache: LocalSubstitutionCache? = try cache()
        let stream = try #require(cache?.events(bufferingNewest: 2))
        for number in 0..<5 { _ = try cache?.lookUp("https://h/\(number)") }
        cache = nil
        #expect(await paths(stream) == ["/3", "/4"])
    }

    @Test("A dropped stream costs nothing")
    func dropped() throws {
        let cache = try cache()
        let url = try #require(URL(string: "https://h/a"))
        var made = 0
        func event() -> Event {
            made += 1
            return Event(kind: .defaultCacheHit, url: url)
        }
        do {
            let stream = cache.events()
            cache.responder.observers.emit(event())
            withExtendedLifetime(stream) {}
        }
        #expect(made == 1)
        cache.responder.observers.emit(event())
        #expect(made == 1)
    }

    @Test("An event has everything there is to know")
    func fields() async throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt", "https://h/n": null"#)
        let cache = try fixture.cache()
        let log = EventLog(cache)
        for path in ["a", "n", "A"] { _ = try cache.lookUp("https://h/\(path)") }
        let told = await log.all { $0.kind == .missed }
        #expect(told.map(\.kind) == [.matched, .bypassed, .missed])
        #expect(told.map(\.url?.path) == ["/a", "/n", "/A"])
        #expect(told.map(\.key) == ["https://h/a", "https://h/n", nil])
        #expect(told.map(\.file?.path) == [fixture.file("a.txt").path, nil, nil])
        #expect(told.map(\.bytes) == [5, nil, nil])
        #expect(told.map(\.reason) == [nil, "the entry is null, so the URL is never substituted", nil])
        #expect(told.map { $0.nearMisses.map(\.key) } == [[], [], ["https://h/a"]])
    }

    // MARK: Before the response

    struct Row: CustomTestStringConvertible, Sendable {
        let what: String
        let path: String
        var headers: [String: String] = [:]
        var isAttached = true
        var unmatched = LocalSubstitutionCache.Unmatched.load
        var isInMemory = false
        let kind: Event.Kind
        var testDescription: String { what }
    }

    static let rows = [
        Row(what: "by the cache alone", path: "a", isAttached: false, kind: .matched),
        Row(what: "in memory, by the cache alone", path: "a", isAttached: false, isInMemory: true, kind: .matched),
        Row(what: "by the protocol", path: "a", kind: .matched),
        Row(what: "in memory, by the protocol", path: "a", isInMemory: true, kind: .matched),
        Row(what: "with Authorization", path: "a", headers: ["Authorization": "x"], kind: .matched),
        Row(what: "from the network", path: "b", kind: .missed),
        Row(what: "from the network, by the cache alone", path: "b", isAttached: false, kind: .missed),
        Row(what: "failed", path: "b", unmatched: .fail, kind: .missed),
        Row(what: "excluded", path: "n", kind: .bypassed),
        Row(what: "forwarded", path: "offline/a", kind: .forwarded),
    ]

    @Test("An event arrives before its response is delivered", arguments: rows)
    func beforeDelivery(_ row: Row) async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        defer { origin.stop() }
        let cache = try CacheFixture(
            #"""
            "http://127.0.0.1:*/a": "a.txt", "http://127.0.0.1:*/n": null,
            "http://127.0.0.1:*/offline/*": { "file": "a.txt", "use": "whenOffline" }
            """#
        ).cache()
        let request = try request(origin.url(row.path).absoluteString, headers: row.headers)
        if row.isInMemory { #expect(cache.cachedResponse(for: request) != nil) }
        let session = try row.isAttached ? cache.makeSession(unmatched: row.unmatched) : session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        let events = HeardEvents(of: cache)
        let heard = await withCheckedContinuation { continuation in
            session.dataTask(with: request) { _, _, _ in continuation.resume(returning: events.all.map(\.kind)) }
                .resume()
        }
        #expect(heard == [row.kind])
    }

    @Test("A reload listener hears only that the map was reloaded or is broken")
    func reloads() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        let heard = Guarded<[LocalSubstitutionCache.Event.Kind]>([])
        cache.hearReloads { event in heard.withLock { $0.append(event.kind) } }
        for url in ["https://h/a", "https://h/a", "https://h/b"] { _ = try cache.lookUp(url) }
        #expect(heard.withLock { $0.isEmpty })
        for entry in [#""https://h/b": "a.txt""#, #""https://h/b": "none.txt""#] {
            try fixture.writeMap(entry)
            for url in ["https://h/b", "https://h/c"] { _ = try cache.lookUp(url) }
        }
        #expect(heard.withLock { $0 } == [.mapReloaded, .mapNotReloaded])
    }

    @Test("An offline fallback is one event with the recorded file, and a recorder's arrives once it's flushed")
    func fallback() async throws {
        let folder = try TemporaryFolder()
        let origin = try LoopbackServer { _ in .text("network") }
        let url = origin.url("a")
        let visit = try Visit(folder.url)
        defer { visit.end() }
        let events = HeardEvents(of: visit.cache)
        _ = try await visit.session.data(from: url)
        visit.recorder.flush()
        #expect(events.kinds == ["forwarded", "recorded"])
        origin.stop()
        _ = try await visit.session.data(from: url)
        try #require(events.kinds == ["forwarded", "recorded", "usedOffline"])
        #expect(events.all[0].description == "forwarded \(url): the network responded")
        let path = try #require(events.all[1].file?.path)
        #expect(path.hasPrefix(folder.url.path))
        #expect(events.all[2].description.hasPrefix("used offline \(url) ← \(path) (7 bytes; recorded): "))
        #expect(events.all.allSatisfy { $0.key == nil })
    }

    @Test("A stream is complete if the cache is released after a response")
    func thenEnds() async throws {
        for _ in 0..<20 {
            var cache: LocalSubstitutionCache? = try CacheFixture(#""http://nowhere.invalid/a": "a.txt""#).cache()
            let configuration = URLSessionConfiguration.ephemeral
            try cache?.attach(to: configuration, unmatched: .fail)
            // Keeps the session from holding the cache.
            configuration.urlCache = nil
            let session = URLSession(configuration: configuration)
            let stream = try #require(cache?.events())
            _ = try await session.data(for: request("http://nowhere.invalid/a", headers: ["Authorization": "x"]))
            cache = nil
            #expect(await paths(stream) == ["/a"])
            session.finishTasksAndInvalidate()
        }
    }
}
