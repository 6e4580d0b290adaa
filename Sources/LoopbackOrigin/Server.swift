import Dispatch
import Foundation
import Guarded

/// The half of an origin that its threads share: the accept loop, the open connections, and the record.
final class Server: Sendable {
    private struct State {
        /// Held here only until the accept loop takes it, so that the end of that loop closes it.
        var listener: Socket?
        var connections: [ObjectIdentifier: Socket] = [:]
        var isStopped = false
        var requests: [LoopbackServer.Request] = []
        var bytesSent = 0
    }

    let stopSignal: StopSignal
    private let recordsRequests: Bool
    private let handler: @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer
    private let state: Guarded<State>
    private let accepting = DispatchGroup()

    init(
        listener: Socket,
        stopSignal: StopSignal,
        recordsRequests: Bool,
        handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer
    ) {
        self.stopSignal = stopSignal
        self.recordsRequests = recordsRequests
        self.handler = handler
        state = Guarded(State(listener: listener))
    }

    var requests: [LoopbackServer.Request] {
        state.withLock { $0.requests }
    }

    var bytesSent: Int {
        state.withLock { $0.bytesSent }
    }

    /// Starts the accept loop.
    func start() {
        accepting.enter()
        Thread.detachNewThread { [self] in
            acceptConnections()
            accepting.leave()
        }
    }

    /// Records a request, if they are, and asks the handler.
    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        if recordsRequests { state.withLock { $0.requests.append(request) } }
        return handler(request)
    }

    /// Adds to the body bytes sent; a negative count takes back what was counted too early.
    func count(bytes: Int) {
        state.withLock { $0.bytesSent += bytes }
    }

    /// Ends the accept loop, every connection and every delay.
    func stop() {
        let connections = state.withLock { state in
            state.isStopped = true
            return state.connections.values.map { $0 }
        }
        stopSignal.raise()
        for connection in connections {
            connection.hangUp()
        }
        // The loop never blocks but for the signal, so this wait is short: it is what lets a caller rely on the port
        // being closed. The limit is for a machine too busy to run the loop at all.
        _ = accepting.wait(timeout: .now() + .seconds(5))
    }

    private func acceptConnections() {
        guard let listener = state.withLock({ $0.listener.take() }) else { return }
        while stopSignal.isLowered(untilReadable: listener) {
            guard let socket = listener.nextConnection() else {
                // The client has given up already, or the process is out of descriptors: then the connection stays
                // pending, and without this pause the loop would spin until another one is closed.
                _ = stopSignal.isRaised(within: 0.01)
                continue
            }
            let isAdmitted = state.withLock { state in
                if !state.isStopped { state.connections[ObjectIdentifier(socket)] = socket }
                return !state.isStopped
            }
            guard isAdmitted else { return }
            Thread.detachNewThread { [self] in
                Connection(socket: socket, server: self).serve()
                state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(socket)) }
            }
        }
    }
}
