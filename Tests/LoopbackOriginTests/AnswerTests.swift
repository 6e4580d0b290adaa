import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An origin that answers a URLSession", .sessions, .timeLimit(.minutes(5)))
struct AnswerTests {
    @Test("A route answers with its status, fields and body")
    func route() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("hello", type: "text/x-test")])
        defer { origin.stop() }
        let (body, response) = try await makeSession().exchange(origin.url("/a"))
        #expect(body == Data("hello".utf8))
        #expect(response.statusCode == 200)
        #expect(response.value(forHTTPHeaderField: "Content-Type") == "text/x-test")
        #expect(response.value(forHTTPHeaderField: "Content-Length") == "5")
        #expect(origin.bytesSent == 5)
    }

    @Test(
        "The most exact route answers",
        arguments: [("/a", "any"), ("a?x=2", "any"), ("/a?x=1", "one"), ("/b", ""), ("/a/", "")]
    )
    func query(path: String, text: String) async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("any"), "/a?x=1": .text("one")])
        defer { origin.stop() }
        let (body, response) = try await makeSession().exchange(origin.url(path))
        #expect(String(decoding: body, as: UTF8.self) == text)
        #expect(response.statusCode == (text.isEmpty ? 404 : 200))
    }

    @Test("A body of any size arrives, in chunks or not", arguments: [0, 1, 65_536, 1_000_001], [false, true])
    func size(count: Int, chunked: Bool) async throws {
        let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let origin = try LoopbackServer(routes: ["/": LoopbackServer.Answer(body: content, chunked: chunked)])
        defer { origin.stop() }
        let (body, response) = try await makeSession().exchange(origin.baseURL)
        #expect(body == content)
        #expect(response.value(forHTTPHeaderField: "Content-Length") == (chunked ? nil : String(count)))
        #expect(origin.bytesSent == count)
    }

    @Test("HEAD gets the length of the body, and no body", arguments: [false, true])
    func head(chunked: Bool) async throws {
        let origin = try LoopbackServer(routes: [
            "/": LoopbackServer.Answer(body: Data("hello".utf8), chunked: chunked)
        ])
        defer { origin.stop() }
        var request = URLRequest(url: origin.baseURL)
        request.httpMethod = "HEAD"
        let (body, response) = try await makeSession().exchange(request)
        #expect(body.isEmpty)
        #expect(response.value(forHTTPHeaderField: "Content-Length") == (chunked ? nil : "5"))
        #expect(origin.requests.map(\.method) == ["HEAD"])
        #expect(origin.bytesSent == 0)
    }

    @Test("A status may not allow a body", arguments: [204, 205, 304])
    func withoutBody(status: Int) async throws {
        let origin = try LoopbackServer(routes: ["/": LoopbackServer.Answer(status: status, body: Data("x".utf8))])
        defer { origin.stop() }
        let (body, response) = try await makeSession().exchange(origin.baseURL)
        #expect(body.isEmpty)
        #expect(response.statusCode == status)
        // RFC 9110 §15.3.6: the end of a 205 must be said.
        #expect(response.value(forHTTPHeaderField: "Content-Length") == (status == 205 ? "0" : nil))
    }

    @Test("Redirects are followed", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let origin = try LoopbackServer(routes: [
            "/old": .redirect(to: "/new?a=b", status: status), "/new": .text("moved"),
        ])
        defer { origin.stop() }
        let (body, response) = try await makeSession().exchange(origin.url("/old"))
        #expect(body == Data("moved".utf8))
        #expect(response.url == origin.url("/new?a=b"))
        #expect(origin.requests.map(\.target) == ["/old", "/new?a=b"])
        #expect(origin.requestCount(path: "/new") == 1)
        #expect(origin.requestCount(path: "/new?a=b") == 1)
        #expect(origin.requestCount(path: "/new?a=c") == 0)
    }

    @Test("An answer doesn't arrive before its delay")
    func delay() async throws {
        let origin = try LoopbackServer(routes: ["/": .text("late").after(seconds: 0.15)])
        defer { origin.stop() }
        let start = ContinuousClock.now
        let (body, _) = try await makeSession().exchange(origin.baseURL)
        #expect(ContinuousClock.now - start >= .milliseconds(150))
        #expect(body == Data("late".utf8))
    }

    @Test("One connection serves one request after another")
    func keepAlive() async throws {
        let threads = Guarded<Set<ObjectIdentifier>>([])
        let origin = try LoopbackServer { _ in
            threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
            return .text("again")
        }
        defer { origin.stop() }
        let session = makeSession()
        for _ in 0..<5 {
            _ = try await session.exchange(origin.baseURL)
        }
        #expect(origin.requests.count == 5)
        #expect(threads.withLock(\.count) == 1)
    }

    @Test("Every request is recorded")
    func record() async throws {
        let origin = try LoopbackServer(routes: ["/form": .status(204)])
        defer { origin.stop() }
        var request = URLRequest(url: origin.url("/form?a=b%20c"))
        request.httpMethod = "POST"
        request.httpBody = Data(repeating: 7, count: 200_000)
        request.setValue("yes", forHTTPHeaderField: "X-Test")
        _ = try await makeSession().exchange(request)
        let received = try #require(origin.requests.first)
        #expect(received.method == "POST")
        #expect(received.target == "/form?a=b%20c")
        #expect(received.path == "/form")
        #expect(received.query == "a=b%20c")
        #expect(received.header("x-test") == "yes")
        #expect(received.header("x-other") == nil)
        #expect(received.body == request.httpBody)
    }

    @Test("300 concurrent requests are answered")
    func concurrency() async throws {
        let origin = try LoopbackServer { .text($0.path) }
        defer { origin.stop() }
        let session = makeSession(connections: 300)
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<300 {
                group.addTask {
                    try await session.exchange(origin.url("/\(index)")).body == Data("/\(index)".utf8)
                }
            }
            return try await group.reduce(0) { $1 ? $0 + 1 : $0 }
        }
        #expect(right == 300)
        #expect(Set(origin.requests.map(\.path)).count == 300)
    }
}
