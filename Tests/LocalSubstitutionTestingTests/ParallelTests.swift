import Foundation
import LocalSubstitutionTesting
import TestSupport
import Testing

@Suite("Tests in parallel", .threads, .atOnce(50))
struct ParallelTests {
    private static let url = "https://shop.example.com/name"

    @Test("500 cases with 500 maps don't get mixed up", arguments: 0..<500)
    func maps(_ number: Int) async throws {
        let folder = try TemporaryFolder()
        let map = try folder.write("map.json", #"{ "\#(Self.url)": "a.txt" }"#)
        try folder.write("a.txt", "\(number)")
        try await withSubstitutions(map.path) {
            for count in 1...2 {
                let text = try await text(Self.url)
                #expect(text == "\(number)")
                #expect(TestSubstitutions.current.requests.count == count)
            }
        }
    }

    @Test("500 cases of one trait have 500 sessions", .substituting("Fixtures/inner.json"), arguments: 0..<500)
    func sessions(_ number: Int) async throws {
        #expect(try await text(Self.url) == "inner")
        #expect(TestSubstitutions.current.requests.count == 1)
    }
}
