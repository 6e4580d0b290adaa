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

@Suite("A session that fails unmatched requests", .threads, .timeLimit(.minutes(5)))
struct StrictSessionTests {
    /// Two servers: `/b` on the first redirects to `/c` on the second.
    private struct Servers {
        let second: LoopbackServer
        let first: LoopbackServer
        let reached = Reached()

        final class Reached: Sendable {
            let paths = Guarded<[String]>([])
        }

        init() throws {
            let reached = reached
            let second = try LoopbackServer { request in
                reached.paths.withLock { $0.append(request.path) }
                return .text("second")
            }
            self.second = second
            first = try LoopbackServer { request in
                request.path == "/b" ? .redirect(to: second.url("c").absoluteString) : .text("first")
            }
        }

        func stop() {
            first.stop()
            second.stop()
        }
    }

    @Test(
        "An allowed URL's redirect isn't followed to a URL that isn't allowed",
        arguments: ["", "\"FIRSTb\": { \"file\": \"a.txt\", \"use\": \"whenOffline\" }"],
        [false, true]
    )
    func redirect(_ map: String, isRecorded: Bool) async throws {
        let servers = try Servers()
        defer { servers.stop() }
        let fixture = try CacheFixture(map.replacing("FIRST", with: servers.first.baseURL.absoluteString))
        let cache = try fixture.cache()
        let recorder =
            isRecorded ? try SubstitutionRecorder(folder: fixture.folder.appendingPathComponent("recorded")) : nil
        let allowed = servers.first.url("b").absoluteString
        let session = try cache.makeSession(unmatched: .fail(allowing: [allowed]), recorder: recorder)
        defer { session.finishTasksAndInvalidate() }
        let error = await #expect(throws: URLError.self) { _ = try await session.data(from: servers.first.url("b")) }
        #expect(error?.localizedDescription.contains(servers.second.url("c").absoluteString) == true)
        #expect(servers.reached.paths.withLock { $0 } == [])
    }

    @Test("An allowed URL's redirect is followed to another allowed URL or to an entry")
    func allowedRedirect() async throws {
        let servers = try Servers()
        defer { servers.stop() }
        let allowed = ["\(servers.first.baseURL.absoluteString)*", servers.second.url("c").absoluteString]
        let session = try CacheFixture("").cache().makeSession(unmatched: .fail(allowing: allowed))
        defer { session.finishTasksAndInvalidate() }
        #expect(try await session.data(from: servers.first.url("b")).0 == Data("second".utf8))
        #expect(servers.reached.paths.withLock { $0 } == ["/c"])

        let fixture = try CacheFixture("\"\(servers.second.url("c"))\": \"a.txt\"")
        let mapped = try fixture.cache().makeSession(unmatched: .fail(allowing: Array(allowed.prefix(1))))
        defer { mapped.finishTasksAndInvalidate() }
        #expect(try await mapped.data(from: servers.first.url("b")).0 == Data("local".utf8))
        #expect(servers.reached.paths.withLock { $0 } == ["/c"])
    }

    @Test("Loading an allowed URL is reported once, as forwarded")
    func report() async throws {
        let servers = try Servers()
        defer { servers.stop() }
        let cache = try CacheFixture("").cache()
        let events = HeardEvents(of: cache)
        let session = try cache.makeSession(unmatched: .fail(allowing: [servers.first.url("a").absoluteString]))
        defer { session.finishTasksAndInvalidate() }
        #expect(try await session.data(from: servers.first.url("a")).0 == Data("first".utf8))
        #expect(events.kinds == ["forwarded"])
    }

    @Test("The file answers even if another session of the cache has a newer file, and none is requested")
    func refreshedFiles() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        defer { fixture.origin.stop() }
        let cache = try fixture.cache()
        let url = try #require(URL(string: fixture.url))
        let (online, strict) = (try cache.makeSession(), try cache.makeSession(unmatched: .fail))
        defer { for session in [online, strict] { session.finishTasksAndInvalidate() } }
        #expect(try await strict.data(from: url).0 == Data("local".utf8))
        #expect(cache.schedule.isIdle && cache.schedule.count == 0)

        let log = EventLog(cache)
        #expect(try await online.data(from: url).0 == Data("local".utf8))
        #expect(await log.all(until: \.isOfRefresh).last?.kind == .refreshed)
        for _ in 0..<2 {
            #expect(try await online.data(from: url).0 == Data("newer".utf8))
            #expect(try await strict.data(from: url).0 == Data("local".utf8))
        }
        // Each is counted once.
        #expect(cache.statistics.requests == 6)
        #expect(cache.statistics.matched == 6)
    }

    @Test("A refreshed file of an allowed URL isn't requested either")
    func refreshedFileOfAllowedURL() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        defer { fixture.origin.stop() }
        let cache = try fixture.cache()
        let session = try cache.makeSession(unmatched: .fail(allowing: [fixture.url]))
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: fixture.url))
        for _ in 0..<2 { #expect(try await session.data(from: url).0 == Data("local".utf8)) }
        #expect(cache.schedule.isIdle && cache.schedule.count == 0)
        #expect(cache.statistics.requests == 2)
    }

    @Test(
        "An allowed URL's redirect gets what a request for its target gets from an entry that waits for the network"
    )
    func redirectToOfflineEntry() async throws {
        let servers = try Servers()
        defer { servers.stop() }
        let fixture = try CacheFixture(
            "\"\(servers.second.url("c"))\": { \"file\": \"a.txt\", \"use\": \"whenOffline\" }"
        )
        let allowed = servers.first.url("b").absoluteString
        let session = try fixture.cache().makeSession(unmatched: .fail(allowing: [allowed]))
        defer { session.finishTasksAndInvalidate() }
        #expect(try await session.data(from: servers.first.url("b")).0 == Data("local".utf8))
        #expect(servers.reached.paths.withLock { $0 } == [])
    }
}

@Suite("Requests that a protocol has intercepted", .threads, .timeLimit(.minutes(5)))
struct InterceptedRequestsTests {
    #if !canImport(Darwin)
    @Test("A request goes to the network if the map at its start has nothing for it")
    func mapChanged() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        defer { origin.stop() }
        let cache = try CacheFixture(
            #""\#(origin.url("c"))": { "file": "a.txt", "use": "whenOffline" }, "https://h/other": "a.txt""#
        ).cache()
        let configuration = URLSessionConfiguration.ephemeral
        let slot = try cache.slot(in: configuration)
        let asked = HoldingCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
        configuration.urlCache = asked
        let recorder = TaskRecorder()
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        // The protocol has intercepted it, and the loader waits for the cache.
        session.dataTask(with: origin.url("c")).resume()
        #expect(slot.canInit(with: try request("https://h/other")))
        cache.map = try SubstitutionMap(json: Data("{}".utf8))
        asked.release()
        _ = await recorder.outcome()
        #expect(recorder.current.error == nil)
        #expect(recorder.current.data == Data("network".utf8))
    }
    #endif

    @Test(
        "An entry whose file is gone is reported once",
        arguments: [
            ("\"https://h/a\": \"b.txt\", \"https://h/*\": \"a.txt\"", true), ("\"https://h/a\": \"b.txt\"", false),
        ]
    )
    func goneFile(_ map: String, isAnswered: Bool) async throws {
        let fixture = try CacheFixture(map, files: ["a.txt": "local", "b.txt": "b"])
        let cache = try fixture.cache()
        try FileManager.default.removeItem(at: fixture.file("b.txt"))
        let events = HeardEvents(of: cache)
        let session = try cache.makeSession(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        let data = try? await session.data(for: request("https://h/a")).0
        #expect((data == Data("local".utf8)) == isAnswered)
        #expect(events.kinds.filter { $0 == "fault" }.count == 1)
    }
}
