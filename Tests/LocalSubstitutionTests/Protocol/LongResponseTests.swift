import Foundation
import Guarded
import LocalSubstitutionRecording
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Forwarded responses over the limit", .sessions, .timeLimit(.minutes(5)))
struct LongResponseTests {
    private static let limit = 100_000
    private static let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    private let cache: LocalSubstitutionCache

    init() throws {
        cache = try CacheFixture(
            #"""
            "http://127.0.0.1:*/offline": { "file": "a.txt", "use": "whenOffline" },
            "http://127.0.0.1:*/soon/*": { "file": "a.txt", "use": "whenOffline", "timeout": 0.5 }
            """#
        ).cache()
    }

    private func load(
        _ answer: LoopbackServer.Answer,
        _ path: String = "offline",
        limit: Int? = limit,
        recorder: SubstitutionRecorder? = nil
    ) async throws -> TaskRecorder.Outcome {
        let origin = try LoopbackServer { _ in answer }
        defer { origin.stop() }
        return try await load(URLRequest(url: origin.url(path)), limit: limit, recorder: recorder)
    }

    private func load(
        _ request: URLRequest,
        _ configuration: URLSessionConfiguration = .ephemeral,
        limit: Int? = limit,
        recorder: SubstitutionRecorder?
    ) async throws -> TaskRecorder.Outcome {
        try cache.attach(
            to: configuration,
            unmatched: .load,
            responseRecorder: recorder,
            responseLimit: limit
        )
        let delegate = TaskRecorder()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        session.dataTask(with: request).resume()
        return await delegate.outcome()
    }

    @Test("A long response reaches the app whole, in pieces")
    func whole() async throws {
        let outcome = try await load(.ok(Self.body))
        #expect(outcome.error == nil)
        #expect(outcome.status == 200)
        #expect(outcome.data == Self.body)
        #expect(cache.statistics.forwarded == 1)
    }

    @Test("A long response reaches the app before its end")
    func early() async throws {
        let origin = try LoopbackServer { _ in .ok(Self.body).failing(.stallAfter(bodyBytes: 150_000)) }
        defer { origin.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        try cache.attach(to: configuration, unmatched: .load, responseRecorder: nil, responseLimit: Self.limit)
        let delegate = TaskRecorder()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        session.dataTask(with: origin.url("offline")).resume()
        while delegate.current.data.count < 150_000 {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(delegate.current.status == 200)
        #expect(Self.body.starts(with: delegate.current.data))
    }

    @Test("An event stream with a fallback reaches the app as it arrives, even after the entry's timeout")
    func stream() async throws {
        let origin = try LoopbackServer { request in
            let events = Data("data: a\n\ndata: b\n\n".utf8)
            let type = request.path == "/soon/stream" ? "text/event-stream" : "text/plain"
            return .ok(events, type: type).failing(.stallAfter(bodyBytes: 9))
        }
        defer { origin.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        try cache.attach(to: configuration, unmatched: .load)
        let delegate = TaskRecorder()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: origin.url("soon/stream"))
        task.resume()
        while delegate.current.data.count < 9 {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(delegate.current.data == Data("data: a\n\n".utf8))
        // A later request's timeout ends after the stream's.
        let other = try await cache.makeSession(.ephemeral).data(from: origin.url("soon/text")).0
        #expect(other == Data("local".utf8))
        #expect(delegate.current.error == nil && task.state == .running)
        task.cancel()
    }

    @Test("A completion handler gets a long response whole")
    func handled() async throws {
        let origin = try LoopbackServer { _ in .ok(Self.body) }
        defer { origin.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        try cache.attach(
            to: configuration,
            unmatched: .load,
            responseRecorder: nil,
            responseLimit: Self.limit
        )
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        #expect(try await session.data(from: origin.url("offline")).0 == Self.body)
        #expect(cache.statistics.offlineFallbacks == 0)
    }

    @Test("If the network fails, a file replaces a short response but not a long one")
    func fails() async throws {
        let short = try await load(.ok(Self.body).failing(.dropAfter(bodyBytes: 50_000)))
        #expect(short.error == nil)
        #expect(short.data == Data("local".utf8))
        let long = try await load(.ok(Self.body).failing(.dropAfter(bodyBytes: 200_000)))
        #expect(long.error is URLError)
        #expect(Self.body.starts(with: long.data))
        #expect(cache.statistics.offlineFallbacks == 1)
    }

    /// A long response, and its effect on an earlier copy.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var status = 200
        var headers: [String: String] = [:]
        let reason: String
        let keepsCopy: Bool

        static let all = [
            Row(
                testDescription: "200",
                reason: "the response is longer than 100,000 bytes, the most that is held in memory",
                keepsCopy: false
            ),
            Row(
                testDescription: "404",
                status: 404,
                reason: "the status is 404, which isn't recorded",
                keepsCopy: false
            ),
            Row(
                testDescription: "500",
                status: 500,
                reason: "the status is 500, which isn't recorded",
                keepsCopy: true
            ),
            Row(
                testDescription: "Range",
                headers: ["Range": "bytes=0-"],
                reason: "the request has the header “Range”",
                keepsCopy: true
            ),
            Row(
                testDescription: "Cookie",
                headers: ["Cookie": "user=ada"],
                reason: "the request has the header “Cookie”",
                keepsCopy: true
            ),
        ]
    }

    @Test("A long response isn't recorded, which is reported, and drops an older copy", arguments: Row.all)
    func recorded(_ row: Row) async throws {
        let folder = try TemporaryFolder()
        let recorder = try SubstitutionRecorder(folder: folder.url, limit: .max)
        defer { recorder.close() }
        let isLong = Guarded(false)
        let origin = try LoopbackServer { _ in
            guard isLong.withLock({ $0 }) else { return .text("short") }
            var answer = LoopbackServer.Answer.ok(Self.body)
            answer.status = row.status
            return answer
        }
        defer { origin.stop() }
        func map() throws -> String {
            recorder.flush()
            return try String(contentsOf: recorder.mapFile, encoding: .utf8)
        }
        let url = origin.url("kept")
        #expect(try await load(URLRequest(url: url), recorder: recorder).data == Data("short".utf8))
        #expect(try map().contains(url.absoluteString))

        isLong.withLock { $0 = true }
        let events = HeardEvents(of: cache)
        let request = try request(url.absoluteString, headers: row.headers)
        #expect(try await load(request, recorder: recorder).data == Self.body)
        #expect(try map().contains(url.absoluteString) == row.keepsCopy)
        #expect(events.all.count { $0.description.hasSuffix(row.reason) } == 1)
        #expect(cache.statistics.forwarded == 2)
    }

    @Test("With a credential of the session, a long response leaves an older copy alone", arguments: [false, true])
    func credential(isPlain: Bool) async throws {
        let folder = try TemporaryFolder()
        let recorder = try SubstitutionRecorder(folder: folder.url, limit: .max)
        defer { recorder.close() }
        let origin = try LoopbackServer { _ in .ok(Self.body) }
        defer { origin.stop() }
        let request = URLRequest(url: origin.url("kept"))
        let configuration = URLSessionConfiguration.ephemeral
        if !isPlain { configuration.httpAdditionalHeaders = ["Authorization": "x"] }
        try recorder.record(origin.url("kept").absoluteString, "short")
        #expect(try await load(request, configuration, recorder: recorder).data == Self.body)
        recorder.flush()
        #expect(recorder.hasAnswer(to: request) == !isPlain)
    }
}
