public import Foundation
import Guarded
// `HTTPRequest` and `StartError` are declared there, and a file that uses a request needs its members.
@_exported public import Loopback

/// A small HTTP/1.1 origin server on 127.0.0.1, for tests.
///
/// It answers on one thread per connection, keeps connections alive (RFC 9112 section 9.3), records every request, and can
/// misbehave on demand: see ``Fault``. It supports neither TLS nor HTTP/2, and it trusts its handler.
///
/// It stops when its last reference is released, which may be right after its last use. `defer { origin.stop() }` keeps it alive
/// until the end of a scope.
public final class LoopbackServer: Sendable {
    /// One request as the origin received it.
    public typealias Request = HTTPRequest

    /// The reason an origin couldn't start listening.
    public typealias StartError = Loopback.StartError

    /// The TCP port it listens on.
    public let port: UInt16

    /// The root of this origin: `http://127.0.0.1:PORT/`.
    public let baseURL: URL

    /// The half that the threads hold. None of them holds the origin itself, so `deinit` can end them.
    private let server: Server
    private let listener: Listener

    /// Binds 127.0.0.1 and starts answering.
    ///
    /// - Parameters:
    ///   - port: The TCP port to bind; 0, the default, takes a free one.
    ///   - recordsRequests: Whether ``requests`` keeps them. Pass false for a server that runs for a long time.
    ///   - handler: Answers a request. It runs on the thread of the request's connection, so it may block.
    /// - Throws: ``StartError`` if a system call fails, for example because the port is taken.
    public init(
        port: UInt16 = 0,
        recordsRequests: Bool = true,
        handler: @escaping @Sendable (Request) -> Answer
    ) throws(StartError) {
        let server = Server(recordsRequests: recordsRequests, handler: handler)
        let listener = try Listener { Connection(accepted: $0, server: server).serve() }
        let boundPort = try listener.listen(on: port)
        guard let baseURL = URL(string: "http://127.0.0.1:\(boundPort)/") else {
            listener.stop()
            throw StartError(call: "URL", code: 0)
        }
        self.port = boundPort
        self.baseURL = baseURL
        self.server = server
        self.listener = listener
    }

    /// Binds a free port of 127.0.0.1 and answers from a table, whatever the method.
    ///
    /// - Parameter routes: Answers by `"/path"` or `"/path?query"`, percent-encoded as on the wire. A key with the query wins, a
    ///   path alone answers for every query, and anything else gets 404.
    /// - Throws: ``StartError`` if a system call fails.
    public convenience init(routes: [String: Answer]) throws(StartError) {
        try self.init { request in
            routes[request.pathAndQuery] ?? routes[request.path] ?? .status(404)
        }
    }

    deinit {
        stop()
    }

    /// Returns the absolute URL of a path on this origin.
    ///
    /// - Parameter path: A path with or without its leading slash, possibly followed by a query.
    public func url(_ path: String) -> URL {
        let relative = path.hasPrefix("/") ? String(path.dropFirst()) : path
        return URL(string: baseURL.absoluteString + relative) ?? baseURL.appendingPathComponent(relative)
    }

    /// Every request received in full so far, in order of arrival. Each is recorded before its handler runs.
    public var requests: [Request] {
        server.state.withLock { $0.requests }
    }

    /// Returns how many of ``requests`` were for a path.
    ///
    /// - Parameter path: `"/path"`, which counts every query, or `"/path?query"`, which counts that one only.
    public func requestCount(path: String) -> Int {
        requests.count { $0.path == path || $0.pathAndQuery == path }
    }

    /// The body bytes handed to the network so far, without heads and chunk framing.
    ///
    /// A byte that a client has received is always counted. One in flight to a client that left may be.
    public var bytesSent: Int {
        server.state.withLock { $0.bytesSent }
    }

    /// Refuses further connections, closes those that are open, and ends every delay and stall.
    ///
    /// It doesn't wait for a running handler, whose answer is dropped. Calling it again does nothing.
    public func stop() {
        listener.stop()
    }
}

/// The half of an origin that its threads share: the handler and the record.
private final class Server: Sendable {
    struct State {
        var requests: [LoopbackServer.Request] = []
        var bytesSent = 0
    }

    let state = Guarded(State())
    private let recordsRequests: Bool
    private let handler: @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer

    init(
        recordsRequests: Bool,
        handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer
    ) {
        self.recordsRequests = recordsRequests
        self.handler = handler
    }

    /// Records a request, if requests are recorded, and asks the handler.
    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        if recordsRequests { state.withLock { $0.requests.append(request) } }
        return handler(request)
    }
}

/// One client's connection, from its first request to its close, on its own thread.
private struct Connection {
    let accepted: Listener.Connection
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
            let answer = LoopbackServer.Answer.status(refusal.rawValue)
            try? socket.write(answer.head(chunked: false, closing: true).encoded)
        } catch {
            // The client has left or the server was stopped, so no answer can be sent.
        }
    }

    /// Sends an answer, as far as its fault allows. Returns whether another request may follow.
    private func send(_ answer: LoopbackServer.Answer, to request: LoopbackServer.Request) throws -> Bool {
        guard !accepted.stopSignal.isRaised(within: answer.delay), answer.fault != .dropBeforeHead else { return false }
        if case .sendInstead(let bytes) = answer.fault {
            try sendCounted(bytes)
            return false
        }
        let keepsAlive = !request.closesConnection && !answer.endsConnection(for: request)
        let chunked = answer.isChunked(for: request)
        let head = answer.head(chunked: chunked, closing: !keepsAlive)
        let hasBody = head.allowsBody && request.method != "HEAD"
        var body = hasBody ? answer.body : Data()
        if answer.fault == nil, !chunked, body.count <= Socket.pieceSize {
            // In one write, which takes the system half the time.
            try sendCounted(body, after: head.encoded)
            return keepsAlive
        }
        try socket.write(head.encoded)
        switch answer.fault {
        case .dropAfter(let count), .stallAfter(let count): body = body.prefix(max(0, count))
        case .dropBeforeHead, .sendInstead, nil: break
        }
        // In pieces, so that the count of bytes keeps up with a slow client.
        while !body.isEmpty {
            let piece = body.prefix(Socket.pieceSize)
            body = body.dropFirst(piece.count)
            try sendCounted(piece, chunked: chunked)
        }
        if case .stallAfter = answer.fault { socket.waitForEnd() }
        guard answer.fault == nil else { return false }
        if chunked, hasBody { try socket.endChunks() }
        return keepsAlive
    }

    /// Counts bytes and then sends them. The count must include every byte that a client has received.
    private func sendCounted(_ piece: Data, chunked: Bool = false, after head: Data = Data()) throws {
        server.state.withLock { $0.bytesSent += piece.count }
        do {
            if chunked {
                try socket.writeChunk(piece)
            } else {
                try socket.write(head.isEmpty ? piece : head + piece)
            }
        } catch {
            server.state.withLock { $0.bytesSent += max(0, error.written - head.count) - piece.count }
            throw error
        }
    }
}

extension Socket {
    /// Waits until the other side leaves or this one hangs up, and ignores what arrives.
    package func waitForEnd() {
        while let bytes = try? read(upTo: Self.pieceSize), !bytes.isEmpty {}
    }
}
