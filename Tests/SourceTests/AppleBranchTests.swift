#if os(Linux)
import Foundation
import TestSupport
import Testing

/// Nothing here runs on an Apple platform. The compiler checks the code that only those platforms compile, with substitutes for
/// what only they have (`Tests/SourceTests/Apple`).
@Suite("Code for Apple platforms", .sources)
struct AppleBranchTests {
    @Test("It compiles")
    func compiles() async throws {
        let targets = try await Compiled.apple()
        #expect(targets.keys.sorted() == PackageFolder.targets.sorted())
    }

    @Test("The code that it calls on Apple platforms is the code that's checked")
    func isOfApple() async throws {
        let (apple, linux) = (try await Compiled.apple(), try await Compiled.linux())
        // With Darwin's lock it's a class, and with a `Mutex` a structure.
        #expect(declares("s:7GuardedAAC", apple["Guarded"]) && !declares("s:7GuardedAAV", apple["Guarded"]))
        #expect(declares("s:7GuardedAAV", linux["Guarded"]) && !declares("s:7GuardedAAC", linux["Guarded"]))
        let relay = "s:17LocalSubstitution14ChallengeRelayC"
        #expect(declares(relay, apple["LocalSubstitution"]) && !declares(relay, linux["LocalSubstitution"]))
        let file = apple["LocalSubstitution"]?.first { $0.declared[relay] != nil }?.path
        #expect(linux["LocalSubstitution"]?.contains { $0.path == file } == true)
    }

    @Test(
        "A file is compiled for Linux too if it isn't the same code there",
        arguments: [
            ("let a = 1\n", false),
            ("#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n", false),
            ("#if canImport(Darwin)\n#endif\n", true), ("    #if !os(Linux)\n", true), ("#if DEBUG\n", true),
            ("#if canImport(FoundationNetworking)\n#elseif os(macOS)\n#endif\n", true),
            ("#if canImport(FoundationNetworking) && os(Linux)\n#endif\n", true),
        ]
    )
    func dependsOnPlatform(_ source: String, _ expected: Bool) {
        #expect(Compiled.dependsOnPlatform(source) == expected)
    }

    private func declares(_ usr: String, _ files: [CompiledFile]?) -> Bool {
        files?.contains { $0.declared[usr] != nil } == true
    }
}
#endif
