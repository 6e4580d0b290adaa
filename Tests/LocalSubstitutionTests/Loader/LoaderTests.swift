import Foundation
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The real loader with the cache in place, and an origin that reports the requests it gets.
@Suite("URLSession with the cache", .sessions)
struct LoaderTests {
    private let origin: LoopbackServer
    private let fixture: CacheFixture
    private let cache: LocalSubstitutionCache

    init() throws {
        origin = try LoopbackServer { request in
            request.path == "/redirect" ? .redirect(to: "/mapped") : .text("network \(request.method)")
        }
        fixture = try CacheFixture(
            """
            "http://127.0.0.1:*/mapped": "a.txt",
            "http://127.0.0.1:*/mapped/*": "*",
            "http://127.0.0.1:*/posted": { "file": "a.txt", "methods": ["GET", "POST"] },
            "http://127.0.0.1:*/vary": { "file": "a.txt", "headers": { "Vary": "Accept" } },
            "http://127.0.0.1:*/error": { "file": "a.txt", "status": 500 },
            "http://127.0.0.1:*/gone": { "status": 404 },
            "http://127.0.0.1:*/mapped/live": null,
            "https://no-such-host.invalid/data.json": "data.json"
            """,
            files: ["a.txt": "local", "data.json": "{}", "large.bin": String(repeating: "0123456789", count: 100_000)]
        )
        cache = try fixture.cache()
    }

    private func load(
        _ path: String,
        method: String = "GET",
        headers: [String: String] = [:],
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        body: String? = nil
    ) async throws -> (text: String, response: HTTPURLResponse) {
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        var request = try request(origin.url(path).absoluteString, method: method, headers: headers, policy: policy)
        request.httpBody = body.map { Data($0.utf8) }
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    @Test("An async data task is answered from the file, and the origin isn't asked")
    func async() async throws {
        let (text, response) = try await load("mapped")
        #expect(text == "local")
        #expect(response.value(forHTTPHeaderField: "Cache-Status")?.contains("a.txt") == true)
        #expect(response.statusCode == 200)
        #expect(origin.requests.isEmpty)
    }

    @Test("A task with a completion handler is answered from the file")
    func completionHandler() async throws {
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        let data = await withCheckedContinuation { continuation in
            session.dataTask(with: origin.url("mapped")) { data, _, _ in continuation.resume(returning: data) }.resume()
        }
        #expect(data == Data("local".utf8))
        #expect(origin.requests.isEmpty)
    }

    @Test("A task with a delegate gets the response, then the data, then the end")
    func delegate() async throws {
        let recorder = TaskRecorder()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = cache
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: origin.url("mapped/large.bin")).resume()
        let outcome = await recorder.outcome()
        session.finishTasksAndInvalidate()
        #expect(outcome.status == 200)
        #expect(outcome.data.count == 1_000_000)
        #expect(outcome.error == nil)
        #expect(origin.requests.isEmpty)
    }

    @Test("A host that doesn't exist makes no difference")
    func noSuchHost() async throws {
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: "https://no-such-host.invalid/data.json"))
        let (data, response) = try await session.data(from: url)
        #expect(data == Data("{}".utf8))
        #expect(response.mimeType == "application/json")
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let what: String
        let path: String
        var method = "GET"
        var headers: [String: String] = [:]
        var policy = URLRequest.CachePolicy.useProtocolCachePolicy
        /// The expected text; `nil` for the network's.
        var local: String?
        var status = 200
        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(what: "a URL of no entry", path: "other"),
        Row(what: "a URL that is excepted by null", path: "mapped/live"),
        Row(what: "a pattern without the file", path: "mapped/missing"),
        Row(what: "reloading", path: "mapped", policy: .reloadIgnoringLocalCacheData),
        Row(what: "reloading past all caches", path: "mapped", policy: .reloadIgnoringLocalAndRemoteCacheData),
        Row(what: "revalidating", path: "mapped", policy: .reloadRevalidatingCacheData),
        Row(what: "cache only", path: "mapped", policy: .returnCacheDataDontLoad, local: "local"),
        Row(what: "cache first", path: "mapped", policy: .returnCacheDataElseLoad, local: "local"),
        Row(what: "POST", path: "mapped", method: "POST"),
        Row(what: "POST to an entry that lists it", path: "posted", method: "POST"),
        Row(what: "DELETE", path: "mapped", method: "DELETE"),
        Row(what: "Authorization", path: "mapped", headers: ["Authorization": "Bearer x"]),
        Row(what: "an entry with Vary", path: "vary"),
        Row(what: "an entry with status 500", path: "error"),
        Row(what: "an entry with status 404", path: "gone", local: "", status: 404),
        Row(what: "HEAD", path: "mapped", method: "HEAD", local: ""),
        Row(what: "a range", path: "mapped", headers: ["Range": "bytes=1-3"], local: "oca", status: 206),
        Row(
            what: "a range with If-Range",
            path: "mapped",
            headers: ["Range": "bytes=1-3", "If-Range": "x"],
            local: "local"
        ),
        Row(what: "two ranges", path: "mapped", headers: ["Range": "bytes=0-0,2-2"], local: "local"),
        Row(what: "other headers", path: "mapped", headers: ["Accept": "*/*", "X-Test": "1"], local: "local"),
        Row(what: "a fragment", path: "mapped#part", local: "local"),
    ]

    @Test("Only what isn't answered from a file reaches the network", arguments: rows)
    func reaches(_ row: Row) async throws {
        let (text, response) = try await load(row.path, method: row.method, headers: row.headers, policy: row.policy)
        #expect(text == row.local ?? "network \(row.method)")
        #expect(response.statusCode == row.status)
        #expect(origin.requests.count == (row.local == nil ? 1 : 0))
        if row.local == nil { #expect(origin.requests.first?.method == row.method) }
    }

    @Test("A POST arrives at the origin with its body")
    func postBody() async throws {
        _ = try await load("posted", method: "POST", body: "hello")
        #expect(origin.requests.first?.body == Data("hello".utf8))
    }

    @Test("A body that's larger than one read arrives whole")
    func largeBody() async throws {
        let (text, _) = try await load("mapped/large.bin")
        #expect(text == String(repeating: "0123456789", count: 100_000))
    }

    @Test("Hundreds of concurrent requests get their own answers, from files and from the network")
    func many() async throws {
        for number in 0..<20 { try fixture.write("file \(number)", to: "f\(number).txt") }
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        try await withThrowingTaskGroup { group in
            for number in 0..<400 {
                let isMapped = number % 4 != 0
                let url = origin.url(isMapped ? "mapped/f\(number % 20).txt" : "other/\(number)")
                group.addTask {
                    let (data, _) = try await session.data(from: url)
                    return (String(decoding: data, as: UTF8.self), isMapped ? "file \(number % 20)" : "network GET")
                }
            }
            for try await (text, expected) in group { #expect(text == expected) }
        }
        #expect(origin.requests.count == 100)
        #expect(cache.statistics.matched == 300)
    }

    @Test("The caller of resume() doesn't wait for a cold read")
    func coldRead() async throws {
        // The completion is called immediately only if nothing has to be read.
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: origin.url("mapped"))
        let cold = await firstCall(task)
        #expect(cold.text == "local")
        #expect(!cold.wasAtOnce)
        let warm = await firstCall(task)
        #expect(warm.text == "local")
        #expect(warm.wasAtOnce)
        let empty = await firstCall(session.dataTask(with: origin.url("gone")))
        #expect(empty.wasAtOnce, "an entry without a file needs no read")
        // The file is held in memory, but a file that was just written is read again until the file system's clock has ticked.
        var sameFile = await firstCall(session.dataTask(with: origin.url("posted#0")))
        for _ in 0..<1_000 where !sameFile.wasAtOnce {
            sameFile = await firstCall(session.dataTask(with: origin.url("posted#\(UUID())")))
        }
        #expect(sameFile.wasAtOnce)
    }

    private func firstCall(_ task: URLSessionDataTask) async -> (text: String?, wasAtOnce: Bool) {
        let caller = CallerThread()
        return await withCheckedContinuation { continuation in
            caller.run {
                cache.getCachedResponse(for: task) { response in
                    continuation.resume(returning: (response?.text, caller.isInside))
                }
            }
        }
    }

    @Test("A task can remove its response, and nothing is stored for it")
    func taskOverrides() async throws {
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: origin.url("mapped"))
        let first = try #require(try cache.lookUp(origin.url("mapped").absoluteString))
        cache.storeCachedResponse(first, for: task)
        cache.removeCachedResponse(for: task)
        #expect(try cache.lookUp(origin.url("mapped").absoluteString) !== first)
        let other = session.dataTask(with: origin.url("other"))
        let response = try #require(
            HTTPURLResponse(url: origin.url("other"), statusCode: 200, httpVersion: nil, headerFields: nil)
        )
        cache.storeCachedResponse(
            CachedURLResponse(
                response: response,
                data: Data("kept".utf8),
                userInfo: nil,
                storagePolicy: .allowedInMemoryOnly
            ),
            for: other
        )
        let (data, _) = try await session.data(from: origin.url("other"))
        #expect(data == Data("kept".utf8), "what was stored in the default cache is served by it")
        #expect(origin.requests.isEmpty)
    }

    @Test("A substitution is never stored, whatever the map says by then", arguments: [false, true], [false, true])
    func substitutionsAreNotStored(byTask: Bool, isNamed: Bool) async throws {
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        let url = origin.url("mapped")
        let (data, response) = try await session.data(from: url)
        let delivered = CachedURLResponse(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
        if !isNamed { cache.map = try SubstitutionMap([:]) }
        if byTask {
            cache.storeCachedResponse(delivered, for: session.dataTask(with: url))
        } else {
            cache.storeCachedResponse(delivered, for: URLRequest(url: url))
        }
        cache.map = try SubstitutionMap([:])
        let (text, _) = try await load("mapped")
        #expect(text == "network GET")
        #expect(cache.statistics.defaultCacheHits == 0)
    }

    @Test("Resetting a session drops responses in memory, and substitution continues")
    func reset() async throws {
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        _ = try await session.data(from: origin.url("mapped"))
        await withCheckedContinuation { continuation in session.reset { continuation.resume() } }
        let (data, _) = try await session.data(from: origin.url("mapped"))
        #expect(data == Data("local".utf8))
        #expect(origin.requests.isEmpty)
    }
}

/// The few tests that need the shared cache, one after another.
@Suite("The shared cache", .sessions)
struct SharedCacheTests {
    @Test("A default session that's made afterwards asks URLCache.shared")
    func defaultConfiguration() async throws {
        let fixture = try CacheFixture(#""http://shared.invalid/a": "a.txt""#)
        let before = URLCache.shared
        URLCache.shared = try fixture.cache()
        defer { URLCache.shared = before }
        let session = URLSession(configuration: .default)
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: "http://shared.invalid/a"))
        let (data, _) = try await session.data(from: url)
        #expect(data == Data("local".utf8))
    }

    #if os(Linux) || os(macOS)
    @Test("URLSession.shared also asks it if it was set before the first use")
    func sharedSession() async throws {
        await #expect(processExitsWith: .success) {
            let fixture = try CacheFixture(#""http://shared.invalid/a": "a.txt""#)
            URLCache.shared = try fixture.cache()
            let url = try #require(URL(string: "http://shared.invalid/a"))
            let (data, _) = try await URLSession.shared.data(from: url)
            exit(data == Data("local".utf8) ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("It works without a home directory")
    func noHome() async throws {
        await #expect(processExitsWith: .success) {
            // Not even root can make a folder there.
            setenv("HOME", "/dev/null/home", 1)
            unsetenv("XDG_CACHE_HOME")
            let fixture = try CacheFixture(#""http://shared.invalid/a": "a.txt""#)
            let cache = try LocalSubstitutionCache(contentsOf: fixture.mapFile)
            exit(try cache.lookUp("http://shared.invalid/a")?.text == "local" ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
    #endif
}
