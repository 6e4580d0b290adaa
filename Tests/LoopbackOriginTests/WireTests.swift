import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@Suite("An origin on the wire", .sessions, .timeLimit(.minutes(5)))
struct WireTests {
    /// Returns an origin that answers with what it understood of the request.
    private func makeEcho() throws -> LoopbackServer {
        try LoopbackServer {
            .text("\($0.method) \($0.path) \($0.query ?? "-") \(String(decoding: $0.body, as: UTF8.self))")
        }
    }

    @Test("A connection stays open until a request asks to close it")
    func keepAlive() throws {
        let origin = try makeEcho()
        defer { origin.stop() }
        let client = try RawClient(origin.port)
        for path in ["/1", "/2"] {
            try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try !client.read(through: "GET \(path) - ").contains("Connection: close"))
        }
        try client.send("GET /3 HTTP/1.1\r\nHost: a\r\nconnection: Keep-Alive, Close\r\n\r\n")
        let last = try client.readToEnd()
        #expect(last.contains("Connection: close\r\n\r\nGET /3"))
    }

    @Test("A connection stays open after HEAD, whatever length the answer declares", arguments: [true, false])
    func keepAliveAfterHead(isRecorded: Bool) throws {
        let origin = try LoopbackServer(recordsRequests: isRecorded) { request in
            LoopbackServer.Answer(headers: request.method == "HEAD" ? [("Content-Length", "5")] : [], body: Data())
        }
        defer { origin.stop() }
        let client = try RawClient(origin.port)
        try client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answers = try client.readToEnd().components(separatedBy: "HTTP/1.1 200 OK\r\n")
        #expect(answers == ["", "Content-Length: 5\r\n\r\n", "Content-Length: 0\r\nConnection: close\r\n\r\n"])
        #expect(origin.requests.count == (isRecorded ? 2 : 0))
    }

    @Test("Requests that arrive in one piece are answered in order")
    func pipelining() throws {
        let answer = try RawClient.exchange(
            "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none"
                + "\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            with: makeEcho()
        )
        let parts = answer.components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst()
        #expect(parts.map { $0.components(separatedBy: "\r\n\r\n").last } == ["POST /1 - one", "GET /2 - "])
    }

    @Test("HTTP/1.0 connections are closed, and never get chunks", arguments: ["", "Connection: keep-alive\r\n"])
    func version10(field: String) throws {
        let origin = try LoopbackServer { _ in LoopbackServer.Answer(body: Data("hello".utf8), chunked: true) }
        defer { origin.stop() }
        let answer = try RawClient.exchange("GET / HTTP/1.0\r\n\(field)\r\n", with: origin)
        #expect(answer == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    }

    @Test("Chunks are sent with their end")
    func chunkedAnswer() throws {
        let origin = try LoopbackServer { _ in LoopbackServer.Answer(body: Data("hello".utf8), chunked: true) }
        defer { origin.stop() }
        let client = try RawClient(origin.port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try client.read(through: "\r\n0\r\n\r\n")
        #expect(answer == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    }

    @Test(
        "Chunks are read, whatever extensions and trailers they have",
        arguments: [
            "5\r\nhello\r\n0\r\n\r\n",
            "2\r\nhe\r\n003;a=b\r\nllo\r\n0\r\nTrailer: x\r\n\r\n",
            "5\nhello\n0\n\n",
        ]
    )
    func chunkedRequest(body: String) throws {
        let origin = try makeEcho()
        defer { origin.stop() }
        let client = try RawClient(origin.port)
        try client.send("PUT /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n\(body)")
        _ = try client.read(through: "PUT /c - hello")
        try client.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.read(through: "GET /next - ")
        #expect(origin.requests.map(\.body) == [Data("hello".utf8), Data()])
    }

    @Test("A client that waits is told to continue")
    func expectContinue() throws {
        let origin = try makeEcho()
        defer { origin.stop() }
        let client = try RawClient(origin.port)
        try client.send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        #expect(try client.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        try client.send("hello")
        #expect(try client.read(through: "PUT / - hello").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test(
        "The answer's own fields win",
        arguments: [
            ("Content-Length", "9"), ("content-length", "2"), ("Connection", "Close"),
            ("Transfer-Encoding", "identity"),
        ]
    )
    func ownFields(name: String, value: String) throws {
        let origin = try LoopbackServer { _ in
            LoopbackServer.Answer(headers: [(name, value), ("X-B", "1"), ("X-A", "2")], body: Data("hi".utf8))
        }
        defer { origin.stop() }
        let answer = try RawClient.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", with: origin)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n\(name): \(value)\r\nX-B: 1\r\nX-A: 2\r\n"))
        #expect(answer.lowercased().components(separatedBy: "\(name.lowercased()): ").count == 2)
        #expect(answer.hasSuffix("\r\n\r\nhi"))
    }

    @Test(
        "Every form of target is accepted",
        arguments: [
            ("/a?b?c", "/a b?c"), ("/a?", "/a "), ("http://host/a?b", "/a b"), ("http://host", "/ -"),
            ("HTTP://host?b", "/ b"), ("*", "* -"), ("/a?u=http://host/", "/a u=http://host/"),
        ]
    )
    func target(target: String, understood: String) throws {
        let text = "GET \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        #expect(try RawClient.exchange(text, with: makeEcho()).hasSuffix("\r\n\r\nGET \(understood) "))
    }

    @Test(
        "A head that breaks a rule is rejected",
        arguments: [
            ("GET /\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("\u{16}\u{3}\u{1}\u{2}\u{0}\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nNo colon\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n folded\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", 413),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 67108865\r\n\r\n", 413),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ]
    )
    func refusal(text: String, status: Int) throws {
        let origin = try makeEcho()
        defer { origin.stop() }
        let answer = try RawClient.exchange(text, with: origin)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.hasSuffix("Content-Length: 0\r\nConnection: close\r\n\r\n"))
        #expect(origin.requests.isEmpty)
    }

    @Test("A head over 64 KiB is rejected", arguments: [(1, 70_000), (20_000, 1), (100, 1_000)])
    func largeHead(fields: Int, length: Int) throws {
        let origin = try makeEcho()
        defer { origin.stop() }
        let field = "X: \(String(repeating: "y", count: length))\r\n"
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: field, count: fields))\r\n"
        #expect(try RawClient.exchange(text, with: origin).hasPrefix("HTTP/1.1 431 "))
    }

    @Test("A line that never ends is rejected")
    func endlessLine() throws {
        let origin = try makeEcho()
        defer { origin.stop() }
        let text = String(repeating: "x", count: 200_000)
        #expect(try RawClient.exchange(text, with: origin).hasPrefix("HTTP/1.1 431 "))
    }

    @Test("300 connections are served while all of them are open")
    func simultaneous() throws {
        let origin = try makeEcho()
        defer { origin.stop() }
        let clients = try (0..<300).map { _ in try RawClient(origin.port) }
        for (index, client) in clients.enumerated() {
            try client.send("GET /\(index) HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        for (index, client) in clients.enumerated().reversed() {
            _ = try client.read(through: "GET /\(index) - ")
        }
        #expect(origin.requests.count == 300)
    }
}
