import Foundation
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Verifying a session", .sessions, .timeLimit(.minutes(5)))
struct VerificationTests {
    private let origin: LoopbackServer

    init() throws { origin = try LoopbackServer(routes: ["/a": .text("network")]) }

    private func cache(_ value: String = "\"a.txt\"") throws -> LocalSubstitutionCache {
        try CacheFixture("\"\(origin.url("a"))\": \(value)").cache()
    }

    private func verify(
        _ cache: LocalSubstitutionCache,
        _ configure: (URLSessionConfiguration) throws -> Void
    ) async throws -> LocalSubstitutionCache.Verification {
        let configuration = URLSessionConfiguration.ephemeral
        try configure(configuration)
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        return await cache.verify(session)
    }

    @Test(
        "The file answered",
        arguments: [#""a.txt""#, #"{ "file": "a.txt", "headers": { "Cache-Status": "x" } }"#]
    )
    func substituted(_ value: String) async throws {
        let cache = try cache(value)
        let verification = try await verify(cache) { $0.urlCache = cache }
        #expect(verification == .substituted(origin.url("a")))
        #expect(origin.requests.isEmpty)
    }

    @Test("Responses in memory neither mislead it nor remain", arguments: [false, true])
    func inMemory(_ isInMemory: Bool) async throws {
        let cache = try cache()
        let url = origin.url("a").absoluteString
        if isInMemory { _ = try cache.lookUp(url) }
        #expect(try await verify(cache) { $0.urlCache = cache } == .substituted(origin.url("a")))
        let headers = try #require(try cache.lookUp(url)?.http).allHeaderFields.keys.compactMap { $0 as? String }
        #expect(!headers.contains { $0.lowercased().hasPrefix("localsubstitution") })
    }

    @Test("Its request uses no entry, and isn't counted or reported", arguments: [false, true])
    func uncounted(isAttached: Bool) async throws {
        let (cache, url) = (try cache(), origin.url("a"))
        let events = HeardEvents(of: cache)
        let verification = try await verify(cache) {
            if isAttached { try cache.attach(to: $0) } else { $0.urlCache = cache }
        }
        #expect(verification == .substituted(url))
        _ = try await verify(cache) {
            $0.urlCache = cache
            $0.requestCachePolicy = .reloadIgnoringLocalCacheData
        }
        #expect(cache.unusedEntries.map(\.key) == [url.absoluteString])
        #expect(cache.statistics.requests == 0)
        #expect(events.all.isEmpty)
        #expect(try cache.lookUp(url.absoluteString) != nil)
        #expect(cache.unusedEntries.isEmpty)
        #expect(cache.statistics.matched == 1 && events.all.count == 1)
    }

    @Test("The session has no cache, or another one, even one that substitutes")
    func otherCaches() async throws {
        let (cache, other) = (try cache(), try self.cache())
        #expect(try await verify(cache) { $0.urlCache = nil } == .notSubstituted(.noCache))
        #expect(
            try await verify(cache) { $0.urlCache = URLCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil) }
                == .notSubstituted(.anotherCache)
        )
        let answered = try await verify(cache) { $0.urlCache = other }
        #expect(answered == .notSubstituted(.anotherCache))
        #expect(answered.description.contains("another cache"))
    }

    /// A loader that ignores the cache, like a protocol that comes first.
    private final class Unbelieving: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func stopLoading() {}
        override func startLoading() {
            // A server can send this header too, so it must not be trusted.
            let headers = ["Cache-Status": #"LocalSubstitutionCache; hit; detail="a.txt""#]
            guard let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: headers)
            else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocolDidFinishLoading(self)
        }
    }

    @Test("The configuration ignores caches, or only the loader can be the cause")
    func unbelieved() async throws {
        let cache = try cache()
        let ignoring = try await verify(cache) {
            $0.urlCache = cache
            $0.protocolClasses = [Unbelieving.self]
            $0.requestCachePolicy = .reloadIgnoringLocalCacheData
        }
        #expect(ignoring == .notSubstituted(.policy))
        let other = try await verify(cache) {
            $0.urlCache = cache
            $0.protocolClasses = [Unbelieving.self]
        }
        #expect(other == .notSubstituted(.platform))
        #expect(other.description.contains("Attach the cache to the session's configuration"))
    }

    @Test(
        "There's nothing to verify with",
        arguments: [
            "null", #"{ "status": 503 }"#, #"{ "file": "a.txt", "use": "whenOffline" }"#,
        ]
    )
    func nothing(_ value: String) async throws {
        let cache = try cache(value)
        let verification = try await verify(cache) { $0.urlCache = cache }
        #expect(verification == .notSubstituted(.nothingToLoad))
    }

    @Test("A session with another cache isn't tried on the network, where a challenge might never end")
    func challenge() async throws {
        let origin = try LoopbackServer { _ in
            LoopbackServer.Answer(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"x\"")])
        }
        defer { origin.stop() }
        let cache = try CacheFixture("\"\(origin.url("a"))\": \"a.txt\"").cache()
        #expect(try await verify(cache) { $0.urlCache = nil } == .notSubstituted(.noCache))
        #expect(origin.requests.isEmpty)
    }

    #if swift(>=6.2)
    @Test("The session was made before URLCache.shared was set")
    func madeBefore() async {
        await #expect(processExitsWith: .success) {
            let session = URLSession(configuration: .default)
            let folder = try TemporaryFolder(files: ["a.txt"])
            let map = try SubstitutionMap(["http://nowhere.invalid/a": "a.txt"], resources: folder.url)
            let cache = LocalSubstitutionCache(map: map)
            URLCache.shared = cache
            let old = await cache.verify(session)
            let new = await cache.verify(URLSession(configuration: .default))
            let url = try #require(URL(string: "http://nowhere.invalid/a"))
            _exit(old == .notSubstituted(.madeBefore) && new == .substituted(url) ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
    #endif
}
