/// A signal that is raised once and wakes every thread that waits for it.
package final class StopSignal: Sendable {
    private let sender: Socket
    private let receiver: Socket

    package init() throws(StartError) {
        (sender, receiver) = try Socket.pair()
    }

    /// Wakes the waiting threads. From then on, waits return at once.
    package func raise() {
        sender.hangUp()
    }

    /// Waits for the signal, at most for a timeout in seconds. Returns whether it was raised.
    package func isRaised(within timeout: Double) -> Bool {
        !Socket.readable(of: [receiver], within: timeout).isEmpty
    }
}
