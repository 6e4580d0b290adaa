#if os(Linux)
import Foundation
import Glibc
import Loopback
import TestSupport
import Testing

/// Each test runs in a separate process, since it changes the process as a whole.
@Suite("Few descriptors or many connections", .sessions, .timeLimit(.minutes(5)))
struct DescriptorTests {
    @Test("A listener serves any number of clients by hanging up those that have waited longest")
    func fewDescriptors() async {
        await #expect(processExitsWith: .success) {
            let few = try FewDescriptors(count: 48, clients: 200)
            let port = try EchoListener().listener.listen(on: 0)
            let clients = try few.clients.map { socket in
                let client = try RawClient(socket, to: port)
                #expect(try client.load("/a") == "\(port) /a")
                return client
            }
            // Answers need these for files and connections to the network.
            #expect(few.free() >= 4)
            #expect(try clients[199].load("/b") == "\(port) /b")
            #expect(throws: (any Error).self) { try clients[0].load("/b") }
        }
    }

    @Test("A listener continues after running out of descriptors")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            let few = try FewDescriptors(count: 32, clients: 50)
            let port = try EchoListener().listener.listen(on: 0)
            few.use(allBut: 2)
            for socket in few.clients {
                #expect(try RawClient(socket, to: port).load("/a") == "\(port) /a")
            }
        }
    }

    @Test("A listener doesn't hang up a connection whose request it's answering")
    func busy() async {
        await #expect(processExitsWith: .success) {
            let gate = DispatchSemaphore(value: 0)
            let few = try FewDescriptors(count: 32, clients: 100)
            let port = try EchoListener { request, _ in
                if request.path == "/slow" { gate.wait() }
            }.listener.listen(on: 0)
            let slow = try few.clients[0..<5].map { try RawClient($0, to: port) }
            for client in slow { try client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n") }
            for socket in few.clients[5...] {
                #expect(try RawClient(socket, to: port).load("/a") == "\(port) /a")
            }
            for _ in slow { gate.signal() }
            for client in slow { #expect(try client.read(through: "/slow\n").hasPrefix("HTTP/1.1 200 ")) }
        }
    }

    @Test("Connections that can't get a thread are closed, and later ones are served")
    func noThreads() async {
        await #expect(processExitsWith: .success) {
            let threads = try ThreadLimit()
            let listener = try EchoListener().listener
            threads.isReached = true
            #expect(throws: StartError(call: "pthread_create", code: EAGAIN)) { try listener.listen(on: 0) }
            threads.isReached = false
            let port = try listener.listen(on: 0)
            #expect(try RawClient(port).load("/a") == "\(port) /a")
            let before = FewDescriptors.openCount
            threads.isReached = true
            for _ in 0..<100 {
                let client = try RawClient(port)
                // Closed with an end or a reset, but not given up after a time limit.
                do throws(Socket.Closed) {
                    #expect(try client.connection.read(upTo: 1).isEmpty)
                } catch {
                    #expect(!error.isTimeout)
                }
            }
            #expect(FewDescriptors.openCount <= before)
            threads.isReached = false
            #expect(try RawClient(port).load("/b") == "\(port) /b")
            listener.stop()
        }
    }

    @Test("A connection that can't get a thread waits for those that are being served, and gets those of idle ones")
    func fewThreads() async {
        await #expect(processExitsWith: .success) {
            let threads = try ThreadLimit()
            let gate = DispatchSemaphore(value: 0)
            let arrived = DispatchSemaphore(value: 0)
            let port = try EchoListener { request, _ in
                guard request.path == "/slow" else { return }
                arrived.signal()
                gate.wait()
            }.listener.listen(on: 0)
            let (slow, idle) = (try RawClient(port), try RawClient(port))
            #expect(try idle.load("/a") == "\(port) /a")
            try slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            arrived.wait()
            threads.isReached = true
            let waiting = try RawClient(port)
            try waiting.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
            // Hung up for the sake of the one that waits, which shows that a thread was needed.
            #expect(try idle.readToEnd().isEmpty)
            threads.isReached = false
            #expect(try waiting.read(through: "/b\n").hasPrefix("HTTP/1.1 200 "))
            gate.signal()
            #expect(try slow.read(through: "/slow\n").hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("1,000 waiting connections take at most 64 MiB")
    func idleConnections() async {
        await #expect(processExitsWith: .success) {
            // The process may have inherited thousands of descriptors from the tests that run beside this one.
            FewDescriptors.setLimit(.max)
            let port = try EchoListener().listener.listen(on: 0)
            #expect(try RawClient(port).load("/first") == "\(port) /first")
            let before = try ProcessMemory.bytes("VmRSS")
            let clients = try (0..<1_000).map { _ in
                let client = try RawClient(port)
                #expect(try client.load("/a") == "\(port) /a")
                return client
            }
            let bytes = try ProcessMemory.bytes("VmRSS") - before
            #expect(bytes < 64 << 20, "\(bytes / 1_000) bytes for each")
            for client in clients { #expect(try client.load("/b") == "\(port) /b") }
        }
    }
}
#endif
