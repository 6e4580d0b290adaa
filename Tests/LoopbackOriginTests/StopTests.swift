import Foundation
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An origin that stops", .sessions, .timeLimit(.minutes(5)))
struct StopTests {
    @Test("It refuses further connections, however often it's stopped", arguments: [1, 2, 5])
    func refuses(times: Int) async throws {
        let origin = try LoopbackServer(routes: ["/": .text("hello")])
        let session = makeSession()
        _ = try await session.exchange(origin.baseURL)
        for _ in 0..<times {
            origin.stop()
        }
        #expect(throws: LoopbackServer.StartError.self) { try RawClient(origin.port) }
        let error = await #expect(throws: URLError.self) { try await session.exchange(origin.baseURL) }
        #expect(error?.code == .cannotConnectToHost)
        #expect(origin.requests.count == 1)
    }

    @Test("It frees its port for another one")
    func port() async throws {
        let first = try LoopbackServer(routes: ["/": .text("first")])
        _ = try await makeSession().exchange(first.baseURL)
        #expect(throws: LoopbackServer.StartError.self) { try LoopbackServer(port: first.port) { _ in .text("taken") } }
        first.stop()
        let second = try LoopbackServer(port: first.port) { _ in .text("second") }
        #expect(try await makeSession().exchange(second.baseURL).body == Data("second".utf8))
    }

    @Test("It closes connections that wait for a request")
    func idle() throws {
        let origin = try LoopbackServer(routes: ["/": .text("hello")])
        let client = try RawClient(origin.port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.read(through: "hello")
        origin.stop()
        #expect(try client.readToEnd().isEmpty)
    }

    @Test(
        "It ends answers that haven't been sent",
        arguments: [
            LoopbackServer.Answer.text("late").after(seconds: 3600),
            LoopbackServer.Answer.text("late").after(seconds: .infinity),
            LoopbackServer.Answer.text("never").failing(.stallAfter(bodyBytes: 1)),
        ]
    )
    func pending(answer: LoopbackServer.Answer) async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let origin = try LoopbackServer { _ in
            arrival.yield()
            return answer
        }
        let exchange = Task { try await makeSession().exchange(origin.baseURL) }
        var iterator = arrivals.makeAsyncIterator()
        await iterator.next()
        let start = ContinuousClock.now
        origin.stop()
        await #expect(throws: URLError.self) { try await exchange.value }
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test("It doesn't wait for a handler that's still running")
    func busyHandler() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        let origin = try LoopbackServer { _ in
            arrival.yield()
            release.wait()
            return .text("late")
        }
        let client = try RawClient(origin.port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        var iterator = arrivals.makeAsyncIterator()
        await iterator.next()
        origin.stop()
        #expect(try client.readToEnd().isEmpty)
        release.signal()
    }

    @Test("It stops when it's released")
    func release() throws {
        var origin = try LoopbackServer(routes: [:]) as LoopbackServer?
        let port = try #require(origin?.port)
        // A connection that hasn't been accepted yet would be reset rather than closed, so this makes an exchange first.
        let client = try RawClient(port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.read(through: "\r\n\r\n")
        origin = nil
        #expect(try client.readToEnd().isEmpty)
        #expect(throws: LoopbackServer.StartError.self) { try RawClient(port) }
    }
}
