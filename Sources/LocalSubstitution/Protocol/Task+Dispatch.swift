import Dispatch

extension Task where Success == Void, Failure == Never {
    /// Starts a Swift task that runs on Dispatch's threads on Linux, macOS 15, iOS 18 and later, and on Swift's on older
    /// systems.
    ///
    /// A load may read files, and a test may block all of Swift's threads while it waits for a response. Dispatch adds
    /// threads when some are blocked.
    ///
    /// - Parameter isOfApp: Whether the closure is the app's code, which may block its thread; `false` by default.
    static func onDispatch(isOfApp: Bool = false, _ body: @escaping @Sendable () async -> Void) -> Self {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            Task(executorPreference: isOfApp ? DispatchExecutor.ofApp : .ofLoads) { await body() }
        } else {
            Task { await body() }
        }
    }
}

/// An executor that runs async functions on Dispatch's threads.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class DispatchExecutor: TaskExecutor {
    static let ofLoads = DispatchExecutor(.global(qos: .userInitiated))
    /// For the app's code, which may block.
    static let ofApp = DispatchExecutor(nil)

    private let queue: DispatchQueue?

    /// - Parameter queue: The queue to run on; `nil` for a new queue for each job.
    private init(_ queue: DispatchQueue?) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // A global queue has few threads, which Swift's tasks and URLSession's delegates also use on Linux. If all are
        // blocked, Dispatch adds one a second, too late for a timeout. A new queue gets a thread at once.
        (queue ?? DispatchQueue(label: "LocalSubstitution.handler")).async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
