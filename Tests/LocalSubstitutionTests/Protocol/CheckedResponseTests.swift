#if !canImport(Darwin)
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The response in memory to a request that a protocol has intercepted", .sessions)
struct CheckedResponseTests {
    private let fixture: CacheFixture
    private let cache: LocalSubstitutionCache
    private let request: URLRequest
    private let slot: SubstitutionURLProtocol.Type

    init() throws {
        fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": "old"])
        cache = try fixture.reloadingCache()
        request = try LocalSubstitutionTests.request("https://h/a")
        slot = try cache.slot()
        try cache.lookUpUntilOld("https://h/a")
    }

    private func answer(_ note: LookupNotes.Intercepted?) -> CachedURLResponse? {
        cache.responder.responseInMemory(for: request, nil, note)
    }

    @Test("It's checked once if the cache has left the request to the protocol")
    func checkedOnce() throws {
        try #require(slot.canInit(with: request))
        try #require(cache.responder.notes.leavesToProtocol(request))
        try fixture.write("new", to: "a.txt")
        let note = cache.responder.notes.start(request)
        #expect(answer(note)?.text == "old")
        #expect(answer(nil) == nil)
    }

    @Test("It's checked again if another cache was asked, which may have taken long")
    func otherCache() throws {
        try #require(slot.canInit(with: request))
        try fixture.write("new", to: "a.txt")
        #expect(answer(cache.responder.notes.start(request)) == nil)
    }

    @Test("It's checked if it was put into memory afterward")
    func inMemorySince() throws {
        try #require(slot.canInit(with: request))
        try #require(cache.responder.notes.leavesToProtocol(request))
        let note = cache.responder.notes.start(request)
        cache.removeAllCachedResponses()
        #expect(cache.cachedResponse(for: request)?.text == "old")
        try fixture.write("new", to: "a.txt")
        #expect(answer(note) == nil)
    }
}
#endif
