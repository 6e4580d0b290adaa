import Foundation
import TestSupport
import Testing

#if os(macOS) || os(Linux)
@Suite("substitute init in a package", .sessions, .timeLimit(.minutes(5)))
struct InitInPackageTests {
    private static let package = #".package(url: "https://github.com/OWNER/LocalSubstitutionCache", branch: "main")"#
    private static let product = #".product(name: "LocalSubstitution", package: "LocalSubstitutionCache")"#
    private static let resources = #".copy("substitutions.json"), .copy("Resources")"#

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func writePackage(dependencies: String = package, _ targets: String...) throws {
        try folder.write(
            """
            // swift-tools-version: 6.1
            import PackageDescription

            let package = Package(
                name: "Shop",
                dependencies: [\(dependencies)],
                targets: [\(targets.joined(separator: ", "))]
            )
            """,
            to: "Package.swift"
        )
        for name in ["Sources/Shop", "Sources/Basket", "Tests/ShopTests", "Elsewhere"] {
            try folder.write("", to: "\(name)/A.swift")
        }
    }

    @Test("It works in a plugin's sandbox, since it doesn't request another one")
    func sandbox() async throws {
        try writePackage(#".target(name: "Shop", dependencies: [\#(Self.product)])"#)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        // As on macOS, where a sandbox can't be made inside another one.
        try folder.write(
            """
            #!/bin/sh
            case "$*" in *--disable-sandbox*) PATH='\(path)' exec swift "$@" ;; esac
            echo 'error: sandbox_apply: Operation not permitted' >&2
            exit 1
            """,
            to: "bin/swift"
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path("bin/swift"))
        let run = try await folder.substitute("init", environment: ["PATH": "\(folder.path("bin")):\(path)"])
        #expect(run.status == 0, "\(run.messages)")
        #expect(folder.exists("Sources/Shop/substitutions.json"))
    }

    @Test(
        "It puts the map into the folder of the target that depends on the library",
        arguments: [
            (#".target(name: "Shop", dependencies: [\#(product)])"#, "Sources/Shop"),
            (#".target(name: "Shop", dependencies: ["Basket", \#(product)], path: "Elsewhere")"#, "Elsewhere"),
            (#".testTarget(name: "ShopTests", dependencies: [\#(product)])"#, "Tests/ShopTests"),
        ]
    )
    func target(declaration: String, place: String) async throws {
        try writePackage(#".target(name: "Basket")"#, declaration)
        let run = try await folder.substitute("init")
        #expect(run.status == 0, "\(run.messages)")
        #expect(try folder.contents("\(place)/substitutions.json") == Data("{}\n".utf8))
        #expect(folder.exists("\(place)/Resources") && !folder.exists("substitutions.json"))
        #expect(run.messages.contains("created \(folder.path("\(place)/substitutions.json")) and "))
        // The package and the target have the dependency.
        #expect(!run.output.contains(".package(") && !run.output.contains(".product("))
        #expect(run.lines.contains("    resources: [\(Self.resources)]"))
        #expect(run.output.contains("LocalSubstitutionCache(bundle: .module)"))
        let command = try Executable.word()
        #expect(run.lines.contains("    \(command) add --map \(place)/substitutions.json URL"))
        #expect(run.lines.contains("    \(command) import --map \(place)/substitutions.json FILE.har"))
    }

    @Test("It doesn't mention a complete Package.swift")
    func done() async throws {
        try writePackage(
            #".target(name: "Shop", dependencies: [\#(Self.product)], resources: [\#(Self.resources)])"#
        )
        let run = try await folder.substitute("init")
        #expect(run.status == 0, "\(run.messages)")
        #expect(folder.exists("Sources/Shop/substitutions.json"))
        #expect(!run.output.contains("Package.swift"))
        #expect(!run.output.contains("resources:"))
    }

    @Test("It puts the map into the named target, and prints what that lacks")
    func named() async throws {
        try writePackage(dependencies: "", #".target(name: "Shop")"#, #".testTarget(name: "ShopTests")"#)
        let run = try await folder.substitute("init", "--target", "ShopTests")
        #expect(run.status == 0, "\(run.messages)")
        #expect(folder.exists("Tests/ShopTests/substitutions.json"))
        #expect(run.lines.contains("    dependencies: [\(Self.package)]"))
        #expect(run.lines.contains("    dependencies: [\(Self.product)],"))
        #expect(run.lines.contains("    resources: [\(Self.resources)]"))
        #expect(run.output.contains("target ShopTests"))
        #expect(run.lines.contains(#"    @Test(.substituting("substitutions.json"))"#))
    }

    @Test("It uses the folder that --map names, and recognizes the target in that folder")
    func map() async throws {
        try writePackage(#".target(name: "Shop", dependencies: [\#(Self.product)])"#, #".target(name: "Basket")"#)
        let run = try await folder.substitute("init", "--map", "Sources/Basket/substitutions.json")
        #expect(run.status == 0, "\(run.messages)")
        #expect(folder.exists("Sources/Basket/substitutions.json") && !folder.exists("Sources/Shop/substitutions.json"))
        #expect(run.lines.contains("    dependencies: [\(Self.product)],"))
        #expect(!run.output.contains(".package("))
    }

    @Test(
        "The path in a test starts at the folder of the test target that has the map, or else at the map's folder",
        arguments: [("Tests/ShopTests/Fixtures/shop.json", "Fixtures/shop.json"), ("Maps/shop.json", "shop.json")]
    )
    func pathInTest(map: String, path: String) async throws {
        try writePackage(#".target(name: "Shop")"#, #".testTarget(name: "ShopTests", dependencies: ["Shop"])"#)
        let run = try await folder.substitute("init", "--map", map)
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.lines.contains(#"    @Test(.substituting("\#(path)"))"#), "\(run.output)")
        #expect(run.output.contains("The map's path\nstarts at the folder of the test's file:\n"), "\(run.output)")
    }

    @Test("A map behind a symbolic link has the path of its test target, too")
    func linkedMap() async throws {
        try writePackage(#".target(name: "Shop")"#, #".testTarget(name: "ShopTests", dependencies: ["Shop"])"#)
        try FileManager.default.createSymbolicLink(
            at: folder.url.appendingPathComponent("linked"),
            withDestinationURL: folder.url.appendingPathComponent("Tests/ShopTests")
        )
        let run = try await folder.substitute("init", "--map", "linked/Fixtures/shop.json")
        #expect(run.lines.contains(#"    @Test(.substituting("Fixtures/shop.json"))"#), "\(run.output)")
    }

    @Test("It prints only the missing resource")
    func resource() async throws {
        try writePackage(
            #".target(name: "Shop", dependencies: [\#(Self.product)], resources: [.copy("Resources")])"#
        )
        let run = try await folder.substitute("init")
        #expect(run.lines.contains(#"    resources: [.copy("substitutions.json")]"#))
    }

    /// Targets, options and the message.
    @Test(
        "It asks for a target if it can't tell which",
        arguments: [
            ([#".target(name: "Shop")"#], [], "No target in FOLDER/Package.swift depends on LocalSubstitution. "),
            ([#".target(name: "Shop")"#], [], "Choose the map's target with --target: Shop.\n"),
            (
                [
                    #".target(name: "Shop", dependencies: [\#(product)])"#,
                    #".testTarget(name: "ShopTests", dependencies: ["Shop", \#(product)])"#,
                ], [],
                "2 targets in FOLDER/Package.swift depend on LocalSubstitution. "
                    + "Choose the map's target with --target: Shop, ShopTests.\n"
            ),
            (
                [#".target(name: "Shop")"#], ["--target", "Sohp"],
                "FOLDER/Package.swift has no target “Sohp”. Did you mean “Shop”?"
            ),
            (
                [#".target(name: "Shop")"#], ["--target", "Unheard"],
                "has no target “Unheard”. Name one of these: Shop.\n"
            ),
            (
                [#".target(name: "Shop")"#], ["--target", "Shop", "--map", "a.json"],
                "--target and --map both say where the map goes. Leave one out."
            ),
        ] as [([String], [String], String)]
    )
    func asks(targets: [String], options: [String], message: String) async throws {
        try writePackage(targets.joined(separator: ", "))
        let run = try await folder.substitute(["init"] + options)
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains(message.replacing("FOLDER", with: folder.url.path)), "\(run.messages)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
        #expect(!files.contains { $0.hasSuffix(".json") })
    }

    @Test("It names a manifest that can't be read, and a way around it")
    func broken() async throws {
        try folder.write("nonsense", to: "Package.swift")
        let run = try await folder.substitute("init")
        #expect(run.status == 1)
        #expect(run.messages.contains("\(folder.path("Package.swift")) can't be read: "))
        #expect(run.messages.contains("--map"))
        #expect(try await folder.substitute("init", "--map", "substitutions.json").status == 0)
    }

    @Test("--target needs a package")
    func noPackage() async throws {
        let run = try await folder.substitute("init", "--target", "Shop")
        #expect(run.status == 64)
        #expect(run.messages.contains("\(folder.path("Package.swift")) doesn't exist"))
    }
}
#endif
