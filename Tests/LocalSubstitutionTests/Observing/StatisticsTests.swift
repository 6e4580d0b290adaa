import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Statistics and events", .threads)
struct StatisticsTests {
    @Test("Every lookup counts once, with the bytes that matched")
    func counts() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt", "https://h/n": null"#)
        let cache = try fixture.cache()
        #expect(cache.statistics == LocalSubstitutionCache.Statistics())
        for _ in 0..<3 { #expect(try cache.lookUp("https://h/a") != nil) }
        _ = cache.cachedResponse(for: try request("https://h/a", headers: ["Range": "bytes=0-1"]))
        _ = cache.cachedResponse(for: try request("https://h/a", policy: .reloadIgnoringLocalCacheData))
        _ = try cache.lookUp("https://h/n")
        _ = try cache.lookUp("https://h/x")
        let loaded = HTTPURLResponse(
            url: try #require(URL(string: "https://h/y")),
            statusCode: 200,
            httpVersion: nil,
            headerFields: nil
        )
        cache.storeCachedResponse(
            CachedURLResponse(
                response: try #require(loaded),
                data: Data("x".utf8),
                userInfo: nil,
                storagePolicy: .allowedInMemoryOnly
            ),
            for: try request("https://h/y")
        )
        _ = try cache.lookUp("https://h/y")
        let statistics = cache.statistics
        #expect(statistics.requests == 8)
        #expect(statistics.matched == 4)
        #expect(statistics.unmatched == 3)
        #expect(statistics.defaultCacheHits == 1)
        #expect(statistics.bytes == 3 * 5 + 2)
    }

    @Test("Every event arrives once, in order")
    func events() async throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt", "https://h/n": null"#)
        let cache = try fixture.cache()
        let log = EventLog(cache)
        _ = try cache.lookUp("https://h/a")
        _ = try cache.lookUp("https://h/a")
        _ = cache.cachedResponse(for: try request("https://h/a", policy: .reloadIgnoringLocalCacheData))
        _ = try cache.lookUp("https://h/n")
        _ = try cache.lookUp("http://h/a/")
        let told = await log.all { $0.kind == .missed }.map(\.description)
        let path = fixture.file("a.txt").path
        #expect(
            told == [
                "matched https://h/a ← \(path) (5 bytes; entry “https://h/a”)",
                "matched https://h/a ← \(path) (5 bytes; entry “https://h/a”)",
                "bypassed https://h/a: the request's cache policy ignores local data (entry “https://h/a”)",
                "bypassed https://h/n: the entry is null, so the URL is never substituted (entry “https://h/n”)",
                "missed http://h/a/ (near miss: “https://h/a” differs only in scheme and trailing slash. Begin the key with "
                    + "*:// to match both schemes, and add or remove the slash at the end of the key's path.)",
            ]
        )
    }

    typealias Event = LocalSubstitutionCache.Event

    private static let url = URL(fileURLWithPath: "/u")
    private static let file = URL(fileURLWithPath: "/a.txt")

    static let lines: [(Event, String)] = [
        (
            Event(kind: .usedOffline, url: url, key: "k", file: file, bytes: 5, reason: "no network"),
            "used offline file:///u ← /a.txt (5 bytes; entry “k”): no network"
        ),
        (
            Event(kind: .usedOffline, url: url, key: "k", bytes: 1, reason: "no network"),
            "used offline file:///u ← no file (1 byte; entry “k”): no network"
        ),
        (
            Event(kind: .usedOffline, url: url, file: file, bytes: 5, reason: "no network"),
            "used offline file:///u ← /a.txt (5 bytes; recorded): no network"
        ),
        (
            Event(kind: .matched, url: url, file: file, bytes: 5),
            "matched file:///u ← /a.txt (5 bytes; recorded)"
        ),
        (Event(kind: .forwarded, url: url, key: "k"), "forwarded file:///u: the network responded (entry “k”)"),
        (Event(kind: .forwarded, url: url), "forwarded file:///u: the network responded"),
        (Event(kind: .defaultCacheHit, url: url), "found in the default cache: file:///u"),
        (Event(kind: .failed, url: url, reason: "timed out"), "failed file:///u: timed out"),
        (Event(kind: .failed, url: url, key: "k", reason: "timed out"), "failed file:///u: timed out (entry “k”)"),
        (Event(kind: .cancelled, url: url), "cancelled file:///u"),
    ]

    @Test("An event's line says how the request ended", arguments: lines)
    func line(_ event: Event, _ line: String) {
        #expect(event.description == line)
    }

    @Test("A listener may use the cache, and hears nothing once it's removed")
    func reentrant() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.cache()
        cache.responder.inMemory.observe()
        let seen = Guarded<[Int]>([])
        let listening = Guarded<Observers.Listener?>(nil)
        let listener = Observers.Listener { [unowned cache] _ in
            cache.responder.observers.remove(listening.withLock { $0.take() })
            cache.removeAllCachedResponses()
            seen.withLock { $0.append(cache.statistics.matched) }
        }
        listening.withLock { $0 = listener }
        cache.responder.observers.add(listener)
        for _ in 0..<2 { #expect(try cache.lookUp("https://h/a") != nil) }
        #expect(seen.withLock { $0 } == [1])
    }
}
