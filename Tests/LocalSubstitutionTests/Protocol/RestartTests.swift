#if os(Linux)
import Foundation
import FoundationNetworking
import Guarded
import Testing

@testable import LocalSubstitution

@Suite("A protocol that the loader starts again", .timeLimit(.minutes(1)))
struct RestartTests {
    private final class RestartedProtocol: SubstitutionURLProtocol {
        static let current = Guarded<LocalSubstitutionCache?>(nil)
        override class var cache: LocalSubstitutionCache? { current.withLock { $0 } }
    }

    /// Runs in a separate process, since a second delivery can make Foundation trap.
    @Test("delivers once, even if its task was suspended and resumed while the cache was asked")
    func suspended() async {
        await #expect(processExitsWith: .success) {
            let url = try #require(URL(string: "http://nowhere.invalid/a"))
            let cache = try CacheFixture(#""http://nowhere.invalid/a": "a.txt""#).cache()
            RestartedProtocol.current.withLock { $0 = cache }
            let configuration = URLSessionConfiguration.ephemeral
            cache.attach(to: configuration, as: RestartedProtocol.self)
            let asked = HoldingCache()
            configuration.urlCache = asked
            let recorder = TaskRecorder()
            let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
            // The response is in memory already, so each start would deliver at once.
            #expect(try cache.lookUp(url.absoluteString) != nil)
            let task = session.dataTask(with: url)
            for _ in 0..<10 {
                task.resume()
                task.suspend()
            }
            task.resume()
            asked.release()
            _ = await recorder.outcome()
            // This runs after everything that the starts told the delegate.
            await withCheckedContinuation { continuation in session.getAllTasks { _ in continuation.resume() } }
            #expect(recorder.current.data == Data("local".utf8))
            #expect(recorder.current.error == nil)
        }
    }
}
#endif
