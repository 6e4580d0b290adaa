#if os(Linux) || os(macOS)
import Foundation
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Run by `TraitIssueTests` in a process of its own: what the article and README show.

@Suite(.enabled(if: ChildProcess.isThis))
struct Shopping {
    @Test(.substituting("../Fixtures/checkout.json"))
    func prices() async throws {
        _ = try? await text("https://shop.example.com/price")
    }
}

@Test(.enabled(if: ChildProcess.isThis), .substituting("../../DocumentationTests/Fixtures/orders.json"))
func ordering() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://shop.example.com/order")))
    request.httpMethod = "POST"
    _ = try? await URLSession.substituted.data(for: request)
}
#endif
