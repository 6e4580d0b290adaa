#if os(Linux)
import Dispatch
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import LocalSubstitutionTesting

@Suite("Calls of handlers that belong to a test", .threads, .timeLimit(.minutes(2)))
struct HandlerCallsTests {
    @Test("At the end, only handlers that run go on, and none that still waits for a thread")
    func waiting() async {
        await #expect(processExitsWith: .success) {
            let calls = HandlerCalls { _ in false }
            calls.begin()
            let (begins, begun) = AsyncStream.makeStream(of: String.self)
            for number in 0..<TaskThreads.mostForHandlers + 10 {
                _ = calls.start("\(number)") {
                    begun.yield("\(number)")
                    block()
                }
            }
            var running: [String] = []
            for await key in begins {
                running.append(key)
                if running.count == TaskThreads.mostForHandlers { break }
            }
            #expect(await calls.end() == running.sorted())
        }
    }

    @Test("A call that begins only after the end is cancelled", arguments: [true, false])
    func late(isStartedBefore: Bool) async {
        let calls = HandlerCalls { _ in false }
        let (results, result) = AsyncStream.makeStream(of: Void.self)
        let start = {
            _ = calls.start("late") {
                while !Task.isCancelled { await Task.yield() }
                result.yield(())
            }
        }
        if isStartedBefore { start() } else { calls.begin() }
        #expect(await calls.end() == [])
        if isStartedBefore { calls.begin() } else { start() }
        for await _ in results { break }
    }
}

/// Blocks the thread until the process ends.
private func block() { DispatchSemaphore(value: 0).wait() }
#endif
