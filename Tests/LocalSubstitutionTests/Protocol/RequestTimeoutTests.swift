import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A value that a request waits for", .values)
struct RequestTimeoutTests {
    @Test("The first value counts, whether it's set before or after the request waits", arguments: [false, true])
    func first(isEarly: Bool) async throws {
        let isCancelled = Guarded(false)
        let value: Int? = try await RequestTimeout(60).value { set in
            let work = { @Sendable in
                set(1)
                set(2)
            }
            if isEarly { work() } else { Thread.detachNewThread(work) }
            return { isCancelled.withLock { $0 = true } }
        }
        #expect(value == 1 && isCancelled.withLock { $0 })
    }

    @Test("At the end of the timeout, there's none")
    func timeout() async throws {
        let value: Int? = try await RequestTimeout(0.01).value { _ in {} }
        #expect(value == nil)
    }

    @Test("A cancelled task stops waiting")
    func cancelled() async {
        let waiting = Task { () -> Int? in try await RequestTimeout(0).value { _ in {} } }
        waiting.cancel()
        let error = await #expect(throws: URLError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
    }
}
