import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Responses in memory in a session with the protocol", .threads, .timeLimit(.minutes(5)))
struct HitInMemoryTests {
    private static let url = "http://nowhere.invalid/a"

    enum Kind: CaseIterable, CustomTestStringConvertible {
        case plain, reloading, withLifetime, withoutURLCache, withAnotherURLCache
        var testDescription: String { "\(self)" }
    }

    private func session(_ kind: Kind) throws -> (URLSession, LocalSubstitutionCache) {
        let headers = kind == .withLifetime ? #", "headers": { "Cache-Control": "max-age=1000" }"# : ""
        let fixture = try CacheFixture(
            #""http://nowhere.invalid/*": { "file": "a.txt"\#(headers) }"#,
            files: ["a.txt": String(repeating: "local ", count: 10_000)]
        )
        let cache = try kind == .reloading ? fixture.reloadingCache() : fixture.cache()
        let configuration = URLSessionConfiguration.ephemeral
        try cache.attach(to: configuration, unmatched: .fail)
        switch kind {
        case .withoutURLCache: configuration.urlCache = nil
        case .withAnotherURLCache: configuration.urlCache = URLCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
        default: break
        }
        return (URLSession(configuration: configuration), cache)
    }

    @Test("Each response in memory is delivered unchanged, counted and reported once", arguments: Kind.allCases)
    func once(_ kind: Kind) async throws {
        let (session, cache) = try session(kind)
        defer { session.finishTasksAndInvalidate() }
        let events = HeardEvents(of: cache)
        let url = try #require(URL(string: Self.url))
        let first = try await session.data(from: url)
        let inMemory = try #require(cache.responder.inMemory.peek(Self.url))
        for number in 2...20 {
            let (data, response) = try await session.data(from: url)
            #expect(data == first.0)
            #expect(response.url == url)
            #if !canImport(Darwin)
            // A file that was just written may be read again, but the response is still the same.
            #expect(response === inMemory.response, "request \(number)")
            #endif
            #expect(cache.statistics.matched == number)
        }
        #expect(cache.responder.inMemory.peek(Self.url) === inMemory)
        let statistics = cache.statistics
        #expect(statistics.matched == 20)
        #expect(statistics.requests == 20)
        #expect(statistics.bytes == 20 * first.0.count)
        #expect(events.kinds == Array(repeating: "matched", count: 20))
    }

    @Test("Many new requests at the same time each count once", arguments: [Kind.plain, .reloading])
    func many(_ kind: Kind) async throws {
        let (session, cache) = try session(kind)
        defer { session.finishTasksAndInvalidate() }
        let events = HeardEvents(of: cache)
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                let headers = number % 10 == 9 ? ["Authorization": "x"] : [:]
                let request = try request("http://nowhere.invalid/\(number % 20)", headers: headers)
                group.addTask { try await session.data(for: request).0.count }
            }
            for try await count in group { #expect(count == 60_000) }
        }
        let statistics = cache.statistics
        #expect(statistics.matched == 200)
        #expect(statistics.requests == 200)
        #expect(statistics.bytes == 200 * 60_000)
        #expect(events.kinds == Array(repeating: "matched", count: 200))
    }

    @Test("Similar requests aren't answered: with Authorization, a range, or a reload policy")
    func others() async throws {
        let (session, cache) = try session(.plain)
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: Self.url))
        _ = try await session.data(from: url)
        let range = try request(Self.url, headers: ["Range": "bytes=0-4"])
        #expect(try await session.data(for: range).0 == Data("local".utf8))
        _ = try await session.data(for: request(Self.url, headers: ["Authorization": "x"]))
        _ = try await session.data(for: request(Self.url, policy: .reloadIgnoringLocalCacheData))
        #expect(cache.statistics.matched == 4)
    }

    @Test("Removing responses or setting another map drops them")
    func removed() async throws {
        let (session, cache) = try session(.plain)
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: Self.url))
        let first = try await session.data(from: url).1
        cache.removeCachedResponse(for: URLRequest(url: url))
        let second = try await session.data(from: url).1
        #expect(second !== first)
        cache.map = try SubstitutionMap(json: Data("{}".utf8))
        await #expect(throws: URLError.self) { try await session.data(from: url) }
    }
}
