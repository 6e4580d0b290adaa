import Foundation
import Loopback
import TestSupport
import Testing

@Suite("A socket", .sessions, .timeLimit(.minutes(5)))
struct SocketTests {
    private let one: Socket
    private let other: Socket

    init() throws {
        (one, other) = try Socket.pair()
    }

    @Test("A write fails after the limit if the client reads nothing")
    func writeLimit() throws {
        let bytes = Data(count: 8 << 20)
        one.setWriteLimit(seconds: 0.02)
        let done = try Listener.StopSignal()
        defer { done.raise() }
        Thread.detachNewThread { [other] in
            if !done.isRaised(within: 10) { other.hangUp() }
        }
        let error = #expect(throws: Socket.Closed.self) { try one.write(bytes) }
        #expect(error?.isTimeout == true)
        #expect(error.map { (1..<bytes.count).contains($0.written) } == true)
    }

    @Test("A read fails after the limit if the client sends nothing, unless the limit was removed")
    func readLimit() throws {
        one.setReadLimit(seconds: 0.02)
        #expect(throws: Socket.Closed.self) { try one.read(upTo: 1) }
        one.setReadLimit(seconds: nil)
        Thread.detachNewThread { [other] in
            _ = Socket.readable(of: [other], within: 0.1)
            other.hangUp()
        }
        #expect(try one.read(upTo: 1).isEmpty)
    }

    @Test("The readable sockets among many are found, with no wait longer than the timeout")
    func readable() throws {
        let pairs = try (0..<5).map { _ in try Socket.pair() }
        for index in [1, 3] { try pairs[index].0.write(Data("x".utf8)) }
        #expect(Socket.readable(of: pairs.map(\.1), within: nil) == [1, 3])
        withExtendedLifetime(pairs) { #expect(Socket.readable(of: [pairs[0].1], within: 0.01).isEmpty) }
    }

    @Test("A port that's only bound is taken, and refuses connections")
    func bound() throws {
        let bound = try Socket.bound(to: 0)
        let port = try bound.localPort()
        #expect(throws: StartError(call: "connect", code: ECONNREFUSED)) { try RawClient(port) }
        withExtendedLifetime(bound) {}
        let listener = try Listener { _ in }
        defer { listener.stop() }
        let taken = try listener.listen(on: 0)
        #expect(throws: StartError(call: "bind", code: EADDRINUSE)) { try Socket.bound(to: taken) }
    }

    @Test("A wait for bytes that don't arrive isn't shorter than its timeout, and not 10 ms longer")
    func timeout() {
        let waits = (0..<20).map { _ in
            let began = Socket.now
            #expect(Socket.readable(of: [other], within: 0.002).isEmpty)
            return Socket.now - began
        }
        #expect(waits.allSatisfy { $0 >= 0.002 })
        // Only the shortest wait counts, since the machine may be busy.
        #expect(waits.contains { $0 < 0.01 }, "\(waits)")
    }
}
