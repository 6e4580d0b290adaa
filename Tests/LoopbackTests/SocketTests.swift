import Foundation
import Loopback
import TestSupport
import Testing

@Suite("A socket", .timeLimit(.minutes(5)))
struct SocketTests {
    private let one: Socket
    private let other: Socket
    private let folder: TemporaryFolder

    init() throws {
        (one, other) = try Socket.pair()
        folder = try TemporaryFolder()
    }

    /// A file whose bytes differ.
    private func file(_ count: Int) throws -> (handle: FileHandle, bytes: Data) {
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        return (try FileHandle(forReadingFrom: folder.write("file", bytes)), bytes)
    }

    /// Everything that the other end gets until this one hangs up, read while it is sent.
    private func receiving(_ send: () throws -> Void) throws -> Data {
        let all = DispatchQueue(label: "reader")
        nonisolated(unsafe) var received = Data()
        all.async { [other] in
            while let part = try? other.read(upTo: 64 << 10), !part.isEmpty { received += part }
        }
        try send()
        one.hangUp()
        return all.sync { received }
    }

    @Test(
        "sends part of a file after a head",
        arguments: [(0, 0), (0, 1), (7, 65_536), (1, 65_537), (0, 300_000), (299_999, 1), (100_000, 150_000)]
    )
    func part(offset: Int, count: Int) throws {
        let (handle, bytes) = try file(300_000)
        let head = Data("head".utf8)
        let received = try receiving {
            try one.write(file: handle.fileDescriptor, offset: offset, count: count, after: head)
        }
        #expect(received == head + bytes[offset..<offset + count])
        #expect(try handle.offset() == 0)
    }

    @Test("fails where the file ends too early, or can't be read", arguments: [true, false])
    func short(isOpen: Bool) throws {
        let (handle, bytes) = try file(100_000)
        let descriptor = isOpen ? handle.fileDescriptor : -1
        let received = try receiving {
            let error = #expect(throws: Socket.Closed.self) {
                try one.write(file: descriptor, offset: 0, count: 100_001, after: Data("head".utf8))
            }
            #expect(error?.isTimeout == false)
        }
        #expect((Data("head".utf8) + bytes).starts(with: received))
    }

    @Test("gives up on a client that reads nothing", arguments: [true, false])
    func writeLimit(isFile: Bool) throws {
        let (handle, bytes) = try file(8 << 20)
        one.setWriteLimit(seconds: 0.02)
        let done = try StopSignal()
        defer { done.raise() }
        Thread.detachNewThread { [other] in
            if !done.isRaised(within: 10) { other.hangUp() }
        }
        let error = #expect(throws: Socket.Closed.self) {
            if isFile {
                try one.write(file: handle.fileDescriptor, offset: 0, count: bytes.count)
            } else {
                try one.write(bytes)
            }
        }
        #expect(error?.isTimeout == true)
        #expect(error.map { (1..<bytes.count).contains($0.written) } == true)
    }

    @Test("gives up on a client that sends nothing, unless the limit was removed")
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

    @Test("says which of many can be read, and waits no longer than it is told to")
    func readable() throws {
        let pairs = try (0..<5).map { _ in try Socket.pair() }
        for index in [1, 3] { try pairs[index].0.write(Data("x".utf8)) }
        #expect(Socket.readable(of: pairs.map(\.1), within: nil) == [1, 3])
        #expect(Socket.readable(of: [pairs[0].1], within: 0.01).isEmpty)
    }
}
