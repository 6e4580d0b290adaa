import Foundation

/// One client's connection, from its first request to its close, on a thread of its own.
struct Connection: Sendable {
    let socket: Socket
    let server: Server

    /// The bytes of a body that are sent at once.
    private static let pieceSize = 64 << 10

    /// Answers requests until one side has had enough.
    func serve() {
        var reader = RequestReader(socket)
        do {
            var keepsAlive = true
            while keepsAlive {
                let request = try reader.next()
                keepsAlive = try send(server.answer(request), to: request)
            }
        } catch let refusal as LoopbackServer.Request.Refusal {
            try? socket.write(LoopbackServer.Answer.status(refusal.status).head(chunked: false, closing: true))
        } catch {
            // The client has left or the server was stopped: there is nobody to tell.
        }
        socket.finish()
    }

    /// Sends an answer as well as its fault allows; returns whether another request may follow.
    private func send(_ answer: LoopbackServer.Answer, to request: LoopbackServer.Request) throws -> Bool {
        guard !server.stopSignal.isRaised(within: answer.delay), answer.fault != .dropBeforeHead else { return false }
        let keepsAlive = !request.closesConnection && !answer.endsConnection(for: request)
        let chunked = answer.isChunked(for: request)
        let head = answer.head(chunked: chunked, closing: !keepsAlive)
        let hasBody = answer.allowsBody && request.method != "HEAD"
        let body = hasBody ? answer.body : Data()
        if answer.fault == nil, !chunked, body.count <= Self.pieceSize {
            // In one piece, which takes the system half the time.
            try sendCounted(body, after: head)
            return keepsAlive
        }
        try socket.write(head)
        switch answer.fault {
        case .dropBeforeHead:
            return false
        case .dropAfter(let count):
            try send(body.prefix(max(0, count)), chunked: chunked)
            return false
        case .stallAfter(let count):
            try send(body.prefix(max(0, count)), chunked: chunked)
            socket.waitForEnd()
            return false
        case nil:
            try send(body, chunked: chunked)
            if chunked, hasBody { try socket.write(Data("0\r\n\r\n".utf8)) }
            return keepsAlive
        }
    }

    /// Sends a body by pieces, so that the count of bytes keeps up with a slow client.
    private func send(_ body: Data, chunked: Bool) throws {
        var rest = body
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            if chunked { try socket.write(Data("\(String(piece.count, radix: 16))\r\n".utf8)) }
            try sendCounted(piece)
            if chunked { try socket.write(Data("\r\n".utf8)) }
        }
    }

    /// Counts before it sends: a client that has a byte must find it counted.
    private func sendCounted(_ piece: Data, after head: Data = Data()) throws {
        server.count(bytes: piece.count)
        do {
            try socket.write(head.isEmpty ? piece : head + piece)
        } catch {
            server.count(bytes: max(0, error.written - head.count) - piece.count)
            throw error
        }
    }
}
