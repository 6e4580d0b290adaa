import Foundation

/// Reads one request after another from a connection.
struct RequestReader {
    /// The bytes of a request line and its fields together; more gets 431.
    static let headLimit = 64 << 10

    /// The bytes of a body; more gets 413.
    static let bodyLimit = 64 << 20

    private let socket: Socket
    private var buffer: [UInt8] = []
    private var position = 0

    init(_ socket: Socket) {
        self.socket = socket
    }

    /// Waits for the next request and reads it to its end.
    ///
    /// - Throws: `Refusal` when the client deserves an answer before the connection is closed, `Socket.Closed` when it
    ///   has left, between two requests or within one.
    mutating func next() throws -> LoopbackServer.Request {
        var request = try LoopbackServer.Request(head: headLines())
        let framing = try request.framing()
        if case .length(let length) = framing, length > Self.bodyLimit {
            throw LoopbackServer.Request.Refusal(status: 413)
        }
        if request.awaitsContinue, framing != .length(0) {
            try socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        switch framing {
        case .length(let length): try take(length, into: &request.body)
        case .chunked: try takeChunks(into: &request.body)
        }
        return request
    }

    /// The lines up to the empty one that ends a head or a trailer section.
    private mutating func headLines() throws -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var budget = Self.headLimit
        while true {
            let line = try line(within: &budget)
            if !line.isEmpty {
                lines.append(line)
            } else if !lines.isEmpty {
                return lines
            }
            // RFC 9112 section 2.2: empty lines before a request line are skipped.
        }
    }

    /// Chunks and trailer fields, which are read and forgotten (RFC 9112 section 7.1).
    private mutating func takeChunks(into body: inout Data) throws {
        while true {
            var budget = Self.headLimit
            let size = try line(within: &budget).prefix { $0 != UInt8(ascii: ";") }
            let digits = String(decoding: size, as: UTF8.self).trimmingCharacters(in: .whitespaces)
            guard digits.allSatisfy(\.isHexDigit), let length = Int(digits, radix: 16) else {
                throw LoopbackServer.Request.Refusal.malformed
            }
            guard length <= Self.bodyLimit - body.count else {
                throw LoopbackServer.Request.Refusal(status: 413)
            }
            if length == 0 {
                while try !line(within: &budget).isEmpty {}
                return
            }
            try take(length, into: &body)
            guard try line(within: &budget).isEmpty else { throw LoopbackServer.Request.Refusal.malformed }
        }
    }

    private mutating func take(_ count: Int, into body: inout Data) throws {
        var missing = count
        while missing > 0 {
            if position == buffer.count { try fill() }
            let part = buffer[position...].prefix(missing)
            body.append(contentsOf: part)
            position += part.count
            missing -= part.count
        }
    }

    /// The next line without its CRLF, or its LF alone, which RFC 9112 section 2.2 lets a recipient accept.
    private mutating func line(within budget: inout Int) throws -> [UInt8] {
        var searched = 0
        while true {
            if let end = buffer[(position + searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[position..<end]
                budget -= line.count + 1
                guard budget >= 0 else { throw LoopbackServer.Request.Refusal(status: 431) }
                position = end + 1
                return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
            }
            searched = buffer.count - position
            guard searched <= budget else { throw LoopbackServer.Request.Refusal(status: 431) }
            try fill()
        }
    }

    /// Replaces the bytes that were consumed by new ones.
    private mutating func fill() throws(Socket.Closed) {
        buffer.removeFirst(position)
        position = 0
        let bytes = try socket.read(upTo: 64 << 10)
        guard !bytes.isEmpty else { throw Socket.Closed(written: 0) }
        buffer += bytes
    }
}
