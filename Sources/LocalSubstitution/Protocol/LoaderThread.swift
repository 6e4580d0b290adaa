import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Where the loader expects a protocol to call its client: on the thread that started the protocol, which has a run loop, or
/// on the queue that all sessions share.
///
/// Create one in `startLoading()`.
struct LoaderThread: Sendable {
    /// The run loop; `nil` for the queue.
    private let runLoop: StartingRunLoop?

    init(_ traits: LoaderTraits) { runLoop = traits.contains(.callsOnStartingThread) ? StartingRunLoop() : nil }

    /// Runs a closure there, later, and after everything that was sent there before.
    func run(_ body: @escaping @Sendable () -> Void) {
        if let runLoop { runLoop.run(body) } else { SharedQueue.run(body) }
    }

    /// Prepares for responses in pieces: makes ``silentTask``, if they need it. Don't call this on the queue that all sessions
    /// share.
    static func prepare(_ traits: LoaderTraits) { if traits.contains(.handlersGetOnlyLastPiece) { _ = silentTask } }

    /// Runs a closure where a session with ``delegateQueue(_:)`` calls its delegate.
    static func runAsDelegate(_ traits: LoaderTraits, _ body: @escaping @Sendable () -> Void) {
        if traits.contains(.sessionsShareQueue) { SharedQueue.run(body) } else { body() }
    }

    /// Returns the delegate queue for the forwarder's sessions; `nil`, so that each session creates its own. If all sessions
    /// share a queue, the delegate is called there, which saves two thread switches.
    static func delegateQueue(_ traits: LoaderTraits) -> OperationQueue? {
        traits.contains(.sessionsShareQueue) ? InPlaceQueue() : nil
    }

    /// A task that is never resumed, of a session without a delegate. Calls to a client about this task have no visible
    /// effect.
    ///
    /// Use it only after ``prepare(_:)``: making a task on the queue that all sessions share traps.
    static let silentTask: URLSessionTask = SharedQueue.session.dataTask(with: URL(fileURLWithPath: "/"))

    /// The run loop of the thread that creates this value.
    ///
    /// Apple's loader starts protocols on its own thread, which has a run loop, and expects calls there (documentation of
    /// `URLProtocolClient`, and Apple's sample CustomHTTPProtocol).
    private struct StartingRunLoop: Sendable {
        #if canImport(Darwin)
        private nonisolated(unsafe) let runLoop = CFRunLoopGetCurrent()

        func run(_ body: @escaping @Sendable () -> Void) {
            CFRunLoopPerformBlock(runLoop, CFRunLoopMode.defaultMode.rawValue, body)
            CFRunLoopWakeUp(runLoop)
        }
        #else
        // Linux's Foundation doesn't export CFRunLoop. This one doesn't wake the thread.
        private nonisolated(unsafe) let runLoop = RunLoop.current

        func run(_ body: @escaping @Sendable () -> Void) { runLoop.perform(body) }
        #endif
    }

    /// The queue on which Linux's loader starts protocols. When a protocol calls its client, the loader reads its tables without
    /// a lock (`TaskRegistry.swift`), so a call on another queue races with every other task. The work queues of all sessions
    /// target one queue (`URLSession.swift`, `sharedQueue`), so any session reaches it.
    private enum SharedQueue {
        static let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: InPlaceQueue())

        static func run(_ body: @escaping @Sendable () -> Void) { session.getAllTasks { _ in body() } }
    }

    /// A queue that runs each operation at once, on the thread that adds it. So a session with this delegate queue calls its
    /// delegate on its work queue.
    private final class InPlaceQueue: OperationQueue, @unchecked Sendable {
        // Unchecked, because a subclass must restate the superclass's conformance. This class adds no state.
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
}
