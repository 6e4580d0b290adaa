import Dispatch
import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionRecording
import LocalSubstitutionServer
import Loopback
import LoopbackOrigin
import TestSupport
import Testing

@Suite("Bodies that a server forwards", .sessions, .timeLimit(.minutes(5)))
struct StreamingTests {
    @Test("Pieces from the network arrive before the rest")
    func pieces() throws {
        let body = Data(repeating: UInt8(ascii: "x"), count: 1_000)
        let origin = try LoopbackServer { _ in
            LoopbackServer.Answer(body: body, chunked: true, fault: .stallAfter(bodyBytes: 500))
        }
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load)
        let client = try served.connect(origin.baseURL.absoluteString)
        _ = try client.read(through: "\r\n\r\n1f4\r\n")
        #expect(try client.read(through: String(repeating: "x", count: 500)).count == 500)
        served.server.stop()
        #expect(try !client.readToEnd().contains("0\r\n\r\n"))
    }

    @Test("A response that breaks off isn't completed", arguments: [true, false])
    func broken(isChunked: Bool) throws {
        let body = Data(repeating: UInt8(ascii: "x"), count: 1_000)
        let origin = try LoopbackServer { _ in
            LoopbackServer.Answer(body: body, chunked: isChunked, fault: .dropAfter(bodyBytes: 500))
        }
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load)
        let response = try served.exchange(String(origin.baseURL.absoluteString))
        #expect(response.status == 200)
        #expect(response.body.count <= 500)
        #expect(isChunked ? !response.isComplete : response["Content-Length"] == "1000")
    }

    @Test(
        "A response that breaks off or can't be decoded is logged as failed, with the reason",
        arguments: [
            "Content-Length: 100\r\n\r\n\(letters)", "Content-Length: 100\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n1e\r\n\(letters)\r\n",
            "Transfer-Encoding: chunked\r\n\r\n1e\r\n\(letters.prefix(9))",
            "Transfer-Encoding: chunked\r\n\r\nx\r\n\(letters)\r\n0\r\n\r\n",
            "Content-Encoding: utf-8\r\nContent-Length: 30\r\n\r\n\(letters)",
            "Content-Encoding: aws-chunked\r\nContent-Length: 30\r\n\r\n\(letters)",
            "Content-Encoding: x-custom\r\nContent-Length: 30\r\n\r\n\(letters)",
            "Content-Length: 31\r\n\r\n\(letters)", "Transfer-Encoding: chunked\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n1e\r\n\(letters)\r\n1e\r\nabc",
        ]
    )
    func brokenInLog(_ rest: String) throws {
        let logged = Guarded<[SubstitutionServer.LoggedRequest]>([])
        let origin = try Listener { connection in
            var reader = RequestReader(connection.socket)
            _ = try? reader.nextHead()
            try? connection.socket.write(Data("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(rest)".utf8))
        }
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load) { request in logged.withLock { $0.append(request) } }
        let response = try served.exchange("http://127.0.0.1:\(origin.listen(on: 0))/")
        let request = try #require(logged.withLock { $0.first })
        #expect(request.status == response.status)
        guard case .failed(let reason) = request.source else {
            Issue.record("\(request.source)")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("A client that has a whole response finds it in the log", arguments: ["hello", ""], [true, false])
    func logged(body: String, isChunked: Bool) throws {
        let origin = try LoopbackServer { _ in LoopbackServer.Answer(body: Data(body.utf8), chunked: isChunked) }
        defer { origin.stop() }
        let logged = Guarded<[Int]>([])
        let served = try ServedMap("{}", unmatched: .load) { request in logged.withLock { $0.append(request.bytes) } }
        let name = origin.baseURL.absoluteString
        let client = try RawClient(served.port(name))
        let end = isChunked ? body.isEmpty ? "\r\n\r\n0\r\n\r\n" : "\r\n0\r\n\r\n" : "\r\n\r\n\(body)"
        for number in 1...100 {
            try client.send(served.request("\(name)\(number)"))
            _ = try client.read(through: end)
            #expect(logged.withLock { $0 } == Array(repeating: body.utf8.count, count: number))
        }
    }

    @Test("An HTTP/1.0 client gets no chunks")
    func oldClient() throws {
        let origin = try LoopbackServer { _ in LoopbackServer.Answer(body: Data("hello".utf8), chunked: true) }
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load)
        let port = try served.port(origin.baseURL.absoluteString)
        let text = try RawClient.exchange("GET / HTTP/1.0\r\nHost: 127.0.0.1:\(port)\r\n\r\n", with: port)
        #expect(text.hasSuffix("\r\n\r\nhello"))
        #expect(!text.lowercased().contains("transfer-encoding"))
    }

    @Test("A large file is sent whole and in parts, and HEAD has its length")
    func largeFile() throws {
        let text = (0..<300_000).map { "\($0) " }.joined()
        let served = try ServedMap(
            """
            {
              "https://h.example/a.bin": "a.bin",
              "https://h.example/b.bin": { "file": "a.bin", "use": "whenOffline" },
              "https://h.example/c.bin": [{ "times": 1, "file": "a.bin" }]
            }
            """,
            files: ["a.bin": text]
        )
        for name in ["a", "b", "c"] {
            let whole = try served.exchange("https://h.example/\(name).bin")
            #expect(whole.body == text)
            #expect(whole.all("Content-Length") == ["\(text.utf8.count)"])
        }
        #expect(try served.exchange("https://h.example/c.bin").status == 502)
        let part = try served.exchange("https://h.example/a.bin", fields: ["Range: bytes=1000000-1000009"])
        #expect(part.status == 206)
        #expect(part.body == text.dropFirst(1_000_000).prefix(10))
        #expect(part["Content-Range"] == "bytes 1000000-1000009/\(text.utf8.count)")
        let head = try served.exchange("https://h.example/a.bin", method: "HEAD")
        #expect(head["Content-Length"] == "\(text.utf8.count)")
        #expect(head["ETag"] == part["ETag"])
    }

    @Test("HTML that's too long to rewrite is an error that says so")
    func longDocument() throws {
        let text = String(repeating: "a", count: (32 << 20) + 1)
        let served = try ServedMap(
            """
            {
              "https://h.example/a.html": "a.html",
              "https://h.example/a.txt": { "file": "a.html", "mimeType": "text/plain" }
            }
            """,
            files: ["a.html": text]
        )
        let response = try served.exchange("https://h.example/a.html")
        #expect(response.status == 502)
        let message = "HTML or CSS of more than 32 MiB can't be rewritten. Use a smaller document."
        #expect(response.body == "https://h.example/a.html: \(message)\n")
        #expect(try served.exchange("https://h.example/a.txt").all("Content-Length") == ["\(text.utf8.count)"])
    }

    @Test(
        "A large file that changes while it's sent breaks off, so bytes of two versions never mix",
        arguments: [false, true]
    )
    func changedFile(setsDateBack: Bool) throws {
        let count = 32 << 20
        let served = try ServedMap(
            #"{ "https://h.example/a.bin": "a.bin" }"#,
            files: ["a.bin": String(repeating: "a", count: count)]
        )
        let file = served.folder.file("Resources/a.bin")
        let date = [FileAttributeKey.modificationDate: Date(timeIntervalSinceReferenceDate: 0)]
        if setsDateBack { try FileManager.default.setAttributes(date, ofItemAtPath: file.path) }
        let client = try served.connect("https://h.example/a.bin", fields: ["Connection: close"])
        _ = try client.read(through: "\r\n\r\n")
        // More than the system buffers between the two, so that the server has to wait.
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: Data(repeating: UInt8(ascii: "b"), count: count))
        try handle.close()
        if setsDateBack { try FileManager.default.setAttributes(date, ofItemAtPath: file.path) }
        let rest = try client.readToEnd()
        #expect(rest.utf8.count < count)
        #expect(Data(rest.utf8) == Data(repeating: UInt8(ascii: "a"), count: rest.utf8.count))
    }

    @Test("A large file that's moved, replaced, linked or deleted while it's sent is sent whole", arguments: 0..<4)
    func movedFile(way: Int) throws {
        let count = 32 << 20
        let served = try ServedMap(
            #"{ "https://h.example/a.bin": "a.bin" }"#,
            files: ["a.bin": String(repeating: "a", count: count)]
        )
        let file = served.folder.file("Resources/a.bin")
        let client = try served.connect("https://h.example/a.bin", fields: ["Connection: close"])
        _ = try client.read(through: "\r\n\r\n")
        switch way {
        case 0: try FileManager.default.moveItem(at: file, to: served.folder.file("Resources/b.bin"))
        case 1: try Data("b".utf8).write(to: file, options: .atomic)
        case 2: try FileManager.default.linkItem(at: file, to: served.folder.file("Resources/b.bin"))
        default: try FileManager.default.removeItem(at: file)
        }
        let rest = try client.readToEnd()
        #expect(Data(rest.utf8) == Data(repeating: UInt8(ascii: "a"), count: count))
    }

    @Test(
        "A client that sends no more after its request gets its answer, whatever takes longer than 0.5 s",
        arguments: ["/delayed", "/head", "/body"]
    )
    func halfClosed(path: String) throws {
        let origin = try Listener { connection in
            var reader = RequestReader(connection.socket)
            guard let path = try? reader.nextHead().path else { return }
            _ = connection.stopSignal.isRaised(within: path == "/head" ? 1.2 : 0)
            try? connection.socket.write(Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".utf8))
            _ = connection.stopSignal.isRaised(within: path == "/body" ? 1.2 : 0)
            try? connection.socket.write(Data("defghi".utf8))
        }
        defer { origin.stop() }
        let name = "http://127.0.0.1:\(try origin.listen(on: 0))"
        let served = try ServedMap(#"{ "\#(name)/delayed": { "text": "abcdefghi", "delay": 1.2 } }"#, unmatched: .load)
        let client = try served.connect(name + path)
        client.endSending()
        let response = try RawResponse(client.readToEnd())
        #expect(response.status == 200)
        #expect(response.body == "abcdefghi")
    }

    @Test(
        "A request is cancelled if its client leaves, before and while its response arrives",
        arguments: [true, false],
        [true, false]
    )
    func left(isDelayed: Bool, isReset: Bool) async throws {
        let (ended, end) = AsyncStream<Void>.makeStream()
        let (cancelled, cancel) = AsyncStream<Void>.makeStream()
        let origin = try Listener { connection in
            try? connection.socket.write(Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".utf8))
            // Waits until the other side closes the connection.
            connection.socket.waitForEnd()
            cancel.finish()
        }
        defer { origin.stop() }
        let served = try ServedMap(
            #"{ "https://h.example/": { "text": "late", "delay": 3600 } }"#,
            unmatched: .load,
            // A reset says that the client has left. An end alone doesn't.
            halfClosedSeconds: isReset ? 3_600 : 0
        ) { _ in end.finish() }
        let url = isDelayed ? "https://h.example/" : "http://127.0.0.1:\(try origin.listen(on: 0))/"
        do {
            let client = try served.connect(url)
            if !isDelayed { _ = try client.read(through: "\r\n\r\nabc") }
            if isReset { client.resetOnClose() } else { client.connection.hangUp() }
        }
        for await _ in ended {}
        if !isDelayed { for await _ in cancelled {} }
        served.server.stop()
    }

    /// Serves what an origin sends, byte by byte.
    private func exchange(_ bytes: String) throws -> RawResponse {
        let origin = try Listener { connection in
            var reader = RequestReader(connection.socket)
            _ = try? reader.nextHead()
            try? connection.socket.write(Data(bytes.utf8))
            // The end of the connection, since some of these bodies end with it. Closed by the listener.
        }
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load)
        return try served.exchange("http://127.0.0.1:\(try origin.listen(on: 0))/")
    }

    @Test(
        "Interim responses aren't forwarded, and the final one is",
        arguments: [
            "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
        ]
    )
    func interim(_ before: String) throws {
        let response = try exchange(before + "HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-B: 2\r\n\r\nhello")
        #expect(response.status == 201)
        #expect(response.body == "hello")
        #expect(response["Content-Length"] == "5")
        #expect(response["X-B"] == "2")
        #expect(response["Link"] == nil)
    }

    @Test("A status 101 is an error, since no HTTP response follows", arguments: ["", "abc"])
    func switchingProtocols(_ rest: String) throws {
        let response = try exchange("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\(rest)")
        #expect(response.status == 502)
        #expect(response.body.contains("The server switched to another protocol (status 101)"), "\(response.body)")
    }

    private static let letters = "abcdefghijklmnopqrstuvwxyz0123"

    @Test(
        "A response is whole or fails, whatever its origin says of its length (RFC 9112 section 6.3)",
        arguments: [
            ("Content-Length: 30", 200), ("Content-Length: 30, 30", 200),
            ("Content-Length: 30\r\nContent-Length: 30", 200),
            ("Content-Length:  30 ", 200), ("Content-Length: 030", 200),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked", 200), ("Transfer-Encoding: chunked", 200),
            ("Transfer-Encoding: chunked\r\nContent-Length: 99999999999999999999999", 200),
            ("Content-Length: 30, 5", 502), ("Content-Length: 30\r\nContent-Length: 5", 502),
            ("Content-Length: 30abc", 502), ("Content-Length: +30", 502), ("Content-Length: -5", 502),
            ("Content-Length: 3 0", 502), ("Content-Length: 0x1E", 502), ("Content-Length:", 502),
            ("Content-Length: 30,", 502), ("Content-Length: 12345678901234567890123", 502),
        ]
    )
    func lengths(_ fields: String, _ status: Int) throws {
        let body = fields.contains("chunked") ? "1e\r\n\(Self.letters)\r\n0\r\n\r\n" : Self.letters
        let response = try exchange("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(body)")
        #expect(response.status == status)
        guard status == 200 else { return }
        #expect(response.body == Self.letters)
        #expect(response.isComplete)
        #expect(response.all("Content-Length") == (fields.contains("chunked") ? [] : ["30"]))
    }

    @Test("A client that reads more slowly than its origin sends gets every byte")
    func slowClient() async throws {
        // More than the server holds in memory and the system buffers.
        let piece = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 / 251) })
        let count = 80
        let (sent, end) = AsyncStream<Void>.makeStream()
        let origin = try Listener { connection in
            var reader = RequestReader(connection.socket)
            _ = try? reader.nextHead()
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(piece.count * count)\r\n\r\n"
            try? connection.socket.write(Data(head.utf8))
            for _ in 0..<count { try? connection.socket.write(piece) }
            end.finish()
        }
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load)
        let client = try served.connect("http://127.0.0.1:\(origin.listen(on: 0))/", fields: ["Connection: close"])
        for await _ in sent {}
        _ = try client.read(through: "\r\n\r\n")
        for index in 0..<count {
            var received = Data()
            while received.count < piece.count,
                case let part = try client.connection.read(upTo: piece.count - received.count), !part.isEmpty
            { received += part }
            try #require(received == piece, "MiB \(index) differs.")
        }
    }
}
