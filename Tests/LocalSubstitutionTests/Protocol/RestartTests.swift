#if os(Linux)
import Foundation
import FoundationNetworking
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("A protocol that the loader starts again", .sessions, .timeLimit(.minutes(5)))
struct RestartTests {
    /// Runs in a separate process, since a second delivery can make Foundation trap.
    @Test("It delivers once if its task is suspended and resumed while the cache is asked")
    func suspended() async {
        await #expect(processExitsWith: .success) {
            let url = try #require(URL(string: "http://nowhere.invalid/a"))
            let cache = try CacheFixture(#""http://nowhere.invalid/a": "a.txt""#).cache()
            let configuration = URLSessionConfiguration.ephemeral
            try cache.attach(to: configuration)
            let asked = HoldingCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
            configuration.urlCache = asked
            let recorder = TaskRecorder()
            let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
            // The response is already in memory, so each start would deliver immediately.
            #expect(try cache.lookUp(url.absoluteString) != nil)
            let task = session.dataTask(with: url)
            for _ in 0..<10 {
                task.resume()
                task.suspend()
            }
            task.resume()
            asked.release()
            _ = await recorder.outcome()
            // This is called after everything that the starts have told the delegate.
            await withCheckedContinuation { continuation in session.getAllTasks { _ in continuation.resume() } }
            #expect(recorder.current.data == Data("local".utf8))
            #expect(recorder.current.error == nil)
        }
    }
}
#endif
