import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Where the loader wants a protocol to tell its client what it has loaded.
///
/// It is the thread on which the protocol was started: there `init` has to be called.
struct LoaderThread: Sendable {
    #if canImport(Darwin)
    // Apple's loader starts protocols on a thread of its own with a run loop, and wants to be told there
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

    /// Runs something where a session with ``delegateQueue`` tells its delegate what has come: anywhere.
    static func runAsDelegate(_ body: @escaping @Sendable () -> Void) { body() }
    #else
    // Linux's loader starts protocols on its work queue, and reads its tables there without a lock when a client is told
    // something (`TaskRegistry.swift`): elsewhere that races with every other task. The work queues of all sessions are one in
    // the end (`URLSession.swift`, `sharedQueue`), so any session gets us there.
    private static let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: InPlaceQueue())

    /// Runs something there, later, and after all that was sent there before.
    func run(_ body: @escaping @Sendable () -> Void) { Self.runAsDelegate(body) }

    /// Runs something there, when called by a session that has ``delegateQueue``: that is there already.
    func runForDelegate(_ body: @escaping @Sendable () -> Void) { body() }

    /// For sessions of our own: they tell their delegates there, which spares two changes of threads.
    static var delegateQueue: OperationQueue? { InPlaceQueue() }

    /// Runs something where a session with ``delegateQueue`` tells its delegate what has come.
    static func runAsDelegate(_ body: @escaping @Sendable () -> Void) {
        session.getAllTasks { _ in body() }
    }

    /// A queue that runs what it is given where it is given: a session adds to it from its work queue.
    private final class InPlaceQueue: OperationQueue, @unchecked Sendable {
        // Unchecked, since a subclass has to restate what its superclass says. It adds nothing that changes.
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
    #endif
}
