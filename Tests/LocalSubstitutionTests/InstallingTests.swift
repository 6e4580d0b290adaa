#if os(Linux) || os(macOS)
import Foundation
import Guarded
import LocalSubstitutionRecording
import LoopbackOrigin
import Testing
import TestSupport

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Each test that uses `URLSession.shared` or `URLCache.shared` runs in a separate process, since they belong to the process.
@Suite("Installing", .sessions, .timeLimit(.minutes(5)))
struct InstallingTests {
    private static let url = "http://nowhere.invalid/a"

    private static func cache(_ text: String = "local") throws -> LocalSubstitutionCache {
        let entry = #"{ "file": "a.txt", "methods": ["GET", "POST"] }"#
        return try CacheFixture("\"\(url)\": \(entry)", files: ["a.txt": text]).cache()
    }

    /// Returns the answers of `URLSession.shared` to a plain request, one with `Authorization`, and a `POST`; `nil` for an error.
    private static func answers(_ url: String = url, in session: URLSession = .shared) async throws -> [String?] {
        var answers: [String?] = []
        for request in [
            try request(url), try request(url, headers: ["Authorization": "x"]), try request(url, method: "POST"),
        ] {
            let data = try? await session.data(for: request).0
            answers.append(data.map { String(decoding: $0, as: UTF8.self) })
        }
        return answers
    }

    @Test("URLSession.shared is answered and verified, including requests that aren't offered to a cache")
    func answers() async {
        await #expect(processExitsWith: .success) {
            let cache = try InstallingTests.cache()
            try cache.install()
            #expect(URLCache.shared === cache)
            #expect(try await InstallingTests.answers() == ["local", "local", "local"])
            #expect(cache.statistics.matched == 3)
            #expect(await cache.verify(.shared) == .substituted(try #require(URL(string: InstallingTests.url))))
            let origin = try LoopbackServer { _ in .text("network") }
            let loaded = try await InstallingTests.answers(origin.url("b").absoluteString)
            #expect(loaded == ["network", "network", "network"])
        }
    }

    @Test("Unmatched requests fail except for allowed URLs, if that's requested")
    func strict() async {
        await #expect(processExitsWith: .success) {
            let origin = try LoopbackServer { _ in .text("network") }
            try InstallingTests.cache().install(unmatched: .fail(allowing: [origin.url("b").absoluteString]))
            #expect(try await InstallingTests.answers() == ["local", "local", "local"])
            let loaded = try await InstallingTests.answers(origin.url("b").absoluteString)
            #expect(loaded == ["network", "network", "network"])
            #expect(try await InstallingTests.answers(origin.url("c").absoluteString) == [nil, nil, nil])
            #expect(origin.requests.allSatisfy { $0.path == "/b" })
        }
    }

    @Test("Responses are recorded")
    func recorder() async {
        await #expect(processExitsWith: .success) {
            let origin = try LoopbackServer { _ in .text("network") }
            let folder = try TemporaryFolder()
            let recorder = try SubstitutionRecorder(folder: folder.url)
            try InstallingTests.cache().install(recorder: recorder)
            let url = origin.url("b")
            _ = try await URLSession.shared.data(from: url)
            recorder.flush()
            #expect(try SubstitutionMap(contentsOf: recorder.mapFile).count == 1)
            origin.stop()
            #expect(try await URLSession.shared.data(from: url).0 == Data("network".utf8))
        }
    }

    @Test("Uninstalling stops the answers and restores the former cache")
    func uninstalled() async {
        await #expect(processExitsWith: .success) {
            let former = URLCache.shared
            let cache = try InstallingTests.cache()
            try cache.install(unmatched: .fail)
            #expect(try await InstallingTests.answers() == ["local", "local", "local"])
            cache.uninstall()
            #expect(URLCache.shared === former)
            #expect(try await InstallingTests.answers() == [nil, nil, nil])
            let origin = try LoopbackServer { _ in .text("network") }
            let loaded = try await InstallingTests.answers(origin.url("b").absoluteString)
            #expect(loaded == ["network", "network", "network"])
            // Uninstalling again, or a cache that isn't installed, does nothing.
            cache.uninstall()
            try InstallingTests.cache().uninstall()
            #expect(URLCache.shared === former)
        }
    }

    @Test("A substitution that arrives after uninstalling isn't stored", arguments: [false, true])
    func lateSubstitution(byTask: Bool) async {
        await #expect(processExitsWith: .success) { [byTask = byTask as Bool] in
            URLCache.shared = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            let cache = try InstallingTests.cache()
            try cache.install()
            let request = try request(InstallingTests.url)
            let (data, response) = try await URLSession.shared.data(for: request)
            let delivered = CachedURLResponse(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
            cache.uninstall()
            if byTask {
                SharedSessionCache.only.storeCachedResponse(
                    delivered,
                    for: URLSession.shared.dataTask(with: request)
                )
            } else {
                SharedSessionCache.only.storeCachedResponse(delivered, for: request)
            }
            #expect(URLCache.shared.cachedResponse(for: request) == nil)
            #expect(try await InstallingTests.answers() == [nil, nil, nil])
        }
    }

    @Test("Uninstalling leaves a cache that was set meanwhile")
    func setMeanwhile() async {
        await #expect(processExitsWith: .success) {
            let cache = try InstallingTests.cache()
            try cache.install()
            let other = URLCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
            URLCache.shared = other
            cache.uninstall()
            #expect(URLCache.shared === other)
        }
    }

    #if !canImport(Darwin)
    @Test("Installing throws if a session was already used, and changes nothing", arguments: [false, true])
    func tooLate(isShared: Bool) async {
        await #expect(processExitsWith: .success) { [isShared = isShared as Bool] in
            let former = URLCache.shared
            let session = isShared ? URLSession.shared : URLSession(configuration: .ephemeral)
            let origin = try LoopbackServer { _ in .text("network") }
            _ = try await session.data(from: origin.url("a"))
            let error = try #require(throws: AttachmentError.self) {
                try InstallingTests.cache().install(unmatched: .fail)
            }
            #expect(error.kind == .sessionInUse)
            #expect(error.description.contains("attach it"))
            #expect(URLCache.shared === former)
            for session in [session, .shared, URLSession(configuration: .default)] {
                #expect(try await InstallingTests.answers(in: session) == [nil, nil, nil])
                let answers = try await InstallingTests.answers(origin.url("b").absoluteString, in: session)
                #expect(answers == ["network", "network", "network"])
            }
        }
    }

    @Test("Installing throws if a session was already used, and URLSession.shared can still get another cache")
    func setAfterTooLate() async {
        await #expect(processExitsWith: .success) {
            let origin = try LoopbackServer { _ in .text("network") }
            _ = try await URLSession(configuration: .ephemeral).data(from: origin.url("a"))
            let cache = try InstallingTests.cache()
            #expect(throws: AttachmentError.self) { try cache.install() }
            URLCache.shared = cache
            #expect(try await InstallingTests.answers() == ["local", nil, nil])
            #expect(await cache.verify(.shared) == .substituted(try #require(URL(string: InstallingTests.url))))
        }
    }

    @Test("URLSession.shared uses the cache that's set after uninstalling")
    func setAfterUninstalling() async {
        await #expect(processExitsWith: .success) {
            let (cache, other) = (try InstallingTests.cache(), try InstallingTests.cache("other"))
            try cache.install()
            cache.uninstall()
            URLCache.shared = other
            #expect(try await InstallingTests.answers() == ["other", nil, nil])
            #expect(await cache.verify(.shared) == .notSubstituted(.anotherCache))
        }
    }

    @Test("Verifying works if the session doesn't list the registered protocol, as on Apple platforms")
    func unlisted() async {
        await #expect(processExitsWith: .success) {
            let cache = try InstallingTests.cache()
            try cache.install()
            let configuration = URLSession.shared.configuration
            configuration.protocolClasses = URLSessionConfiguration.ephemeral.protocolClasses
            let session = URLSession(configuration: configuration)
            #expect(await cache.verify(session) == .substituted(try #require(URL(string: InstallingTests.url))))
        }
    }

    @Test("What another cache's session forwards is left to the network", arguments: [false, true])
    func sentOn(isListedEmpty: Bool) async {
        await #expect(processExitsWith: .success) { [isListedEmpty = isListedEmpty as Bool] in
            try InstallingTests.cache().install(unmatched: .fail)
            let origin = try LoopbackServer { _ in .text("network") }
            let url = origin.url("b")
            let other = try CacheFixture(#""\#(url)": { "file": "a.txt", "use": "whenOffline" }"#).cache()
            let configuration = URLSession.shared.configuration
            if isListedEmpty { configuration.protocolClasses = [] }
            let session = try other.makeSession(configuration)
            #expect(try await session.data(from: url).0 == Data("network".utf8))
            #expect(other.statistics.forwarded == 1)
        }
    }
    #endif

    @Test("URLSession.shared gets a cache with the installed one's capacities")
    func capacities() async {
        await #expect(processExitsWith: .success) {
            let former = URLCache.shared
            let formerCapacities = former.capacities
            let cache = try InstallingTests.cache()
            try cache.install()
            #expect(former.capacities == formerCapacities)
            let shared = try #require(URLSession.shared.configuration.urlCache)
            #expect(shared.capacities == cache.capacities)
            shared.memoryCapacity = 1 << 20
            shared.diskCapacity = 2 << 20
            #expect(cache.capacities == [1 << 20, 2 << 20])
            #expect(shared.currentMemoryUsage == cache.currentMemoryUsage)
            #expect(shared.currentDiskUsage == cache.currentDiskUsage)
        }
    }

    @Test("Installing on several threads leaves one cache in place, and undoing it restores the former")
    func concurrent() async {
        await #expect(processExitsWith: .success) {
            let former = URLCache.shared
            let caches = try (0..<4).map { try InstallingTests.cache("\($0)") }
            for _ in 0..<300 {
                DispatchQueue.concurrentPerform(iterations: caches.count) { number in
                    for _ in 0..<10 {
                        try? caches[number].install()
                        if number == 0 { caches[number].uninstall() }
                    }
                }
                if let cache = caches.first(where: { $0 === URLCache.shared }) {
                    #expect(InstalledProtocol.attachment?.responder === cache.responder)
                    cache.uninstall()
                }
                #expect(URLCache.shared === former)
                #expect(InstalledProtocol.attachment == nil)
            }
        }
    }

    @Test("An invalid allowed URL throws, and nothing changes")
    func invalidAllowedURL() async {
        await #expect(processExitsWith: .success) {
            let former = URLCache.shared
            let error = try #require(throws: AttachmentError.self) {
                try InstallingTests.cache().install(unmatched: .fail(allowing: ["h/a"]))
            }
            #expect(error.kind == .invalidAllowedURL)
            #expect(URLCache.shared === former)
            let cache = try InstallingTests.cache()
            try cache.install()
            #expect(throws: AttachmentError.self) {
                try InstallingTests.cache("other").install(unmatched: .fail(allowing: ["h/a"]))
            }
            #expect(URLCache.shared === cache)
            #expect(try await InstallingTests.answers() == ["local", "local", "local"])
        }
    }

    @Test("A second cache replaces the first", arguments: [false, true])
    func second(isUsed: Bool) async {
        await #expect(processExitsWith: .success) { [isUsed = isUsed as Bool] in
            let former = URLCache.shared
            let (first, second) = (try InstallingTests.cache("first"), try InstallingTests.cache("second"))
            try first.install(unmatched: .fail)
            if isUsed { #expect(try await InstallingTests.answers() == ["first", "first", "first"]) }
            try second.install()
            #expect(URLCache.shared === second)
            #expect(try await InstallingTests.answers() == ["second", "second", "second"])
            first.uninstall()
            #expect(URLCache.shared === second)
            #expect(try await InstallingTests.answers() == ["second", "second", "second"])
            second.uninstall()
            #expect(URLCache.shared === former)
            #expect(try await InstallingTests.answers() == [nil, nil, nil])
        }
    }

    /// A request with `URLSession.shared`, and the value of the key in the map of a test without `sharedSession`.
    struct Watched: Sendable, CustomTestStringConvertible {
        let entry: String
        var key = "/name"
        var path = "/name"
        var method = "GET"
        var headers: [String: String] = [:]
        var body: String?
        var isStream = false

        var testDescription: String {
            "\(method) \(path) \(headers) \(body?.prefix(20) ?? "") \(isStream) \(key): \(entry)"
        }

        /// Returns whether a watching cache with the map notices the request.
        func isNoticed() throws -> Bool {
            let origin = "http://\(UUID().uuidString).invalid"
            let cache = try CacheFixture("\"\(origin)\(key)\": \(entry)").cache()
            let noticed = Guarded<[URL?]>([])
            let end = cache.watchSharedSession { request in noticed.withLock { $0.append(request.url) } }
            defer { end() }
            var request = try request(origin + path, method: method, headers: headers)
            if isStream {
                request.httpBodyStream = body.map { InputStream(data: Data($0.utf8)) }
            } else {
                request.httpBody = body.map { Data($0.utf8) }
            }
            #expect(!SharedSessionProtocol.canInit(with: request))
            let urls = noticed.withLock { $0 }
            #expect(urls.allSatisfy { $0 == request.url })
            return !urls.isEmpty
        }
    }

    private static let json = #"{ "methods": ["POST"], "when": { "json": { "id": 7 } }, "text": "a" }"#
    private static let text =
        #"{ "methods": ["POST"], "when": { "headers": { "X-A": "1" }, "text": "a*" }, "text": "a" }"#
    private static let page = #"{ "ignoreQuery": true, "when": { "query": { "page": "2" } }, "text": "a" }"#
    /// A body that's too long to read on the queue that all sessions share.
    private static let long = String(repeating: "x", count: (64 << 10) + 1)

    @Test(
        "A request that an entry would have responded to is noticed, and one whose body must be read first, too",
        arguments: [
            Watched(entry: #"{ "text": "a" }"#),
            Watched(entry: #"{ "text": "a" }"#, method: "HEAD"),
            Watched(entry: #"{ "methods": ["*"], "status": 204 }"#, method: "DELETE"),
            Watched(entry: #"{ "error": "timedOut" }"#, method: "PUT", body: "x"),
            Watched(entry: #"{ "use": "whenOffline", "text": "a" }"#),
            Watched(entry: #"{ "when": { "headers": { "X-A": "1*" } }, "text": "a" }"#, headers: ["x-a": "12"]),
            Watched(entry: #"{ "ignoreQuery": true, "text": "a" }"#, path: "/name?page=2"),
            Watched(entry: page, path: "/name?page=2"),
            Watched(entry: #"{ "text": "a" }"#, key: "/*", path: "/deeper/name"),
            Watched(entry: #"[{ "when": { "headers": { "X-A": "1" } }, "text": "a" }, { "text": "b" }]"#),
            Watched(entry: json, method: "POST", body: #"{"id":7,"name":"a"}"#),
            Watched(entry: json, method: "POST", body: #"{"id":7}"#, isStream: true),
            Watched(entry: json, method: "POST", body: #"{"id":8}"#, isStream: true),
            Watched(entry: json, method: "POST", body: long),
            Watched(entry: text, method: "POST", headers: ["X-A": "1"], body: "ab", isStream: true),
            Watched(entry: text, method: "POST", headers: ["X-A": "1"], body: long),
            Watched(entry: text, method: "POST", headers: ["X-A": "1"], body: "ab"),
        ]
    )
    func noticed(_ watched: Watched) throws {
        #expect(try watched.isNoticed())
    }

    @Test(
        "A request that no entry can respond to isn't noticed, whatever its body",
        arguments: [
            Watched(entry: #"{ "text": "a" }"#, path: "/other"),
            Watched(entry: #"{ "text": "a" }"#, path: "/name?page=2"),
            Watched(entry: #"{ "text": "a" }"#, method: "POST", body: "x", isStream: true),
            Watched(entry: #"{ "enabled": false, "text": "a" }"#),
            Watched(entry: "null"),
            Watched(entry: #"{ "when": { "headers": { "X-A": null } }, "text": "a" }"#, headers: ["X-A": "1"]),
            Watched(entry: page, path: "/name?page=3"),
            Watched(entry: json, method: "POST", body: #"{"id":8}"#),
            Watched(entry: json, method: "PUT", body: #"{"id":7}"#, isStream: true),
            Watched(entry: json, method: "POST"),
            Watched(entry: text, method: "POST", body: "ab", isStream: true),
            Watched(entry: text, method: "POST", headers: ["X-A": "1"], body: "b"),
        ]
    )
    func notNoticed(_ watched: Watched) throws {
        #expect(try !watched.isNoticed())
    }
}

extension URLCache {
    fileprivate var capacities: [Int] { [memoryCapacity, diskCapacity] }
}
#endif
