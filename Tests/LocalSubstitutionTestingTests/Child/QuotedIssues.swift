#if os(Linux) || os(macOS)
import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// `TraitIssueTests` runs these in a separate process. The article and README show them.

@Test(.enabled(if: ChildProcess.isThis), .substituting("../../DocumentationTests/Fixtures/checkout.json"))
func refusedOrder() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://shop.example.com/order")))
    request.httpMethod = "POST"
    request.httpBody = Data(#"{"item":"socks"}"#.utf8)
    _ = try await URLSession.substituted.data(for: request)
}

@Test(
    .enabled(if: ChildProcess.isThis),
    .substituting(["https://api.example.com/user/7": .json(["name": "Ada"])])
)
func userName() async throws {
    _ = try await URLSession.substituted.data(from: try #require(URL(string: "https://api.example.com/users/7")))
}
#endif
