import Foundation
import HTTPSyntax

/// A reader of the requests on a connection, one after another.
package struct RequestReader {
    /// The longest times that a client may take, in seconds. `nil`, the default, means no limit.
    package struct Limits: Sendable {
        /// How long the first byte of a request may take to arrive.
        package var idleSeconds: Double?

        /// How long a head may take to arrive, from its first byte to its last.
        package var headSeconds: Double?

        /// How long the next bytes of a body may take to arrive.
        package var bodySeconds: Double?

        package init(idleSeconds: Double? = nil, headSeconds: Double? = nil, bodySeconds: Double? = nil) {
            self.idleSeconds = idleSeconds
            self.headSeconds = headSeconds
            self.bodySeconds = bodySeconds
        }
    }

    private let socket: Socket
    private let limits: Limits
    /// The bytes that have arrived. The reader has already used the bytes before `position`.
    private var buffer: [UInt8] = []
    private var position = 0

    /// The largest size of a request's head, in bytes. In a chunked body, the line before a chunk and the line after it
    /// have this limit together. So do the line that ends the chunks and the trailer fields after it.
    private static let headBytes = 64 << 10

    /// The largest number of bytes to read at once while reading lines. Most heads fit, and a waiting connection needs
    /// little memory.
    private static let lineReadSize = 8 << 10

    package init(_ socket: Socket, limits: Limits = Limits()) {
        self.socket = socket
        self.limits = limits
    }

    /// Waits for the next request and reads its head, but not its body.
    ///
    /// - Throws: ``HTTPRequest/Refusal`` if the client should get a response before the connection is closed: status
    ///   400 for a malformed head, 431 for one that is too long, and 408 if the head doesn't arrive in time.
    ///   ``Socket/Closed`` if the client has left, or hasn't begun a request in time.
    package mutating func nextHead() throws -> HTTPRequest {
        if position == buffer.count { try fill(within: limits.idleSeconds) }
        let deadline = limits.headSeconds.map { Socket.now + $0 }
        var budget = Self.headBytes
        var lines: [[UInt8]] = []
        do {
            while true {
                let line = try line(within: &budget) { deadline.map { $0 - Socket.now } }
                if !line.isEmpty {
                    lines.append(line)
                } else if !lines.isEmpty {
                    return try HTTPRequest(head: lines)
                }
                // RFC 9112 section 2.2: empty lines before a request line are skipped.
            }
        } catch let error as Socket.Closed where error.isTimeout {
            throw HTTPRequest.Refusal.timeout
        }
    }

    /// Reads the body of the request whose head was read last.
    ///
    /// If the client sent `Expect: 100-continue` and a body follows, the reader sends `100 Continue` first.
    ///
    /// - Parameter limit: The largest size of a body, in bytes. A body or chunk that would exceed the limit isn't read.
    /// - Throws: ``HTTPRequest/Refusal``: 413 if the body is longer than the limit, 408 if its next bytes don't arrive
    ///   in time, 431 if the lines around a chunk are too long, 400 if the body is malformed, or 501 for a transfer
    ///   coding other than `chunked`. ``Socket/Closed`` if the client has left.
    package mutating func readBody(of request: inout HTTPRequest, limit: Int) throws {
        let length = try request.bodyLength()
        if let length, length > limit { throw HTTPRequest.Refusal.bodyTooLarge }
        if request.awaitsContinue, length != 0 {
            try socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        do {
            if let length {
                try take(length, into: &request.body)
            } else {
                try takeChunks(into: &request.body, limit: limit)
            }
        } catch let error as Socket.Closed where error.isTimeout {
            throw HTTPRequest.Refusal.timeout
        }
    }

    /// Appends the chunks to a body, and drops the trailer fields after them (RFC 9112 section 7.1).
    private mutating func takeChunks(into body: inout Data, limit: Int) throws {
        while true {
            var budget = Self.headBytes
            let size = try bodyLine(within: &budget).prefix { $0 != UInt8(ascii: ";") }
            let digits = size.prefix { "0123456789abcdefABCDEF".utf8.contains($0) }
            // Only blanks may follow the digits, up to the line's end or the semicolon of an extension.
            guard size[digits.endIndex...].allSatisfy(\.isBlank),
                let length = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw HTTPRequest.Refusal.malformed }
            guard length <= limit - body.count else { throw HTTPRequest.Refusal.bodyTooLarge }
            if length == 0 {
                while try !bodyLine(within: &budget).isEmpty {}
                return
            }
            try take(length, into: &body)
            guard try bodyLine(within: &budget).isEmpty else { throw HTTPRequest.Refusal.malformed }
        }
    }

    /// Throws status 400 if the line has a control character, such as a CR that doesn't end it (RFC 9112 section 2.2).
    private mutating func bodyLine(within budget: inout Int) throws -> [UInt8] {
        let line = try line(within: &budget) { [limits] in limits.bodySeconds }
        guard HTTPSyntax.isFieldValue(line) else { throw HTTPRequest.Refusal.malformed }
        return line
    }

    // MARK: Bytes

    /// The next line without its CRLF. A lone LF ends a line too, as RFC 9112 section 2.2 allows.
    ///
    /// - Parameters:
    ///   - budget: How many bytes this line and the following ones may have together; if this line has more, throws
    ///     status 431. The length of this line, with its line end, is subtracted.
    ///   - seconds: Called before each read. Returns how long the read may wait; `nil` for no limit.
    private mutating func line(within budget: inout Int, seconds: () -> Double?) throws -> [UInt8] {
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
            try fill(within: seconds())
        }
    }

    private mutating func take(_ count: Int, into body: inout Data) throws(Socket.Closed) {
        let received = buffer[position...].prefix(count)
        body.append(contentsOf: received)
        position += received.count
        var missing = count - received.count
        while missing > 0 {
            let bytes = try read(upTo: min(missing, Socket.pieceSize), within: limits.bodySeconds)
            body.append(contentsOf: bytes)
            missing -= bytes.count
        }
    }

    /// Drops the bytes that were already used, then waits for more bytes and adds them to the buffer.
    private mutating func fill(within seconds: Double?) throws(Socket.Closed) {
        buffer.removeFirst(position)
        position = 0
        buffer += try read(upTo: Self.lineReadSize, within: seconds)
    }

    private mutating func read(upTo count: Int, within seconds: Double?) throws(Socket.Closed) -> [UInt8] {
        if let seconds, seconds <= 0 { throw Socket.Closed(written: 0, isTimeout: true) }
        socket.setReadLimit(seconds: seconds)
        let bytes = try socket.read(upTo: count)
        guard !bytes.isEmpty else { throw Socket.Closed(written: 0) }
        return bytes
    }
}
