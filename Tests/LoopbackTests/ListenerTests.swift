import Foundation
import Guarded
import Loopback
import TestSupport
import Testing

@Suite("A listener", .timeLimit(.minutes(5)))
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
}
