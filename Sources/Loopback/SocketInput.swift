import Foundation

/// Reads lines and bytes from a connection, and holds what has arrived but isn't used yet.
struct SocketInput {
    let socket: Socket

    /// The most bytes that one read of lines takes. Most heads fit, and a waiting connection holds no more.
    private static let lineReadSize = 8 << 10

    private var buffer: [UInt8] = []
    private var position = 0
    private var readLimit: Double?

    init(socket: Socket) {
        self.socket = socket
    }

    /// Whether bytes have arrived that aren't used yet.
    var hasBytes: Bool { position < buffer.count }

    /// Returns the next line without its CRLF. A lone LF ends a line too, as RFC 9112 section 2.2 allows.
    ///
    /// - Parameters:
    ///   - budget: The most bytes in the line. Its length is subtracted.
    ///   - seconds: Returns how long the next read may wait. Called before each read.
    mutating func line(within budget: inout Int, seconds: () -> Double?) throws -> [UInt8] {
        var searched = 0
        while true {
            if let end = buffer[(position + searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[position..<end]
                budget -= line.count + 1
                guard budget >= 0 else { throw HTTPRequest.Refusal.headTooLarge }
                position = end + 1
                return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
            }
            searched = buffer.count - position
            guard searched <= budget else { throw HTTPRequest.Refusal.headTooLarge }
            try Self.refusingTimeout { () throws(Socket.Closed) in try fill(within: seconds()) }
        }
    }

    /// Appends the next bytes to a body.
    mutating func take(_ count: Int, into body: inout Data, within seconds: Double?) throws {
        let received = buffer[position...].prefix(count)
        body.append(contentsOf: received)
        position += received.count
        var missing = count - received.count
        while missing > 0 {
            let bytes = try Self.refusingTimeout { () throws(Socket.Closed) in
                try read(upTo: min(missing, Socket.pieceSize), within: seconds)
            }
            body.append(contentsOf: bytes)
            missing -= bytes.count
        }
    }

    /// Reads the next bytes, and drops those already used.
    mutating func fill(within seconds: Double?) throws(Socket.Closed) {
        buffer.removeFirst(position)
        position = 0
        buffer += try read(upTo: Self.lineReadSize, within: seconds)
    }

    private mutating func read(upTo count: Int, within seconds: Double?) throws(Socket.Closed) -> [UInt8] {
        if let seconds, seconds <= 0 { throw Socket.Closed(written: 0, isTimeout: true) }
        if seconds != readLimit {
            socket.setReadLimit(seconds: seconds)
            readLimit = seconds
        }
        let bytes = try socket.read(upTo: count)
        guard !bytes.isEmpty else { throw Socket.Closed(written: 0) }
        return bytes
    }

    /// Turns a timeout into a refusal, since the client began a request but didn't finish it in time.
    private static func refusingTimeout<Value>(_ read: () throws(Socket.Closed) -> Value) throws -> Value {
        do {
            return try read()
        } catch {
            guard error.isTimeout else { throw error }
            throw HTTPRequest.Refusal.timeout
        }
    }
}
