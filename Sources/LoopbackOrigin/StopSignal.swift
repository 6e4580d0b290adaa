/// A signal that is raised once and wakes every thread that waits for it, whatever else it waits for.
///
/// It is a pair of connected sockets of which one is shut down, because a descriptor is the one thing that a wait for a
/// connection can be woken by on every platform: shutting down the listener itself does so on Linux only.
final class StopSignal: Sendable {
    private let sender: Socket
    private let receiver: Socket

    init() throws(LoopbackServer.StartError) {
        (sender, receiver) = try Socket.pair()
    }

    /// Wakes the waiting threads and lets none wait again.
    func raise() {
        sender.hangUp()
    }

    /// Waits for the signal, at most for some seconds; returns whether it is raised.
    func isRaised(within timeout: Double) -> Bool {
        Socket.firstReadable(of: [receiver], within: timeout) != nil
    }

    /// Waits for a socket to become readable; returns false once the signal is raised.
    func isLowered(untilReadable socket: Socket) -> Bool {
        Socket.firstReadable(of: [receiver, socket], within: nil) == 1
    }
}
