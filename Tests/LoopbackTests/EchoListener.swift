import Foundation
import Guarded
import Loopback
import TestSupport

/// A listener that answers each request with its port and path.
struct EchoListener: Sendable {
    let listener: Listener

    /// - Parameter answering: Called before a request is answered, on its connection's thread.
    init(
        limits: RequestReader.Limits = RequestReader.Limits(),
        answering: @escaping @Sendable (HTTPRequest, Listener.Connection) -> Void = { _, _ in }
    ) throws {
        listener = try Listener { connection in
            var reader = RequestReader(connection.socket, limits: limits)
            do {
                while true {
                    connection.idle()
                    var request = try reader.nextHead()
                    connection.busy()
                    try reader.readBody(of: &request, limit: 100)
                    answering(request, connection)
                    let text = "\(connection.port) \(request.path)\n"
                    let head = ResponseHead(status: 200, fields: [("Content-Length", "\(text.utf8.count)")])
                    try connection.socket.write(head.encoded + Data(text.utf8))
                }
            } catch let refusal as HTTPRequest.Refusal {
                try? connection.socket.write(ResponseHead(status: refusal.rawValue).encoded)
            } catch {}
        }
    }
}

extension RawClient {
    /// Sends a request for a path. Returns the line in the answer's body, or the head if the status isn't 200.
    func load(_ path: String) throws -> String {
        try send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try read(through: "\r\n\r\n")
        guard head.hasPrefix("HTTP/1.1 200 ") else { return head }
        return String(try read(through: "\n").dropLast())
    }
}
