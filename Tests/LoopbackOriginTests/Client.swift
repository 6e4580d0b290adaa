import Foundation
import LoopbackOrigin
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension RawClient {
    static func exchange(_ text: String, with origin: LoopbackServer) throws -> String {
        try exchange(text, with: origin.port)
    }
}

/// Returns a session without a cache or any state of other tests.
func makeSession(connections: Int = 6) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpMaximumConnectionsPerHost = connections
    return URLSession(configuration: configuration)
}

extension URLSession {
    /// Sends a request and returns the body and the HTTP response.
    func exchange(_ request: URLRequest) async throws -> (body: Data, response: HTTPURLResponse) {
        let (body, response) = try await data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (body, response)
    }

    func exchange(_ url: URL) async throws -> (body: Data, response: HTTPURLResponse) {
        try await exchange(URLRequest(url: url))
    }
}
