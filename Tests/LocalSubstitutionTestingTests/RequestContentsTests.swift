import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a request has", .sessions, .substituting([:], unmatched: .fail))
struct RequestContentsTests {
    /// Makes a request and returns it as it was listed.
    private static func made(body: Data?) async throws -> TestSubstitutions.Request {
        var request = URLRequest(url: try #require(URL(string: "https://shop.example.com/orders")))
        request.httpMethod = body == nil ? "GET" : "POST"
        request.httpBody = body
        request.setValue("1", forHTTPHeaderField: "X-Own")
        _ = try? await URLSession.substituted.data(for: request)
        return try #require(TestSubstitutions.current.requests.last)
    }

    @Test("It has what a handler's request has", arguments: [nil, Data()])
    func head(body: Data?) async throws {
        let made = try await Self.made(body: body)
        #expect(made.url.absoluteString == "https://shop.example.com/orders")
        #expect(made.method == (body == nil ? "GET" : "POST"))
        #expect(made.headers["X-Own"] == "1")
    }

    @Test("A body is decoded as JSON, and read as text")
    func body() async throws {
        struct Order: Decodable, Equatable { let id: Int }
        let order = try await Self.made(body: Data(#"{ "id": 7 }"#.utf8))
        #expect(try order.json(Order.self) == Order(id: 7))
        let inferred: Order = try order.json()
        #expect(inferred.id == 7)
        #expect(order.text == #"{ "id": 7 }"#)
        #expect(throws: DecodingError.self) { try order.json([Int].self) }
        let picture = try await Self.made(body: Data([0x89, 0xFF]))
        #expect(picture.text == nil)
        let empty = try await Self.made(body: nil)
        #expect(empty.text == nil)
        let error = try #require(throws: DecodingError.self) { try empty.json(Order.self) }
        #expect("\(error)".contains("Set the request's httpBody, and use a data task."))
    }
}
