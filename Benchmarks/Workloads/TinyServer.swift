import Foundation
import Synchronization

/// An HTTP server on loopback that sends the same response to every request, until the process ends. It's only a yardstick.
public final class TinyServer: Sendable {
    /// The port of 127.0.0.1 that it listens on.
    public let port: UInt16

    /// - Parameter numbersAnswers: Whether the body begins with the response's number, so that no two bodies are the same.
    /// - Throws: If it can't listen.
    public init(body: [UInt8], numbersAnswers: Bool = false) throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: \(body.count)\r\n\r\n"
        let answer = Array(head.utf8) + body
        let bodyStart = numbersAnswers ? head.utf8.count : nil
        let listener = socket(AF_INET, Self.stream, 0)
        var address = Self.loopback
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw CocoaError(.fileReadUnknown) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { Self.serve(connection, answer, bodyStart) }
            }
        }
    }

    /// Answers the requests of one connection. They have no body and arrive one at a time, and each fits into one read.
    private static func serve(_ connection: Int32, _ answer: [UInt8], _ bodyStart: Int?) {
        var on: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var request = [UInt8](repeating: 0, count: 16 << 10)
        var answer = answer
        while read(connection, &request, request.count) > 0 {
            if let bodyStart {
                withUnsafeBytes(of: answers.wrappingAdd(1, ordering: .relaxed).newValue) {
                    answer.replaceSubrange(bodyStart..<bodyStart + $0.count, with: $0)
                }
            }
            var sent = 0
            while sent < answer.count {
                let count = answer[sent...].withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
                guard count > 0 else { break }
                sent += count
            }
        }
        close(connection)
    }

    private static let answers = Atomic(0)

    private static var loopback: sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Connects to a port of 127.0.0.1. The caller closes the connection.
    static func connection(to port: UInt16) throws -> Int32 {
        var address = loopback
        address.sin_port = port.bigEndian
        let connection = socket(AF_INET, stream, 0)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(connection)
            throw CocoaError(.fileReadUnknown)
        }
        return connection
    }

    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
    private static let stream = SOCK_STREAM
    #endif
}
