import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session delegate that notes what happens to a task.
final class TaskRecorder: NSObject, URLSessionDataDelegate, Sendable {
    struct Outcome: Sendable {
        var status: Int?
        var data = Data()
        var error: (any Error)?
    }

    private let state = Guarded(Outcome())
    private let stream: AsyncStream<Outcome>
    private let continuation: AsyncStream<Outcome>.Continuation

    override init() {
        (stream, continuation) = AsyncStream.makeStream()
        super.init()
    }

    /// Everything the delegate has been told so far.
    var current: Outcome { state.withLock { $0 } }

    func outcome() async -> Outcome {
        for await outcome in stream { return outcome }
        return Outcome()
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.status = (response as? HTTPURLResponse)?.statusCode }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.yield(
            state.withLock { state in
                state.error = error
                return state
            }
        )
        continuation.finish()
    }
}

/// Checks whether something happens within a call, on the caller's thread.
final class CallerThread: Sendable {
    private let thread = Guarded<ObjectIdentifier?>(nil)

    func run(_ body: () -> Void) {
        thread.withLock { $0 = ObjectIdentifier(Thread.current) }
        body()
        thread.withLock { $0 = nil }
    }

    var isInside: Bool { thread.withLock { $0 } == ObjectIdentifier(Thread.current) }
}
