#if os(Linux)
import Foundation
import FoundationNetworking
import LocalSubstitutionTesting
import Testing

/// `PlacesTests` runs these in a separate process that may open only few files.
@Suite(.enabled(if: ChildProcess.isThis))
struct ChildCrowd {
    private static let url = "https://shop.example.com/name"

    @Test(.substituting("../Fixtures/inner.json"), arguments: 0..<500)
    func crowd(_ number: Int) async throws {
        let session = URLSession.substituted
        #expect(try await text(Self.url) == "inner")
        // Sessions that nothing uses yet would hold two descriptors each.
        let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        #expect(open.map { $0 < 256 } == true)
        if number % 3 == 0 {
            let inside = try await withSubstitutions("../Fixtures/suite.json") { try await text(Self.url) }
            #expect(inside == "suite")
        } else if number % 3 == 1 {
            #expect(try await Task.detached { try await text(Self.url, in: session) }.value == "inner")
            let inside = try await Task.detached {
                try await withSubstitutions("../Fixtures/suite.json") { try await text(Self.url) }
            }.value
            #expect(inside == "suite")
        }
        #expect(try await text(Self.url) == "inner")
    }

    @Test(arguments: 0..<500)
    func crowdOfScopes(_ number: Int) async throws {
        try await withSubstitutions("../Fixtures/suite.json") {
            let outside = try await text(Self.url)
            #expect(outside == "suite")
            let inside = try await withSubstitutions("../Fixtures/inner.json") { try await text(Self.url) }
            #expect(inside == "inner")
        }
    }

    @Suite(.substituting("../Fixtures/suite.json"))
    struct Nested {
        @Test(.substituting("../Fixtures/inner.json"), arguments: 0..<500)
        func crowd(_ number: Int) async throws {
            #expect(try await text(ChildCrowd.url) == "inner")
        }
    }

    @Test(WithoutPlaces())
    func turnWithoutPlace() async throws {
        try await withSubstitutions([:], sharedSession: true) {}
    }

    @Test(WithoutPlaces(), .substituting("../Fixtures/inner.json", sharedSession: ChildProcess.isThis))
    func turnOfTraitWithoutPlace() async throws {
        #expect(try await text(Self.url, in: .shared) == "inner")
    }

    @Test(.substituting("../Fixtures/inner.json"), WithoutPlaces())
    func scopeWithoutPlace() async throws {
        let inside = try await withSubstitutions("../Fixtures/suite.json") { try await text(Self.url) }
        #expect(inside == "suite")
    }

    /// If anything else held the place, the test case would wait for ever.
    @Test(.substituting("../Fixtures/inner.json"))
    func onePlace() async throws {
        #expect(try await text(Self.url) == "inner")
    }

    /// Takes all places that are left by the traits before it. Whatever needs one then waits for ever.
    private struct WithoutPlaces: TestTrait, TestScoping {
        func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable () async throws -> Void
        ) async throws {
            let places = try #require(Places.ofProcess)
            while places.takeIfFree() {}
            try await function()
        }
    }
}
#endif
