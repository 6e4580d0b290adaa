#if os(Linux) || os(macOS)
import Foundation
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `ArchiveTests` runs these in a separate process. Some of them are meant to fail.
@Suite(.enabled(if: ChildProcess.isThis))
struct ChildArchive {
    private static let cart = "https://shop.example.com/cart"

    @Test(.substituting("../Fixtures/session.har"))
    func answered() async throws {
        #expect(try await text(Self.cart) == "empty")
        var request = URLRequest(url: try #require(URL(string: Self.cart)))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"item":"socks"}"#.utf8)
        let response = try await URLSession.substituted.data(for: request).1 as? HTTPURLResponse
        #expect(response?.statusCode == 201)
        for _ in 0..<2 { #expect(try await text(Self.cart) == "socks") }
    }

    @Test func scope() async throws {
        try await withSubstitutions("../Fixtures/session.har") {
            let cart = try await text(Self.cart)
            #expect(cart == "empty")
        }
    }

    @Test(.substituting("../Fixtures/session.har"), arguments: ["logo.png", "other"])
    func unanswered(_ path: String) async throws {
        _ = try? await text("https://shop.example.com/\(path)")
    }

    @Test(.substituting("../Fixtures/session.har"))
    func unansweredBody() async throws {
        var request = URLRequest(url: try #require(URL(string: Self.cart)))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"item":"hats"}"#.utf8)
        _ = try? await URLSession.substituted.data(for: request)
    }

    @Test(.substituting("../Fixtures/no-such.har"))
    func missing() async throws {
        Issue.record("it must not run")
    }
}
#endif
