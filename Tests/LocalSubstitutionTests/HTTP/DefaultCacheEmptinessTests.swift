#if os(Linux)
import Foundation
import FoundationNetworking
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

/// Skipping an empty default cache must never lose a response.
@Suite("A default cache that was empty", .sessions, .timeLimit(.minutes(5)))
struct DefaultCacheEmptinessTests {
    private let fixture: CacheFixture
    private var folder: URL { fixture.folder.appendingPathComponent("cache") }

    init() throws { fixture = try CacheFixture(#""https://h/a": "a.txt""#) }

    private static func store(_ url: String, in cache: LocalSubstitutionCache) throws {
        let request = try request(url)
        let response = try #require(
            request.url.flatMap { HTTPURLResponse(url: $0, statusCode: 200, httpVersion: nil, headerFields: nil) }
        )
        cache.storeCachedResponse(CachedURLResponse(response: response, data: Data(url.utf8)), for: request)
    }

    /// Looks up until the cache knows that there is nothing. A folder that was just made isn't reliable yet.
    private func seeMisses(_ cache: LocalSubstitutionCache) throws {
        let end = ContinuousClock.now + .milliseconds(60)
        while ContinuousClock.now < end { #expect(try cache.lookUp("https://x/none") == nil) }
    }

    @Test("It's asked again once another cache has stored something in its folder", arguments: [false, true])
    func otherCache(hasFolder: Bool) throws {
        if hasFolder { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        let (cache, other) = (try fixture.cache(), try fixture.cache())
        try seeMisses(cache)
        try Self.store("https://x/a", in: other)
        #expect(try cache.lookUp("https://x/a")?.text == "https://x/a")
        #expect(cache.statistics.defaultCacheHits == 1)
    }

    @Test("It has what an earlier or a concurrent process has stored")
    func otherProcess() async throws {
        func storeElsewhere(_ url: String) async {
            let path = fixture.folder.path
            await #expect(processExitsWith: .success) { [path = path as String, url = url as String] in
                let folder = URL(fileURLWithPath: path)
                let map = try SubstitutionMap(contentsOf: folder.appendingPathComponent("substitutions.json"))
                let cache = LocalSubstitutionCache(map: map, directory: folder.appendingPathComponent("cache"))
                try DefaultCacheEmptinessTests.store(url, in: cache)
            }
        }
        let running = try fixture.cache()
        try seeMisses(running)
        await storeElsewhere("https://x/a")
        let later = try fixture.cache()
        for cache in [running, later] { #expect(try cache.lookUp("https://x/a")?.text == "https://x/a") }
        await storeElsewhere("https://x/b")
        for cache in [running, later] { #expect(try cache.lookUp("https://x/b")?.text == "https://x/b") }
    }

    @Test("Nothing that's stored between two misses is lost")
    func betweenMisses() throws {
        for number in 0..<200 {
            let folder = fixture.folder.appendingPathComponent("cache \(number)")
            let map = try SubstitutionMap(contentsOf: fixture.mapFile)
            let caches = (0..<2).map { _ in LocalSubstitutionCache(map: map, directory: folder) }
            for _ in 0..<(number % 5) { #expect(try caches[0].lookUp("https://x/a") == nil) }
            // A folder is only known to be empty if it changed some time ago.
            if number % 4 == 3 { while FileStatus(path: folder.path)?.isTooFresh(at: System.now) == true {} }
            for _ in 0..<(number % 3) { #expect(try caches[0].lookUp("https://x/b") == nil) }
            try Self.store("https://x/a", in: caches[1])
            #expect(try caches[0].lookUp("https://x/a")?.text == "https://x/a", "round \(number)")
        }
    }

    @Test("A key is made only if the cache may have responses")
    func keys() throws {
        let (cache, request) = (try fixture.cache(), try request("https://x/a"))
        var count = 0
        func key() -> URLRequest {
            count += 1
            return request
        }
        try seeMisses(cache)
        #expect(cache.responder.defaultCache.response(under: key()) == nil)
        #expect(count == 0)
        try Self.store("https://x/a", in: cache)
        _ = cache.responder.defaultCache.response(under: key())
        #expect(count == 1)
    }

    @Test("A lookup finds what another thread is storing")
    func threads() throws {
        for number in 0..<20 {
            let folder = fixture.folder.appendingPathComponent("cache \(number)")
            let map = try SubstitutionMap(contentsOf: fixture.mapFile)
            let (cache, other) = (
                LocalSubstitutionCache(map: map, directory: folder), LocalSubstitutionCache(map: map, directory: folder)
            )
            let isStored = Guarded(false)
            let lookups = Guarded(0)
            let end = ContinuousClock.now + .milliseconds(60)
            let lost = Guarded(0)
            DispatchQueue.concurrentPerform(iterations: 2) { worker in
                if worker == 0 {
                    while lookups.withLock({ $0 }) < number * 100, ContinuousClock.now < end {}
                    try? Self.store("https://x/a", in: other)
                    isStored.withLock { $0 = true }
                } else {
                    while ContinuousClock.now < end || lookups.withLock({ $0 }) == 0 {
                        lookups.withLock { $0 += 1 }
                        let mustBeFound = isStored.withLock { $0 }
                        let found = try? cache.lookUp("https://x/a")
                        if mustBeFound, found == nil { lost.withLock { $0 += 1 } }
                    }
                }
            }
            #expect(lost.withLock { $0 } == 0)
            #expect(isStored.withLock { $0 })
        }
    }

    @Test("It's asked again after its folder couldn't be listed")
    func unlisted() async {
        await #expect(processExitsWith: .success) {
            let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
            try DefaultCacheEmptinessTests.store("https://x/a", in: fixture.cache())
            // What was just stored might not show yet, so the cache wouldn't conclude anything.
            let folder = fixture.folder.appendingPathComponent("cache").path
            while FileStatus(path: folder)?.isTooFresh(at: System.now) == true {}
            let cache = try fixture.cache()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = 200
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var descriptors: [Int32] = []
            repeat { descriptors.append(open("/dev/null", O_RDONLY)) } while descriptors.last != -1
            #expect(try cache.lookUp("https://x/none") == nil)
            descriptors.dropLast().forEach { close($0) }
            #expect(try cache.lookUp("https://x/a")?.text == "https://x/a")
        }
    }

    @Test("It's asked again once this cache has stored something, and after everything is removed")
    func ownCache() throws {
        let cache = try fixture.cache()
        for number in 0..<3 {
            try seeMisses(cache)
            try Self.store("https://x/\(number)", in: cache)
            #expect(try cache.lookUp("https://x/\(number)")?.text == "https://x/\(number)")
            cache.removeAllCachedResponses()
            #expect(try cache.lookUp("https://x/\(number)") == nil)
        }
    }
}
#endif
