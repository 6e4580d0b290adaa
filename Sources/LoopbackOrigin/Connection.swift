import Foundation
import Loopback

/// One client's connection, from its first request to its close, on its own thread.
struct Connection: Sendable {
    let accepted: AcceptedConnection
    let server: Server

    /// The most bytes in a request's body. A longer one gets 413.
    private static let bodyLimit = 64 << 20

    private var socket: Socket { accepted.socket }

    /// Answers requests until one side ends the connection.
    func serve() {
        var reader = RequestReader(socket)
        do {
            var keepsAlive = true
            while keepsAlive {
                accepted.idle()
                var request = try reader.nextHead()
                accepted.busy()
                try reader.readBody(of: &request, limit: Self.bodyLimit)
                keepsAlive = try send(server.answer(request), to: request)
            }
        } catch let refusal as LoopbackServer.Request.Refusal {
            try? socket.write(LoopbackServer.Answer.status(refusal.status).head(chunked: false, closing: true).encoded)
        } catch {
            // The client has left or the server was stopped, so no answer can be sent.
        }
    }

    /// Sends an answer, as far as its fault allows. Returns whether another request may follow.
    private func send(_ answer: LoopbackServer.Answer, to request: LoopbackServer.Request) throws -> Bool {
        guard !accepted.stopSignal.isRaised(within: answer.delay), answer.fault != .dropBeforeHead else { return false }
        let keepsAlive = !request.closesConnection && !answer.endsConnection(for: request)
        let chunked = answer.isChunked(for: request)
        let head = answer.head(chunked: chunked, closing: !keepsAlive)
        let hasBody = head.allowsBody && request.method != "HEAD"
        let body = hasBody ? answer.body : Data()
        if answer.fault == nil, !chunked, body.count <= Socket.pieceSize {
            // In one write, which takes the system half the time.
            try sendCounted(body, after: head.encoded)
            return keepsAlive
        }
        try socket.write(head.encoded)
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
            if chunked, hasBody { try ChunkedWriter(socket).end() }
            return keepsAlive
        }
    }

    /// Sends a body in pieces, so that the count of bytes keeps up with a slow client.
    private func send(_ body: Data, chunked: Bool) throws {
        var rest = body
        while !rest.isEmpty {
            let piece = rest.prefix(Socket.pieceSize)
            rest = rest.dropFirst(piece.count)
            try sendCounted(piece, chunked: chunked)
        }
    }

    /// Counts bytes and then sends them. The count must include every byte that a client has received.
    private func sendCounted(_ piece: Data, chunked: Bool = false, after head: Data = Data()) throws {
        server.count(bytes: piece.count)
        do {
            if chunked {
                try ChunkedWriter(socket).write(piece)
            } else {
                try socket.write(head.isEmpty ? piece : head + piece)
            }
        } catch {
            server.count(bytes: max(0, error.written - head.count) - piece.count)
            throw error
        }
    }
}
