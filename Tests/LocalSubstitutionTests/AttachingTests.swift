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

@Suite("Attaching", .threads, .timeLimit(.minutes(5)))
struct AttachingTests {
    private static let url = "http://nowhere.invalid/a"

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns a cache whose map answers the same URL as all others, with its own text.
    private static func cache(_ text: String, in folder: TemporaryFolder) throws -> LocalSubstitutionCache {
        try folder.write("\(text).txt", text)
        return LocalSubstitutionCache(map: try SubstitutionMap([url: .file("\(text).txt")], resources: folder.url))
    }

    private static func text(
        _ session: URLSession,
        _ url: String = url,
        headers: [String: String] = [:]
    ) async throws -> String {
        String(decoding: try await session.data(for: request(url, headers: headers)).0, as: UTF8.self)
    }

    // MARK: Many at a time

    @Test("A configuration keeps its answers without its cache, and others are attached to their own")
    func noneCrosses() async throws {
        weak var gone: LocalSubstitutionCache?
        let configuration = URLSessionConfiguration.ephemeral
        try autoreleased {
            let cache = try Self.cache("first", in: folder)
            gone = cache
            try cache.attach(to: configuration, unmatched: .fail)
            configuration.urlCache = nil
        }
        #expect(gone == nil, "nothing holds the cache")
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        var others: [URLSessionConfiguration] = []
        for number in 0..<1_000 {
            let other = URLSessionConfiguration.ephemeral
            try Self.cache("\(number)", in: folder).attach(to: other)
            other.urlCache = nil
            others.append(other)
            guard number % 100 == 99 else { continue }
            for headers in [[:], ["Authorization": "x"]] {
                #expect(try await Self.text(session, headers: headers) == "first")
            }
            await #expect(throws: URLError.self) { try await Self.text(session, "http://nowhere.invalid/b") }
        }
        for (number, other) in others.enumerated() where number % 50 == 0 {
            let session = URLSession(configuration: other)
            #expect(try await Self.text(session) == "\(number)")
            session.finishTasksAndInvalidate()
        }
    }

    @Test(
        "Once the cache is gone, so is its attachment, but sessions go on with its map, counts and rules",
        arguments: [nil, "other"]
    )
    func remains(other: String?) async throws {
        let other = try other.map { try Self.cache($0, in: folder) }
        let configuration = URLSessionConfiguration.ephemeral
        let early: URLSession
        let isHeld: () -> Bool
        (early, isHeld) = try await {
            let cache = LocalSubstitutionCache(
                map: try SubstitutionMap([Self.url: [.text("first").times(2), .text("later")]])
            )
            try cache.attach(to: configuration, unmatched: .fail)
            configuration.urlCache = other
            let session = URLSession(configuration: configuration)
            #expect(try await Self.text(session) == "first")
            weak let responder = cache.responder
            weak let attachment = (configuration.protocolClasses?.first as? SubstitutionURLProtocol.Type)?.attachment
            weak let weakCache = cache
            #expect(attachment != nil)
            return (session, { responder != nil || attachment != nil || weakCache != nil })
        }()
        // The loader may hold the request's protocol for a while.
        let deadline = ContinuousClock.now + .seconds(30)
        while isHeld(), ContinuousClock.now < deadline { await Task.yield() }
        #expect(!isHeld())
        let late = URLSession(configuration: configuration)
        defer { for session in [early, late] { session.finishTasksAndInvalidate() } }
        for (session, text) in [(late, "first"), (early, "later"), (late, "later")] {
            #expect(try await Self.text(session) == text)
            await #expect(throws: URLError.self) { try await Self.text(session, "http://nowhere.invalid/b") }
        }
    }

    private func autoreleased<Result>(_ body: () throws -> Result) rethrows -> Result {
        #if canImport(Darwin)
        try autoreleasepool(invoking: body)
        #else
        try body()
        #endif
    }

    @Test("200 concurrent sessions with their own caches each get their own answers")
    func sessions() async throws {
        let caches = try (0..<200).map { try Self.cache("\($0)", in: folder) }
        let sessions = try caches.enumerated().map { number, cache in
            try cache.makeSession(unmatched: number % 2 == 0 ? .fail : .load)
        }
        defer { for session in sessions { session.finishTasksAndInvalidate() } }
        let answers = try await withThrowingTaskGroup { group in
            for (number, session) in sessions.enumerated() {
                for headers in [[:], ["Authorization": "x"], [:]] {
                    group.addTask { try await Self.text(session, headers: headers) == "\(number)" }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 600))
        for cache in caches {
            #expect(cache.statistics.matched == 3)
            #expect(cache.statistics.requests == 3)
        }
    }

    @Test("Caches can be attached on many threads")
    func threads() async throws {
        let answers = try await withThrowingTaskGroup { group in
            for number in 0..<64 {
                group.addTask {
                    let session = try Self.cache("\(number)", in: folder).makeSession(unmatched: .fail)
                    defer { session.finishTasksAndInvalidate() }
                    return try await Self.text(session) == "\(number)"
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 64))
    }

    // MARK: One configuration

    @Test("Attaching sets the configuration's cache and puts one protocol before the existing ones")
    func configuration() throws {
        let cache = try Self.cache("a", in: folder)
        let configuration = URLSessionConfiguration.ephemeral
        let others = (configuration.protocolClasses ?? []).map { ObjectIdentifier($0) }
        try cache.attach(to: configuration)
        #expect(configuration.urlCache === cache)
        let classes = configuration.protocolClasses ?? []
        #expect(classes.first is SubstitutionURLProtocol.Type)
        #expect(classes.dropFirst().map { ObjectIdentifier($0) } == others)
    }

    @Test("Attaching again replaces the first, except in existing sessions")
    func twice() async throws {
        let (first, second) = (try Self.cache("first", in: folder), try Self.cache("second", in: folder))
        let configuration = URLSessionConfiguration.ephemeral
        let before = (configuration.protocolClasses ?? []).count
        try first.attach(to: configuration, unmatched: .fail)
        let former = URLSession(configuration: configuration)
        try second.attach(to: configuration)
        let session = URLSession(configuration: configuration)
        defer {
            former.finishTasksAndInvalidate()
            session.finishTasksAndInvalidate()
        }
        #expect(configuration.urlCache === second)
        #expect(configuration.protocolClasses?.count == before + 1)
        for headers in [[:], ["Authorization": "x"]] {
            #expect(try await Self.text(session, headers: headers) == "second")
            #expect(try await Self.text(former, headers: headers) == "first")
        }
        #expect(first.statistics.matched == 2)
        #expect(second.statistics.matched == 2)
    }

    @Test("Attaching the same cache twice uses the latest settings")
    func sameCacheTwice() async throws {
        let origin = try LoopbackServer(routes: ["/b": .text("network")])
        defer { origin.stop() }
        let cache = try Self.cache("a", in: folder)
        let configuration = URLSessionConfiguration.ephemeral
        try cache.attach(to: configuration, unmatched: .fail)
        try cache.attach(to: configuration)
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        #expect(try await Self.text(session, origin.url("b").absoluteString) == "network")
    }

    // MARK: Making a session

    @Test("A session is made from a copy of the configuration, with the delegate")
    func makeSession() async throws {
        let cache = try Self.cache("a", in: folder)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Own": "1"]
        let (urlCache, classes) = (configuration.urlCache, configuration.protocolClasses?.count)
        let delegate = TaskRecorder()
        let queue = OperationQueue()
        // A session expects a serial queue.
        queue.maxConcurrentOperationCount = 1
        let session = try cache.makeSession(configuration, unmatched: .fail, delegate: delegate, delegateQueue: queue)
        #expect(configuration.urlCache === urlCache)
        #expect(configuration.protocolClasses?.count == classes)
        #expect(session.configuration.urlCache === cache)
        #expect(session.configuration.httpAdditionalHeaders?["X-Own"] as? String == "1")
        #expect(session.delegate === delegate)
        #expect(session.delegateQueue === queue)
        session.dataTask(with: try request(Self.url)).resume()
        let outcome = await delegate.outcome()
        #expect(outcome.status == 200)
        #expect(outcome.data == Data("a".utf8))
        session.finishTasksAndInvalidate()
    }

    @Test("By default a session answers, loads the rest, and keeps no cookies on disk")
    func makeSessionByDefault() async throws {
        let origin = try LoopbackServer(routes: ["/b": .text("network")])
        defer { origin.stop() }
        let session = try Self.cache("a", in: folder).makeSession()
        defer { session.finishTasksAndInvalidate() }
        #expect(try await Self.text(session) == "a")
        #expect(try await Self.text(session, origin.url("b").absoluteString) == "network")
        #expect(session.configuration.httpCookieStorage !== HTTPCookieStorage.shared)
    }

    @Test("A recorder only records its own session")
    func recorder() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("a"), "/b": .text("b")])
        defer { origin.stop() }
        let cache = try Self.cache("a", in: folder)
        let recorder = try SubstitutionRecorder(folder: folder.url.appendingPathComponent("recorded"))
        defer { recorder.close() }
        let (recorded, plain) = (try cache.makeSession(recorder: recorder), try cache.makeSession())
        defer {
            recorded.finishTasksAndInvalidate()
            plain.finishTasksAndInvalidate()
        }
        _ = try await Self.text(recorded, origin.url("a").absoluteString)
        _ = try await Self.text(plain, origin.url("b").absoluteString)
        recorder.flush()
        let map = try SubstitutionMap(contentsOf: recorder.mapFile)
        #expect(map.substitution(for: origin.url("a")) != nil)
        #expect(map.count == 1)
    }

    // MARK: Allowed URLs

    @Test("Allowed URLs, which are exact URLs and patterns, are loaded, and everything else fails")
    func allowed() async throws {
        let origin = try LoopbackServer { .text("network \($0.path)") }
        defer { origin.stop() }
        let cache = try Self.cache("a", in: folder)
        let session = try cache.makeSession(
            unmatched: .fail(allowing: [origin.url("b").absoluteString, "http://127.0.0.1:*/p/*"])
        )
        defer { session.finishTasksAndInvalidate() }
        #expect(try await Self.text(session) == "a")
        for path in ["b", "p/1", "p/2/3"] {
            #expect(try await Self.text(session, origin.url(path).absoluteString) == "network /\(path)")
        }
        for path in ["c", "b/", "b?v=1", "q"] {
            let error = await #expect(throws: URLError.self) {
                try await Self.text(session, origin.url(path).absoluteString)
            }
            #expect(error?.code == .resourceUnavailable)
        }
        #expect(origin.requests.map(\.path) == ["/b", "/p/1", "/p/2/3"])
    }

    @Test("An entry that waits for the network to fail only asks it for an allowed URL")
    func offlineEntry() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        defer { origin.stop() }
        let cache = try CacheFixture(#""http://127.0.0.1:*/*": { "file": "a.txt", "use": "whenOffline" }"#).cache()
        let session = try cache.makeSession(unmatched: .fail(allowing: [origin.url("a").absoluteString]))
        defer { session.finishTasksAndInvalidate() }
        #expect(try await Self.text(session, origin.url("a").absoluteString) == "network")
        #expect(try await Self.text(session, origin.url("b").absoluteString) == "local")
        #expect(origin.requests.map(\.path) == ["/a"])
    }

    @Test("A recorder records an allowed URL, and replays what else it has")
    func recordedAllowedURL() async throws {
        let origin = try LoopbackServer { .text("network \($0.path)") }
        defer { origin.stop() }
        let cache = try Self.cache("a", in: folder)
        let recorder = try SubstitutionRecorder(folder: folder.url.appendingPathComponent("recorded"))
        defer { recorder.close() }
        let session = try cache.makeSession(
            unmatched: .fail(allowing: [origin.url("b").absoluteString]),
            recorder: recorder
        )
        defer { session.finishTasksAndInvalidate() }
        #expect(try await Self.text(session, origin.url("b").absoluteString) == "network /b")
        await #expect(throws: URLError.self) { try await Self.text(session, origin.url("c").absoluteString) }
        recorder.flush()
        #expect(try SubstitutionMap(contentsOf: recorder.mapFile).count == 1)
        #expect(origin.requests.map(\.path) == ["/b"])
    }

    @Test("An invalid allowed URL throws and leaves the configuration unchanged")
    func invalidAllowedURL() throws {
        let cache = try Self.cache("a", in: folder)
        let configuration = URLSessionConfiguration.ephemeral
        let (urlCache, classes) = (configuration.urlCache, configuration.protocolClasses?.count)
        for attach in [
            { try cache.attach(to: configuration, unmatched: .fail(allowing: ["h/a"])) },
            { _ = try cache.makeSession(configuration, unmatched: .fail(allowing: ["h/a"])) },
        ] {
            let error = try #require(throws: AttachmentError.self) { try attach() }
            #expect(error.kind == .invalidAllowedURL)
        }
        #expect(configuration.urlCache === urlCache)
        #expect(configuration.protocolClasses?.count == classes)
    }
}
