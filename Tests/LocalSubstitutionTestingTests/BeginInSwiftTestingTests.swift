import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("XCTest's calls in Swift Testing", .sessions)
struct BeginInSwiftTestingTests {
    @Test("Begin names the trait, and end then does nothing")
    func begin() throws {
        let error = #expect(throws: (any Error).self) { try TestSubstitutions.begin([:], test: "a.b") }
        #expect(error?.localizedDescription.contains("Use the trait .substituting(…)") == true)
        try TestSubstitutions.end()
    }

    @Test("A body that isn't async gets the entries")
    func synchronous() throws {
        let count = try withSubstitutions(["https://shop.example.com/name": .text("a")]) {
            let explanation = TestSubstitutions.current.cache.explain(
                URLRequest(url: try #require(URL(string: "https://shop.example.com/name")))
            )
            #expect(explanation.status == 200)
            return TestSubstitutions.current.cache.map.count
        }
        #expect(count == 1)
    }
}
