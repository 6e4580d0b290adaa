import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Unused entries", .sessions)
struct UnusedEntriesTests {
    private static let map = """
        "https://h/c": "a.txt",
        "https://h/b": { "status": 404 },
        "https://h/*": "*",
        "https://h/never": null,
        "https://h/off": { "file": "a.txt", "enabled": false },
        "https://h/a": { "file": "a.txt", "use": "whenOffline" }
        """

    private func keys(_ cache: LocalSubstitutionCache) -> [String] { cache.unusedEntries.map(\.key) }

    @Test("Entries that haven't answered are listed in the map's order, except those that never could")
    func order() throws {
        let cache = try CacheFixture(Self.map).cache()
        #expect(keys(cache) == ["https://h/c", "https://h/b", "https://h/*", "https://h/a"])
        #expect(cache.unusedEntries.map(\.line) == [1, 2, 3, 6])
        for _ in 0..<2 { #expect(try cache.lookUp("https://h/c") != nil) }
        #expect(keys(cache) == ["https://h/b", "https://h/*", "https://h/a"])
        #expect(try cache.lookUp("https://h/a.txt") != nil)
        #expect(cache.cachedResponse(for: try request("https://h/b", method: "HEAD")) != nil)
        #expect(keys(cache) == ["https://h/a"])
    }

    @Test("Explaining, a request that goes elsewhere, and an unreadable file don't use an entry")
    func notUsed() throws {
        let fixture = try CacheFixture(
            #""https://h/a": "a.txt", "https://h/b": "b.txt""#,
            files: ["a.txt": "a", "b.txt": "b"]
        )
        let cache = try fixture.cache()
        _ = cache.explain(try request("https://h/a"))
        _ = cache.cachedResponse(for: try request("https://h/a", method: "POST"))
        _ = cache.cachedResponse(for: try request("https://h/a", policy: .reloadIgnoringLocalCacheData))
        try FileManager.default.removeItem(at: fixture.file("b.txt"))
        try FileManager.default.createDirectory(at: fixture.file("b.txt"), withIntermediateDirectories: false)
        _ = try cache.lookUp("https://h/b")
        #expect(keys(cache) == ["https://h/a", "https://h/b"])
    }

    @Test("All entries are unused after another map is set or the map's file has changed")
    func reset() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        #expect(try cache.lookUp("https://h/a") != nil)
        #expect(keys(cache) == [])
        cache.map = cache.map
        #expect(keys(cache) == ["https://h/a"])
        #expect(try cache.lookUp("https://h/a") != nil)
        #expect(keys(cache) == [])
        let other = try fixture.reloadingCache()
        #expect(try other.lookUp("https://h/a") != nil)
        try fixture.writeMap(#""https://h/a": "a.txt", "https://h/b": "a.txt""#)
        #expect(try other.lookUp("https://h/b") != nil)
        #expect(keys(other) == ["https://h/a"])
    }

    @Test("Alternatives that haven't responded are listed, and not their entry")
    func alternatives() throws {
        let cache = try CacheFixture(
            """
            "https://h/a": [
              { "text": "1", "when": { "headers": { "X": "1" } } },
              { "text": "2", "when": { "headers": { "X": "2" } } },
              { "text": "3" }
            ]
            """
        ).cache()
        let texts = { cache.unusedEntries.map(\.description) }
        #expect(texts().count == 3)
        for _ in 0..<2 { #expect(try cache.lookUp("https://h/a") != nil) }
        let listed = texts()
        #expect(listed.count == 2 && listed[0].hasPrefix("“https://h/a”, alternative 1 of 3, line "), "\(listed)")
        #expect(listed.last?.hasPrefix("“https://h/a”, alternative 2 of 3, line ") == true, "\(listed)")
        var request = try request("https://h/a")
        request.setValue("1", forHTTPHeaderField: "X")
        #expect(cache.cachedResponse(for: request) != nil)
        #expect(texts().map { $0.contains("alternative 2 of 3") } == [true])
    }

    @Test("Unused entries of a map in code are sorted by key")
    func inCode() throws {
        let folder = try TemporaryFolder(files: ["a"])
        let map = try SubstitutionMap(["https://h/b": "a", "https://h/a": "a"], resources: folder.url)
        #expect(keys(LocalSubstitutionCache(map: map)) == ["https://h/a", "https://h/b"])
    }

    @Test("A protocol's answers count, and a fallback's only once the network has failed", .timeLimit(.minutes(5)))
    func attached() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        let cache = try CacheFixture(
            #"""
            "http://127.0.0.1:*/a": { "file": "a.txt", "methods": ["POST"] },
            "http://127.0.0.1:*/offline": { "file": "a.txt", "use": "whenOffline" }
            """#
        ).cache()
        let session = try cache.makeSession()
        defer { session.finishTasksAndInvalidate() }
        #expect(cache.unusedEntries.count == 2)
        _ = try await session.data(for: request(origin.url("a").absoluteString, method: "POST"))
        let url = origin.url("offline")
        _ = try await session.data(from: url)
        #expect(keys(cache) == ["http://127.0.0.1:*/offline"])
        origin.stop()
        _ = try await session.data(from: url)
        #expect(keys(cache) == [])
    }

    @Test("An entry that sends a request on is used, even if the target redirects to another entry's URL")
    func redirected() async throws {
        let origin = try LoopbackServer { _ in .redirect(to: "https://h/a") }
        let cache = try CacheFixture(
            #"""
            "https://h/a": "a.txt",
            "https://h/sent": { "forwardTo": "\#(origin.url("b").absoluteString)" }
            """#
        ).cache()
        let session = try cache.makeSession(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        let (_, response) = try await session.data(from: #require(URL(string: "https://h/sent")))
        #expect(response.url?.absoluteString == "https://h/a")
        #expect(keys(cache) == [])
    }
}
