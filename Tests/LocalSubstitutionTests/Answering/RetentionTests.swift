import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Retained responses", .sessions)
struct RetentionTests {
    @Test("An exact entry's URL gets the same response every time, as the key spells it and in normal form")
    func sameObject() throws {
        let fixture = try CacheFixture(#""https://H:443/b/../a": "a.txt""#)
        let cache = try fixture.cache()
        for url in ["https://H:443/b/../a", "https://h/a"] {
            let first = try #require(try cache.lookUp(url))
            #expect(first.response.url?.absoluteString == url)
            for number in 0..<1_500 { #expect(try cache.lookUp("https://h/a#\(number)") != nil) }
            #expect(try cache.lookUp(url) === first, "other spellings must not push it out")
        }
    }

    @Test("Responses for patterns, ignored queries and other spellings are kept up to the newest 1,024")
    func endless() throws {
        let fixture = try CacheFixture(
            #""https://h/p/*": "a.txt", "https://h/q": { "file": "a.txt", "ignoreQuery": true }"#
        )
        let cache = try fixture.cache()
        let oldest = try #require(try cache.lookUp("https://h/p/0"))
        let second = try #require(try cache.lookUp("https://h/q?v=0"))
        #expect(try cache.lookUp("https://h/p/0") === oldest)
        for number in 1...1_023 { _ = try cache.lookUp("https://h/p/\(number)") }
        #expect(try cache.lookUp("https://h/q?v=0") === second, "1,024 are kept")
        #expect(try cache.lookUp("https://h/p/0") !== oldest, "the oldest is gone")
    }

    @Test("All responses for a file share its one Data")
    func sharedData() throws {
        let text = String(repeating: "x", count: 1_000)
        let fixture = try CacheFixture(#""https://h/p/*": "a.txt", "https://h/a": "a.txt""#, files: ["a.txt": text])
        let cache = try fixture.cache()
        let addresses = try ["https://h/a", "https://h/p/1", "https://h/p/2", "https://h/a#x"].map { url in
            try #require(try cache.lookUp(url)).data.withUnsafeBytes { $0.baseAddress }
        }
        #expect(Set(addresses).count == 1)
    }

    @Test("After one response or all are removed, the next lookup rebuilds them, and the map stays")
    func removal() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt", "https://h/b": "a.txt""#)
        let cache = try fixture.cache()
        let first = try #require(try cache.lookUp("https://h/a"))
        let other = try #require(try cache.lookUp("https://h/b"))
        cache.removeCachedResponse(for: try request("https://h/a"))
        let second = try #require(try cache.lookUp("https://h/a"))
        #expect(second !== first)
        #expect(try cache.lookUp("https://h/b") === other)
        cache.removeAllCachedResponses()
        #expect(try cache.lookUp("https://h/a") !== second)
        #expect(try cache.lookUp("https://h/b") !== other)
        #expect(cache.map.count == 2)
    }

    @Test("Setting another map drops all responses, and the new map answers")
    func setMap() throws {
        let fixture = try CacheFixture(
            #""https://h/a": "a.txt", "https://h/b": "a.txt""#,
            files: ["a.txt": "1", "b.txt": "2"]
        )
        let cache = try fixture.cache()
        #expect(try cache.lookUp("https://h/a")?.text == "1")
        #expect(try cache.lookUp("https://h/b")?.text == "1")
        cache.map = try SubstitutionMap(files: ["https://h/a": "b.txt"], resources: fixture.resources)
        #expect(try cache.lookUp("https://h/a")?.text == "2")
        #expect(try cache.lookUp("https://h/b") == nil)
    }

    @Test("A response that the entry lets expire stays the same until it's rebuilt in time")
    func lifetime() throws {
        let fixture = try CacheFixture(
            #""https://h/a": { "file": "a.txt", "headers": { "Cache-Control": "max-age=1000" } }"#
        )
        let cache = try fixture.cache()
        let first = try #require(try cache.lookUp("https://h/a"))
        #expect(try cache.lookUp("https://h/a") === first)
        let map = cache.map
        let validity = try #require(
            RetainedResponse.Validity(cache.responder.maps, map, path: nil, file: nil, lifetime: 0, update: nil)
        )
        #expect(!validity.holds)
        #expect(
            RetainedResponse.Validity(cache.responder.maps, map, path: nil, file: nil, lifetime: nil, update: nil)
                == nil
        )
    }

    @Test("An archive of a retained response would have a plain response")
    func archive() throws {
        let cache = try CacheFixture(#""https://h/a": "a.txt""#).cache()
        let response = try #require(try cache.lookUp("https://h/a"))
        #expect(response is RetainedResponse)
        // On Linux, responses can't be archived.
        #expect(ObjectIdentifier(response.classForCoder) == ObjectIdentifier(CachedURLResponse.self))
    }

    @Test("Without live reload, a file stays as it was first read, including for HEAD and ranges")
    func pinned() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.cache()
        let first = try #require(try cache.lookUp("https://h/a"))
        try fixture.write("changed", to: "a.txt")
        let head = cache.cachedResponse(for: try request("https://h/a", method: "HEAD"))
        #expect(head?.header("Content-Length") == "5")
        #expect(cache.cachedResponse(for: try request("https://h/a", headers: ["Range": "bytes=0-1"]))?.text == "lo")
        #expect(try cache.lookUp("https://h/a") === first)
        cache.removeCachedResponse(for: try request("https://h/a"))
        #expect(try cache.lookUp("https://h/a")?.text == "changed")
    }

    @Test("Without live reload, a retained response outlives its file")
    func outlivesFile() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.cache()
        let first = try #require(try cache.lookUp("https://h/a"))
        try FileManager.default.removeItem(at: fixture.file("a.txt"))
        #expect(try cache.lookUp("https://h/a") === first)
        #expect(cache.statistics.faults == 0)
    }
}

@Suite("The limits of retention", .sessions)
struct RetentionLimitsTests {
    private let fixture: CacheFixture
    private let folder: ResourcesFolder

    init() throws {
        fixture = try CacheFixture(
            "",
            files: ["a": String(repeating: "a", count: 60), "b": String(repeating: "b", count: 60)]
        )
        folder = ResourcesFolder(fixture.resources)
    }

    private func file(_ name: String) throws -> FileBytes { try FileBytes(opening: name, in: folder) }

    @Test("The oldest file and its responses go when files exceed the limit")
    func oldestFirst() throws {
        var retention = RetentionLimits(heapLimit: 100)
        let a = try file("a")
        #expect(retention.hold(a, at: "a").isEmpty)
        #expect(retention.insert("u1", path: "a", file: a, isEndless: false).isEmpty)
        #expect(retention.insert("u2", path: "a", file: a, isEndless: true).isEmpty)
        #expect(retention.heapBytes == 60, "a shared file counts once")
        #expect(retention.hold(try file("b"), at: "b").sorted() == ["u1", "u2"])
        #expect(retention.heapBytes == 60)
        #expect(retention.count == 0)
        #expect(retention.file(at: "a") == nil)
        #expect(retention.file(at: "b") != nil)
    }

    @Test("A file that exceeds the limit alone isn't retained, and neither are its responses")
    func tooLarge() throws {
        var retention = RetentionLimits(heapLimit: 50)
        let a = try file("a")
        #expect(retention.hold(a, at: "a").isEmpty)
        #expect(retention.heapBytes == 0)
        #expect(retention.file(at: "a") == nil)
        #expect(retention.insert("u", path: "a", file: a, isEndless: false) == ["u"])
        #expect(retention.count == 0)
    }

    @Test("Memory-mapped files don't count")
    func mapped() throws {
        try fixture.write(Data(count: FileBytes.smallestMapped), to: "large")
        let bundle = ResourcesFolder(fixture.resources, isInBundle: true)
        let bytes = try FileBytes(opening: "large", in: bundle, mayMap: true)
        #expect(bytes.isMapped)
        var retention = RetentionLimits(heapLimit: 100)
        #expect(retention.hold(bytes, at: "large").isEmpty)
        #expect(retention.insert("u", path: "large", file: bytes, isEndless: false).isEmpty)
        #expect(retention.heapBytes == 0)
        try fixture.write(Data(count: FileBytes.smallestMapped - 1), to: "small")
        #expect(try !FileBytes(opening: "small", in: bundle, mayMap: true).isMapped)
        #expect(try !FileBytes(opening: "large", in: bundle).isMapped, "watched files are read")
        #expect(try !FileBytes(opening: "large", in: folder, mayMap: true).isMapped, "a folder's files are read")
    }

    @Test("Removed files don't count and aren't evicted again")
    func removed() throws {
        var retention = RetentionLimits(endlessLimit: 2, heapLimit: 100)
        let a = try file("a")
        for _ in 0..<2 {
            _ = retention.hold(a, at: "a")
            _ = retention.insert("u1", path: "a", file: a, isEndless: true)
            retention.remove("u1")
            retention.remove("u1")
            #expect(retention.heapBytes == 0, "a file goes with the last response made of it")
        }
        _ = retention.hold(a, at: "a")
        for number in 0..<1_000 {
            let gone = retention.insert("v\(number)", path: "a", file: a, isEndless: true)
            #expect(gone == (number < 2 ? [] : ["v\(number - 2)"]))
        }
        #expect(retention.count == 2)
        #expect(retention.heapBytes == 60)
    }

    @Test("Building and removing repeatedly leaves nothing behind")
    func removedOverAndOver() throws {
        var retention = RetentionLimits()
        let a = try file("a")
        for number in 0..<1_000 {
            _ = retention.hold(a, at: "a")
            _ = retention.insert("u\(number)", path: "a", file: a, isEndless: true)
            retention.remove("u\(number)")
        }
        #expect(retention.noted < 200)
    }

    @Test("A rebuilt response takes its own place")
    func again() throws {
        var retention = RetentionLimits(endlessLimit: 2, heapLimit: 100)
        for _ in 0..<10 { #expect(retention.insert("u", path: nil, file: nil, isEndless: true).isEmpty) }
        #expect(retention.count == 1)
    }

    @Test("A newer version of a file takes the old one's place, and the old responses go")
    func newer() throws {
        var retention = RetentionLimits(heapLimit: 1_000)
        let old = try file("a")
        _ = retention.hold(old, at: "a")
        _ = retention.insert("u1", path: "a", file: old, isEndless: false)
        try fixture.write("new", to: "a")
        let new = try file("a")
        #expect(retention.hold(new, at: "a") == ["u1"])
        #expect(retention.hold(new, at: "a") == [])
        #expect(retention.heapBytes == 3)
        #expect(retention.insert("u2", path: "a", file: old, isEndless: false) == ["u2"], "it is stale")
        #expect(retention.insert("u2", path: "a", file: new, isEndless: false).isEmpty)
        retention.remove("u2")
        #expect(retention.heapBytes == 0)
    }
}
