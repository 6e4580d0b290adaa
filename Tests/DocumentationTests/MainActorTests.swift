#if os(Linux) && compiler(>=6.2)
import Foundation
import TestSupport
import Testing

/// Xcode 26 sets `defaultIsolation(MainActor.self)` in new projects.
@Suite("Examples in a module that's isolated to the main actor", .sources)
struct MainActorTests {
    @Test("README's examples compile", arguments: ["## In a test", "## In an app"])
    func readme(_ heading: String) async throws {
        let readme = try String(contentsOf: Document.root.appendingPathComponent("README.md"), encoding: .utf8)
        let parts = readme.components(separatedBy: "\n\(heading)\n")
        try #require(parts.count == 2)
        let section = parts[1]
        let end = section.range(of: "\n## ")?.lowerBound ?? section.endIndex
        let blocks = section[..<end].components(separatedBy: "\n```swift\n").dropFirst().map {
            $0.components(separatedBy: "\n```").first ?? ""
        }
        #expect(!blocks.isEmpty)
        // XCTestCase isn't isolated, so a subclass doesn't compile in such a module, whatever its tests contain.
        let isApp = heading == "## In an app"
        #expect(
            try await Self.check(blocks.filter { !$0.contains("XCTestCase") }.joined(separator: "\n"), isScript: isApp)
                == ""
        )
    }

    @Test("A handler's own type must be nonisolated, as Recipes says", arguments: [true, false])
    func handler(isNonisolated: Bool) async throws {
        let blocks = Document.all.flatMap { $0.blocks(in: "swift") }.map(\.text)
        let block = try #require(blocks.first { $0.hasPrefix("nonisolated struct Purchase") })
        let code = isNonisolated ? block : String(block.dropFirst("nonisolated ".count))
        let imports = ["Foundation", "LocalSubstitutionTesting", "Testing"].map { "import \($0)\n" }.joined()
        #expect(try await Self.check(imports + code).isEmpty == isNonisolated)
    }

    /// Returns what the compiler says about code.
    private static func check(_ code: String, isScript: Bool = false) async throws -> String {
        try await ReaderCode.messages(code, isScript: isScript, ["-default-isolation", "MainActor"])
    }
}
#endif
