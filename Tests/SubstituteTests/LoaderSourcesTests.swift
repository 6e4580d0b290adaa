import Foundation
import LocalSubstitution
import TestSupport
import Testing

@testable import substitute

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The source of an answer", .values)
struct LoaderSourcesTests {
    private let cache: LocalSubstitutionCache
    private let request: URLRequest
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.writeMap(#"{ "https://h.com/a": "a.txt" }"#, files: ["a.txt": "a"])
        cache = try LocalSubstitutionCache(contentsOf: URL(fileURLWithPath: folder.path("substitutions.json")))
        request = URLRequest(url: try #require(URL(string: "https://h.com/a")))
    }

    private func response() throws -> URLResponse { try #require(cache.cachedResponse(for: request)).response }

    @Test("The source of each of several concurrent requests for one URL is known")
    func several() throws {
        let sources = Loader.Sources(of: cache)
        let responses = [try response(), try response(), try response()]
        for response in responses { #expect(sources.take(response, to: request) == .matched(file: "a.txt")) }
        #expect(sources.take(responses[0], to: request) == .network)
    }

    @Test("The source is the entry that answers a redirect's target, and the other URL's source is left alone")
    func redirected() throws {
        let sources = Loader.Sources(of: cache)
        let from = URLRequest(url: try #require(URL(string: "https://h.com/from")))
        let responses = [try response(), try response()]
        #expect(sources.take(responses[0], to: from) == .matched(file: "a.txt"))
        #expect(sources.take(responses[1], to: request) == .matched(file: "a.txt"))
    }
}
