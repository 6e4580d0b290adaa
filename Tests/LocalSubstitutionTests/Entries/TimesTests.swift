import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Alternatives with a limited number of answers", .sessions, .timeLimit(.minutes(5)))
struct TimesTests {
    private static let once = #""ORIGIN/a": [{ "text": "first", "times": 1 }, { "text": "rest" }]"#

    @Test("Alternatives answer in sequence: 503 twice, then the file")
    func sequence() async throws {
        let session = try EntrySession(#""ORIGIN/a": [{ "status": 503, "times": 2 }, "a.txt"]"#, unmatched: .fail)
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await session.load("/a").head.statusCode) }
        #expect(statuses == [503, 503, 200, 200])
        #expect(session.origin.requests.isEmpty)
    }

    @Test("Of 200 concurrent tasks exactly one is answered, and none hangs", arguments: [0, 1])
    func concurrent(strictness: Int) async throws {
        let map = #""ORIGIN/a": [{ "text": "first", "times": 1 }]"#
        let session = try EntrySession(map, unmatched: strictness == 0 ? .load : .fail)
        let texts = await withTaskGroup(of: String.self) { group in
            for _ in 0..<200 {
                group.addTask { (try? await session.load("/a").text) ?? "failed" }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(texts == ["first": 1, strictness == 0 ? "network GET" : "failed": 199])
    }

    @Test("Answers count across all URLs of a pattern, and start over with a new map")
    func pattern() async throws {
        let session = try EntrySession(#""ORIGIN/*": [{ "text": "first", "times": 1 }, { "text": "rest" }]"#)
        #expect(try await session.load("/a").text == "first")
        #expect(try await session.load("/b").text == "rest")
        session.cache.map = session.cache.map
        #expect(try await session.load("/b").text == "first")
    }

    @Test("Explaining, verifying and the cache alone don't count")
    func lookedAt() async throws {
        let session = try EntrySession(Self.once)
        let request = try session.request("/a")
        for _ in 0..<3 {
            #expect(session.cache.explain(request).cacheOnly.reason.contains("“times”"))
            #expect(session.cache.cachedResponse(for: request) == nil)
            _ = await session.cache.verify(session.session)
        }
        #expect(try await session.load("/a").text == "first")
        #expect(try await session.load("/a").text == "rest")
        let explanation = session.cache.explain(request)
        #expect(explanation.skipped.map(\.reason) == ["it has matched 1 request, the most that its “times” allows"])
    }

    @Test("An answer whose file can't be read doesn't count")
    func unreadable() async throws {
        let session = try EntrySession(
            #""ORIGIN/a": [{ "file": "folder.txt", "times": 1 }, "a.txt"]"#,
            files: ["a.txt": "local", "folder.txt": "first"]
        )
        let file = session.fixture.file("folder.txt")
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(await session.error(try session.request("/a")) == .cannotOpenFile)
        try FileManager.default.removeItem(at: file)
        try session.fixture.write("first", to: "folder.txt")
        #expect(try await session.load("/a").text == "first")
        #expect(try await session.load("/a").text == "local")
    }

    @Test("An answer that depends on a body which has to be read counts once", arguments: [false, true])
    func readBody(isStream: Bool) async throws {
        let session = try EntrySession(
            #""http://h/a": { "methods": ["POST"], "alternatives": [{ "when": { "text": "x*" }, "text": "first", "times": 2 }, "a.txt"] }"#,
            files: ["a.txt": "rest"]
        )
        // Longer than what is looked at on the loader's queue.
        let body = Data(repeating: UInt8(ascii: "x"), count: 65 << 10)
        var texts: [String] = []
        for _ in 0..<3 {
            var request = try session.request("http://h/a")
            request.httpMethod = "POST"
            if isStream { request.httpBodyStream = InputStream(data: body) } else { request.httpBody = body }
            texts.append(try await session.load(request).text)
        }
        #expect(texts == ["first", "first", "rest"])
    }

    #if os(Linux)
    @Test("A task that is suspended and resumed counts once", arguments: ["http://h/a", "http://h/b", "http://h/c"])
    func resumed(url: String) async throws {
        let session = try EntrySession(
            """
            "http://h/a": [{ "text": "first", "times": 2, "delay": 0.2 }, { "text": "rest" }],
            "http://h/b": { "status": 302, "headers": { "Location": "/a" } },
            "http://h/c": [{ "when": { "text": "x" }, "text": "first", "times": 2, "delay": 0.2 }, { "text": "rest" }]
            """
        )
        var request = try session.request(url)
        request.httpBody = url.hasSuffix("c") ? Data("x".utf8) : nil
        let recorder = TaskRecorder()
        let own = try session.cache.makeSession(delegate: recorder)
        defer { own.finishTasksAndInvalidate() }
        let task = own.dataTask(with: request)
        for _ in 0..<20 {
            task.resume()
            await withCheckedContinuation { continuation in own.getAllTasks { _ in continuation.resume() } }
            task.suspend()
            await withCheckedContinuation { continuation in own.getAllTasks { _ in continuation.resume() } }
        }
        task.resume()
        #expect(String(decoding: await recorder.outcome().data, as: UTF8.self) == "first")
        #expect(try await session.load(request).text == "first")
        #expect(try await session.load(request).text == "rest")
    }
    #endif
}
