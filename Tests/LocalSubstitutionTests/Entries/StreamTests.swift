import Dispatch
import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Entries that answer in pieces", .sessions, .timeLimit(.minutes(2)))
struct StreamTests {
    /// Notes each piece that a task gets, and when.
    final class Pieces: NSObject, URLSessionDataDelegate, Sendable {
        struct Piece: Sendable {
            let text: String
            let seconds: Double
        }

        struct State: Sendable {
            var head: HTTPURLResponse?
            var headSeconds = 0.0
            var pieces: [Piece] = []
            var error: URLError?
            var began = DispatchTime.now()

            /// The time since the task was started.
            var seconds: Double {
                Double(DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds) / 1e9
            }
        }

        private let state = Guarded(State())
        private let changes = AsyncStream.makeStream(of: Void.self)

        var current: State { state.withLock { $0 } }
        var texts: [String] { current.pieces.map(\.text) }

        /// Waits until a condition holds, or the task has ended.
        func wait(until isDone: (State) -> Bool = { _ in false }) async -> State {
            for await _ in changes.stream where isDone(current) { return current }
            return current
        }

        func begin() { state.withLock { $0.began = .now() } }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            state.withLock { state in
                state.head = response as? HTTPURLResponse
                state.headSeconds = state.seconds
            }
            changes.continuation.yield()
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            state.withLock { state in
                state.pieces.append(Piece(text: String(decoding: data, as: UTF8.self), seconds: state.seconds))
            }
            changes.continuation.yield()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            state.withLock { $0.error = error as? URLError }
            changes.continuation.finish()
        }
    }

    /// A session with an attached map, and a delegate.
    private struct Streamed {
        let session: EntrySession
        let own: URLSession
        let pieces = Pieces()

        init(
            _ map: String,
            files: [String: String] = ["a.txt": "local"],
            unmatched: LocalSubstitutionCache.Unmatched = .fail
        ) throws {
            session = try EntrySession(map, files: files)
            own = try session.cache.makeSession(unmatched: unmatched, delegate: pieces)
        }

        /// Another session with the same cache.
        init(again former: Streamed) throws {
            session = former.session
            own = try session.cache.makeSession(unmatched: .fail, delegate: pieces)
        }

        func start(
            _ path: String,
            _ method: String = "GET",
            headers: [String: String] = [:],
            timeout: Double = 60
        ) throws -> URLSessionDataTask {
            var request = try session.request(path, method, headers: headers)
            request.timeoutInterval = timeout
            let task = own.dataTask(with: request)
            pieces.begin()
            task.resume()
            return task
        }

        func load(
            _ path: String,
            _ method: String = "GET",
            headers: [String: String] = [:],
            timeout: Double = 60
        ) async throws -> Pieces.State {
            _ = try start(path, method, headers: headers, timeout: timeout)
            defer { own.finishTasksAndInvalidate() }
            return await pieces.wait()
        }
    }

    private static let stream = #"""
        "http://h/s": { "stream": [
            "data: a\n\n", { "text": "data: b\n\n", "delay": 0.1 }, { "json": { "c": 1 }, "delay": 0.1 },
            { "file": "a.txt", "delay": 0.1 }
        ] }
        """#

    @Test("A delegate gets each piece when it's due")
    func due() async throws {
        let got = try await Streamed(Self.stream).load("http://h/s")
        #expect(got.pieces.map(\.text) == ["data: a\n\n", "data: b\n\n", #"{ "c": 1 }"#, "local"])
        for (number, piece) in got.pieces.enumerated() { #expect(piece.seconds >= Double(number) * 0.1) }
        #expect(got.error == nil)
        let head = try #require(got.head)
        #expect(head.statusCode == 200)
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/event-stream; charset=utf-8")
        for name in ["Content-Length", "ETag", "Accept-Ranges"] { #expect(head.value(forHTTPHeaderField: name) == nil) }
    }

    @Test(
        "Everything else gets the whole body at the end",
        arguments: ["data", "data with a delegate", "completion", "upload", "handled upload"]
    )
    func whole(kind: String) async throws {
        let session = try EntrySession(
            Self.stream.replacingOccurrences(of: "{ \"stream\"", with: "{ \"methods\": [\"*\"], \"stream\""),
            unmatched: .fail
        )
        let whole = "data: a\n\ndata: b\n\n{ \"c\": 1 }local"
        let request = try session.request("http://h/s")
        var post = request
        post.httpMethod = "POST"
        let data: Data =
            switch kind {
            case "data": try await session.session.data(for: request).0
            case "data with a delegate": try await session.session.data(for: request, delegate: TaskRecorder()).0
            case "upload": try await session.session.upload(for: post, from: Data("x".utf8)).0
            case "completion":
                await withCheckedContinuation { continuation in
                    session.session.dataTask(with: request) { data, _, _ in
                        continuation.resume(returning: data ?? Data())
                    }
                    .resume()
                }
            default:
                await withCheckedContinuation { continuation in
                    session.session.uploadTask(with: post, from: Data("x".utf8)) { data, _, _ in
                        continuation.resume(returning: data ?? Data())
                    }.resume()
                }
            }
        #expect(String(decoding: data, as: UTF8.self) == whole)
        #expect(session.cache.statistics.matched == 1)
        #expect(session.cache.statistics.bytes == whole.utf8.count)
    }

    @Test("A delegate's upload task gets the pieces")
    func upload() async throws {
        let streamed = try Streamed(
            #""http://h/s": { "methods": ["POST"], "stream": ["a", { "text": "b", "delay": 0.05 }] }"#
        )
        let task = streamed.own.uploadTask(
            with: try streamed.session.request("http://h/s", "POST"),
            from: Data("x".utf8)
        )
        streamed.pieces.begin()
        task.resume()
        #expect(await streamed.pieces.wait().pieces.map(\.text) == ["a", "b"])
    }

    @Test("The head is sent after the entry's delay, before the first piece's own")
    func delays() async throws {
        let map = #"""
            "http://h/short": { "delay": 0.1, "stream": [{ "text": "a", "delay": 0.2 }] },
            "http://h/long": { "delay": 0.1, "stream": [{ "text": "a", "delay": 600 }] }
            """#
        let short = try await Streamed(map).load("http://h/short")
        #expect(short.headSeconds >= 0.1)
        #expect(short.pieces.first.map { $0.seconds >= 0.3 } == true)
        let long = try Streamed(map)
        let task = try long.start("http://h/long")
        let begun = await long.pieces.wait { $0.head != nil }
        task.cancel()
        #expect(begun.head != nil)
        #expect(begun.pieces.isEmpty)
    }

    @Test("A stream has its entry's status and headers")
    func head() async throws {
        let fields = #""stream": ["a"], "status": 201, "headers": { "X-A": "b", "Cache-Control": "no-store" }"#
        let head = try await EntrySession("\"http://h/s\": { \(fields) }").load("http://h/s").head
        #expect(head.statusCode == 201)
        #expect(head.value(forHTTPHeaderField: "X-A") == "b")
        #expect(head.value(forHTTPHeaderField: "Cache-Control") == "no-store")
    }

    @Test(
        "A stream's text is UTF-8, whatever its type",
        arguments: [
            (#", "charset": null"#, "text/event-stream"),
            ("", "text/event-stream; charset=utf-8"),
            (#", "mimeType": "application/x-ndjson""#, "application/x-ndjson; charset=utf-8"),
        ]
    )
    func type(field: String, type: String) async throws {
        let session = try EntrySession(#""http://h/s": { "stream": ["a"]\#(field) }"#)
        #expect(try await session.load("http://h/s").head.value(forHTTPHeaderField: "Content-Type") == type)
    }

    @Test(
        "A stream that fails, times out or is cancelled uses up its alternative, and counts once",
        arguments: [("error", -1005, 2), ("timeout", -1001, 1), ("cancel", -999, 1)]
    )
    func counted(end: String, code: Int, matched: Int) async throws {
        let map = #"""
            "http://h/error": [{ "stream": ["a", { "error": "networkConnectionLost" }], "times": 1 }, { "text": "next" }],
            "http://h/timeout": [{ "stream": ["a", { "text": "b", "delay": 60 }], "times": 1 }, { "text": "next" }],
            "http://h/cancel": [{ "stream": ["a", { "text": "b", "delay": 60 }], "times": 1 }, { "text": "next" }]
            """#
        let streamed = try Streamed(map)
        let task = try streamed.start("http://h/\(end)", timeout: 0.2)
        _ = await streamed.pieces.wait { !$0.pieces.isEmpty }
        if end == "cancel" { task.cancel() }
        #expect(await streamed.pieces.wait().error?.code.rawValue == code)
        #expect(try await streamed.session.load("http://h/\(end)").text == "next")
        let statistics = streamed.session.cache.statistics
        #expect(statistics.matched == matched && statistics.failures == 2 - matched)
        #expect(statistics.bytes == (matched == 2 ? "anext" : "next").utf8.count)
    }

    @Test("Each piece is delivered by itself, even one that's due at once, and those 20 ms apart arrive apart")
    func apart() async throws {
        let got = try await Streamed(
            #"""
            "http://h/s": { "stream": [
                "a", "b", { "text": "c", "delay": 0.02 }, "d", { "json": 1 }, { "text": "e", "delay": 0.02 }
            ] }
            """#
        ).load("http://h/s")
        #expect(got.pieces.map(\.text) == ["a", "b", "c", "d", "1", "e"])
        for (number, piece) in got.pieces.enumerated() {
            #expect(piece.seconds >= [0, 0, 0.02, 0.02, 0.02, 0.04][number])
        }
    }

    @Test("10,000 pieces are 10,000 calls, in order, and the whole body for anything else")
    func tenThousand() async throws {
        let pieces = (0..<10_000).map { "\($0)\n" }
        let list = pieces.map { JSONText.string($0) }.joined(separator: ", ")
        let streamed = try Streamed("\"http://h/s\": { \"stream\": [\(list)] }")
        #expect(try await streamed.load("http://h/s").pieces.map(\.text) == pieces)
        #expect(try await streamed.session.load("http://h/s").text == pieces.joined())
        let answer = try await streamed.session.cache.answer(to: streamed.session.request("http://h/s"))
        #expect(answer?.0 == Data(pieces.joined().utf8))
    }

    @Test("A piece may be bytes, even a part of a character")
    func bytes() async throws {
        let streamed = try Streamed(
            #""http://h/s": { "stream": ["caf", { "base64": "ww==" }, { "base64": "" }, { "base64": "qQ==", "delay": 0.01 }] }"#
        )
        #expect(try await streamed.load("http://h/s").pieces.map(\.text) == ["caf", "\u{FFFD}", "\u{FFFD}"])
        #expect(try await streamed.session.load("http://h/s").text == "café")
        let bytes = Data((0...255).map { UInt8($0) })
        // A slice, whose indices don't begin at 0.
        let map = try SubstitutionMap([
            "http://h/s": .stream([.data(bytes.prefix(2)), .data(bytes.dropFirst(2))]).mimeType("image/png")
        ])
        let request = try streamed.session.request("http://h/s")
        #expect(try await LocalSubstitutionCache(map: map).answer(to: request)?.0 == bytes)
    }

    @Test("An error ends a stream; a completion handler gets only the error")
    func error() async throws {
        let map = #"""
            "http://h/s": { "stream": ["a", { "error": "networkConnectionLost", "delay": 0.05 }] },
            "http://h/only": { "stream": [{ "error": "timedOut", "delay": 0.05 }] }
            """#
        let got = try await Streamed(map).load("http://h/s")
        #expect(got.pieces.map(\.text) == ["a"])
        #expect(got.error?.code == .networkConnectionLost)
        let only = try await Streamed(map).load("http://h/only")
        #expect(only.head == nil)
        #expect(only.error?.code == .timedOut)
        let session = try EntrySession(map)
        #expect(await session.error(try session.request("http://h/s")) == .networkConnectionLost)
    }

    @Test("Cancelling stops a stream at once")
    func cancelled() async throws {
        let streamed = try Streamed(#""http://h/s": { "stream": ["a", { "text": "b", "delay": 3600 }] }"#)
        let task = try streamed.start("http://h/s")
        _ = await streamed.pieces.wait { !$0.pieces.isEmpty }
        task.cancel()
        let got = await streamed.pieces.wait()
        #expect(got.error?.code == .cancelled)
        #expect(got.pieces.map(\.text) == ["a"])
    }

    #if !canImport(Darwin)
    @Test("A piece that is due waits for the loader's queue")
    func onLoaderQueue() async throws {
        // If the second piece arrived before the queue was held, tries again.
        for delay in [0.05, 0.1, 0.2, 0.4] where try await holdsQueue(untilDue: delay) { return }
        Issue.record("The second piece was always early")
    }

    /// Holds the loader's queue until a stream's second piece is due. Returns `false` if the piece was delivered before.
    private func holdsQueue(untilDue delay: Double) async throws -> Bool {
        let streamed = try Streamed(#""http://h/s": { "stream": ["a", { "text": "b", "delay": \#(delay) }] }"#)
        _ = try streamed.start("http://h/s")
        _ = await streamed.pieces.wait { !$0.pieces.isEmpty }
        let (before, after): ([String], [String]) = await withCheckedContinuation { continuation in
            LoaderThread.runAsDelegate(.current) {
                // What was delivered before has reached the delegate.
                streamed.own.delegateQueue.addOperations([BlockOperation {}], waitUntilFinished: true)
                let before = streamed.pieces.texts
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + delay + 0.05)
                continuation.resume(returning: (before, streamed.pieces.texts))
            }
        }
        #expect(before == after)
        #expect(await streamed.pieces.wait().pieces.map(\.text) == ["a", "b"])
        return before == ["a"]
    }
    #endif

    @Test("A suspended task keeps its place", arguments: [false, true])
    func suspended(endsMeanwhile: Bool) async throws {
        let streamed = try Streamed(
            #""http://h/s": { "stream": ["a", { "text": "b", "delay": 0.05 }, { "text": "c", "delay": 0.05 }] }"#
        )
        let task = try streamed.start("http://h/s")
        _ = await streamed.pieces.wait { !$0.pieces.isEmpty }
        task.suspend()
        // The loader's queue has stopped the protocol by now.
        await withCheckedContinuation { continuation in streamed.own.getAllTasks { _ in continuation.resume() } }
        let before = streamed.pieces.texts
        if endsMeanwhile {
            let other = try EntrySession(#""http://h/o": { "text": "o", "delay": 0.3 }"#)
            _ = try await other.load("http://h/o")
            #expect(streamed.pieces.texts == before)
        }
        task.resume()
        #expect(await streamed.pieces.wait().pieces.map(\.text) == ["a", "b", "c"])
    }

    @Test(
        "A wait longer than the request's timeout fails it, counted from the last piece",
        arguments: [
            (
                #""stream": ["a", { "text": "b", "delay": 0.15 }, { "text": "c", "delay": 0.15 }, { "text": "d", "delay": 60 }]"#,
                ["a", "b", "c"], URLError.Code.timedOut
            ),
            (#""text": "a\nb\nc", "secondsPerLine": 0.15"#, ["a\n", "b\n", "c"], nil),
            (#""text": "a\nb", "secondsPerLine": 60"#, ["a\n"], .timedOut),
        ]
    )
    func timeout(fields: String, pieces: [String], code: URLError.Code?) async throws {
        let got = try await Streamed("\"http://h/s\": { \(fields) }").load("http://h/s", timeout: 0.25)
        #expect(got.pieces.map(\.text) == pieces)
        #expect(got.error?.code == code)
        for (number, piece) in got.pieces.enumerated() { #expect(piece.seconds >= Double(number) * 0.15) }
    }

    struct Throttled: CustomTestStringConvertible, Sendable {
        let fields: String
        let pieces: [String]
        /// How many seconds the whole takes.
        let seconds: Double

        var testDescription: String { fields }

        static let all = [
            Throttled(fields: #""text": "abcd", "bytesPerSecond": 40"#, pieces: ["ab", "cd"], seconds: 0.1),
            Throttled(fields: #""text": "ab", "bytesPerSecond": 10"#, pieces: ["a", "b"], seconds: 0.2),
            Throttled(
                fields: #""text": "a\nb\r\nc\rd", "secondsPerLine": 0.05"#,
                pieces: ["a\n", "b\r\n", "c\r", "d"],
                seconds: 0.15
            ),
            Throttled(
                fields: #""text": "a\nb\n\nc\r\n\r\nd\r\re", "secondsPerEvent": 0.05"#,
                pieces: ["a\nb\n\n", "c\r\n\r\n", "d\r\r", "e"],
                seconds: 0.15
            ),
            Throttled(fields: #""text": "a\n\nb", "secondsPerEvent": 0"#, pieces: ["a\n\nb"], seconds: 0),
            Throttled(fields: #""file": "a.txt", "bytesPerSecond": 100"#, pieces: ["local"], seconds: 0.05),
            Throttled(fields: #""json": [1, 2], "secondsPerLine": 0"#, pieces: ["[1, 2]"], seconds: 0),
        ]
    }

    @Test("A body is sent at its rate, with its length and validators", arguments: Throttled.all)
    func throttled(_ row: Throttled) async throws {
        let streamed = try Streamed("\"http://h/p\": { \(row.fields) }")
        for streamed in [streamed, try Streamed(again: streamed)] {
            let got = try await streamed.load("http://h/p")
            #expect(got.pieces.map(\.text) == row.pieces)
            #expect(got.pieces.last.map { $0.seconds >= row.seconds } == true)
            let length = row.pieces.joined().utf8.count
            #expect(got.head?.value(forHTTPHeaderField: "Content-Length") == String(length))
            #expect(got.head?.value(forHTTPHeaderField: "ETag") != nil)
        }
        #expect(try await streamed.session.load("http://h/p").text == row.pieces.joined())
        // The file is held in memory, and the answer isn't.
        let inMemory = streamed.session.cache.responder.inMemory
        #expect(inMemory.peek("http://h/p") == nil)
        let folder = try #require(streamed.session.cache.map.storage.folder)
        #expect((inMemory.heldFile(at: folder.path(of: "a.txt")) != nil) == row.fields.contains("file"))
    }

    /// Loads an entry for a client that takes a while to receive the first piece. Returns when the client began and
    /// ended to receive each piece.
    private func times(
        _ fields: String,
        firstTakes seconds: Double
    ) async throws -> [(began: DispatchTime, ended: DispatchTime)] {
        let session = try EntrySession("\"http://h/s\": { \(fields) }")
        let attachment = Attachment(of: session.cache.responder, to: .ephemeral)
        let plan = attachment.decide(try session.request("http://h/s"), body: .none)
        let isFirst = Guarded(true)
        let (pieces, piece) = AsyncStream.makeStream(of: (began: DispatchTime, ended: DispatchTime).self)
        let client = RequestLoad.Client { event in
            let began = DispatchTime.now()
            switch event {
            case .head: break
            case .data:
                let takesLong = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if takesLong { _ = DispatchSemaphore(value: 0).wait(timeout: began + seconds) }
                piece.yield((began, .now()))
            case .end: piece.finish()
            }
        }
        let load = RequestLoad.start(plan, in: attachment, for: client)
        let times = await pieces.reduce(into: []) { $0.append($1) }
        await load.value
        return times
    }

    @Test(
        "A delay begins when the previous piece was sent, even if that was late",
        arguments: [
            #""stream": ["a", { "text": "b", "delay": 0.1 }]"#, #""text": "a\nb", "secondsPerLine": 0.1"#,
            #""text": "a\n\nb", "secondsPerEvent": 0.1"#,
        ]
    )
    func late(fields: String) async throws {
        let times = try await times(fields, firstTakes: 0.2)
        #expect(times.count == 2)
        #expect(times[1].began >= times[0].ended + 0.1)
    }

    @Test("A rate is even: a late piece doesn't delay the later ones")
    func even() async throws {
        let times = try await times(#""text": "abcdefghijk", "bytesPerSecond": 10"#, firstTakes: 1.2)
        #expect(times.count == 11)
        // If each piece waited for the previous one, this would take ten times 0.1 s.
        #expect(times[10].began < times[0].ended + 1)
    }

    @Test("A default rate is inherited; an entry's own rate wins, and other answers ignore it")
    func inherited() throws {
        let map = try SubstitutionMap(
            json: Data(
                """
                {
                    "$defaults": { "bytesPerSecond": 10 },
                    "http://h/a": { "text": "a" },
                    "http://h/b": { "text": "a", "secondsPerLine": 1 },
                    "http://h/c": { "alternatives": [{ "text": "a", "times": 1 }, { "text": "b", "bytesPerSecond": 5 }] },
                    "http://h/d": { "alternatives": [{ "status": 500, "times": 1 }, { "error": "timedOut" }], "bytesPerSecond": 7 },
                    "http://h/e": { "stream": ["a"] },
                    "http://h/f": { "error": "timedOut" },
                    "http://h/g": {
                        "alternatives": [{ "text": "a", "times": 1 }, { "text": "b", "secondsPerLine": 1 }], "bytesPerSecond": 7
                    }
                }
                """.utf8
            )
        )
        #expect(map.problems.isEmpty)
        let rates = map.entries.map { $0.responding.map(\.options.fields.rate) }
        #expect(
            rates == [
                [.bytesPerSecond(10)], [.secondsPerLine(1)], [.bytesPerSecond(10), .bytesPerSecond(5)], [nil, nil],
                [nil], [nil], [.bytesPerSecond(7), .secondsPerLine(1)],
            ]
        )
    }

    @Test("HEAD and ranges of a throttled body are as without its rate")
    func pacedHeadAndRange() async throws {
        let map = #""http://h/p": { "file": "a.txt", "bytesPerSecond": 20 }"#
        let head = try await Streamed(map).load("http://h/p", "HEAD")
        #expect(head.pieces.isEmpty)
        #expect(head.head?.value(forHTTPHeaderField: "Content-Length") == "5")
        let part = try await Streamed(map).load("http://h/p", headers: ["Range": "bytes=1-3"])
        #expect(part.head?.statusCode == 206)
        #expect(part.pieces.map(\.text) == ["o", "c", "a"])
        #expect(part.pieces.last.map { $0.seconds >= 0.15 } == true)
    }

    @Test("A refreshed file and a fallback are sent at the entry's rate")
    func pacedCopyAndFallback() async throws {
        let updating = try UpdatingFixture(.text("newer"), entry: #", "bytesPerSecond": 50"#)
        let copied = Pieces()
        let cache = try updating.cache()
        let first = try cache.makeSession()
        let request = try request(updating.url)
        _ = try await cache.refreshing { first.dataTask(with: request).resume() }
        let session = try cache.makeSession(delegate: copied)
        defer { for session in [first, session] { session.finishTasksAndInvalidate() } }
        copied.begin()
        session.dataTask(with: request).resume()
        let got = await copied.wait()
        #expect(got.pieces.map(\.text).joined() == "newer" && got.pieces.count == 3)
        #expect(got.pieces.last.map { $0.seconds >= 0.1 } == true)

        let origin = try LoopbackServer { _ in .text("").failing(.dropBeforeHead) }
        defer { origin.stop() }
        let url = origin.url("a").absoluteString
        let offline = try Streamed(
            "\"\(url)\": { \"file\": \"a.txt\", \"use\": \"whenOffline\", \"bytesPerSecond\": 50 }",
            unmatched: .load
        )
        let fallback = try await offline.load(url)
        #expect(fallback.pieces.map(\.text) == ["lo", "ca", "l"])
        #expect(fallback.pieces.last.map { $0.seconds >= 0.1 } == true)
    }

    @Test(
        "A cache alone passes over what only a protocol can do",
        arguments: [
            (#""stream": ["a"]"#, "stream"), (#""text": "a", "bytesPerSecond": 9"#, "bytesPerSecond"),
            (#""text": "a", "secondsPerLine": 0"#, "secondsPerLine"),
            (#""text": "a", "secondsPerEvent": 0"#, "secondsPerEvent"), (#""handler": "h""#, "handler"),
        ]
    )
    func byCacheAlone(fields: String, name: String) throws {
        let json = Data("{ \"http://h/a\": { \(fields) } }".utf8)
        let map = try SubstitutionMap(json: json, handlers: ["h": { _ in .notSubstituted }])
        let cache = LocalSubstitutionCache(map: map)
        let request = try request("http://h/a")
        #expect(cache.cachedResponse(for: request) == nil)
        #expect(cache.statistics.unmatched == 1)
        let judgement = cache.explain(request).cacheOnly
        #expect(judgement.outcome == .unmatched)
        #expect(judgement.reason == "the entry's field “\(name)” needs an attached session")
    }

    @Test("HEAD gets only the head, and a range of a stream the whole")
    func headAndRange() async throws {
        let session = try EntrySession(#""http://h/s": { "stream": ["abc", { "text": "d", "delay": 0.02 }] }"#)
        let head = try await session.load("http://h/s", "HEAD")
        #expect(head.text.isEmpty)
        #expect(head.head.statusCode == 200)
        let part = try await session.load("http://h/s", headers: ["Range": "bytes=0-1"])
        #expect(part.text == "abcd")
        #expect(part.head.statusCode == 200)
    }

    @Test(
        "A stream answers GET and HEAD, unless its entry lists methods",
        arguments: [("", ["GET", "HEAD"]), (#", "methods": ["POST"]"#, ["POST"])]
    )
    func methods(field: String, answered: [String]) async throws {
        let session = try EntrySession("\"http://h/s\": { \"stream\": [\"a\"]\(field) }", unmatched: .fail)
        for method in ["GET", "HEAD", "POST", "PUT"] {
            let error = await session.error(try session.request("http://h/s", method))
            #expect(error == (answered.contains(method) ? nil : .resourceUnavailable), "\(method)")
        }
    }

    @Test("A stream whose file is missing is skipped, and one whose file goes later ends with an error")
    func missingFile() async throws {
        let session = try EntrySession(
            #"""
            "http://h/*": { "stream": [{ "file": "*.txt" }] },
            "http://h/two/*": { "stream": [{ "file": "a.txt" }, { "file": "*.txt" }] },
            "http://*/*": { "text": "other" },
            "http://h/s": { "stream": ["a", { "file": "b.txt", "delay": 2 }] }
            """#,
            files: ["a.txt": "local", "b.txt": "b"],
            unmatched: .fail
        )
        #expect(try await session.load("http://h/a").text == "local")
        #expect(try await session.load("http://h/none").text == "other")
        #expect(try await session.load("http://h/two/a").text == "locallocal")
        #expect(try await session.load("http://h/two/none").text == "other")
        let pieces = Pieces()
        let own = try session.cache.makeSession(delegate: pieces)
        own.dataTask(with: try session.request("http://h/s")).resume()
        _ = await pieces.wait { !$0.pieces.isEmpty }
        try FileManager.default.removeItem(at: session.fixture.resources.appendingPathComponent("b.txt"))
        let got = await pieces.wait()
        #expect(got.error?.code == .cannotOpenFile)
        #expect(got.pieces.map(\.text) == ["a"])
        own.finishTasksAndInvalidate()
        #expect(try await session.load("http://h/s").text == "other")
    }

    @Test("What forwardTo and allowed URLs load comes in pieces", arguments: ["/sent", "/allowed"])
    func forwarded(path: String) async throws {
        let origin = try LoopbackServer(routes: [
            "/sent": LoopbackServer.Answer(body: Data(count: 200_000), fault: .stallAfter(bodyBytes: 100_000)),
            "/allowed": LoopbackServer.Answer(body: Data(count: 200_000), fault: .stallAfter(bodyBytes: 100_000)),
        ])
        defer { origin.stop() }
        let map = #""http://h/sent": { "forwardTo": "\#(origin.url("sent").absoluteString)" }"#
        let streamed = try Streamed(map, unmatched: .fail(allowing: ["http://127.0.0.1:*/*"]))
        let url = path == "/sent" ? "http://h/sent" : origin.url("allowed").absoluteString
        let task = try streamed.start(url)
        _ = await streamed.pieces.wait { $0.pieces.reduce(0) { $0 + $1.text.utf8.count } == 100_000 }
        task.cancel()
    }

    @Test("Many streams at once each keep their pieces")
    func many() async throws {
        let session = try EntrySession(
            #""http://h/s/*": { "stream": ["a", { "text": "b", "delay": 0.05 }, { "text": "c", "delay": 0.05 }] }"#
        )
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<50 {
                group.addTask { try await session.load("http://h/s/\(number)").text }
            }
            for try await text in group { #expect(text == "abc") }
        }
    }
}
