import Foundation
import Testing

@Suite("substitute init", .serialized)
struct InitTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("makes an empty map and its folder, and prints what uses them")
    func new() async throws {
        let run = try await folder.substitute("init")
        #expect(run.status == 0)
        #expect(try folder.contents("substitutions.json") == Data("{}\n".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("Resources")).isEmpty)
        for line in [
            #"    resources: [.copy("substitutions.json"), .copy("Resources")]"#,
            #"    dependencies: [.product(name: "LocalSubstitution", package: "LocalSubstitutionCache")],"#,
            "For iOS and similar platforms, call the folder Substitutes instead, since code",
            "    import Foundation", "    import FoundationNetworking",
            "    URLCache.shared = try LocalSubstitutionCache(bundle: .module)",
            "    configuration.urlCache = try LocalSubstitutionCache(bundle: .module)",
        ] {
            #expect(run.lines.contains(line))
        }
        #expect(try await folder.substitute("check").output == "0 entries in use, 0 errors, 0 warnings\n")
    }

    @Test("leaves a map that is there, whatever it is", arguments: ["{ \"https://h.com/a\": null }", "no map"])
    func existing(map: String) async throws {
        try folder.write(map, to: "substitutions.json")
        let run = try await folder.substitute("init")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("there is a map already, and it stays as it is: "))
        #expect(try folder.contents("substitutions.json") == Data(map.utf8))
        #expect(!folder.exists("Resources"))
    }

    @Test("keeps what is in the resources folder")
    func resources() async throws {
        try folder.write("x", to: "Resources/a.txt")
        #expect(try await folder.substitute("init").status == 0)
        #expect(try folder.contents("Resources/a.txt") == Data("x".utf8))
    }

    @Test("makes a map of another name elsewhere, and says how to load that")
    func named() async throws {
        let run = try await folder.substitute("init", "--map", "sub/pages.json", "--resources", "sub/Files")
        #expect(run.status == 0)
        #expect(folder.exists("sub/pages.json") && folder.exists("sub/Files") && !folder.exists("Resources"))
        // A bundle's files are in Resources.
        #expect(!run.output.contains("bundle:"))
        let (map, files) = (folder.path("sub/pages.json"), folder.path("sub/Files"))
        #expect(
            run.output.contains(
                "(contentsOf: URL(fileURLWithPath: \"\(map)\"), resources: URL(fileURLWithPath: \"\(files)\"))"
            )
        )
        let other = try await folder.substitute("init", "--map", "other/pages.json")
        #expect(
            other.lines.contains(#"    URLCache.shared = try LocalSubstitutionCache(bundle: .module, named: "pages")"#)
        )
    }

    @Test("prints one JSON document with --json")
    func json() async throws {
        let record: [String: String] = try await folder.substitute("init", "--json").json()
        #expect(record.keys.sorted() == ["map", "resources"])
        #expect(record["map"]?.hasSuffix("/substitutions.json") == true)
    }

    @Test("fails where no folder can be made")
    func blocked() async throws {
        try folder.write("x", to: "Resources")
        let run = try await folder.substitute("init")
        #expect(run.status == 1)
        #expect(run.messages.contains("Resources: Not a directory"))
        #expect(!folder.exists("substitutions.json"))
    }
}
