#if os(Linux)
import Foundation
import Glibc
import Loopback
import TestSupport
import Testing

/// Each test runs in a separate process, since it changes the process as a whole.
@Suite("Few descriptors or many connections", .timeLimit(.minutes(5)))
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
