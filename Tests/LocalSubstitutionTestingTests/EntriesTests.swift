import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import TestSupport
import Testing

@Suite("Entries in code", .sessions)
struct EntriesTests {
    private static let url = "https://shop.example.com/name"

    @Test("Entries in code answer a test", .substituting(["https://shop.example.com/name": .json(["name": "Ada"])]))
    func inCode() async throws {
        let body = Data(try await text(Self.url).utf8)
        #expect(try JSONDecoder().decode([String: String].self, from: body) == ["name": "Ada"])
    }

    @Test(
        "Entries in code may have files",
        .substituting(["https://shop.example.com/name": "inner.txt"], resources: "Fixtures/Resources")
    )
    func files() async throws {
        #expect(try await text(Self.url) == "inner")
    }

    @Test("500 cases with 500 maps in code don't get mixed up", arguments: 0..<500)
    func many(_ number: Int) async throws {
        let answer = try await withSubstitutions([Self.url: .text("\(number)")]) { try await text(Self.url) }
        #expect(answer == "\(number)")
    }

    @Test("Invalid entries throw their problems")
    func wrong() async throws {
        let error = await #expect(throws: (any Error).self) {
            try await withSubstitutions(["shop.example.com/a": .status(7)]) {}
        }
        #expect(error?.localizedDescription.contains("shop.example.com/a") == true)
    }
}
