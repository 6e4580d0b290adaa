import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cancelling other clients' requests in a test", .sessions, .timeLimit(.minutes(2)))
struct DirectClientsInTestsTests {
    enum Client: CaseIterable {
        case server, caller
    }

    @Test("A request whose client leaves is cancelled", arguments: Client.allCases)
    func cancelled(_ client: Client) async throws {
        let map = try SubstitutionMap(["https://h/late": .text("late").delay(3600)])
        let cache = LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: String.self)
        let listener = SessionRules.Listener { _ in
            begin.yield(())
            return { progress in
                switch progress {
                case .readBody, .askedServer: break
                case .ended(let outcome, _): end.yield("\(outcome.kind)")
                case .cancelled: end.yield("cancelled")
                }
            }
        }
        try cache.useInTest(.fail, listener)
        let request = try request("https://h/late")
        switch client {
        case .caller:
            let task = Task { try await cache.answer(to: request) }
            for await _ in begun { break }
            task.cancel()
            await #expect(throws: URLError.self) { try await task.value }
        case .server:
            let loader = try cache.makeDirectLoader(
                .ephemeral,
                unmatched: nil,
                recorder: nil,
                sendsCredentials: false
            )
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    _ = loader.load(request) { false }
                    continuation.resume()
                }
            }
        }
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == "cancelled")
    }
}
