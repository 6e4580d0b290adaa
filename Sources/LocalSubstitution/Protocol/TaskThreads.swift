import Dispatch
import Foundation
import Guarded

/// The threads that run Swift tasks which may block: Swift's own are few, and a test may block all of them while it waits
/// for a response.
package enum TaskThreads {
    /// Dispatch's threads, for loads, which may read files. Dispatch adds threads when some are blocked.
    case loads
    /// Threads for the app's code: handlers.
    ///
    /// They aren't Dispatch's. Once some 250 of those are blocked, Dispatch starts no more, and then neither URLSession nor
    /// a timer goes on.
    case handlers

    /// Starts a Swift task for a closure. On systems before macOS 15 and iOS 18, the closure runs on Swift's threads, and
    /// mustn't block.
    package func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return Task { await body() } }
        return switch self {
        case .loads: Task(executorPreference: Loads.shared) { await body() }
        case .handlers: Task(executorPreference: Handlers.shared) { await body() }
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class Loads: TaskExecutor {
        static let shared = Loads()

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            DispatchQueue.global(qos: .userInitiated).async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// The most threads for handlers at once. If all are blocked, further code waits, until its request times out.
    static let mostForHandlers = 64

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class Handlers: TaskExecutor {
        private struct State: Sendable {
            var jobs: [UnownedJob] = []
            var threads = 0
            /// The threads that wait for a job, and that no job has woken.
            var idle = 0
        }

        private enum Step: Sendable { case wake, start, wait }

        static let shared = Handlers()

        private let state = Guarded(State())
        private let wakeUp = DispatchSemaphore(value: 0)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let step = state.withLock { state -> Step in
                state.jobs.append(job)
                if state.idle > 0 {
                    state.idle -= 1
                    return .wake
                }
                guard state.threads < TaskThreads.mostForHandlers else { return .wait }
                state.threads += 1
                return .start
            }
            switch step {
            case .wake: wakeUp.signal()
            case .start: Thread { self.run() }.start()
            case .wait: break
            }
        }

        private func run() {
            while true {
                let job = state.withLock { state -> UnownedJob? in
                    guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
                    state.idle += 1
                    return nil
                }
                if let job { job.runSynchronously(on: asUnownedTaskExecutor()) } else { wakeUp.wait() }
            }
        }
    }
}
