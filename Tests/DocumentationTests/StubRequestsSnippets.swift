import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// More Swift code of *Stub requests in tests*, as in Snippets.swift.

// snippet: a test with a session of its own
@Test(.substituting("Fixtures/checkout.json"))
func orderWithOwnSession() async throws {
    let configuration = TestSubstitutions.current.configuration
    configuration.httpAdditionalHeaders = ["X-Client": "shop"]
    let session = URLSession(configuration: configuration)
    defer { session.finishTasksAndInvalidate() }
    let refusal = try await Shop(session: session).order("socks")
    #expect(refusal == "sold out\n")
}
// end

// snippet: a test of a request
@Test(.substituting("Fixtures/checkout.json"))
func orderedItem() async throws {
    _ = try await Shop(session: .substituted).order("socks")
    let order = try #require(TestSubstitutions.current.requests.first)
    #expect(order.request.httpMethod == "POST")
    #expect(try order.json([String: String].self) == ["item": "socks"])
    #expect(order.outcome == .matched)
}
// end

// snippet: a computed response
@Test(
    .substituting([
        "https://shop.example.com/orders": .handler { request in
            let order = try request.json([String: String].self)
            return .text("You ordered \(order["item"] ?? "nothing").").status(201)
        }.methods("POST")
    ])
)
func computedResponse() async throws {
    let answer = try await Shop(session: .substituted).order("socks")
    #expect(answer == "You ordered socks.")
}
// end

// snippet: a test without the trait
@Test
func orderWithoutTrait() async throws {
    let sold = SubstitutionMap.Answer.text("sold out\n").status(409).methods("POST")
    let cache = LocalSubstitutionCache(map: try SubstitutionMap(["https://shop.example.com/orders": sold]))
    let session = try cache.makeSession(unmatched: .fail)
    let refusal = try await Shop(session: session).order("socks")
    #expect(refusal == "sold out\n")
}
// end

// snippet: a retry in XCTest
final class RetryTests: XCTestCase {
    override func setUpWithError() throws {
        let orders: SubstitutionMap.Answer = [
            .status(503).methods("POST").times(2), .text("ordered").methods("POST"),
        ]
        try TestSubstitutions.begin(["https://shop.example.com/orders": orders], test: name)
    }

    override func tearDownWithError() throws {
        try TestSubstitutions.end()
    }

    func testThirdTry() async throws {
        let shop = Shop(session: .substituted)
        var answer = ""
        while answer.isEmpty { answer = try await shop.order("socks") }
        XCTAssertEqual(answer, "ordered")
        let requests = TestSubstitutions.current.requests
        XCTAssertEqual(requests.count, 3)
        XCTAssertEqual(try requests.last?.json([String: String].self), ["item": "socks"])
    }
}
// end

final class CompletionHandlerTests: XCTestCase {
    override func setUpWithError() throws {
        try TestSubstitutions.begin(["https://shop.example.com/orders": .text("socks")], test: name)
    }

    override func tearDownWithError() throws {
        try TestSubstitutions.end()
    }

    // snippet: a completion handler in XCTest
    func testOrders() throws {
        let url = try XCTUnwrap(URL(string: "https://shop.example.com/orders"))
        let isLoaded = expectation(description: "The orders are loaded")
        URLSession.substituted.dataTask(with: url) { data, _, _ in
            XCTAssertEqual(data, Data("socks".utf8))
            isLoaded.fulfill()
        }.resume()
        wait(for: [isLoaded], timeout: 10)
    }
    // end
}

// snippet: a class that has moved
final class CartTests: XCTestCase {
    override func setUpWithError() throws {
        try TestSubstitutions.begin(
            ["https://shop.example.com/*": .handler(for: URLRequest.self, respond)],
            test: name,
            sharedSession: true
        )
    }

    override func tearDownWithError() throws {
        try TestSubstitutions.end()
    }

    func testOrder() async throws {
        let answer = try await Shop(session: .shared).order("socks")
        XCTAssertEqual(answer, #"{"item":"socks"}"#)
    }
}
// end
