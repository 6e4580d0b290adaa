import Foundation
import Loopback
import TestSupport
import Testing

@Suite("A reader of requests", .sessions, .timeLimit(.minutes(5)))
struct RequestReaderTests {
    private let client: Socket
    private let socket: Socket

    init() throws {
        (client, socket) = try Socket.pair()
    }

    private func send(_ text: String) throws {
        try client.write(Data(text.utf8))
    }

    /// Everything the client has received so far.
    private var received: String? {
        guard !Socket.readable(of: [client], within: 0).isEmpty else { return nil }
        return (try? client.read(upTo: 1_000)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "The authority of a target that's a whole URL is known",
        arguments: [
            ("/a?b", nil, "/a?b"), ("http://one.example:81/a?b", "one.example:81", "/a?b"),
            ("http://one.example", "one.example", "/"), ("HTTPS://[::1]?b", "[::1]", "/?b"),
            ("http://127.0.0.1@evil/", "127.0.0.1@evil", "/"), ("http:///a", "", "/a"), ("*", nil, "*"),
            ("one.example:443", nil, "one.example:443"), ("/a?u=http://two.example/", nil, "/a?u=http://two.example/"),
            ("//two.example/", nil, "//two.example/"),
        ] as [(String, String?, String)]
    )
    func authority(target: String, authority: String?, pathAndQuery: String) throws {
        try send("GET \(target) HTTP/1.1\r\nHost: other\r\n\r\n")
        var reader = RequestReader(socket)
        let request = try reader.nextHead()
        #expect(request.authority == authority)
        #expect(request.pathAndQuery == pathAndQuery)
        #expect(request.header("host") == "other")
    }

    @Test(
        "Bytes of a target that aren't ASCII are percent-encoded, so different ones stay different",
        arguments: [("/caf\u{e9}?\u{e8}=", "/caf%E9?%E8="), ("/\u{c3}\u{a9}\u{ff}\u{80}", "/%C3%A9%FF%80")]
    )
    func encoded(target: String, path: String) throws {
        // Each of these characters is one byte in Latin-1.
        let text = "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n"
        try client.write(#require(text.data(using: .isoLatin1)))
        var reader = RequestReader(socket)
        #expect(try reader.nextHead().target == path)
    }

    @Test("A target that is only a query is refused", arguments: ["?", "?x", "?u=http://a/"])
    func query(target: String) throws {
        try send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        var reader = RequestReader(socket)
        #expect(throws: HTTPRequest.Refusal.malformed) { try reader.nextHead() }
    }

    @Test("Requests that arrive byte by byte are read")
    func bytes() throws {
        let texts = [
            "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none",
            "\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\ntw\r\n1\r\no\r\n0\r\nX: y\r\n\r\n",
            "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
        ]
        Thread.detachNewThread {
            for byte in texts.joined().utf8 { try? client.write(Data([byte])) }
        }
        let limits = RequestReader.Limits(idleSeconds: 20, headSeconds: 60, bodySeconds: 60)
        var reader = RequestReader(socket, limits: limits)
        for (path, body) in [("/1", "one"), ("/2", "two"), ("/3", "")] {
            var request = try reader.nextHead()
            try reader.readBody(of: &request, limit: 3)
            #expect(request.path == path)
            #expect(String(decoding: request.body, as: UTF8.self) == body)
        }
    }

    @Test("A client that doesn't begin a request gets no answer")
    func silent() throws {
        var reader = RequestReader(socket, limits: RequestReader.Limits(idleSeconds: 0.02, headSeconds: 60))
        let error = #expect(throws: Socket.Closed.self) { try reader.nextHead() }
        #expect(error?.isTimeout == true)
    }

    @Test("It waits as long for a second request as for the first, however short the limit for a head")
    func silentAgain() throws {
        var reader = RequestReader(socket, limits: RequestReader.Limits(idleSeconds: 20, headSeconds: 0.3))
        // Sent in two parts, so that the reader waits for the second as part of a head.
        try send("GET / HTTP/1.1\r\n")
        let parts = Thread { [client] in
            _ = Socket.readable(of: [client], within: 0.01)
            try? client.write(Data("Host: a\r\n\r\n".utf8))
            _ = Socket.readable(of: [client], within: 0.5)
            try? client.write(Data("GET /late HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        }
        parts.start()
        _ = try reader.nextHead()
        #expect(try reader.nextHead().path == "/late")
    }

    @Test(
        "A client that doesn't finish its request is refused",
        arguments: [
            ("G", 408), ("\r\n", 408), ("GET / HTTP/1.1\r\nHost: a\r\n", 408),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nbody", 408),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4", 408),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbo", 408),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n", 408),
        ]
    )
    func unfinished(text: String, status: Int) throws {
        try send(text)
        let limits = RequestReader.Limits(idleSeconds: 20, headSeconds: 0.02, bodySeconds: 0.02)
        let start = ContinuousClock.now
        let refusal = try #require(HTTPRequest.Refusal(rawValue: status))
        #expect(throws: refusal) {
            var reader = RequestReader(socket, limits: limits)
            var request = try reader.nextHead()
            try reader.readBody(of: &request, limit: 100)
        }
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test("A client that sends a head byte by byte has no more time than for the whole head")
    func dripping() throws {
        let drip = Thread { [client] in
            for _ in 0..<200 where (try? client.write(Data("x".utf8))) != nil {
                // The pause between two bytes. Nothing is sent back.
                _ = Socket.readable(of: [client], within: 0.01)
            }
            client.hangUp()
        }
        drip.start()
        var reader = RequestReader(socket, limits: RequestReader.Limits(idleSeconds: 20, headSeconds: 0.2))
        #expect(throws: HTTPRequest.Refusal.timeout) { try reader.nextHead() }
        socket.hangUp()
    }

    @Test(
        "A body over the limit is refused before it arrives, and not asked for",
        arguments: [
            ("Content-Length: 11", "", 413), ("Content-Length: 62914560", "", 413),
            ("Content-Length: 99999999999999999999", "", 413), ("Transfer-Encoding: gzip, chunked", "", 501),
            ("Transfer-Encoding: chun\u{212a}ed", "", 501), ("Content-Length: x", "", 400),
            ("Content-Length: 1\r\nTransfer-Encoding: chunked", "", 400),
        ]
    )
    func unread(fields: String, body: String, status: Int) throws {
        try send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\(fields)\r\n\r\n\(body)")
        var reader = RequestReader(socket, limits: RequestReader.Limits(bodySeconds: 1))
        var request = try reader.nextHead()
        let refusal = try #require(HTTPRequest.Refusal(rawValue: status))
        #expect(throws: refusal) { try reader.readBody(of: &request, limit: 10) }
        #expect(received == nil)
    }

    @Test(
        "Chunks over the limit are refused before they arrive",
        arguments: [
            ("b\r\n", 413), ("6\r\n123456\r\n5\r\n", 413), ("7fffffffffffffff\r\n", 413),
            ("ffffffffffffffffff\r\n", 400), ("-1\r\n", 400), ("\r\n", 400), ("3\r\nabcd\r\n", 400),
            ("\u{a0}3\r\nabc\r\n", 400), ("3\u{a0}\r\nabc\r\n", 400), (" 3\r\nabc\r\n", 400), ("3 3\r\nabc\r\n", 400),
            ("3;a\rb\r\nabc\r\n0\r\n\r\n", 400), ("3;a\r\r\nabc\r\n0\r\n\r\n", 400),
            ("3\r\nabc\r\n0;\r1\r\n\r\n", 400), ("3\r\nabc\r\n0\r\nA: b\rc\r\n\r\n", 400),
        ]
    )
    func chunks(text: String, status: Int) throws {
        try send("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(text)")
        var reader = RequestReader(socket, limits: RequestReader.Limits(bodySeconds: 1))
        var request = try reader.nextHead()
        let refusal = try #require(HTTPRequest.Refusal(rawValue: status))
        #expect(throws: refusal) { try reader.readBody(of: &request, limit: 10) }
    }

    @Test(
        "A body within the limit is asked for",
        arguments: [
            ("Content-Length: 10", "0123456789"), ("Transfer-Encoding: chunked", "a\r\n0123456789\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked", "A \t;x\r\n0123456789\r\n0 \r\n\r\n"),
        ]
    )
    func asked(field: String, body: String) throws {
        try send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\(field)\r\n\r\n")
        var reader = RequestReader(socket)
        var request = try reader.nextHead()
        #expect(received == nil)
        try send(body)
        try reader.readBody(of: &request, limit: 10)
        #expect(received == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(request.body == Data("0123456789".utf8))
    }
}
