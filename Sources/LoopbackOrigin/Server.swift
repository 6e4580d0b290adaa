import Guarded
import Loopback

/// The half of an origin that its threads share: the handler and the record.
final class Server: Sendable {
    private struct State {
        var requests: [LoopbackServer.Request] = []
        var bytesSent = 0
    }

    private let recordsRequests: Bool
    private let handler: @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer
    private let state = Guarded(State())

    init(
        recordsRequests: Bool,
        handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer
    ) {
        self.recordsRequests = recordsRequests
        self.handler = handler
    }

    var requests: [LoopbackServer.Request] {
        state.withLock { $0.requests }
    }

    var bytesSent: Int {
        state.withLock { $0.bytesSent }
    }

    /// Records a request, if requests are recorded, and asks the handler.
    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        if recordsRequests { state.withLock { $0.requests.append(request) } }
        return handler(request)
    }

    /// Adds to the body bytes sent. A negative count takes back bytes that were counted too early.
    func count(bytes: Int) {
        state.withLock { $0.bytesSent += bytes }
    }
}
