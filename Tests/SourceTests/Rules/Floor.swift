#if os(Linux)
/// Declarations that may be used although they look newer than the systems in Package.swift.
enum Floor {
    /// False positives.
    static let exceptions = [
        // The attribute belongs to another overload, for the atomic integers.
        "FixedWidthInteger.&*(_:_:)",
        // Only `for await` calls it, and only if it's available.
        "AsyncStream.Iterator.next(isolation:)", "TaskGroup.Iterator.next(isolation:)",
        // `RequestLoad` uses its executor only if it's available.
        "ExecutorJob", "Task.init(name:executorPreference:priority:operation:)", "TaskExecutor",
        "TaskExecutor.asUnownedTaskExecutor()", "UnownedJob.init(_:)", "UnownedJob.runSynchronously(on:)",
        "UnownedTaskExecutor",
    ]

    /// Still to be replaced, by target. This list may only get shorter.
    static let notYet: [String: [String]] = [:]
}
#endif
