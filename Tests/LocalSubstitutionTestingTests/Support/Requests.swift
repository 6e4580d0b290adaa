import Foundation
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Returns a session's response for a URL, as text.
func text(_ url: String, in session: URLSession = .substituted) async throws -> String {
    String(decoding: try await session.data(from: try #require(URL(string: url))).0, as: UTF8.self)
}

/// Returns an order request for a shop.
func order(_ url: String = "https://shop.example.com/orders", body: String? = "{}") throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = "POST"
    request.httpBody = body.map { Data($0.utf8) }
    request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
    return request
}
