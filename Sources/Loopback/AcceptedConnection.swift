import Guarded

/// A client's connection to one of a listener's ports.
package final class AcceptedConnection: Sendable {
    package let socket: Socket

    /// The port that the client connected to.
    package let port: UInt16

    /// Raised when the listener stops, to wake anything that waits while a request is answered.
    package let stopSignal: StopSignal

    /// When it last began to wait for a request, by ``Socket/now``, or nil while it answers one.
    private let idleStart = Guarded<Double?>(Socket.now)

    init(socket: Socket, port: UInt16, stopSignal: StopSignal) {
        self.socket = socket
        self.port = port
        self.stopSignal = stopSignal
    }

    /// Marks the connection as waiting for a request, its initial state. The listener may hang it up if it needs the descriptor.
    package func idle() {
        idleStart.withLock { $0 = Socket.now }
    }

    /// Marks the connection as answering a request, so that the listener doesn't hang it up.
    package func busy() {
        idleStart.withLock { $0 = nil }
    }

    var idleSince: Double? {
        idleStart.withLock { $0 }
    }
}
