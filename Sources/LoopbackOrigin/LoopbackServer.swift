public import Foundation
// `HTTPRequest` and `StartError` are declared there, and a file that uses a request needs its members.
@_exported public import Loopback

/// A small HTTP/1.1 origin server on 127.0.0.1, for demonstrations and tests.
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
        server.requests
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
        server.bytesSent
    }

    /// Refuses further connections, closes those that are open, and ends every delay and stall.
    ///
    /// It doesn't wait for a running handler, whose answer is dropped. Calling it again does nothing.
    public func stop() {
        listener.stop()
    }
}
