import Guarded

extension Listener {
    /// A client's connection to one of the ports.
    package final class Connection: Sendable {
        package let socket: Socket

        package let port: UInt16

        /// The signal that is raised when the listener stops. It wakes code that waits while responding to a request.
        package let stopSignal: StopSignal

        /// The times at which the connection's state changed, as values of ``Socket/now``.
        private struct State {
            /// When the connection last began to wait for a request; `nil` while it responds to one.
            var idleStart: Double? = Socket.now
            /// When ``isClientWaiting(halfClosedSeconds:)`` first found the client's side closed after the last
            /// ``busy()``; `nil` if it has always found that side open.
            var endSeen: Double?
        }

        private let state = Guarded(State())

        init(socket: Socket, port: UInt16, stopSignal: StopSignal) {
            self.socket = socket
            self.port = port
            self.stopSignal = stopSignal
        }

        /// Marks the connection as waiting for a request, which is its initial state. The listener may hang up a
        /// waiting connection if it needs the descriptor.
        package func idle() {
            state.withLock { $0.idleStart = Socket.now }
        }

        /// Marks the connection as responding to a request, so that the listener doesn't hang it up to get its
        /// descriptor. Call this again for each part of the response: each call restarts the time in which a client
        /// that has closed its side is treated as waiting.
        package func busy() {
            state.withLock { $0 = State(idleStart: nil) }
        }

        /// The time as a value of ``Socket/now``; `nil` while the connection responds to a request.
        var idleSince: Double? {
            state.withLock { $0.idleStart }
        }

        /// Whether the client may still be waiting for the rest of a response.
        ///
        /// A client can close its side after its request, as `nc -N` does, and still wait for the response. A client
        /// that has left looks the same until the server sends something. So for a limited time, every client that has
        /// closed its side is treated as waiting.
        ///
        /// - Parameter seconds: How long a client that has closed its side is treated as waiting. The time begins when
        ///   this method first finds the side closed after the last ``busy()``.
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
}
