import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("How long a refreshed file answers", .sessions, .timeLimit(.minutes(5)))
struct RefreshedFileTests {
    @Test("Immediately after a restart")
    func restart() async throws {
        let fixture = try UpdatingFixture(.text("newer", type: "text/css"))
        _ = try await fixture.updatedCache()
        fixture.origin.stop()
        let restarted = try fixture.cache()
        let response = try restarted.lookUp(fixture.url)
        #expect(response?.text == "newer")
        #expect(response?.header("Content-Type") == "text/css")
    }

    @Test("In another process")
    func otherProcess() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        _ = try await fixture.updatedCache()
        fixture.origin.stop()
        let (folder, url) = (fixture.files.folder.path, fixture.url)
        await #expect(processExitsWith: .success) { [folder = folder as String, url = url as String] in
            let folder = URL(fileURLWithPath: folder)
            let map = try SubstitutionMap(contentsOf: folder.appendingPathComponent("substitutions.json"))
            let cache = LocalSubstitutionCache(map: map, directory: folder.appendingPathComponent("cache"))
            // Ends without cleanup, since what `exit` tidies up may be in use on one of Foundation's threads.
            _exit(try cache.lookUp(url)?.text == "newer" ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("Until the app ships another file, even with the same size", arguments: ["other", "longer than that"])
    func otherFile(_ contents: String) async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        _ = try await fixture.updatedCache()
        fixture.origin.stop()
        try fixture.files.write(contents, to: "a.txt")
        let restarted = try fixture.cache()
        #expect(restarted.explain(try request(fixture.url)).isRefreshed == false)
        #expect(try restarted.lookUp(fixture.url)?.text == contents)
        // It's gone for good, whatever happens later.
        try fixture.files.write("local", to: "a.txt")
        #expect(try fixture.cache().lookUp(fixture.url)?.text == "local")
    }

    @Test("With live reload, until the file changes, but not if it's only rewritten")
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

    @Test("Until it's removed")
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

    @Test("Until all are removed, after which the network is asked again")
    func removalOfAll() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        cache.removeAllCachedResponses()
        #expect(cache.explain(try request(fixture.url)).isRefreshed == false)
        _ = try await cache.refreshing { () throws in #expect(try cache.lookUp(fixture.url)?.text == "local") }
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
    }

    @Test("Until responses stored since a date are removed", arguments: [Date.distantPast, .distantFuture])
    func removalSince(date: Date) async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        fixture.origin.stop()
        cache.removeCachedResponses(since: date)
        #expect(try cache.lookUp(fixture.url)?.text == (date == .distantPast ? "local" : "newer"))
    }

    @Test("It never replaces what others store, and isn't returned where no entry asks for it")
    func ownPlace() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        let map = cache.map
        cache.map = try SubstitutionMap([:], resources: fixture.files.resources)
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

    @Test("Refreshed files don't stay in memory")
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
        #expect(cache.responder.inMemory.heapBytes == "local".utf8.count)
        #expect(cache.responder.inMemory.peek(fixture.url) == nil)
    }

    @Test("Other entries of its file keep their responses in memory")
    func sharedFile() async throws {
        let fixture = try UpdatingFixture(.text("newer"), map: #""ORIGIN/b": "a.txt""#)
        let cache = try fixture.cache()
        let other = fixture.origin.url("b").absoluteString
        let known = try #require(try cache.lookUp(other))
        _ = try await cache.refreshing {
            _ = try cache.lookUp(fixture.url)
            try fixture.files.write("changed", to: "a.txt")
        }
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        #expect(try cache.lookUp(other) === known)
        #expect(known.text == "local")
    }

    @Test("It goes on answering if a larger one can't be stored, whoever asks in between")
    func refused() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try fixture.cache()
        let stored = Guarded<[URL?: CachedURLResponse]>([:])
        let url = fixture.url
        cache.responder.defaultCache.lend(
            DefaultCache.Storage(
                find: { request in stored.withLock { $0[request.url] } },
                store: { [weak cache] response, request in
                    if response.data.count < 100 { return stored.withLock { $0[request.url] = response } }
                    #expect((try? cache?.lookUp(url))?.text == "local")
                },
                remove: { request in stored.withLock { $0[request.url] = nil } },
                capacity: { 1_000 }
            )
        )
        _ = try await cache.refreshing { _ = try cache.lookUp(url) }
        #expect(try cache.lookUp(url)?.text == "newer")
        fixture.answer(.ok(Data(count: 200)))
        #expect(try await cache.refreshAgain(url)?.kind == .refreshFailed)
        #expect(try cache.lookUp(url)?.text == "newer")
    }

    @Test("A copy that the default cache has no room for is gone, at the latest after a restart")
    func evicted() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        // Other responses have replaced it.
        cache.responder.defaultCache.remove(under: try #require(RefreshedFiles.File.request(for: fixture.url)))
        guard try await cache.refreshAgain(fixture.url)?.kind == .refreshed else {
            Issue.record("it was not taken again")
            return
        }
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        cache.responder.defaultCache.remove(under: try #require(RefreshedFiles.File.request(for: fixture.url)))
        #expect(try fixture.cache().lookUp(fixture.url)?.text == "local")
    }

    @Test("A damaged copy isn't used")
    func damaged() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        let key = try #require(RefreshedFiles.File.request(for: fixture.url))
        let stored = try #require(cache.responder.defaultCache.response(under: key))
        let half = CachedURLResponse(response: stored.response, data: Data("half".utf8))
        cache.responder.defaultCache.store(half, under: key)
        fixture.origin.stop()
        #expect(try fixture.cache().lookUp(fixture.url)?.text == "local")
    }
}
