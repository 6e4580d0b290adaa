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

@Suite("Reports of a session with the protocol", .sessions, .timeLimit(.minutes(5)))
struct ReportTests {
    private static let map = """
        "http://127.0.0.1:*/mapped": { "file": "a.txt", "methods": ["GET", "POST"] },
        "http://127.0.0.1:*/unreadable": "b.txt",
        "http://127.0.0.1:*/excluded": null,
        "http://127.0.0.1:*/error": { "file": "a.txt", "status": 503 },
        "http://127.0.0.1:*/offline": { "file": "a.txt", "use": "whenOffline" }
        """

    private let cache: LocalSubstitutionCache
    private let origin: LoopbackServer
    private let events: HeardEvents

    init() throws {
        let fixture = try CacheFixture(Self.map, files: ["a.txt": "local", "b.txt": "local"])
        let cache = try fixture.cache()
        self.cache = cache
        origin = try LoopbackServer { _ in .text("network") }
        events = HeardEvents(of: cache)
        try FileManager.default.removeItem(at: fixture.file("b.txt"))
        try FileManager.default.createDirectory(at: fixture.file("b.txt"), withIntermediateDirectories: false)
    }

    private func session(unmatched: LocalSubstitutionCache.Unmatched = .load) throws -> URLSession {
        try cache.makeSession(unmatched: unmatched)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let path: String
        var method = "GET"
        var headers: [String: String] = [:]
        var policy = URLRequest.CachePolicy.useProtocolCachePolicy
        var unmatched = LocalSubstitutionCache.Unmatched.load
        let events: [String]
        var testDescription: String { "\(method) \(path) \(headers) \(policy.rawValue) \(unmatched)" }
    }

    static let rows = [
        Row(path: "mapped", events: ["matched"]),
        Row(path: "mapped", headers: ["Authorization": "x"], events: ["matched"]),
        Row(path: "mapped", policy: .reloadIgnoringLocalCacheData, events: ["matched"]),
        Row(path: "mapped", method: "POST", events: ["matched"]),
        Row(path: "error", events: ["matched"]),
        Row(path: "offline", events: ["forwarded"]),
        Row(path: "offline", unmatched: .fail, events: ["matched"]),
        Row(path: "other", events: ["missed"]),
        Row(path: "excluded", events: ["bypassed"]),
        Row(path: "mapped", method: "PUT", events: ["bypassed"]),
        Row(path: "other", unmatched: .fail, events: ["missed"]),
        Row(path: "excluded", unmatched: .fail, events: ["bypassed"]),
        Row(path: "mapped", method: "PUT", unmatched: .fail, events: ["bypassed"]),
        Row(path: "unreadable", events: ["fault", "failed"]),
    ]

    @Test("A request makes one event about its end, and counts once", arguments: rows)
    func once(_ row: Row) async throws {
        let session = try session(unmatched: row.unmatched)
        defer { session.finishTasksAndInvalidate() }
        let url = origin.url(row.path).absoluteString
        let request = try request(url, method: row.method, headers: row.headers, policy: row.policy)
        _ = try? await session.data(for: request)
        #expect(events.kinds == row.events)
        #expect(cache.statistics.requests == 1)
    }

    @Test(
        "A request that a recorder forwarded or failed makes one event, and what's kept makes another",
        arguments: [
            (LocalSubstitutionCache.Unmatched.load, true, ["forwarded", "recorded"]),
            (.load, false, ["failed"]), (.fail, true, ["missed"]),
        ]
    )
    func recorded(_ unmatched: LocalSubstitutionCache.Unmatched, isOnline: Bool, _ kinds: [String]) async throws {
        let folder = try TemporaryFolder()
        let visit = try Visit(folder.url, unmatched: unmatched)
        defer { visit.end() }
        let events = HeardEvents(of: visit.cache)
        let url = origin.url("other")
        if !isOnline { origin.stop() }
        _ = try? await visit.session.data(from: url)
        visit.recorder.flush()
        #expect(events.kinds == kinds)
        #expect(visit.cache.statistics.requests == 1)
    }

    #if !canImport(Darwin)
    @Test(
        "A request whose protocol is stopped before it starts is no longer intercepted",
        arguments: ["mapped", "error"]
    )
    func stopped(_ path: String) throws {
        let request = try LocalSubstitutionTests.request(origin.url(path).absoluteString)
        let other = try LocalSubstitutionTests.request(origin.url("offline").absoluteString)
        let slot = try cache.slot()
        try #require(slot.canInit(with: request))
        slot.init(request: other, cachedResponse: nil, client: nil).stopLoading()
        #expect(cache.responder.notes.start(request) != nil, "another request's protocol was stopped")
        try #require(slot.canInit(with: request))
        slot.init(request: request, cachedResponse: nil, client: nil).stopLoading()
        #expect(cache.responder.notes.start(request) == nil)
    }

    @Test("A task that the protocol can't finish fails, and the next request is reported as usual")
    func download() async throws {
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        _ = try? await session.download(from: origin.url("error"))
        #expect(events.kinds == ["failed"])
        #expect(events.all.first?.reason?.contains("Foundation can't finish a download task") == true)
        let plain = LocalSubstitutionTests.session(with: cache)
        defer { plain.finishTasksAndInvalidate() }
        #expect(try await plain.data(from: origin.url("error")).0 == Data("network".utf8))
        #expect(events.kinds == ["failed", "bypassed"])
    }
    #endif
}
