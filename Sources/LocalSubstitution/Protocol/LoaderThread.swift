import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The thread on which the loader expects a protocol to call its client.
///
/// It's the thread that started the protocol, so call `init` there.
struct LoaderThread: Sendable {
    #if canImport(Darwin)
    // Apple's loader starts protocols on its own thread, which has a run loop, and expects calls there (documentation of
    // `URLProtocolClient`, and Apple's sample CustomHTTPProtocol).
    private nonisolated(unsafe) let runLoop = CFRunLoopGetCurrent()

    /// Runs a closure on that thread, later.
    func run(_ body: @escaping @Sendable () -> Void) {
        CFRunLoopPerformBlock(runLoop, CFRunLoopMode.defaultMode.rawValue, body)
        CFRunLoopWakeUp(runLoop)
    }

    /// Runs a closure on that thread, when called by a session that has ``delegateQueue``.
    func runForDelegate(_ body: @escaping @Sendable () -> Void) { run(body) }

    /// The delegate queue for the package's own sessions.
    static var delegateQueue: OperationQueue? { nil }

    /// Does nothing: pieces need no preparation here.
    static func prepare() {}

    /// Runs a closure where a session with ``delegateQueue`` calls its delegate: here, on the current thread.
    static func runAsDelegate(_ body: @escaping @Sendable () -> Void) { body() }
    #else
    // Linux's loader starts protocols on its work queue. When a client is called, it reads its tables there without a
    // lock (`TaskRegistry.swift`), so a call elsewhere races with every other task. The work queues of all sessions
    // target one queue (`URLSession.swift`, `sharedQueue`), so any session reaches it.
    private static let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: InPlaceQueue())

    /// Runs a closure on that queue, later, and after everything that was sent there before.
    func run(_ body: @escaping @Sendable () -> Void) { Self.runAsDelegate(body) }

    /// Runs a closure on that queue, when called by a session that has ``delegateQueue``. Such a session calls on that queue
    /// already.
    func runForDelegate(_ body: @escaping @Sendable () -> Void) { body() }

    /// A task that is never resumed, of a session without a delegate. What a client is told about it has no effect.
    ///
    /// Use it only after ``prepare()``: making a task on the loader's queue traps.
    static let silentTask: URLSessionTask = session.dataTask(with: URL(fileURLWithPath: "/"))

    /// Makes ``silentTask``, which a response in pieces needs. Must not be called on the loader's queue.
    static func prepare() { _ = silentTask }

    /// The delegate queue for the package's own sessions. They call their delegates on the loader's queue, which saves two thread
    /// switches.
    static var delegateQueue: OperationQueue? { InPlaceQueue() }

    /// Runs a closure where a session with ``delegateQueue`` calls its delegate.
    static func runAsDelegate(_ body: @escaping @Sendable () -> Void) {
        session.getAllTasks { _ in body() }
    }

    /// A queue that runs each operation on the thread that adds it. Sessions add operations on their work queues.
    private final class InPlaceQueue: OperationQueue, @unchecked Sendable {
        // Unchecked, because a subclass must restate its superclass's conformance. It adds no mutable state.
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
    #endif
}
