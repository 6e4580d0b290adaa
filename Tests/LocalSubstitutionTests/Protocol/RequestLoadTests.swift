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

@Suite("Loading a request", .sessions)
struct RequestLoadTests {
    /// A synchronous test blocks one of Swift's threads until its response arrives. There's one for each core.
    @Test("Requests are answered while all of Swift's threads are blocked", .timeLimit(.minutes(1)))
    func blockedThreads() async {
        await #expect(processExitsWith: .success) {
            let origin = try LoopbackServer { _ in .text("network") }
            defer { origin.stop() }
            // Older systems can't run tasks on other threads.
            guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
            let map = try SubstitutionMap(
                json: Data(
                    """
                    {
                        "https://h/late": { "text": "late", "delay": 0.01 },
                        "https://h/body": { "text": "body", "when": { "text": "x" }, "methods": ["POST"] },
                        "https://h/to": { "status": 302, "headers": { "Location": "/late" } },
                        "https://h/sent": { "forwardTo": "\(origin.url("x").absoluteString)" }
                    }
                    """.utf8
                )
            )
            let cache = LocalSubstitutionCache(map: map)
            let session = try cache.makeSession(unmatched: .fail)
            let loader = try cache.makeDirectLoader(
                .ephemeral,
                unmatched: .fail,
                recorder: nil,
                sendsCredentials: false
            )
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 4 { Task.detached { blockForever() } }
            for path in ["late", "body", "to", "sent"] {
                var request = URLRequest(url: try #require(URL(string: "https://h/\(path)")))
                if path == "body" {
                    request.httpMethod = "POST"
                    request.httpBodyStream = InputStream(data: Data("x".utf8))
                }
                #expect(load(request, session) == ["sent": "network", "to": "late"][path, default: path])
                if path == "body" { request.httpBody = Data("x".utf8) }
                _ = try loader.load(request, isWanted: { true }).result.get()
            }
        }
    }
}

// Swift doesn't let asynchronous code wait for a semaphore.
private func blockForever() { DispatchSemaphore(value: 0).wait() }

/// Returns the text that a session loads; `nil` if it takes longer than ten seconds.
private func load(_ request: URLRequest, _ session: URLSession) -> String? {
    let arrived = DispatchSemaphore(value: 0)
    let text = Guarded("")
    session.dataTask(with: request) { data, _, _ in
        text.withLock { $0 = String(decoding: data ?? Data(), as: UTF8.self) }
        arrived.signal()
    }.resume()
    return arrived.wait(timeout: .now() + 10) == .success ? text.withLock { $0 } : nil
}
