import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session with the protocol", .threads)
struct ProtocolTests {
    private static let map = """
        "http://127.0.0.1:*/mapped": { "file": "a.txt", "methods": ["GET", "POST", "DELETE"] },
        "http://127.0.0.1:*/excluded": null,
        "http://127.0.0.1:*/vary": { "file": "a.txt", "headers": { "Vary": "Accept" } },
        "http://127.0.0.1:*/no-store": { "file": "a.txt", "headers": { "Cache-Control": "no-store" } },
        "http://127.0.0.1:*/no-cache": { "file": "a.txt", "headers": { "Cache-Control": "no-cache" } },
        "http://127.0.0.1:*/expired": { "file": "a.txt", "headers": { "Cache-Control": "max-age=0" } },
        "http://127.0.0.1:*/moved": { "file": "a.txt", "status": 308, "headers": { "Location": "/mapped" } },
        "http://127.0.0.1:*/error": { "file": "a.txt", "status": 503 },
        "http://127.0.0.1:*/denied": { "file": "a.txt", "status": 401, "headers": { "WWW-Authenticate": "Basic realm=x" } },
        "http://127.0.0.1:*/offline/slow": { "file": "a.txt", "use": "whenOffline", "timeout": 0.2 },
        "http://127.0.0.1:*/offline/*": { "file": "a.txt", "use": "whenOffline", "methods": ["GET", "POST"] }
        """

    private let fixture: CacheFixture
    private let cache: LocalSubstitutionCache
    private let origin: LoopbackServer

    init() throws {
        fixture = try CacheFixture(Self.map)
        cache = try fixture.cache()
        origin = try LoopbackServer { request in
            switch request.path {
            case "/offline/slow", "/offline/never": .text("late").after(seconds: 3_600)
            case "/offline/broken": .text("network").failing(.dropAfter(bodyBytes: 3))
            case "/offline/dropped": .text("network").failing(.dropBeforeHead)
            case "/offline/500": .status(500)
            case "/offline/401":
                LoopbackServer.Answer(
                    status: 401,
                    headers: [("WWW-Authenticate", "Basic realm=\"x\"")],
                    body: Data("denied".utf8)
                )
            case "/offline/to-mapped": .redirect(to: "/mapped")
            case "/offline/to-other": .redirect(to: "/other")
            case "/offline/loop": .redirect(to: "/offline/loop")
            default: .text("network \(request.method) \(request.header("X-Own") ?? "")")
            }
        }
    }

    private func session(
        unmatched: LocalSubstitutionCache.Unmatched = .load,
        headers: [String: String] = [:]
    ) throws -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = headers
        return try cache.makeSession(configuration, unmatched: unmatched)
    }

    private func load(
        _ path: String,
        method: String = "GET",
        headers: [String: String] = [:],
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        in session: URLSession? = nil
    ) async throws -> (text: String, response: HTTPURLResponse) {
        let session = try session ?? self.session()
        defer { session.finishTasksAndInvalidate() }
        var request = try request(origin.url(path).absoluteString, method: method, headers: headers, policy: policy)
        if method == "POST" { request.httpBody = Data("body".utf8) }
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let what: String
        var path = "mapped"
        var method = "GET"
        var headers: [String: String] = [:]
        var policy = URLRequest.CachePolicy.useProtocolCachePolicy
        var text = "local"
        var status = 200
        var testDescription: String { what }
    }

    static let rows = [
        Row(what: "a plain GET"),
        Row(what: "Authorization", headers: ["Authorization": "Bearer x"]),
        Row(what: "Proxy-Authorization", headers: ["Proxy-Authorization": "Basic x"]),
        Row(what: "reloading", policy: .reloadIgnoringLocalCacheData),
        Row(what: "reloading past all caches", policy: .reloadIgnoringLocalAndRemoteCacheData),
        Row(what: "revalidating", policy: .reloadRevalidatingCacheData),
        Row(what: "POST, which the entry lists", method: "POST"),
        Row(what: "DELETE, which the entry lists", method: "DELETE"),
        Row(what: "HEAD", method: "HEAD", text: ""),
        Row(
            what: "a range of a request with Authorization",
            headers: ["Authorization": "x", "Range": "bytes=1-2"],
            text: "oc",
            status: 206
        ),
        Row(what: "a POST with Range, which counts for GET only", method: "POST", headers: ["Range": "bytes=1-2"]),
        Row(what: "an entry with Vary", path: "vary"),
        Row(what: "an entry with Cache-Control: no-store", path: "no-store"),
        Row(what: "an entry with Cache-Control: no-cache", path: "no-cache"),
        Row(what: "an entry with max-age=0", path: "expired"),
        Row(what: "an entry with a redirect to another entry", path: "moved"),
        Row(what: "an entry with status 503", path: "error", status: 503),
        Row(what: "an entry with status 401 and a challenge", path: "denied", status: 401),
    ]

    @Test(
        "Requests that aren't offered to a cache, or whose cached response is rejected, are answered",
        .timeLimit(.minutes(5)),
        arguments: rows
    )
    func answers(_ row: Row) async throws {
        let (text, response) = try await load(row.path, method: row.method, headers: row.headers, policy: row.policy)
        #expect(text == row.text)
        #expect(response.statusCode == row.status)
        #expect(response.value(forHTTPHeaderField: "Cache-Status")?.contains("a.txt") == true)
        #expect(origin.requests.isEmpty)
    }

    @Test(
        "Requests that no entry answers are loaded from the network",
        arguments: [("other", "GET"), ("excluded", "GET"), ("mapped", "PUT")]
    )
    func unmatched(_ path: String, _ method: String) async throws {
        #expect(try await load(path, method: method).text == "network \(method) ")
        #expect(origin.requests.count == 1)
    }

    @Test("A response that only the protocol may serve doesn't get into the cache")
    func cacheStaysHonest() async throws {
        #expect(try await load("error").response.statusCode == 503)
        #expect(cache.cachedResponse(for: URLRequest(url: origin.url("error"))) == nil)
    }

    @Test(
        "In strict mode, a request that no entry answers fails and says why",
        arguments: [("other", "GET"), ("excluded", "GET"), ("mapped", "PUT")]
    )
    func strict(_ path: String, _ method: String) async throws {
        let session = try session(unmatched: .fail)
        let error = await #expect(throws: URLError.self) { try await load(path, method: method, in: session) }
        #expect(error?.code == .resourceUnavailable)
        #expect(error?.localizedDescription.contains("\n  attached:     unmatched, because ") == true)
        #expect(error?.localizedDescription.contains("cache only:") == false)
        #expect(error?.localizedDescription.contains("default cache") == false)
        #expect(origin.requests.isEmpty)
    }

    @Test(
        "In strict mode, everything possible is answered, even from files that wait for the network to fail",
        arguments: ["mapped", "offline/x"]
    )
    func strictAnswers(_ path: String) async throws {
        #expect(try await load(path, in: session(unmatched: .fail)).text == "local")
        #expect(origin.requests.isEmpty)
    }

    #if !canImport(Darwin)
    @Test("A download task fails with advice where Foundation would trap")
    func download() async throws {
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        let error = await #expect(throws: URLError.self) { try await session.download(from: origin.url("mapped")) }
        #expect(error?.localizedDescription.contains("data task") == true)
    }

    @Test("In strict mode, an unanswered download task fails like any other task")
    func strictDownload() async throws {
        let session = try session(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        let error = await #expect(throws: URLError.self) { try await session.download(from: origin.url("other")) }
        #expect(error?.code == .resourceUnavailable)
        #expect(error?.localizedDescription.contains("no entry matches it") == true)
        #expect(error?.localizedDescription.contains("data task") == false)
    }
    #endif

    @Test("A response counts once, whether URLSession would use it from a cache or not")
    func counts() async throws {
        _ = try await load("mapped")
        #expect(cache.statistics.matched == 1)
        _ = try await load("mapped", headers: ["Authorization": "x"])
        #expect(cache.statistics.matched == 2)
        #expect(cache.statistics.requests == 2)
        #expect(cache.statistics.bytes == 10)
    }

    // MARK: Offline

    @Test("A forwarded request ends after its own timeout", .timeLimit(.minutes(5)))
    func ownTimeout() async throws {
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: origin.url("offline/never"))
        request.timeoutInterval = 1
        #expect(try await session.data(for: request).0 == Data("local".utf8))
    }

    @Test("The network is asked for an entry that waits for it to fail, with the session's headers")
    func online() async throws {
        let (text, _) = try await load("offline/x", in: session(headers: ["X-Own": "mine"]))
        #expect(text == "network GET mine")
        #expect(try await load("offline/x", method: "POST").text == "network POST ")
        #expect(origin.requests.last?.body == Data("body".utf8))
        #expect(cache.statistics.forwarded == 2)
    }

    @Test(
        "The file answers when the network fails",
        .timeLimit(.minutes(5)),
        arguments: ["offline/slow", "offline/broken", "offline/dropped"]
    )
    func fails(_ path: String) async throws {
        #expect(try await load(path).text == "local")
        #expect(cache.statistics.offlineFallbacks == 1)
    }

    @Test("The file answers when there's no origin")
    func offline() async throws {
        let url = origin.url("offline/x")
        origin.stop()
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        #expect(try await session.data(from: url).0 == Data("local".utf8))
    }

    @Test(
        "Everything the server says is delivered, including errors and challenges",
        .timeLimit(.minutes(5)),
        arguments: [("offline/500", 500, ""), ("offline/401", 401, "denied")]
    )
    func httpErrors(_ path: String, _ status: Int, _ text: String) async throws {
        let answer = try await load(path)
        #expect(answer.response.statusCode == status)
        #expect(answer.text == text)
    }

    @Test("Redirects are followed, each target is looked up in the map, and a loop ends", .timeLimit(.minutes(5)))
    func redirects() async throws {
        #expect(try await load("offline/to-other").text == "network GET ")
        #expect(try await load("offline/to-mapped").text == "local")
        #expect(origin.requestCount(path: "/mapped") == 0)
        let error = await #expect(throws: URLError.self) { try await load("offline/loop") }
        #expect(error?.code == .httpTooManyRedirects)
    }

    @Test("Forwarded requests bypass all our protocols and every cache")
    func loops() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let other = try CacheFixture(#""http://127.0.0.1:*/offline/x": "a.txt""#).cache()
        try other.attach(to: configuration)
        try cache.attach(to: configuration)
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let (data, _) = try await session.data(from: origin.url("offline/x"))
        #expect(data == Data("network GET ".utf8))
        #expect(cache.statistics.forwarded == 1)
        #expect(cache.statistics.requests == 1)
        #expect(other.statistics.requests == 0)
    }

    @Test("A request whose body isn't available isn't forwarded")
    func hiddenBody() async throws {
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        let post = try request(origin.url("offline/x").absoluteString, method: "POST")
        _ = try await session.data(for: post)
        #expect(origin.requests.map(\.body) == [Data()])
        #if !canImport(Darwin)
        // Foundation shows an upload's body to no protocol, and an upload's request looks like one without a body.
        for method in ["POST", "GET"] {
            var upload = post
            upload.httpMethod = method
            let error = await #expect(throws: URLError.self) {
                try await session.upload(for: upload, from: Data("body".utf8))
            }
            #expect(error?.localizedDescription.contains("httpBody") == true)
        }
        #expect(origin.requests.count == 1)
        // If no entry lists the method, the loader sends the upload itself.
        let other = try request(origin.url("other").absoluteString, method: "POST")
        _ = try await session.upload(for: other, from: Data("body".utf8))
        #expect(origin.requests.last?.body == Data("body".utf8))
        #endif
    }

    @Test("Cancelling the task ends the forwarded request", .timeLimit(.minutes(5)))
    func cancels() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        // The task must not time out before it's cancelled, since the file would then answer.
        configuration.timeoutIntervalForRequest = 3_600
        let session = try cache.makeSession(configuration)
        defer { session.finishTasksAndInvalidate() }
        let url = origin.url("offline/never")
        let result = await session.load(url, cancelledAfter: 10)
        #expect(throws: URLError.self) { try result.get() }
    }

    @Test("Many tasks are served correctly while some are cancelled halfway", .timeLimit(.minutes(5)))
    func many() async throws {
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        let paths = ["mapped", "error", "other", "offline/x", "offline/broken", "offline/dropped", "offline/to-other"]
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<210 {
                let url = origin.url(paths[number % paths.count])
                group.addTask {
                    let isCancelled = number % 3 == 0
                    let result = await session.load(url, cancelledAfter: isCancelled ? number % 40 : nil)
                    if !isCancelled { #expect((try? result.get()) != nil, "\(url): \(result)") }
                }
            }
        }
    }

    @Test("A refreshed file answers where only the protocol may answer, and one is requested")
    func untilUpdated() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try fixture.cache()
        let session = try cache.makeSession()
        defer { session.finishTasksAndInvalidate() }
        let request = try request(fixture.url, headers: ["Authorization": "x"])
        let log = EventLog(cache)
        #expect(try await session.data(for: request).0 == Data("local".utf8))
        _ = await log.all(until: \.isOfRefresh)
        #expect(try await session.data(for: request).0 == Data("newer".utf8))
        #expect(fixture.origin.requests.allSatisfy { $0.header("Authorization") == nil })
    }

    @Test("In strict mode, refreshed files are neither requested nor served")
    func strictUntilUpdated() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        let count = fixture.origin.requests.count
        let configuration = URLSessionConfiguration.ephemeral
        try cache.attach(to: configuration, unmatched: .fail)
        cache.schedule.removeAll()
        cache.removeCachedResponse(for: try request(fixture.url))
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let (data, _) = try await session.data(for: request(fixture.url))
        #expect(data == Data("local".utf8))
        #expect(cache.schedule.isIdle)
        #expect(fixture.origin.requests.count == count)
    }

    @Test("Credentials aren't sent to another origin", arguments: ["Authorization", "Cookie", "Proxy-Authorization"])
    func redirectedCredentials(_ name: String) async throws {
        let other = try LoopbackServer { .text($0.header(name) ?? "none") }
        defer { other.stop() }
        let first = try LoopbackServer { request in
            request.path == "/offline/away"
                ? .redirect(to: other.url("a").absoluteString)
                : request.path == "/offline/here"
                    ? .redirect(to: "/offline/there") : .text(request.header(name) ?? "none")
        }
        defer { first.stop() }
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        for (path, text) in [("offline/away", "none"), ("offline/here", "s3cr3t")] {
            let request = try request(first.url(path).absoluteString, headers: [name: "s3cr3t"])
            let (data, _) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == text)
        }
    }

    @Test("Another session's entries aren't used")
    func apart() async throws {
        let other = try CacheFixture(#""http://127.0.0.1:*/other": "b.txt""#, files: ["b.txt": "other"]).cache()
        let otherSession = try other.makeSession()
        let session = try session()
        defer {
            otherSession.finishTasksAndInvalidate()
            session.finishTasksAndInvalidate()
        }
        for _ in 0..<10 {
            #expect(try await session.data(from: origin.url("mapped")).0 == Data("local".utf8))
            #expect(try await otherSession.data(from: origin.url("other")).0 == Data("other".utf8))
            #expect(try await session.data(from: origin.url("other")).0 == Data("network GET ".utf8))
            #expect(try await otherSession.data(from: origin.url("mapped")).0 == Data("network GET ".utf8))
        }
    }
}
