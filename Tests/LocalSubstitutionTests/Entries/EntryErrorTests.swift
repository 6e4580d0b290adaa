import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An entry with an error", .sessions, .timeLimit(.minutes(5)))
struct EntryErrorTests {
    @Test("Requests of every method fail without reaching the network", arguments: ["GET", "HEAD", "POST", "DELETE"])
    func fails(method: String) async throws {
        let session = try EntrySession(#""ORIGIN/a": { "error": "notConnectedToInternet" }"#)
        let request = try session.request("/a", method, body: method == "POST" ? "x" : nil)
        #expect(await session.error(request) == .notConnectedToInternet)
        #expect(session.origin.requests.isEmpty)
        #expect(session.cache.unusedEntries.isEmpty)
    }

    @Test("Only an attached session fails; the cache alone leaves the request to the network")
    func cacheAlone() async throws {
        let session = try EntrySession(#""ORIGIN/a": { "error": "timedOut" }"#)
        let explanation = session.cache.explain(try session.request("/a"))
        #expect(explanation.attached.description == "failed: the error “timedOut”")
        #expect(explanation.cacheOnly.outcome == .unmatched)
        #expect(explanation.cacheOnly.reason == "the entry's field “error” needs an attached session")
        let alone = LocalSubstitutionTests.session(with: session.cache)
        defer { alone.finishTasksAndInvalidate() }
        let (data, _) = try await alone.data(for: session.request("/a"))
        #expect(String(decoding: data, as: UTF8.self) == "network GET")
    }
}
