import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Conditions for a request's body", .sessions, .timeLimit(.minutes(5)))
struct BodyConditionTests {
    private static let graphQL = """
        "ORIGIN/graphql": [
          { "methods": ["POST"], "when": { "json": { "operationName": "Me" } }, "text": "me" },
          { "methods": ["POST"], "when": { "text": "*shout*" }, "text": "loud" },
          { "methods": ["POST"], "when": { "headers": { "X-Plan": "pro*" } }, "text": "pro" }
        ]
        """

    @Sendable private static func echo(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        .text("network \(request.body.count) \(request.body.hashValue)")
    }

    private static func network(_ body: Data) -> String { "network \(body.count) \(body.hashValue)" }

    struct Row: CustomTestStringConvertible, Sendable {
        let body: String
        var headers: [String: String] = [:]
        /// `nil` for the network.
        let text: String?
        var testDescription: String { "\(body.prefix(40)) \(headers)" }
    }

    static let rows = [
        Row(body: #"{"operationName": "Me", "id": 1}"#, text: "me"),
        Row(body: #"{"operationName": "You"}"#, text: nil),
        Row(body: #"{"operationName": "You"}"#, headers: ["X-Plan": "premium"], text: nil),
        Row(body: #"{"operationName": "You"}"#, headers: ["X-Plan": "pro-2"], text: "pro"),
        Row(body: "a shout", text: "loud"),
        Row(body: #"{"operationName": "Me""#, text: nil),
        Row(body: "", headers: ["X-Plan": "pro"], text: "pro"),
    ]

    @Test("A condition is checked for a body that is data and for a stream", arguments: rows, [false, true])
    func conditions(_ row: Row, isStream: Bool) async throws {
        let session = try EntrySession(Self.graphQL, handler: Self.echo)
        var request = try session.request("/graphql", "POST", headers: row.headers)
        if isStream {
            request.httpBodyStream = InputStream(data: Data(row.body.utf8))
        } else {
            request.httpBody = Data(row.body.utf8)
        }
        #expect(try await session.load(request).text == row.text ?? Self.network(Data(row.body.utf8)))
        #expect(session.origin.requests.count == (row.text == nil ? 1 : 0))
    }

    @Test(
        "A condition checks bodies of up to 8 MiB, and longer ones lose nothing",
        arguments: [1 << 20, 8 << 20, 8 << 20 + 1]
    )
    func long(length: Int) async throws {
        let session = try EntrySession(
            #""ORIGIN/a": { "methods": ["POST"], "when": { "text": "x*" }, "text": "held" }"#,
            handler: Self.echo
        )
        let body = Data(repeating: UInt8(ascii: "x"), count: length)
        var request = try session.request("/a", "POST")
        request.httpBodyStream = InputStream(data: body)
        let text = try await session.load(request).text
        #expect(text == (length > 8 << 20 ? Self.network(body) : "held"))
    }

    @Test("A body that isn't UTF-8 or JSON doesn't match, and is forwarded whole", arguments: [false, true])
    func notText(isStream: Bool) async throws {
        let session = try EntrySession(
            """
            "ORIGIN/a": [
              { "methods": ["POST"], "when": { "text": "*" }, "text": "held" },
              { "methods": ["POST"], "when": { "json": {} }, "text": "held" }
            ]
            """,
            handler: Self.echo
        )
        let body = Data([0x7B, 0xFF, 0x00, 0x7D])
        var request = try session.request("/a", "POST")
        if isStream { request.httpBodyStream = InputStream(data: body) } else { request.httpBody = body }
        #expect(try await session.load(request).text == Self.network(body))
    }

    @Test("A request fails if its stream fails")
    func failing() async throws {
        let session = try EntrySession(#""ORIGIN/a": { "methods": ["POST"], "when": { "text": "x" }, "text": "held" }"#)
        var request = try session.request("/a", "POST")
        request.httpBodyStream = InputStream(url: session.fixture.file("missing"))
        #expect(await session.error(request) == .requestBodyStreamExhausted)
        #expect(session.origin.requests.isEmpty)
    }

    @Test("After a redirect, the body that was sent before is checked", arguments: [false, true])
    func redirected(isStream: Bool) async throws {
        let session = try EntrySession(
            """
            "ORIGIN/a": { "methods": ["POST"], "status": 307, "headers": { "Location": "/b" } },
            "ORIGIN/b": { "methods": ["POST"], "when": { "text": "x*" }, "text": "held" }
            """,
            handler: Self.echo
        )
        for length in [3, 9 << 20] {
            let body = Data(repeating: UInt8(ascii: "x"), count: length)
            var request = try session.request("/a", "POST")
            if isStream { request.httpBodyStream = InputStream(data: body) } else { request.httpBody = body }
            #expect(try await session.load(request).text == (length == 3 ? "held" : Self.network(body)))
        }
    }

    #if os(Linux)
    @Test("An upload task's body meets no condition on a body, since it isn't available")
    func hidden() async throws {
        let session = try EntrySession(
            #""ORIGIN/a": { "methods": ["POST"], "alternatives": [{ "when": { "text": "*" }, "text": "any" }, { "text": "hidden" }] }"#
        )
        let request = try session.request("/a", "POST")
        #expect(try await session.load(request).text == "any")
        let upload = try await session.session.upload(for: request, from: Data("x".utf8)).0
        #expect(String(decoding: upload, as: UTF8.self) == "hidden")
    }

    @Test("An upload task that can't be forwarded fails without waiting for the entry's delay")
    func upload() async throws {
        let session = try EntrySession(
            #""ORIGIN/a": { "methods": ["POST"], "forwardTo": "http://nowhere.invalid/b", "delay": 60 }"#
        )
        var request = try session.request("/a", "POST")
        // Otherwise, the delay would end in a timeout.
        request.timeoutInterval = 5
        let error = await #expect(throws: URLError.self) {
            _ = try await session.session.upload(for: request, from: Data("x".utf8))
        }
        #expect(error?.code == .requestBodyStreamExhausted)
    }

    @Test("A long body loses nothing if the task is suspended while it's sent")
    func suspended() async throws {
        let session = try EntrySession(
            #""ORIGIN/a": { "methods": ["POST"], "when": { "text": "no*" }, "text": "held" }"#
        ) { Self.echo($0).after(seconds: $0.body.isEmpty ? 0 : 0.2) }
        let body = Data(repeating: UInt8(ascii: "x"), count: 9 << 20)
        let recorder = TaskRecorder()
        let own = try session.cache.makeSession(delegate: recorder)
        defer { own.finishTasksAndInvalidate() }
        var request = try session.request("/a", "POST")
        request.httpBodyStream = InputStream(data: body)
        let task = own.dataTask(with: request)
        task.resume()
        while session.origin.requests.isEmpty { await Task.yield() }
        task.suspend()
        await withCheckedContinuation { continuation in own.getAllTasks { _ in continuation.resume() } }
        task.resume()
        #expect(String(decoding: await recorder.outcome().data, as: UTF8.self) == Self.network(body))
        #expect(session.origin.requests.allSatisfy { $0.body.count == body.count })
    }
    #endif

    @Test("Explaining doesn't read a stream")
    func explained() throws {
        let session = try EntrySession(Self.graphQL)
        var request = try session.request("/graphql", "POST")
        let stream = InputStream(data: Data("{}".utf8))
        request.httpBodyStream = stream
        let explanation = session.cache.explain(request)
        #expect(explanation.cacheOnly.outcome == .unmatched)
        #expect(explanation.attached.description == "matched: the entry, if the request's body meets its condition")
        #expect(stream.streamStatus == .notOpen)
    }
}
