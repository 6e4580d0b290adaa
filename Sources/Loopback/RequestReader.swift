import Foundation

/// Reads one request after another from a connection.
package struct RequestReader {
    /// How long a client may take, and how much it may send. If seconds are `nil`, there is no limit.
    package struct Limits: Sendable {
        /// The most bytes in a request line and its fields together. Each chunk's lines have the same limit, which includes the
        /// trailer fields after the last chunk.
        package var headBytes = 64 << 10

        /// How long the connection may wait for a request.
        package var idleSeconds: Double?

        /// How long a head may take from its first byte to its last.
        package var headSeconds: Double?

        /// How long each part of a body may take to arrive.
        package var bodySeconds: Double?

        package init(idleSeconds: Double? = nil, headSeconds: Double? = nil, bodySeconds: Double? = nil) {
            self.idleSeconds = idleSeconds
            self.headSeconds = headSeconds
            self.bodySeconds = bodySeconds
        }
    }

    private let limits: Limits
    private var input: SocketInput

    package init(_ socket: Socket, limits: Limits = Limits()) {
        self.limits = limits
        input = SocketInput(socket: socket)
    }

    /// Waits for the next request and reads its head, but not its body.
    ///
    /// - Throws: ``HTTPRequest/Refusal`` if the client should get an answer before the connection is closed: 400, 431, or 408 if
    ///   the head doesn't arrive in time. ``Socket/Closed`` if the client has left or hasn't begun a request in time.
    package mutating func nextHead() throws -> HTTPRequest {
        if !input.hasBytes { try input.fill(within: limits.idleSeconds) }
        let deadline = limits.headSeconds.map { Socket.now + $0 }
        var budget = limits.headBytes
        var lines: [[UInt8]] = []
        while true {
            let line = try input.line(within: &budget) { deadline.map { $0 - Socket.now } }
            if !line.isEmpty {
                lines.append(line)
            } else if !lines.isEmpty {
                return try HTTPRequest(head: lines)
            }
            // RFC 9112 section 2.2: empty lines before a request line are skipped.
        }
    }

    /// Reads the body of the request whose head was read last.
    ///
    /// If the client sent `Expect: 100-continue`, it gets `100 Continue` first.
    ///
    /// - Parameter limit: The most bytes in a body. If the head or a chunk announces more, they aren't read.
    /// - Throws: ``HTTPRequest/Refusal``: 413 if the body is longer than the limit, 408 if its next part doesn't arrive in time,
    ///   400 if it's malformed, or 501 for a transfer coding other than `chunked`. ``Socket/Closed`` if the client has left.
    package mutating func readBody(of request: inout HTTPRequest, limit: Int) throws {
        let framing = try request.framing()
        if case .length(let length) = framing, length > limit { throw HTTPRequest.Refusal.bodyTooLarge }
        if request.awaitsContinue, framing != .length(0) {
            try input.socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        switch framing {
        case .length(let length): try input.take(length, into: &request.body, within: limits.bodySeconds)
        case .chunked: try takeChunks(into: &request.body, limit: limit)
        }
    }

    /// Reads chunks and trailer fields (RFC 9112 section 7.1). The trailer fields are dropped.
    private mutating func takeChunks(into body: inout Data, limit: Int) throws {
        while true {
            var budget = limits.headBytes
            let size = try bodyLine(within: &budget).prefix { $0 != UInt8(ascii: ";") }
            let digits = size.prefix { "0123456789abcdefABCDEF".utf8.contains($0) }
            // Only blanks may follow the digits.
            guard size[digits.endIndex...].allSatisfy(FieldSyntax.isBlank),
                let length = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw HTTPRequest.Refusal.malformed }
            guard length <= limit - body.count else { throw HTTPRequest.Refusal.bodyTooLarge }
            if length == 0 {
                while try !bodyLine(within: &budget).isEmpty {}
                return
            }
            try input.take(length, into: &body, within: limits.bodySeconds)
            guard try bodyLine(within: &budget).isEmpty else { throw HTTPRequest.Refusal.malformed }
        }
    }

    private mutating func bodyLine(within budget: inout Int) throws -> [UInt8] {
        try input.line(within: &budget) { [limits] in limits.bodySeconds }
    }
}
