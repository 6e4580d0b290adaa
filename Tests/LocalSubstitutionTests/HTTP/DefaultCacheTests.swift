import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The default cache", .values)
struct DefaultCacheTests {
    private func response(
        _ url: String,
        _ text: String,
        policy: URLCache.StoragePolicy = .allowed
    ) throws -> CachedURLResponse {
        let url = try #require(URL(string: url))
        let http = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["X": "y"])
        )
        return CachedURLResponse(response: http, data: Data(text.utf8), userInfo: nil, storagePolicy: policy)
    }

    /// Pairs that Linux's `URLCache` confuses.
    static let confusable = [
        "http://x/a", "https://x/a", "https://x/a?v=1", "https://x/a?v=2", "https://x/A", "https://x/a/",
        "https://x:8443/a",
        "https://x/a?v=1&w=2", "https://x/a?w=2&v=1", "https://user:secret@x/a",
        "https://x/" + String(repeating: "long", count: 100),
        "https://x/" + String(repeating: "long", count: 100) + "?v=1",
    ]

    @Test("It never returns another URL's response, and keeps both, in memory and on disk", arguments: [true, false])
    func keepsApart(inMemory: Bool) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let map = try SubstitutionMap(contentsOf: fixture.mapFile)
        let folder = fixture.folder.appendingPathComponent("disk")
        let cache = LocalSubstitutionCache(map: map, directory: folder)
        for url in Self.confusable { cache.storeCachedResponse(try response(url, url), for: try request(url)) }
        // A second cache has nothing in memory.
        let reader = inMemory ? cache : LocalSubstitutionCache(map: map, directory: folder)
        for url in Self.confusable { #expect(try reader.lookUp(url)?.text == url) }
        #expect(try reader.lookUp("https://x/a?v=3") == nil)
        #expect(cache.statistics.defaultCacheHits + reader.statistics.defaultCacheHits >= Self.confusable.count)
    }

    static let spellings = [
        ("https://x/a#top", "https://x/a"), ("https://x/a", "https://x/a#top"), ("https://X/a", "https://x/a"),
        ("https://x:443/a", "https://x/a"), ("https://x", "https://x/"), ("https://x/%61", "https://x/a"),
        ("https://x/b/../a?q#top", "https://x/a?q"), ("https://user:secret@x/a#top", "https://user:secret@x/a"),
    ]

    #if !canImport(Darwin)
    @Test("All spellings of a URL are stored in one place, whatever the fragment", arguments: spellings)
    func spelling(_ stored: String, _ asked: String) throws {
        let cache = try CacheFixture(#""https://h/a": "a.txt""#).cache()
        cache.storeCachedResponse(try response(stored, "network"), for: try request(stored))
        #expect(try cache.lookUp(asked)?.text == "network")
        cache.removeCachedResponse(for: try request(asked))
        #expect(try cache.lookUp(stored) == nil)
    }

    @Test(
        "A response for a URL that's neither http nor https isn't stored",
        arguments: ["file:///etc/hostname", "data:text/plain,x", "ftp://x/a", "ws://x/a"]
    )
    func otherSchemes(_ url: String) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.cache()
        cache.storeCachedResponse(try response(url, "network"), for: try request(url))
        #expect(try cache.lookUp(url) == nil)
        #expect(cache.currentMemoryUsage == 0)
        #expect(cache.currentDiskUsage == 0)
    }
    #endif

    @Test("A response isn't stored if its request would be substituted, whatever the cache policy")
    func storesNothingSubstituted() throws {
        let fixture = try CacheFixture(
            #""https://h/a": "a.txt", "https://h/n": null, "https://h/o": { "file": "a.txt", "use": "whenOffline" }"#
        )
        let cache = try fixture.cache()
        for policy in [URLRequest.CachePolicy.useProtocolCachePolicy, .reloadIgnoringLocalCacheData] {
            cache.storeCachedResponse(
                try response("https://h/a", "network"),
                for: try request("https://h/a", policy: policy)
            )
        }
        cache.map = try SubstitutionMap([:], resources: fixture.resources)
        #expect(try cache.lookUp("https://h/a") == nil)
    }

    @Test(
        "Responses for requests that no entry answers are stored",
        arguments: ["https://h/n", "https://h/o", "https://h/x"]
    )
    func storesOthers(_ url: String) throws {
        let fixture = try CacheFixture(
            #""https://h/n": null, "https://h/o": { "file": "a.txt", "use": "whenOffline" }"#
        )
        let cache = try fixture.cache()
        cache.storeCachedResponse(try response(url, "network"), for: try request(url))
        #expect(try cache.lookUp(url)?.text == "network")
        cache.removeCachedResponse(for: try request(url))
        #expect(try cache.lookUp(url) == nil)
    }

    @Test("A response is stored if the entry wouldn't answer under the default cache policy either")
    func storesOthersPolicyAside() throws {
        let fixture = try CacheFixture(
            #""https://h/o": { "file": "a.txt", "use": "whenOffline" }, "https://h/s": { "status": 500 }"#
        )
        let cache = try fixture.cache()
        for url in ["https://h/o", "https://h/s"] {
            let reload = try request(url, policy: .reloadIgnoringLocalCacheData)
            cache.storeCachedResponse(try response(url, "network"), for: reload)
            #expect(cache.cachedResponse(for: reload) == nil)
            #expect(try cache.lookUp(url)?.text == "network")
        }
    }

    @Test("Removing everything removes all stored responses")
    func removesAll() throws {
        let cache = try CacheFixture(#""https://h/a": "a.txt""#).cache()
        cache.storeCachedResponse(try response("https://x/1", "1"), for: try request("https://x/1"))
        cache.removeAllCachedResponses()
        #expect(try cache.lookUp("https://x/1") == nil)
    }

    @Test("Storing and evicting the same response many times doesn't trap")
    func storesTwice() throws {
        let fixture = try CacheFixture("")
        let cache = LocalSubstitutionCache(
            map: try SubstitutionMap(contentsOf: fixture.mapFile),
            memoryCapacity: 1_000,
            diskCapacity: 0,
            directory: fixture.folder.appendingPathComponent("small")
        )
        let text = String(repeating: "x", count: 300)
        for round in 0..<50 {
            let url = "https://x/\(round % 5)"
            let stored = try response(url, text, policy: .allowedInMemoryOnly)
            for _ in 0..<3 { cache.storeCachedResponse(stored, for: try request(url)) }
        }
        #expect(cache.currentMemoryUsage <= 1_000)
    }

    @Test(
        "Substitution works if the cache's folder can't be written",
        arguments: ["/proc/nothing/here", "/dev/null/x"]
    )
    func readOnly(_ path: String) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = LocalSubstitutionCache(
            map: try SubstitutionMap(contentsOf: fixture.mapFile),
            directory: URL(fileURLWithPath: path, isDirectory: true)
        )
        #expect(try cache.lookUp("https://h/a")?.text == "local")
        cache.storeCachedResponse(try response("https://x/1", "1"), for: try request("https://x/1"))
        #expect(try cache.lookUp("https://x/1")?.text == "1", "memory is left")
    }

    /// Computed by an implementation that passes the standard's test vector, with the key 0.
    static let digests = [
        ("", "feCjgEfXSVD08s7UR6sCQg"),
        ("a", "vqA3nHROzP8lc80OiQTE5g"),
        ("12345678", "6XkjG879_xjxt2gNW_9ENg"),
        ("https://x/a?v=1", "H4XOgn4pJY5TB0HkLuxyNA"),
    ]

    @Test("Keys are 128-bit SipHash-2-4 digests, the same in every process", arguments: digests)
    func digest(_ text: String, _ expected: String) {
        #expect(Digest.base64(of: text) == expected)
    }
}
