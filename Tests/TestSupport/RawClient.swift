import Foundation
package import Loopback

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A client that sends and receives raw bytes, exactly as a test writes them.
package struct RawClient: Sendable {
    package let connection: Socket

    /// Connects to a port of 127.0.0.1.
    package init(_ port: UInt16) throws {
        try self.init(Self.unconnected(), to: port)
    }

    /// Connects a socket that was made before.
    package init(_ socket: Socket, to port: UInt16) throws {
        connection = socket
        // Long enough for a busy machine. A test that would wait forever fails.
        connection.setReadLimit(seconds: 120)
        var address = Socket.loopbackAddress(port: port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw StartError.current("connect") }
    }

    package static func unconnected() throws -> Socket {
        let descriptor = socket(AF_INET, Socket.streamType, 0)
        guard descriptor >= 0 else { throw StartError.current("socket") }
        return Socket(owning: descriptor)
    }

    package func send(_ text: String) throws {
        try connection.write(Data(text.utf8))
    }

    /// Sends no more, as `nc -N` does after a request. The answer can still arrive.
    package func endSending() {
        _ = shutdown(connection.descriptor, Int32(SHUT_WR))
    }

    /// Makes the connection end with a reset when it's closed.
    package func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout.size(ofValue: linger))
        _ = setsockopt(connection.descriptor, SOL_SOCKET, SO_LINGER, &linger, size)
    }

    /// Reads everything until the connection closes.
    package func readToEnd() throws -> String {
        var bytes: [UInt8] = []
        while case let part = try connection.read(upTo: 64 << 10), !part.isEmpty {
            bytes += part
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads everything up to and including a text, and no byte more.
    package func read(through end: String) throws -> String {
        var bytes: [UInt8] = []
        while !bytes.reversed().starts(with: end.utf8.reversed()) {
            let byte = try connection.read(upTo: 1)
            guard !byte.isEmpty else { throw Socket.Closed(written: 0) }
            bytes += byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sends a text and reads the answer until the connection closes.
    package static func exchange(_ text: String, with port: UInt16) throws -> String {
        let client = try RawClient(port)
        try client.send(text)
        return try client.readToEnd()
    }
}
