#if os(Linux)
import Foundation
import TestSupport
import Testing

/// Nothing here runs on an Apple platform. The compiler checks the code that only those platforms compile, with substitutes for
/// what only they have (`Tests/SourceTests/Apple`).
@Suite("Code for Apple platforms", .sources)
struct AppleBranchTests {
    @Test("It compiles, without a warning")
    func compiles() async throws {
        let targets = try await Compiled.apple()
        #expect(targets.keys.sorted() == (PackageFolder.targets + PackageFolder.support).sorted())
    }

    @Test(
        "Tests compile, too, without a warning",
        .enabled(
            if: Compiled.checksAppleTests,
            "Set LOCAL_SUBSTITUTION_APPLE_TESTS to 1, or run swift test --filter Apple."
        )
    )
    func tests() async throws { try await Compiled.checkAppleTests() }

    @Test("Every target of the package is checked")
    func all() throws {
        let manifest = try PackageFolder.text(of: "Package.swift")
        let pattern = #/\.(?:target|testTarget|executableTarget)\(\s*name: "(\w+)"/#
        let names = manifest.matches(of: pattern).map { String($0.1) }
        let checked = PackageFolder.targets + PackageFolder.support + PackageFolder.tests
        #expect(Set(names) == Set(checked))
    }

    @Test("The code that it calls on Apple platforms is the code that's checked")
    func isOfApple() async throws {
        let (apple, linux) = (try await Compiled.apple(), try await Compiled.linux())
        let runLoop = "s:17LocalSubstitution21CFRunLoopPerformBlock"
        func users(_ targets: Compiled.Targets) -> [String] {
            (targets["LocalSubstitution"] ?? []).filter { $0.used.contains { $0.hasPrefix(runLoop) } }.map(\.path)
        }
        #expect(users(apple) == ["Sources/LocalSubstitution/Protocol/LoaderThread.swift"])
        #expect(users(linux).isEmpty)
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

    @Test("Where URLSession is in Foundation, an interface that has its types can be compiled, too")
    func imports() throws {
        for path in try PackageFolder.targets.flatMap(PackageFolder.sources) {
            let text = try PackageFolder.text(of: path)
            #expect(Self.importsFoundation(text), "\(path): in `#else`, import Foundation as FoundationNetworking.")
        }
    }

    @Test(
        "An import of FoundationNetworking for an interface needs one of Foundation",
        arguments: [
            ("import Foundation\nimport FoundationNetworking\n", true),
            ("import Foundation\npackage import FoundationNetworking\n", false),
            ("package import Foundation\npackage import FoundationNetworking\n", true),
            ("public import Foundation\npackage import FoundationNetworking\n", true),
            ("package import Foundation\npublic import FoundationNetworking\n", false),
        ]
    )
    func importsFoundation(_ source: String, _ expected: Bool) {
        #expect(Self.importsFoundation(source) == expected)
    }

    /// Returns whether a source imports Foundation at least as visibly as FoundationNetworking, on some platform.
    private static func importsFoundation(_ source: String) -> Bool {
        let lines = source.split(separator: "\n")
        let isPublic = lines.contains("public import FoundationNetworking")
        let isPackage = lines.contains("package import FoundationNetworking")
        return lines.contains("public import Foundation") || !isPublic && !isPackage
            || !isPublic && lines.contains("package import Foundation")
    }
}
#endif
