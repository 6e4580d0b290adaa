import Foundation
import LocalSubstitution
import Testing

@testable import substitute

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The source of an answer")
struct AnswerSourcesTests {
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

    @Test("is known for each of several requests for one URL that are answered before the first one ends")
    func several() throws {
        let sources = AnswerSources(of: cache)
        let responses = [try response(), try response(), try response()]
        for response in responses { #expect(sources.take(response, to: request) == .substituted(file: "a.txt")) }
        #expect(sources.take(responses[0], to: request) == .network)
    }

    @Test("is the entry that answers a redirect's target, and leaves the other URL's source alone")
    func redirected() throws {
        let sources = AnswerSources(of: cache)
        let from = URLRequest(url: try #require(URL(string: "https://h.com/from")))
        let responses = [try response(), try response()]
        #expect(sources.take(responses[0], to: from) == .substituted(file: "a.txt"))
        #expect(sources.take(responses[1], to: request) == .substituted(file: "a.txt"))
    }
}
