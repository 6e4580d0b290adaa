import Foundation

@testable import LoopbackOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A client that says and hears exactly what a test spells out.
struct RawClient {
    let connection: Socket

    init(_ port: UInt16) throws {
        let descriptor = socket(AF_INET, Socket.streamType, 0)
        guard descriptor >= 0 else { throw LoopbackServer.StartError.current("socket") }
        connection = Socket(owning: descriptor)
        var address = Socket.loopbackAddress(port: port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw LoopbackServer.StartError.current("connect") }
    }

    func send(_ text: String) throws {
        try connection.write(Data(text.utf8))
    }

    /// Everything up to the close of the connection.
    func readToEnd() throws -> String {
        var bytes: [UInt8] = []
        while case let part = try connection.read(upTo: 64 << 10), !part.isEmpty {
            bytes += part
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Everything up to and including a text, and not a byte more.
    func read(through end: String) throws -> String {
        var bytes: [UInt8] = []
        while !bytes.reversed().starts(with: end.utf8.reversed()) {
            let byte = try connection.read(upTo: 1)
            guard !byte.isEmpty else { throw Socket.Closed(written: 0) }
            bytes += byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sends one text and reads the answer up to the close of the connection.
    static func exchange(_ text: String, with origin: LoopbackServer) throws -> String {
        let client = try RawClient(origin.port)
        try client.send(text)
        return try client.readToEnd()
    }
}

/// A session without a cache or a state of any other test.
func makeSession(connections: Int = 6) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpMaximumConnectionsPerHost = connections
    return URLSession(configuration: configuration)
}

extension URLSession {
    /// One exchange, with its response as what it is over HTTP.
    func exchange(_ request: URLRequest) async throws -> (body: Data, response: HTTPURLResponse) {
        let (body, response) = try await data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (body, response)
    }

    func exchange(_ url: URL) async throws -> (body: Data, response: HTTPURLResponse) {
        try await exchange(URLRequest(url: url))
    }
}
