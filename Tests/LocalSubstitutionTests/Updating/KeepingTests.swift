import Foundation
import Guarded
import LoopbackOrigin
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("How long a newer copy answers", .timeLimit(.minutes(5)))
struct KeepingTests {
    @Test("after a restart, at once")
    func restart() async throws {
        let fixture = try UpdatingFixture(.text("newer", type: "text/css"))
        _ = try await fixture.updatedCache()
        fixture.origin.stop()
        let restarted = try fixture.cache()
        let response = try restarted.lookUp(fixture.url)
        #expect(response?.text == "newer")
        #expect(response?.header("Content-Type") == "text/css")
    }

    @Test("in another process")
    func otherProcess() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        _ = try await fixture.updatedCache()
        fixture.origin.stop()
        let (folder, url) = (fixture.files.folder.path, fixture.url)
        await #expect(processExitsWith: .success) { [folder = folder as String, url = url as String] in
            let folder = URL(fileURLWithPath: folder)
            let map = try SubstitutionMap(contentsOf: folder.appendingPathComponent("substitutions.json"))
            let cache = LocalSubstitutionCache(map: map, directory: folder.appendingPathComponent("cache"))
            // At once: what `exit` tidies up may be in use on a thread of Foundation's.
            _exit(try cache.lookUp(url)?.text == "newer" ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("until the app ships another file, also of the same size", arguments: ["other", "longer than that"])
    func otherFile(_ contents: String) async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        _ = try await fixture.updatedCache()
        fixture.origin.stop()
        try fixture.files.write(contents, to: "a.txt")
        let restarted = try fixture.cache()
        #expect(restarted.explain(try request(fixture.url)).isNewerCopy == false)
        #expect(try restarted.lookUp(fixture.url)?.text == contents)
        // It is gone for good, whatever comes after.
        try fixture.files.write("local", to: "a.txt")
        #expect(try fixture.cache().lookUp(fixture.url)?.text == "local")
    }

    @Test("until the file changes, with live reload; one that is only written anew is the same")
    func liveReload() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache(reloads: true)
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        try fixture.files.write("local", to: "a.txt")
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        try fixture.files.write("other", to: "a.txt")
        #expect(try cache.lookUp(fixture.url)?.text == "other")
        _ = try await cache.refreshAgain(fixture.url)
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
    }

    @Test("until it is removed")
    func removal() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        let other = fixture.url + "#fragment"
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        #expect(try cache.lookUp(other)?.text == "newer")
        cache.removeCachedResponse(for: try request(fixture.url))
        #expect(try cache.lookUp(other)?.text == "local")
        #expect(try cache.lookUp(fixture.url)?.text == "local")
        #expect(try fixture.cache().lookUp(fixture.url)?.text == "local")
        #expect(fixture.origin.requests.count <= 2)
    }

    @Test("until all are removed; then the network is asked anew")
    func removalOfAll() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        cache.removeAllCachedResponses()
        #expect(cache.explain(try request(fixture.url)).isNewerCopy == false)
        _ = try await cache.refreshing { () throws in #expect(try cache.lookUp(fixture.url)?.text == "local") }
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
    }

    @Test("until those stored since then are removed", arguments: [Date.distantPast, .distantFuture])
    func removalSince(date: Date) async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        fixture.origin.stop()
        cache.removeCachedResponses(since: date)
        #expect(try cache.lookUp(fixture.url)?.text == (date == .distantPast ? "local" : "newer"))
    }

    @Test("it never stands for what others store, nor is it given where no entry asks for it")
    func ownPlace() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        let map = cache.map
        cache.map = try SubstitutionMap(files: [:], resources: fixture.files.resources)
        let url = try #require(URL(string: fixture.url))
        #expect(try cache.lookUp(fixture.url) == nil)
        let http = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:]))
        cache.storeCachedResponse(
            CachedURLResponse(response: http, data: Data("stored".utf8)),
            for: try request(fixture.url)
        )
        #expect(try cache.lookUp(fixture.url)?.text == "stored")
        cache.map = map
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
    }

    @Test("older copies do not stay in memory")
    func memory() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        for number in 10..<20 {
            fixture.answer(.text("newer \(number)"))
            _ = try await cache.refreshAgain(fixture.url)
            for url in [fixture.url, fixture.url + "#part"] {
                #expect(try cache.lookUp(url)?.text == "newer \(number)")
            }
        }
        #expect(cache.responder.retained.heapBytes == "local".utf8.count + "newer 19".utf8.count)
    }

    @Test("a copy for which the default cache has no room any more is none, at the latest after a restart")
    func evicted() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        // Others have taken its place.
        cache.responder.defaultCache.remove(under: try #require(NewerCopy.request(for: fixture.url)))
        guard try await cache.refreshAgain(fixture.url)?.kind == .refreshed else {
            Issue.record("it was not taken again")
            return
        }
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        cache.responder.defaultCache.remove(under: try #require(NewerCopy.request(for: fixture.url)))
        #expect(try fixture.cache().lookUp(fixture.url)?.text == "local")
    }

    @Test("what stands damaged in its place is none")
    func damaged() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        let key = try #require(NewerCopy.request(for: fixture.url))
        let stored = try #require(cache.responder.defaultCache.response(under: key))
        let half = CachedURLResponse(response: stored.response, data: Data("half".utf8))
        cache.responder.defaultCache.store(half, under: key)
        fixture.origin.stop()
        #expect(try fixture.cache().lookUp(fixture.url)?.text == "local")
    }
}
