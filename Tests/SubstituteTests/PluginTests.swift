import Foundation
import TestSupport
import Testing

#if os(macOS) || os(Linux)
/// It builds this package again as a dependency of another one, which takes time. `.ci/run` enables it.
@Suite(
    "swift package substitute",
    .sessions,
    .enabled(
        if: ProcessInfo.processInfo.environment["LOCAL_SUBSTITUTION_PLUGIN_TESTS"] == "1",
        "it takes long: set LOCAL_SUBSTITUTION_PLUGIN_TESTS=1"
    )
)
struct PluginTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private let folder: TemporaryFolder

    /// Makes a package that depends on this one, in its own folder. The command has to find that folder.
    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            """
            // swift-tools-version: 6.1
            import PackageDescription

            let package = Package(
                name: "App",
                platforms: [.macOS(.v15)],
                dependencies: [.package(name: "LocalSubstitutionCache", path: "\(Self.root)")],
                targets: [
                    .target(
                        name: "App",
                        dependencies: [.product(name: "LocalSubstitution", package: "LocalSubstitutionCache")]
                    )
                ]
            )
            """,
            to: "App/Package.swift"
        )
        try folder.write("import LocalSubstitution\n", to: "App/Sources/App/App.swift")
        try folder.write(#"{ "https://h.example/a": "a.txt" }"#, to: "App/substitutions.json")
        try folder.write("hello", to: "App/Resources/a.txt")
    }

    /// Runs the plugin that only reads, without a terminal or permissions.
    private func plugin(_ words: String...) async throws -> Outcome {
        try await swift(["package"] + place + ["substitute"] + words)
    }

    private func edit(_ words: String...) async throws -> Outcome { try await edit(words) }

    private func edit(_ words: [String]) async throws -> Outcome {
        let permissions = ["--allow-writing-to-package-directory", "--allow-network-connections", "all"]
        return try await swift(["package"] + place + permissions + ["substitute-edit"] + words)
    }

    /// A separate scratch path, since `swift test`, which runs this, holds the lock on the other.
    private var place: [String] {
        ["--package-path", "App", "--scratch-path", folder.support.appendingPathComponent("build").path]
    }

    private func swift(_ words: [String]) async throws -> Outcome {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? folder.support.path
        return try await folder.run(
            URL(filePath: "/usr/bin/env"),
            ["swift"] + words,
            environment: ["HOME": home, "PWD": folder.url.path, "LOCAL_SUBSTITUTION_WARNINGS_AS_ERRORS": "0"],
            limit: .seconds(600)
        )
    }

    /// All in one test, since each would build again.
    @Test("It runs the command on the files of the package that depends on this one")
    func runs() async throws {
        let right = try await plugin("check")
        #expect(right.status == 0, "\(right.messages.suffix(2000))")
        #expect(right.output.contains("/App/substitutions.json\n"))
        #expect(right.output.hasSuffix("1 entry in use, 0 errors, 0 warnings\n"))

        for word in ["explain", "schema", "completions", "help", "version", "--version"] {
            let read = try await plugin(word, "https://h.example/a")
            #expect(read.messages.contains("error: This plugin") == false)
        }
        for words in [["get", "https://h.example/a"], ["init"], ["check", "--remote"]] {
            let refused = try await swift(["package"] + place + ["substitute"] + words)
            #expect(refused.status == 1)
            #expect(refused.messages.contains("To write files or load URLs, use swift package substitute-edit."))
            #expect(refused.output.isEmpty)
        }

        // All arguments arrive unchanged, and files are written into the package.
        let copied = try await edit("get", "--output", "a copy.txt", "https://h.example/a")
        #expect(copied.status == 0, "\(copied.messages.suffix(2000))")
        #expect(copied.output.contains("matched ← a.txt"))
        #expect(try folder.contents("App/a copy.txt") == Data("hello".utf8))

        try folder.write(#"{ "https://h.example/a": "b.txt" }"#, to: "App/substitutions.json")
        let wrong = try await plugin("check")
        #expect(wrong.status == 1)
        #expect(wrong.output.contains("substitutions.json:1: error: “https://h.example/a”: The file “b.txt” doesn't"))
        #expect(wrong.messages.contains("error: The command ended with status 1. Its output says why."))
        let unknown = try await edit("nonsense")
        #expect(unknown.messages.contains("error: The command ended with status 64. Its output says why."))

        let made = try await edit("init", "--map", "Sources/App/substitutions.json")
        #expect(made.status == 0, "\(made.messages.suffix(2000))")
        #expect(folder.exists("App/Sources/App/substitutions.json"))

        // What it suggests works from here, with the permissions.
        try folder.write("hello", to: "App/b.txt")
        let start = "swift package --package-path \(folder.path("App")) substitute-edit add"
        let suggested = try #require(made.lines.first { $0.hasPrefix("    \(start) ") })
        let words = suggested.split(separator: " ").map(String.init).drop { $0 != "add" }.dropLast()
        let added = try await edit(words + ["https://h.example/b", "b.txt"])
        #expect(added.status == 0, "\(added.messages.suffix(2000))")
        #expect(added.output.contains("new  text/plain"))

        // The product itself, where the command's own status and output count.
        let product = try await swift(
            ["run", "--quiet"] + place + [
                "substitute", "check", "--map", "App/substitutions.json", "--json", "--update",
            ]
        )
        #expect(product.status == 64, "\(product.messages.suffix(2000))")
        #expect(product.messages.contains("--update needs --remote"))
    }
}
#endif
