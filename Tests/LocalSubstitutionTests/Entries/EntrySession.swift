import Foundation
import Guarded
import LoopbackOrigin
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session with an attached map, and an origin that reports the requests it gets.
final class EntrySession: Sendable {
    let fixture: CacheFixture
    let cache: LocalSubstitutionCache
    let origin: LoopbackServer
    let session: URLSession

    /// - Parameter map: The map's JSON, entries only. `ORIGIN` stands for the origin's scheme, host and port.
    init(
        _ map: String,
        files: [String: String] = ["a.txt": "local"],
        unmatched: LocalSubstitutionCache.Unmatched = .load,
        delegate: (any URLSessionDelegate)? = nil,
        handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer = {
            .text("network \($0.method)")
        }
    ) throws {
        origin = try LoopbackServer(handler: handler)
        let base = String(origin.baseURL.absoluteString.dropLast())
        fixture = try CacheFixture(map.replacingOccurrences(of: "ORIGIN", with: base), files: files)
        cache = try fixture.cache()
        session = try cache.makeSession(unmatched: unmatched, delegate: delegate)
    }

    deinit {
        session.finishTasksAndInvalidate()
        origin.stop()
    }

    func request(
        _ path: String,
        _ method: String = "GET",
        headers: [String: String] = [:],
        body: String? = nil
    ) throws -> URLRequest {
        let url = path.hasPrefix("/") ? origin.url(path).absoluteString : path
        var request = try LocalSubstitutionTests.request(url, method: method, headers: headers)
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    /// Returns the text and the head of the response.
    func load(
        _ path: String,
        _ method: String = "GET",
        headers: [String: String] = [:],
        body: String? = nil
    ) async throws -> (text: String, head: HTTPURLResponse) {
        try await load(request(path, method, headers: headers, body: body))
    }

    func load(_ request: URLRequest) async throws -> (text: String, head: HTTPURLResponse) {
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    /// Returns the code of the error that a request fails with.
    func error(_ request: URLRequest) async -> URLError.Code? {
        do {
            _ = try await session.data(for: request)
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }
}
