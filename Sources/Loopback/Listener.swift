import Dispatch
import Foundation
import Guarded

/// A listener on any number of ports of 127.0.0.1. One thread accepts the connections of all ports. Each connection is
/// served on a separate thread.
///
/// Once the listener has a port, the accepting thread keeps the listener alive until ``stop()``.
package final class Listener: Sendable {
    private struct State {
        /// The open ports. While there are any, the accepting thread runs. After ``stop()``, that thread closes them.
        var ports: [(socket: Socket, number: UInt16)] = []
        var connections: [ObjectIdentifier: Connection] = [:]
        var isStopped = false
    }

    /// The stack size of a thread, in bytes. It's enough for Foundation's calls, even in a debug build, and it's also
    /// the default on Apple platforms.
    private static let stackSize = 512 << 10

    package let stopSignal: StopSignal

    /// How many descriptors the listener tries to keep free by hanging up idle connections.
    private static var spareDescriptors: Int { min(8, Int(getdtablesize()) / 8) }

    /// How long a connection must be idle before the listener may hang it up. A client that just connected is about to
    /// send its request.
    private static let shortestIdleSeconds = 0.1

    private let serve: @Sendable (Connection) -> Void
    private let state = Guarded(State())
    private let accepting = DispatchGroup()

    /// A connected pair of sockets. A byte that is written to `waker` ends the accepting thread's wait in poll(), so
    /// that the thread checks the state again. Only a descriptor can end that wait.
    private let waker: Socket
    private let wakened: Socket

    /// The listener has no ports yet.
    ///
    /// - Parameter serve: Called for each connection, on a separate thread, to serve it. The connection is closed when
    ///   the closure returns.
    /// - Throws: ``StartError`` if a system call fails.
    package init(serve: @escaping @Sendable (Connection) -> Void) throws(StartError) {
        self.serve = serve
        stopSignal = try StopSignal()
        (waker, wakened) = try Socket.pair()
    }

    /// Listens on a port of 127.0.0.1.
    ///
    /// - Parameter port: The port, or 0 for a free one.
    /// - Returns: The port's number.
    /// - Throws: ``StartError`` if the listener was stopped, or a system call fails, for example because the port is in
    ///   use.
    package func listen(on port: UInt16) throws(StartError) -> UInt16 {
        let socket = try Socket.listening(on: port)
        let number = try socket.localPort()
        try state.withLock { state throws(StartError) in
            guard !state.isStopped else {
                socket.hangUp()
                throw StartError(call: "listen", code: ECANCELED)
            }
            if state.ports.isEmpty {
                try startAccepting()
                // Entered here, not by the thread, so that `stop()` waits even for a thread that hasn't run yet. The
                // thread can't leave the group before this line: it first takes the lock, which is held here.
                accepting.enter()
            }
            state.ports.append((socket, number))
        }
        wake()
        return number
    }

    /// Closes the ports, hangs up the connections and raises ``stopSignal``.
    ///
    /// It doesn't wait for responses that are being sent. Stopping again has no effect.
    package func stop() {
        let connections = state.withLock { state in
            state.isStopped = true
            return Array(state.connections.values)
        }
        for connection in connections { connection.socket.hangUp() }
        // Raised only after the connections were hung up. So a thread that the signal wakes can't send its response
        // anymore.
        stopSignal.raise()
        wake()
        // After `stop()`, callers rely on the ports being closed. The wait is short, since the accepting thread was
        // woken and blocks nowhere else. The limit of five seconds is for a machine that is too busy to run the thread.
        _ = accepting.wait(timeout: .now() + .seconds(5))
    }

    private func wake() {
        try? waker.write(Data([0]))
    }

    private func startAccepting() throws(StartError) {
        try Self.startThread { [self] in
            acceptConnections()
            state.withLock { state in
                // A process that this one is starting may hold copies of the sockets, so closing them isn't enough. On
                // Linux, hanging up ends the listening even while there are copies.
                for port in state.ports { port.socket.hangUp() }
                state.ports = []
            }
            accepting.leave()
        }
    }

    private func acceptConnections() {
        while true {
            let (ports, isStopped) = state.withLock { ($0.ports, $0.isStopped) }
            if isStopped { return }
            for index in Socket.readable(of: ports.map(\.socket) + [wakened], within: nil) {
                if index < ports.count {
                    acceptConnection(to: ports[index].number, of: ports[index].socket)
                } else {
                    _ = try? wakened.read(upTo: 64)
                }
            }
        }
    }

    private func acceptConnection(to port: UInt16, of listening: Socket) {
        // Responses need descriptors too, for files and for the network. So if few are left, an idle connection is hung
        // up first, and the new one stays pending for now. Without an idle connection, the new one is accepted anyway.
        let hasRoom = listening.canBeDuplicated(Self.spareDescriptors + 1)
        guard hasRoom || !hangUpLongestIdle(), let socket = listening.nextConnection() else {
            // The connection stays pending, its client has left already, or the process is out of descriptors. Without
            // this pause, the thread would spin.
            _ = stopSignal.isRaised(within: 0.01)
            return
        }
        let connection = Connection(socket: socket, port: port, stopSignal: stopSignal)
        var isOtherServed = true
        // If no thread can be created, the accepting thread waits until another connection's thread ends. Meanwhile,
        // further connections stay pending. If no other connection is being served, this one is released, which closes
        // it.
        while !startServing(connection), isOtherServed {
            isOtherServed = state.withLock { !$0.connections.isEmpty }
            _ = hangUpLongestIdle()
            if stopSignal.isRaised(within: 0.01) { return }
        }
    }

    /// `false` if the listener was stopped or no thread can be created.
    private func startServing(_ connection: Connection) -> Bool {
        let id = ObjectIdentifier(connection)
        let isStopped = state.withLock { state in
            if !state.isStopped { state.connections[id] = connection }
            return state.isStopped
        }
        if isStopped { return false }
        do {
            try Self.startThread { [self] in
                serve(connection)
                connection.idle()
                connection.socket.finish()
                state.withLock { $0.connections[id] = nil }
            }
            return true
        } catch {
            state.withLock { $0.connections[id] = nil }
            return false
        }
    }

    /// - Throws: ``StartError`` if the thread can't be created. Foundation's `Thread` doesn't report that.
    private static func startThread(_ body: @escaping @Sendable () -> Void) throws(StartError) {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setstacksize(attributes, stackSize)
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let main = Unmanaged.passRetained(ThreadMain(body))
        let code = pthread_create(
            &thread,
            attributes,
            { argument in
                // The argument is optional on Linux only.
                let argument: UnsafeMutableRawPointer? = argument
                if let argument { Unmanaged<ThreadMain>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            },
            main.toOpaque()
        )
        guard code == 0 else {
            main.release()
            throw StartError(call: "pthread_create", code: code)
        }
    }

    /// Calls a closure on a connection's thread, which may serve many requests, and then frees the objects that Foundation has
    /// autoreleased: the thread has no pool.
    package static func freeingObjects<Result>(_ body: () throws -> Result) rethrows -> Result {
        #if canImport(Darwin)
        try autoreleasepool(invoking: body)
        #else
        try body()
        #endif
    }

    /// Hangs up the connection that has waited longest for a request, if it has waited at least
    /// ``shortestIdleSeconds``. Skips connections with unread bytes.
    ///
    /// - Returns: Whether a connection without unread bytes is waiting, even if it hasn't waited long enough to be hung
    ///   up.
    private func hangUpLongestIdle() -> Bool {
        let idle = state.withLock { Array($0.connections.values) }
            .compactMap { connection in connection.idleSince.map { (start: $0, socket: connection.socket) } }
        let readable = Set(Socket.readable(of: idle.map(\.socket), within: 0))
        // A connection that was hung up is readable too, so it isn't chosen again before its thread notices.
        let silent = idle.enumerated().filter { !readable.contains($0.offset) }.map(\.element)
        guard let longest = silent.min(by: { $0.start < $1.start }) else { return false }
        if Socket.now - longest.start >= Self.shortestIdleSeconds { longest.socket.hangUp() }
        return true
    }
}

extension Listener {
    /// A signal that is raised once and wakes every thread that waits for it.
    package final class StopSignal: Sendable {
        private let sender: Socket
        private let receiver: Socket

        package init() throws(StartError) {
            (sender, receiver) = try Socket.pair()
        }

        /// Wakes the waiting threads. From then on, ``isRaised(within:)`` returns at once.
        package func raise() {
            sender.hangUp()
        }

        /// Waits until the signal is raised, for at most `timeout` seconds.
        package func isRaised(within timeout: Double) -> Bool {
            !Socket.readable(of: [receiver], within: timeout).isEmpty
        }
    }
}

/// A thread's closure in an object, since a thread's argument is one pointer.
private final class ThreadMain: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}
