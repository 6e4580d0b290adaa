import Guarded

/// A client's connection to one of a listener's ports.
package final class AcceptedConnection: Sendable {
    package let socket: Socket

    /// The port that the client connected to.
    package let port: UInt16

    /// Raised when the listener stops, to wake anything that waits while a request is answered.
    package let stopSignal: StopSignal

    /// Times by ``Socket/now``.
    private struct State {
        /// When it last began to wait for a request, or nil while it answers one.
        var idleStart: Double? = Socket.now
        /// When the client was first seen to send no more, or nil.
        var endSeen: Double?
    }

    private let state = Guarded(State())

    init(socket: Socket, port: UInt16, stopSignal: StopSignal) {
        self.socket = socket
        self.port = port
        self.stopSignal = stopSignal
    }

    /// Marks the connection as waiting for a request, its initial state. The listener may hang it up if it needs the descriptor.
    package func idle() {
        state.withLock { $0.idleStart = Socket.now }
    }

    /// Marks the connection as answering a request, so that the listener doesn't hang it up. Call it again when a part of the
    /// answer was sent.
    package func busy() {
        state.withLock { $0 = State(idleStart: nil) }
    }

    var idleSince: Double? {
        state.withLock { $0.idleStart }
    }

    /// Returns whether the client may still be waiting for the rest of an answer.
    ///
    /// A client that sends no more after its request, as `nc -N` does, waits for the answer. Until something is sent, it can't be
    /// told from one that has left, so both get the same time.
    ///
    /// - Parameter seconds: How long such a client may be waiting after this was first seen, or after the last ``busy()``.
    package func isClientWaiting(halfClosedSeconds seconds: Double) -> Bool {
        switch socket.otherSide {
        case .open:
            return true
        case .left:
            return false
        case .finished:
            let now = Socket.now
            return state.withLock { state in
                let endSeen = state.endSeen ?? now
                state.endSeen = endSeen
                return now - endSeen < seconds
            }
        }
    }
}
