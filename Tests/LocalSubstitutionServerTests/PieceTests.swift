import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionServer
import Loopback
import TestSupport
import Testing

@Suite("Streams and throttled bodies through a server", .sessions, .timeLimit(.minutes(5)))
struct PieceTests {
    private static let stream = #"""
        "https://h.example/s": { "status": 201, "stream": [
            "data: a\n\n", { "text": "data: b\n\n", "delay": 0.1 }, { "json": { "c": 1 }, "delay": 0.1 },
            { "file": "a.txt", "delay": 0.1 }
        ] }
        """#

    private func served(_ entries: String...) throws -> ServedMap {
        try ServedMap("{ \(entries.joined(separator: ",\n")) }", files: ["a.txt": "local"])
    }

    @Test("Each piece of a stream is a chunk, sent when it's due")
    func stream() throws {
        let served = try served(Self.stream)
        let client = try PieceClient(served, "https://h.example/s", fields: ["Range: bytes=0-1"])
        let head = try client.head()
        #expect(head.status == 201)
        #expect(head.all("Transfer-Encoding") == ["chunked"])
        #expect(head["Content-Type"] == "text/event-stream; charset=utf-8")
        for name in ["Content-Length", "ETag", "Accept-Ranges", "Content-Range"] { #expect(head[name] == nil) }
        let (parts, isComplete) = client.chunks()
        #expect(parts.map(\.text) == ["data: a\n\n", "data: b\n\n", #"{ "c": 1 }"#, "local"])
        for (number, part) in parts.enumerated() { #expect(part.seconds >= Double(number) * 0.1) }
        #expect(isComplete)
    }

    @Test("A piece that's due at once, or bytes, is a chunk, too")
    func atOnce() throws {
        let served = try served(
            #""https://h.example/s": { "stream": ["a", "b", { "base64": "Yw==" }, { "json": 1 }] }"#
        )
        let client = try PieceClient(served, "https://h.example/s")
        _ = try client.head()
        #expect(client.chunks().0.map(\.text) == ["a", "b", "c", "1"])
    }

    @Test("After an error or a missing file, the connection is cut without the last chunk")
    func error() throws {
        let served = try served(
            #""https://h.example/s": { "stream": ["a", { "error": "networkConnectionLost", "delay": 0.05 }] }"#,
            #""https://h.example/gone": { "stream": ["a", { "file": "a.txt", "delay": 1 }, "b"] }"#
        )
        // The second one's file is removed before it's due.
        for path in ["s", "gone"] {
            let client = try PieceClient(served, "https://h.example/\(path)")
            #expect(try client.head().status == 200)
            #expect(try client.chunk()?.text == "a")
            if path == "gone" { try served.folder.remove("Resources/a.txt") }
            let (parts, isComplete) = client.chunks()
            #expect(parts.map(\.text) == [])
            #expect(!isComplete)
        }
    }

    @Test("HEAD gets only the head of a stream, and an HTTP/1.0 client no chunks")
    func headAndOldClient() throws {
        let served = try served(Self.stream)
        let url = "https://h.example/s"
        let port = try served.port(url)
        let client = try RawClient(port)
        // The same connection serves another request, so nothing follows the first head.
        try client.send(served.request(url, method: "HEAD"))
        let head = try RawResponse(client.read(through: "\r\n\r\n"))
        #expect(head.status == 201)
        #expect(head["Content-Length"] == nil)
        try client.send(served.request(url, fields: ["Connection: close"]))
        let whole = "data: a\n\ndata: b\n\n{ \"c\": 1 }local"
        let response = try RawResponse(client.readToEnd())
        #expect(response.status == 201)
        #expect(response.body == whole)
        let old = try RawClient.exchange("GET /s HTTP/1.0\r\nHost: 127.0.0.1:\(port)\r\n\r\n", with: port)
        #expect(old.hasSuffix("\r\n\r\n\(whole)"))
        #expect(!old.contains("Transfer-Encoding"))
    }

    struct Throttled: CustomTestStringConvertible, Sendable {
        let fields: String
        /// The pieces, and when they're due.
        let pieces: [(text: String, seconds: Double)]

        var testDescription: String { fields }

        static let all = [
            Throttled(
                fields: #""text": "abcdef", "bytesPerSecond": 40"#,
                pieces: [("ab", 0.05), ("cd", 0.1), ("ef", 0.15)]
            ),
            Throttled(fields: #""text": "abc", "bytesPerSecond": 10"#, pieces: [("a", 0.1), ("b", 0.2), ("c", 0.3)]),
            Throttled(
                fields: #""text": "a\nb\r\nc\rd", "secondsPerLine": 0.1, "delay": 0.1"#,
                pieces: [("a\n", 0.1), ("b\r\n", 0.2), ("c\r", 0.3), ("d", 0.4)]
            ),
            Throttled(
                fields: #""text": "a\nb\n\nc\r\n\r\nd", "secondsPerEvent": 0.1"#,
                pieces: [("a\nb\n\n", 0), ("c\r\n\r\n", 0.1), ("d", 0.2)]
            ),
            Throttled(fields: #""file": "a.txt", "bytesPerSecond": 100"#, pieces: [("local", 0.05)]),
            Throttled(fields: #""text": "", "bytesPerSecond": 1"#, pieces: []),
        ]
    }

    /// Checks that nothing of a body arrives before it's due, and that all of it arrives.
    private func check(_ parts: [PieceClient.Part], against pieces: [(text: String, seconds: Double)]) {
        var received = 0
        for part in parts {
            received += part.text.utf8.count
            let due = pieces.filter { $0.seconds <= part.seconds }.reduce(0) { $0 + $1.text.utf8.count }
            #expect(received <= due, "\(received) bytes after \(part.seconds) s")
        }
        #expect(parts.map(\.text).joined() == pieces.map(\.text).joined())
    }

    @Test("A body is sent at its rate, with its length and validators", arguments: Throttled.all)
    func throttled(_ row: Throttled) throws {
        let served = try served("\"https://h.example/p\": { \(row.fields) }")
        let client = try PieceClient(served, "https://h.example/p")
        let head = try client.head()
        #expect(head["Content-Length"] == "\(row.pieces.map(\.text).joined().utf8.count)")
        #expect(head["Transfer-Encoding"] == nil)
        #expect(head["ETag"] != nil)
        check(try client.parts(), against: row.pieces)
    }

    @Test("A page or style sheet is throttled after its references are rewritten; a stream is never rewritten")
    func rewritten() throws {
        let page = "<a href='https://h.example/a'>a</a>"
        let rule = "a { background: url(https://h.example/a) }"
        let served = try served(
            #""https://h.example/": { "text": "\#(page)", "mimeType": "text/html", "secondsPerLine": 0 }"#,
            #""https://h.example/p": { "text": "\#(page)\n\#(page)", "mimeType": "text/html", "secondsPerLine": 0.1 }"#
                .replacing("</a>\n", with: "</a>\\n"),
            #""https://h.example/c": { "text": "\#(rule)\n\#(rule)", "mimeType": "text/css", "secondsPerLine": 0.1 }"#,
            #""https://h.example/s": { "stream": ["\#(page)"], "mimeType": "text/html" }"#
        )
        let local = try served.local("https://h.example")
        let line = page.replacing("https://h.example", with: local)
        #expect(try served.exchange("https://h.example/").body == line)
        for (path, line) in [("p", line), ("c", rule.replacing("https://h.example", with: local))] {
            let client = try PieceClient(served, "https://h.example/\(path)")
            #expect(try client.head()["Content-Length"] == "\(line.utf8.count * 2 + 1)")
            check(try client.parts(), against: [(line + "\n", 0), (line, 0.1)])
        }
        let ranged = try served.exchange("https://h.example/p", fields: ["Range: bytes=0-1"])
        #expect(ranged.status == 200)
        #expect(ranged.body == "\(line)\n\(line)")
        #expect(try served.exchange("https://h.example/s").body == page)
    }

    @Test("A large file is sent at a rate, whole and in parts")
    func largeFile() throws {
        let text = String(repeating: "0123456789", count: 200_000)
        let served = try ServedMap(
            #"{ "https://h.example/a.bin": { "file": "a.bin", "bytesPerSecond": 10000000 } }"#,
            files: ["a.bin": text]
        )
        for (fields, range) in [([], 0..<2_000_000), (["Range: bytes=500000-1499999"], 500_000..<1_500_000)] {
            let client = try PieceClient(served, "https://h.example/a.bin", fields: fields)
            let head = try client.head()
            #expect(head.status == (fields.isEmpty ? 200 : 206))
            #expect(head["Content-Length"] == "\(range.count)")
            let parts = try client.parts()
            #expect(parts.map(\.text).joined() == text.dropFirst(range.lowerBound).prefix(range.count))
            var received = 0.0
            for part in parts {
                received += Double(part.text.utf8.count)
                #expect(part.seconds >= received / 10_000_000)
            }
        }
    }

    @Test("A large file at a low rate is sent in small pieces")
    func largeFileSlowly() throws {
        let text = String(repeating: "0123456789", count: 200_000)
        let served = try ServedMap(
            #"{ "https://h.example/a.bin": { "file": "a.bin", "bytesPerSecond": 200 } }"#,
            files: ["a.bin": text]
        )
        let client = try PieceClient(served, "https://h.example/a.bin", fields: ["Range: bytes=5-104"])
        #expect(try client.head().status == 206)
        let parts = try client.parts()
        #expect(parts.map(\.text).joined() == text.dropFirst(5).prefix(100))
        #expect(parts.count > 1)
    }

    @Test("Each of 50 streams at once keeps its times")
    func many() async throws {
        let served = try served(
            #""https://h.example/s/*": { "stream": ["a", { "text": "b", "delay": 0.2 }, { "text": "c", "delay": 0.2 }] }"#
        )
        // Opened before.
        _ = try served.port("https://h.example")
        let start = ContinuousClock.now
        let results = await withTaskGroup(of: Result<(parts: [PieceClient.Part], isComplete: Bool), any Error>.self) {
            for number in 0..<50 {
                $0.addTask {
                    await Self.onThread {
                        let client = try PieceClient(served, "https://h.example/s/\(number)")
                        #expect(try client.head().status == 200)
                        return client.chunks()
                    }
                }
            }
            return await $0.reduce(into: []) { $0.append($1) }
        }
        var spaced = 0
        for result in results {
            let (parts, isComplete) = try result.get()
            #expect(parts.map(\.text) == ["a", "b", "c"])
            for (number, part) in parts.enumerated() { #expect(part.seconds >= Double(number) * 0.2) }
            #expect(isComplete)
            if zip(parts, parts.dropFirst()).allSatisfy({ $1.seconds - $0.seconds >= 0.1 }) { spaced += 1 }
        }
        // If each stream waited for another, its pieces would arrive together. On a busy machine, many streams' may, too.
        #expect(spaced >= 5)
        // One after another, they'd take 20 seconds.
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    /// Does blocking work on another thread.
    private static func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async -> Result<Value, any Error> {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Result { try work() }) }
        }
    }

    @Test("A client that leaves stops its stream", arguments: [true, false])
    func left(isReset: Bool) async throws {
        let server = try LeavableServer(
            #"{ "https://h.example/": { "stream": ["abc", { "text": "d", "delay": 3600 }] } }"#,
            isReset: isReset
        )
        try server.leave(after: "3\r\nabc\r\n")
        for await event in server.events where event.kind == .cancelled { break }
        for await bytes in server.logged { #expect(bytes == 3) }
        server.served.server.stop()
    }

    @Test("A client that leaves stops its throttled body", arguments: [true, false])
    func leftPaced(isReset: Bool) async throws {
        let server = try LeavableServer(
            #"{ "https://h.example/": { "text": "a\nb", "secondsPerLine": 3600 } }"#,
            isReset: isReset
        )
        try server.leave(after: "\r\n\r\na\n")
        for await bytes in server.logged { #expect(bytes == 2) }
        server.served.server.stop()
    }

    /// A server whose client leaves, and what the server says that it has sent.
    private struct LeavableServer {
        let served: ServedMap
        let events: AsyncStream<LocalSubstitutionCache.Event>
        let logged: AsyncStream<Int>
        /// Whether the client leaves with a reset, which says that it has left. An end alone doesn't.
        private let isReset: Bool

        init(_ map: String, isReset: Bool) throws {
            let (logged, log) = AsyncStream<Int>.makeStream()
            self.logged = logged
            self.isReset = isReset
            served = try ServedMap(map, halfClosedSeconds: isReset ? 3_600 : 0) { request in
                log.yield(request.bytes)
                log.finish()
            }
            events = served.cache.events()
        }

        /// Sends a request, reads some of the answer, and leaves.
        func leave(after text: String) throws {
            let client = try served.connect("https://h.example/")
            _ = try client.read(through: text)
            if isReset { client.resetOnClose() } else { client.connection.hangUp() }
        }
    }

    @Test("Clients that don't read don't delay others")
    func slowClients() throws {
        let served = try ServedMap(
            #"""
            {
              "https://h.example/a.bin": { "file": "a.bin", "bytesPerSecond": 1000000000 },
              "https://h.example/b.bin": { "stream": [{ "file": "a.bin" }, { "text": "z", "delay": 0.05 }] },
              \#(Self.stream)
            }
            """#,
            files: ["a.bin": String(repeating: "x", count: 16 << 20), "a.txt": "local"]
        )
        let slow = try ["a", "b"].map { try PieceClient(served, "https://h.example/\($0).bin") }
        // Both have begun.
        for client in slow { #expect(try client.head().status == 200) }
        for _ in 0..<2 {
            let client = try PieceClient(served, "https://h.example/s")
            #expect(try client.head().status == 201)
            let (parts, isComplete) = client.chunks()
            #expect(parts.count == 4)
            #expect(isComplete)
        }
        #expect(try slow[0].parts().reduce(0) { $0 + $1.text.utf8.count } == 16 << 20)
        let (parts, isComplete) = slow[1].chunks()
        #expect(parts.reduce(0) { $0 + $1.text.utf8.count } == (16 << 20) + 1)
        #expect(isComplete)
    }

    @Test("The log says that the entry answered")
    func logged() throws {
        let areOfEntry = Guarded<[Bool]>([])
        let served = try ServedMap(
            #"{ "https://h.example/s": { "stream": ["a"] }, "https://h.example/p": { "text": "a", "secondsPerLine": 0 } }"#
        ) { request in
            let isOfEntry = if case .matched = request.source { true } else { false }
            areOfEntry.withLock { $0.append(isOfEntry) }
        }
        for path in ["s", "p"] { #expect(try served.exchange("https://h.example/\(path)").body == "a") }
        #expect(areOfEntry.withLock { $0 } == [true, true])
    }
}
