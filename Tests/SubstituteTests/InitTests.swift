import Foundation
import TestSupport
import Testing

@Suite("substitute init", .sessions)
struct InitTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(
        "In a folder that was removed, no command does anything",
        arguments: [
            "init", "add https://h/a", "check", "explain https://h/a", "get https://h/a", "serve", "import a.har",
        ]
    )
    func removedFolder(_ words: String) async throws {
        let command = try "mkdir gone && cd gone && rmdir ../gone && exec \(Executable.word()) \(words)"
        let run = try await folder.run(URL(fileURLWithPath: "/bin/sh"), ["-c", command])
        #expect(run.status == 1)
        #expect(run.messages.hasPrefix("substitute: The folder “") && run.messages.contains("” no longer exists. "))
    }

    @Test("It makes an empty map and its folder, and prints the code that uses them")
    func new() async throws {
        let run = try await folder.substitute("init")
        #expect(run.status == 0)
        #expect(try folder.contents("substitutions.json") == Data("{}\n".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("Substitutes")).isEmpty)
        for line in [
            "    import Foundation", "        try LocalSubstitutionCache(bundle: .module, invalidEntries: .skip)",
            "            .install()", #"        print("No local files are used: \(error)")"#,
            #"    resources: [.copy("substitutions.json"), .copy("Substitutes")]"#,
            "In an Xcode project, write .main in place of .module, and add the map and the folder to",
            "the app's target. Untick “Build Folder Contents” for Substitutes.",
            #"    @Test(.substituting("substitutions.json"))"#,
            "In a test that imports LocalSubstitutionTesting, with a path from the test file's folder:",
        ] {
            #expect(run.lines.contains(line), "\(line)")
        }
        // The map may be for a browser alone.
        let command = try Executable.word()
        let commands = ["add URL", "import FILE.har", "serve"].map { "    \(command) \($0)" }
        #expect(Array(run.lines[2..<5]) == commands)
        #expect(run.lines.count <= 30, "\(run.output)")
        #expect(run.lines.filter { $0.hasPrefix("        ") }.allSatisfy { $0.count <= 80 }, "\(run.output)")
        #expect(try await folder.substitute("check").output == "0 entries in use, 0 errors, 0 warnings\n")
    }

    @Test("It doesn't read a package's manifest, and makes the map in the current folder")
    func inPackage() async throws {
        let plain = try await TemporaryFolder().substitute("init")
        try folder.write("nonsense", to: "Package.swift")
        let run = try await folder.substitute("init")
        #expect(run.status == 0, "\(run.messages)")
        #expect(folder.exists("substitutions.json") && folder.exists("Substitutes"))
        #expect(run.output == plain.output)
    }

    @Test("It leaves an existing map alone, whatever it is", arguments: ["{ \"https://h.com/a\": null }", "no map"])
    func existing(map: String) async throws {
        try folder.write(map, to: "substitutions.json")
        let run = try await folder.substitute("init")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("already exists. Use add or import to change it."))
        #expect(try folder.contents("substitutions.json") == Data(map.utf8))
        #expect(!folder.exists("Substitutes"))
    }

    @Test(
        "It uses a folder Substitutes, and makes one beside a folder Resources, which keeps what's in it",
        arguments: ["Substitutes", "Resources"]
    )
    func existingFolder(name: String) async throws {
        try folder.write("x", to: "\(name)/a.txt")
        let run = try await folder.substitute("init")
        #expect(run.status == 0)
        #expect(run.messages.contains("/Substitutes\n"))
        #expect(try folder.contents("\(name)/a.txt") == Data("x".utf8))
        #expect(folder.exists("Substitutes"))
    }

    @Test(
        "If another map beside it has its files elsewhere, it makes no folder that would hide these",
        arguments: ["Resources/", ""]
    )
    func otherMap(place: String) async throws {
        try folder.write("mine", to: "\(place)mine.txt")
        try folder.write(#"{ "https://h.com/mine": "mine.txt" }"#, to: "mine.json")
        try folder.write(#"{ "name": "no map", "main": "a.js" }"#, to: "package.json")
        #expect(try await folder.substitute("init").status == 0)
        #expect(!folder.exists("Substitutes"))
        #expect(try await folder.substitute("check", "--map", "mine.json").status == 0)
    }

    @Test("It makes a map with another name elsewhere, and says how to load it")
    func named() async throws {
        let run = try await folder.substitute("init", "--map", "sub/pages.json", "--resources", "sub/Files")
        #expect(run.status == 0)
        #expect(folder.exists("sub/pages.json") && folder.exists("sub/Files") && !folder.exists("Substitutes"))
        // A bundle's files are in Substitutes or Resources.
        #expect(!["bundle:", ".module", ".copy", "Xcode"].contains(where: run.output.contains), "\(run.output)")
        let options = "--map sub/pages.json --resources sub/Files"
        #expect(run.lines.contains("    \(try Executable.word()) serve \(options)"))
        let (map, files) = (folder.path("sub/pages.json"), folder.path("sub/Files"))
        #expect(
            run.output.contains(
                "(contentsOf: URL(fileURLWithPath: \"\(map)\"), resources: URL(fileURLWithPath: \"\(files)\"))"
            )
        )
        let other = try await folder.substitute("init", "--map", "other/pages.json")
        for line in [
            #"        try LocalSubstitutionCache(bundle: .module, named: "pages", invalidEntries: .skip)"#,
            #"    resources: [.copy("pages.json"), .copy("Substitutes")]"#, #"    @Test(.substituting("pages.json"))"#,
        ] {
            #expect(other.lines.contains(line), "\(line)")
        }
    }

    @Test("It prints one JSON document with --json")
    func json() async throws {
        let record: [String: String] = try await folder.substitute("init", "--json").json()
        #expect(record.keys.sorted() == ["map", "resources"])
        #expect(record["map"]?.hasSuffix("/substitutions.json") == true)
    }

    @Test("It fails if a folder can't be made")
    func blocked() async throws {
        try folder.write("x", to: "Substitutes")
        let run = try await folder.substitute("init")
        #expect(run.status == 1)
        #expect(run.messages.contains("/Substitutes” can't be opened: Not a directory."))
        #expect(!folder.exists("substitutions.json"))
    }
}
