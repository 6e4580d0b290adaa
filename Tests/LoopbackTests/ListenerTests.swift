import Foundation
import Guarded
import Loopback
import TestSupport
import Testing

#if os(Linux)
import Glibc
#endif

@Suite("A listener", .threads, .timeLimit(.minutes(5)))
struct ListenerTests {
    @Test("It serves any number of ports, and more can be added while others are in use")
    func ports() throws {
        let listener = try EchoListener().listener
        defer { listener.stop() }
        var clients: [(port: UInt16, client: RawClient)] = []
        for _ in 0..<20 {
            let port = try listener.listen(on: 0)
            clients.append((port, try RawClient(port)))
            #expect(try clients.last?.client.load("/new") == "\(port) /new")
        }
        for (port, client) in clients { #expect(try client.load("/again") == "\(port) /again") }
        #expect(Set(clients.map(\.port)).count == 20)
    }

    @Test("It says why it can't listen, and continues with its other ports")
    func taken() throws {
        let (first, second) = (try EchoListener().listener, try EchoListener().listener)
        defer {
            first.stop()
            second.stop()
        }
        let (taken, own) = (try first.listen(on: 0), try second.listen(on: 0))
        let error = #expect(throws: StartError.self) { try second.listen(on: taken) }
        #expect(error?.call == "bind")
        #expect(try RawClient(own).load("/") == "\(own) /")
        first.stop()
        #expect(try second.listen(on: taken) == taken)
        #expect(try RawClient(taken).load("/") == "\(taken) /")
    }

    @Test("It closes its ports and connections when it stops, whatever they're doing", arguments: [1, 3])
    func stop(times: Int) throws {
        let isStopped = Guarded(false)
        let arrived = DispatchSemaphore(value: 0)
        let left = DispatchSemaphore(value: 0)
        let listener = try EchoListener { request, connection in
            guard request.path == "/wait" else { return }
            arrived.signal()
            let isRaised = connection.stopSignal.isRaised(within: 20)
            isStopped.withLock { $0 = isRaised }
            left.signal()
        }.listener
        let ports = [try listener.listen(on: 0), try listener.listen(on: 0)]
        let (silent, idle, unfinished, waiting) =
            (try RawClient(ports[0]), try RawClient(ports[1]), try RawClient(ports[0]), try RawClient(ports[1]))
        // Once the last connection gets its answer, all have been accepted.
        _ = try idle.load("/")
        try unfinished.send("GET")
        try waiting.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        arrived.wait()
        for _ in 0..<times { listener.stop() }
        left.wait()
        #expect(isStopped.withLock { $0 })
        for client in [silent, idle, unfinished, waiting] { #expect(hasEnded(client)) }
        for port in ports { #expect(throws: StartError.self) { try RawClient(port) } }
        #expect(throws: StartError.self) { try listener.listen(on: 0) }
    }

    #if os(Linux)
    @Test("It frees its port even while a process that is being started holds a copy of its socket")
    func copied() throws {
        let listener = try EchoListener().listener
        let port = try listener.listen(on: 0)
        let copy = try #require(copyOfListeningSocket(on: port))
        listener.stop()
        #expect(throws: StartError.self) { try RawClient(port) }
        let second = try EchoListener().listener
        #expect(try second.listen(on: port) == port)
        #expect(try RawClient(port).load("/") == "\(port) /")
        // This socket was bound to its port by number, and stays bound as long as there's a copy.
        let secondCopy = try #require(copyOfListeningSocket(on: port))
        second.stop()
        let third = try EchoListener().listener
        defer { third.stop() }
        #expect(try third.listen(on: port) == port)
        #expect(try RawClient(port).load("/") == "\(port) /")
        withExtendedLifetime((copy, secondCopy)) {}
    }

    /// Returns a copy of this process's socket that listens on a port, such as a forked process holds until it runs its program.
    private func copyOfListeningSocket(on port: UInt16) -> Socket? {
        for descriptor in 0..<getdtablesize() {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isNamed = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
            }
            guard isNamed, address.sin_port == port.bigEndian else { continue }
            var isListening: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
            if isListening != 0 { return Socket(owning: dup(descriptor)) }
        }
        return nil
    }
    #endif

    /// Returns whether a client finds its connection closed, with an end or a reset, and without an answer before.
    private func hasEnded(_ client: RawClient) -> Bool {
        do throws(Socket.Closed) {
            return try client.connection.read(upTo: 1).isEmpty
        } catch {
            return !error.isTimeout
        }
    }

    @Test("It's released if it has no ports, or was stopped before it had one", arguments: [true, false])
    func released(isStopped: Bool) throws {
        weak var released: Listener?
        do {
            let listener = try Listener { _ in }
            released = listener
            if isStopped { listener.stop() }
        }
        #expect(released == nil)
    }

    @Test("A client can read the refusal of a body that it's still sending")
    func refusedBody() throws {
        let listener = try EchoListener().listener
        defer { listener.stop() }
        let client = try RawClient(listener.listen(on: 0))
        try client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\n")
        try client.connection.write(Data(count: 8 << 20))
        #expect(try client.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }

    @Test("It answers many clients that announce 60 MB each without letting them send it")
    func refusedBodies() throws {
        let listener = try EchoListener().listener
        defer { listener.stop() }
        let port = try listener.listen(on: 0)
        let clients = try (0..<24).map { _ in try RawClient(port) }
        for client in clients {
            try client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 62914560\r\nExpect: 100-continue\r\n\r\n")
        }
        for client in clients { #expect(try client.readToEnd().hasPrefix("HTTP/1.1 413 ")) }
    }

    @Test(
        "An error that keeps it from listening ends in its own fix",
        arguments: [
            (EMFILE, "raise the limit for open files."), (ENFILE, "raise the limit for open files."),
            (EPERM, "com.apple.security.network.server."), (EADDRNOTAVAIL, "127.0.0.1."),
        ]
    )
    func fix(code: Int32, end: String) {
        #expect(StartError(call: "bind", code: code).fix.hasSuffix(end))
    }
}
