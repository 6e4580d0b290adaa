import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Responses in memory", .sessions)
struct ResponsesInMemoryTests {
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

    #if !canImport(Darwin)
    /// On Linux, these are two files. On Apple's file systems, both names lead to one file.
    @Test(
        "Two files whose names Swift's comparison treats as equal don't answer for each other",
        arguments: [#""https://h/*": "*""#, #""https://h/%C3%A9": "\u00E9", "https://h/e%CC%81": "e\u0301""#]
    )
    func equalNames(map: String) throws {
        let fixture = try CacheFixture(map)
        let urls = [("https://h/%C3%A9", "composed"), ("https://h/e%CC%81", "decomposed")]
        try fixture.write("composed", to: "\u{E9}")
        try fixture.write("decomposed", to: "e\u{301}")
        for cache in [try fixture.cache(), try fixture.reloadingCache()] {
            for (url, body) in urls + urls.reversed() {
                #expect(try cache.lookUp(url)?.data == Data(body.utf8))
            }
        }
        let reloading = try fixture.reloadingCache()
        try FileManager.default.removeItem(at: fixture.file("\u{E9}"))
        #expect(try reloading.lookUp("https://h/e%CC%81")?.data == Data("decomposed".utf8))
        #expect(try reloading.lookUp("https://h/%C3%A9") == nil)
    }
    #endif

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
        cache.map = try SubstitutionMap(["https://h/a": "b.txt"], resources: fixture.resources)
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
        let limits = try [", \"headers\": { \"Cache-Control\": \"max-age=0\" }", ""].map { headers in
            try RetentionFixture(#""https://h/a": { "file": "a.txt"\#(headers) }"#).response("https://h/a", madeOf: nil)
        }
        #expect(!limits[0].isCurrent && !limits[0].isAlwaysCurrent)
        #expect(limits[1].isCurrent && limits[1].isAlwaysCurrent)
    }

    @Test("An archive of a response in memory would have a plain response")
    func archive() throws {
        let cache = try CacheFixture(#""https://h/a": "a.txt""#).cache()
        let response = try #require(try cache.lookUp("https://h/a"))
        #expect(response is ResponsesInMemory.Response)
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

    @Test("Without live reload, a response in memory outlives its file")
    func outlivesFile() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.cache()
        let first = try #require(try cache.lookUp("https://h/a"))
        try FileManager.default.removeItem(at: fixture.file("a.txt"))
        let events = HeardEvents(of: cache)
        #expect(try cache.lookUp("https://h/a") === first)
        #expect(events.kinds == ["matched"])
    }
}

@Suite("The limits of retention", .sessions)
struct RetentionLimitsTests {
    private let a1 = "https://h/a1"
    private let a2 = "https://h/a2"
    private let large = "https://h/large"
    /// The beginning of endless URLs.
    private let endless = "https://h/p/"
    /// The same, for responses that expire at once.
    private let expiring = "https://h/t/"

    private func fixture(endlessLimit: Int = 1_024, heapLimit: Int = 256 << 20) throws -> RetentionFixture {
        try RetentionFixture(
            #""\#(a1)": "a", "\#(a2)": "a", "\#(large)": "large", "\#(endless)*": "a", "\#(expiring)*": "#
                + #"{ "text": "t", "headers": { "Cache-Control": "max-age=0" } }"#,
            files: ["a": String(repeating: "a", count: 60), "b": String(repeating: "b", count: 60), "large": ""],
            endlessLimit: endlessLimit,
            heapLimit: heapLimit
        )
    }

    @Test("The oldest file and its responses go when files exceed the limit")
    func oldestFirst() throws {
        let fixture = try fixture(heapLimit: 100)
        let a = try fixture.hold("a")
        #expect(try fixture.holds(a1, madeOf: a))
        #expect(try fixture.holds(endless + "1", madeOf: a))
        #expect(fixture.inMemory.heapBytes == 60, "a shared file counts once")
        _ = try fixture.hold("b")
        #expect(fixture.inMemory.peek(a1) == nil && fixture.inMemory.peek(endless + "1") == nil)
        #expect(fixture.inMemory.heapBytes == 60)
        #expect(fixture.held("a") == nil)
        #expect(fixture.held("b") != nil)
    }

    @Test("A file that exceeds the limit alone isn't held in memory, and neither are its responses")
    func tooLarge() throws {
        let fixture = try fixture(heapLimit: 50)
        let a = try fixture.hold("a")
        #expect(fixture.inMemory.heapBytes == 0)
        #expect(fixture.held("a") == nil)
        #expect(try !fixture.holds(a1, madeOf: a))
    }

    @Test("Memory-mapped files don't count")
    func mapped() throws {
        let fixture = try fixture(heapLimit: 100)
        try fixture.files.write(Data(count: FileBytes.smallestMapped), to: "large")
        let bundle = ResourcesFolder(fixture.files.resources, isInBundle: true)
        let bytes = try FileBytes(opening: "large", in: bundle, mayMap: true)
        #expect(bytes.isMapped)
        fixture.inMemory.hold(bytes, at: bundle.path(of: "large"))
        #expect(try fixture.holds(large, madeOf: bytes))
        #expect(fixture.inMemory.heapBytes == 0)
        try fixture.files.write(Data(count: FileBytes.smallestMapped - 1), to: "small")
        #expect(try !FileBytes(opening: "small", in: bundle, mayMap: true).isMapped)
        #expect(try !FileBytes(opening: "large", in: bundle).isMapped, "watched files are read")
        let folder = ResourcesFolder(fixture.files.resources)
        #expect(try !FileBytes(opening: "large", in: folder, mayMap: true).isMapped, "a folder's files are read")
    }

    @Test("Removed files don't count and aren't evicted again")
    func removed() throws {
        let fixture = try fixture(endlessLimit: 2, heapLimit: 100)
        let inMemory = fixture.inMemory
        for _ in 0..<2 {
            #expect(try fixture.holds(endless + "u", madeOf: fixture.hold("a")))
            inMemory.remove(endless + "u")
            inMemory.remove(endless + "u")
            #expect(inMemory.heapBytes == 0, "a file goes with the last response made of it")
        }
        let a = try fixture.hold("a")
        for number in 0..<1_000 {
            #expect(try fixture.holds("\(endless)\(number)", madeOf: a))
            #expect(number < 1 || inMemory.peek("\(endless)\(number - 1)") != nil)
            #expect(number < 2 || inMemory.peek("\(endless)\(number - 2)") == nil)
        }
        #expect(inMemory.heapBytes == 60)
    }

    @Test("Building and removing repeatedly leaves nothing behind")
    func removedOverAndOver() throws {
        let fixture = try fixture()
        for number in 0..<1_000 {
            #expect(try fixture.holds("\(endless)\(number)", madeOf: fixture.hold("a")))
            fixture.inMemory.remove("\(endless)\(number)")
        }
        #expect(fixture.inMemory.noted < 200)
    }

    @Test("A rebuilt response takes its own place")
    func again() throws {
        let fixture = try fixture(endlessLimit: 2, heapLimit: 100)
        #expect(try fixture.holds(expiring + "other", madeOf: nil))
        for _ in 0..<10 { #expect(try fixture.holds(expiring + "u", madeOf: nil)) }
        #expect(fixture.inMemory.peek(expiring + "other") != nil)
    }

    @Test("A newer version of a file takes the old one's place, and the old responses go")
    func newer() throws {
        let fixture = try fixture(heapLimit: 1_000)
        let inMemory = fixture.inMemory
        let old = try fixture.hold("a")
        #expect(try fixture.holds(a1, madeOf: old))
        try fixture.files.write("new", to: "a")
        let new = try fixture.hold("a")
        #expect(inMemory.peek(a1) == nil)
        #expect(inMemory.heapBytes == 3)
        #expect(try !fixture.holds(a2, madeOf: old), "it is stale")
        #expect(try fixture.holds(a2, madeOf: new))
        inMemory.hold(new, at: fixture.path("a"))
        #expect(inMemory.peek(a2) != nil)
        inMemory.remove(a2)
        #expect(inMemory.heapBytes == 0)
    }
}

/// Responses in memory without a cache, and the map that they're made with.
private struct RetentionFixture {
    let files: CacheFixture
    let inMemory: ResponsesInMemory
    private let maps: MapInUse

    init(
        _ map: String,
        files: [String: String] = ["a.txt": "local"],
        endlessLimit: Int = 1_024,
        heapLimit: Int = 256 << 20
    ) throws {
        self.files = try CacheFixture(map, files: files)
        maps = MapInUse(try SubstitutionMap(contentsOf: self.files.mapFile), reloadsChanges: false)
        inMemory = ResponsesInMemory(checksFiles: false, endlessLimit: endlessLimit, heapLimit: heapLimit)
    }

    func path(_ name: String) -> String { ResourcesFolder(files.resources).path(of: name) }

    func held(_ name: String) -> FileBytes? { inMemory.heldFile(at: path(name)) }

    /// Reads a file and holds its bytes.
    func hold(_ name: String) throws -> FileBytes {
        let file = try FileBytes(opening: name, in: ResourcesFolder(files.resources))
        inMemory.hold(file, at: path(name))
        return file
    }

    func response(_ url: String, madeOf file: FileBytes?) throws -> ResponsesInMemory.Response {
        let plan = Plan(try request(url), in: maps.map, traits: .current)
        let substitution = try #require(plan.substitution)
        let builder = ResponseBuilder(substitution: substitution, file: file, traits: .current)
        let response = try #require(plan.request.url.flatMap(builder.full))
        return ResponsesInMemory.Response(response, to: plan, by: substitution, madeOf: file, dueAt: nil, in: maps)
    }

    /// Makes a response. Returns whether it's in memory.
    func holds(_ url: String, madeOf file: FileBytes?) throws -> Bool {
        let response = try response(url, madeOf: file)
        _ = inMemory.hold(response, as: url, generation: inMemory.generation)
        return inMemory.peek(url) === response
    }
}
