import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The thread on which the loader expects a protocol to call its client.
///
/// On Apple platforms, that's the thread that started the protocol, so call `init` there. On Linux, it's the loader's
/// queue.
struct LoaderThread: Sendable {
    #if canImport(Darwin)
    // Apple's loader starts protocols on its own thread, which has a run loop, and expects calls there (documentation
    // of `URLProtocolClient`, and Apple's sample CustomHTTPProtocol).
    private nonisolated(unsafe) let runLoop = CFRunLoopGetCurrent()

    /// Runs a closure on the loader's thread, later.
    func run(_ body: @escaping @Sendable () -> Void) {
        CFRunLoopPerformBlock(runLoop, CFRunLoopMode.defaultMode.rawValue, body)
        CFRunLoopWakeUp(runLoop)
    }

    /// The delegate queue for the forwarder's sessions; `nil`, so that each session creates its own.
    static var delegateQueue: OperationQueue? { nil }

    /// Does nothing. Only Linux needs preparation for a response in pieces.
    static func prepare() {}

    /// Runs a closure at once, on the current thread. Only on Linux must it run on the loader's queue.
    static func runAsDelegate(_ body: @escaping @Sendable () -> Void) { body() }
    #else
    // Linux's loader starts protocols on its work queue. When a protocol calls its client, the loader reads its tables
    // without a lock (`TaskRegistry.swift`), so a call on another queue races with every other task. The work queues of
    // all sessions target one queue (`URLSession.swift`, `sharedQueue`), so any session reaches it.
    private static let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: InPlaceQueue())

    /// Runs a closure on the loader's queue, later, and after everything that was sent there before.
    func run(_ body: @escaping @Sendable () -> Void) { Self.runAsDelegate(body) }

    /// A task that is never resumed, of a session without a delegate. Calls to a client about this task have no visible
    /// effect.
    ///
    /// Use it only after ``prepare()``: making a task on the loader's queue traps.
    static let silentTask: URLSessionTask = session.dataTask(with: URL(fileURLWithPath: "/"))

    /// Creates ``silentTask``, which a response in pieces needs. Don't call this on the loader's queue.
    static func prepare() { _ = silentTask }

    /// The delegate queue for the forwarder's sessions. They then call their delegates on the loader's queue, which
    /// saves two thread switches.
    static var delegateQueue: OperationQueue? { InPlaceQueue() }

    /// Runs a closure on the queue on which a session with ``delegateQueue`` calls its delegate: the loader's.
    static func runAsDelegate(_ body: @escaping @Sendable () -> Void) {
        session.getAllTasks { _ in body() }
    }

    /// A queue that runs each operation at once, on the thread that adds it. So a session with this delegate queue
    /// calls its delegate on its work queue.
    private final class InPlaceQueue: OperationQueue, @unchecked Sendable {
        // Unchecked, because a subclass must restate the superclass's conformance. This class adds no state.
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
    #endif
}
