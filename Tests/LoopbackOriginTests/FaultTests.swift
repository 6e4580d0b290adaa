import Foundation
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An origin that fails on demand", .sessions, .timeLimit(.minutes(5)))
struct FaultTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test(
        "A URLSession reports an error",
        arguments: [LoopbackServer.Fault.dropBeforeHead, .dropAfter(bodyBytes: 2)],
        [false, true]
    )
    func session(fault: LoopbackServer.Fault, chunked: Bool) async throws {
        var answer = LoopbackServer.Answer.text("hello").failing(fault)
        answer.chunked = chunked
        let origin = try LoopbackServer(routes: ["/": answer])
        defer { origin.stop() }
        // The code isn't checked: Darwin's session reports a lost connection, and Linux's a bad response or an unknown error.
        await #expect(throws: URLError.self) { try await makeSession().exchange(origin.baseURL) }
        #expect(origin.bytesSent == (fault == .dropBeforeHead ? 0 : 2))
    }

    @Test("It can drop the connection before the first byte")
    func dropBeforeHead() throws {
        let origin = try LoopbackServer(routes: ["/": .text("hello").failing(.dropBeforeHead)])
        defer { origin.stop() }
        #expect(try RawClient.exchange(Self.get, with: origin).isEmpty)
    }

    @Test(
        "It can stop after a number of bytes of the promised body",
        arguments: [(-1, ""), (0, ""), (2, "he"), (9, "hello")]
    )
    func dropAfter(count: Int, text: String) throws {
        let origin = try LoopbackServer(routes: ["/": .text("hello").failing(.dropAfter(bodyBytes: count))])
        defer { origin.stop() }
        let answer = try RawClient.exchange(Self.get, with: origin)
        #expect(answer.contains("\r\nContent-Length: 5\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n" + text))
        #expect(origin.bytesSent == text.utf8.count)
    }

    @Test("It can leave out the last chunk")
    func dropChunked() throws {
        var answer = LoopbackServer.Answer.text("hello").failing(.dropAfter(bodyBytes: 5))
        answer.chunked = true
        let origin = try LoopbackServer(routes: ["/": answer])
        defer { origin.stop() }
        #expect(try RawClient.exchange(Self.get, with: origin).hasSuffix("\r\n\r\n5\r\nhello\r\n"))
    }

    @Test("It can stall until it's stopped")
    func stallUntilStop() throws {
        let origin = try LoopbackServer(routes: ["/": .text("hello").failing(.stallAfter(bodyBytes: 2))])
        defer { origin.stop() }
        let client = try RawClient(origin.port)
        try client.send(Self.get)
        #expect(try client.read(through: "\r\n\r\nhe").contains("Content-Length: 5"))
        #expect(Socket.readable(of: [client.connection], within: 0.05).isEmpty)
        origin.stop()
        #expect(try client.readToEnd().isEmpty)
    }

    @Test("It answers others while it stalls")
    func stallAside() async throws {
        let origin = try LoopbackServer(routes: [
            "/": .text("hello").failing(.stallAfter(bodyBytes: 0)), "/other": .text("other"),
        ])
        defer { origin.stop() }
        let client = try RawClient(origin.port)
        try client.send(Self.get)
        _ = try client.read(through: "\r\n\r\n")
        #expect(try await makeSession().exchange(origin.url("/other")).body == Data("other".utf8))
    }

    @Test("A client that leaves in the middle of a body doesn't harm the process")
    func clientLeaves() async throws {
        let large = LoopbackServer.Answer.ok(Data(count: 32 << 20))
        let origin = try LoopbackServer(routes: ["/": large, "/small": .text("alive")])
        defer { origin.stop() }
        do {
            let client = try RawClient(origin.port)
            try client.send(Self.get)
            _ = try client.read(through: "\r\n\r\n")
        }
        #expect(try await makeSession().exchange(origin.url("/small")).body == Data("alive".utf8))
        origin.stop()
        #expect(origin.bytesSent < 32 << 20)
    }
}
