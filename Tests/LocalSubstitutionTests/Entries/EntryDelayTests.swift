import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An entry with a delay", .sessions, .timeLimit(.minutes(5)))
struct EntryDelayTests {
    private func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await work()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    @Test(
        "A delayed entry waits before it answers, fails or forwards the request",
        arguments: [#""text": "late""#, #""error": "timedOut""#, #""forwardTo": "ORIGIN/b""#]
    )
    func waits(answer: String) async throws {
        let session = try EntrySession(#""http://h/a": { \#(answer), "delay": 0.3 }"#)
        let request = try session.request("http://h/a")
        let took = await seconds { _ = try? await session.session.data(for: request) }
        #expect(took >= 0.3)
    }

    /// If it didn't, the test would exceed its time limit.
    @Test("Cancelling the task ends the delay immediately")
    func cancelled() async throws {
        let session = try EntrySession(#""http://h/a": { "text": "late", "delay": 3600 }"#)
        var request = try session.request("http://h/a")
        request.timeoutInterval = 7200
        let recorder = TaskRecorder()
        let own = try session.cache.makeSession(delegate: recorder)
        defer { own.finishTasksAndInvalidate() }
        let task = own.dataTask(with: request)
        task.resume()
        await withCheckedContinuation { continuation in own.getAllTasks { _ in continuation.resume() } }
        task.cancel()
        #expect((await recorder.outcome().error as? URLError)?.code == .cancelled)
    }

    @Test("A request fails once its timeout has passed")
    func timeout() async throws {
        let session = try EntrySession(#""http://h/a": { "text": "late", "delay": 3600 }"#)
        var request = try session.request("http://h/a")
        request.timeoutInterval = 0.2
        #expect(await session.error(request) == .timedOut)
    }

    @Test("A delay holds up no other request, and 1,000 can wait at a time")
    func many() async throws {
        let session = try EntrySession(
            #""http://h/late/*": { "text": "late", "delay": 1 }, "http://h/never": { "text": "never", "delay": 3600 }, "http://h/a": "a.txt""#,
            unmatched: .fail
        )
        let never = session.session.dataTask(with: try session.request("http://h/never"))
        never.resume()
        #expect(try await session.load("http://h/a").text == "local")
        let took = try await seconds {
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<1_000 {
                    group.addTask { try await session.load("http://h/late/\(number)").text }
                }
                for try await text in group { #expect(text == "late") }
            }
        }
        // One after another, they would take 1,000 s.
        #expect(took < 200)
        never.cancel()
    }

    @Test("If an entry waits for the network to fail, only its fallback is delayed")
    func fallback() async throws {
        let session = try EntrySession(#""ORIGIN/a": { "file": "a.txt", "use": "whenOffline", "delay": 3600 }"#)
        #expect(try await session.load("/a").text == "network GET")
        let offline = try EntrySession(
            #""http://127.0.0.1:1/a": { "file": "a.txt", "use": "whenOffline", "delay": 0.2 }"#
        )
        var text = ""
        let took = try await seconds { text = try await offline.load("http://127.0.0.1:1/a").text }
        #expect(text == "local")
        #expect(took >= 0.2)
    }
}
