import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The thread on which the loader expects a protocol to call its client.
///
/// It's the thread that started the protocol. Call `init` there.
struct LoaderThread: Sendable {
    #if canImport(Darwin)
    // Apple's loader starts protocols on its own thread, which has a run loop, and expects calls there
    // (`URLProtocolClient`'s documentation, and Apple's sample CustomHTTPProtocol).
    private nonisolated(unsafe) let runLoop = CFRunLoopGetCurrent()

    /// Runs something there, later.
    func run(_ body: @escaping @Sendable () -> Void) {
        CFRunLoopPerformBlock(runLoop, CFRunLoopMode.defaultMode.rawValue, body)
        CFRunLoopWakeUp(runLoop)
    }

    /// Runs something there, when called by a session that has ``delegateQueue``.
    func runForDelegate(_ body: @escaping @Sendable () -> Void) { run(body) }

    /// For sessions of our own.
    static var delegateQueue: OperationQueue? { nil }

    /// Runs a closure where a session with ``delegateQueue`` calls its delegate: here, on any thread.
    static func runAsDelegate(_ body: @escaping @Sendable () -> Void) { body() }
    #else
    // Linux's loader starts protocols on its work queue, and reads its tables there without a lock when a client is called
    // (`TaskRegistry.swift`). A call elsewhere races with every other task. The work queues of all sessions target one queue
    // (`URLSession.swift`, `sharedQueue`), so any session gets us there.
    private static let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: InPlaceQueue())

    /// Runs something there, later, and after all that was sent there before.
    func run(_ body: @escaping @Sendable () -> Void) { Self.runAsDelegate(body) }

    /// Runs something there, when called by a session that has ``delegateQueue``: that is there already.
    func runForDelegate(_ body: @escaping @Sendable () -> Void) { body() }

    /// For the package's own sessions: they call their delegates there, which saves two thread changes.
    static var delegateQueue: OperationQueue? { InPlaceQueue() }

    /// Runs a closure where a session with ``delegateQueue`` calls its delegate.
    static func runAsDelegate(_ body: @escaping @Sendable () -> Void) {
        session.getAllTasks { _ in body() }
    }

    /// A queue that runs each operation on the thread that adds it: a session adds operations on its work queue.
    private final class InPlaceQueue: OperationQueue, @unchecked Sendable {
        // Unchecked, since a subclass has to restate what its superclass says. It adds nothing that changes.
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
    #endif
}
