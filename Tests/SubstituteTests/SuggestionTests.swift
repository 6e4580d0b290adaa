import Foundation
import TestSupport
import Testing

#if os(macOS) || os(Linux)
/// Runs the commands that `init` and `add` print, as a shell would where the user is.
@Suite("A suggested command works", .sessions)
struct SuggestionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("hello", to: "a.txt")
        try folder.write(#"{"log":{"version":"1.2","creator":{},"entries":[]}}"#, to: "r.har")
    }

    /// Runs a shell with the command on its `PATH`.
    private func shell(_ line: String, environment: [String: String] = [:]) async throws -> Outcome {
        let path = try "\(Executable.substitute().deletingLastPathComponent().path):/usr/bin:/bin"
        return try await folder.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", line],
            environment: environment.merging(["PATH": path]) { $1 }
        )
    }

    /// The suggested commands in what was printed, with what stands for a URL and a recording replaced.
    private func suggestions(in text: String) -> [String] {
        let lines = text.matches(of: /(?m)^(?: {4}|substitute: try it: .* serve.*, or )(\S.* (?:add|import|get) .*)$/)
        return lines.map { match in
            String(match.1).replacing(/\sURL$/, with: " https://h.example/b a.txt")
                .replacing(/\sFILE\.har$/, with: " r.har")
        }
    }

    static let programs = ["substitute", "'PLACE/my bin/substitute'", "'my bin/substitute'"]

    @Test(
        "It works after init and add, wherever the map is and however the command was started",
        arguments: programs,
        [
            "", "--map m.json", "--map 'My Maps/m.json'", "--map \"it's/m.json\"", "--map ./-m.json",
            "--resources 'My Files'", "--map 'My Maps/m.json' --resources 'My Files'", "--map PLACE/x/m.json",
        ]
    )
    func works(_ program: String, _ options: String) async throws {
        try link(to: "my bin/substitute")
        let place = folder.url.path
        let (program, options) = (program.replacing("PLACE", with: place), options.replacing("PLACE", with: place))
        let made = try await shell("\(program) init \(options)")
        #expect(made.status == 0, "\(made.messages)")
        let next = suggestions(in: made.output)
        #expect(next.count == 2)
        for command in next {
            let run = try await shell(command)
            #expect(run.status == 0, "\(command): \(run.messages)")
            let loads = suggestions(in: run.messages)
            #expect(loads.count == (command.contains(" add ") ? 1 : 0), "\(run.messages)")
            for load in loads {
                let got = try await shell(load)
                #expect(got.output.hasPrefix("matched ← a.txt "), "\(load): \(got.messages)")
            }
        }
    }

    /// Puts the command into a folder, without the files that the build puts next to it.
    private func link(to name: String) throws {
        let copy = folder.url.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: copy.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try FileManager.default.linkItem(at: try folder.copyOfSubstitute(), to: copy)
    }

    @Test("It quotes a URL that a shell would change")
    func url() async throws {
        try folder.writeMap("{}")
        let run = try await folder.substitute("add", "https://h.example/it's?a=1&b=$(touch made)", "a.txt")
        #expect(run.status == 0, "\(run.messages)")
        let load = try #require(suggestions(in: run.messages).first)
        #expect(try await shell(load).output.hasPrefix("matched ← a.txt "), "\(load)")
        #expect(!folder.exists("made"))
    }

    @Test("It isn't printed for a pattern, which can't be loaded")
    func pattern() async throws {
        try folder.writeMap("{}")
        let run = try await folder.substitute("add", "https://h.example/*", "a.txt")
        #expect(run.status == 0)
        #expect(suggestions(in: run.messages).isEmpty)
    }

    @Test("It calls the plugin that writes, if a plugin runs the command")
    func plugin() async throws {
        let environment = ["LOCAL_SUBSTITUTION_PLUGIN": "substitute-edit", "PWD": folder.url.path]
        try folder.write("{}", to: "m.json")
        let run = try await folder.substitute(
            ["add", "https://h.example/a", "a.txt", "--map", "m.json"],
            environment: environment
        )
        // The folder is no package.
        let command = "swift package --package-path \(folder.url.path) substitute-edit"
        let (serve, get) = ("\(command) serve --map m.json", "\(command) get --map m.json https://h.example/a")
        #expect(run.messages.hasSuffix("substitute: try it: \(serve), or \(get)\n"))
    }

    // MARK: A map that isn't there

    @Test("It creates a missing map", arguments: ["", "--map 'My Maps/m.json'"])
    func missing(_ options: String) async throws {
        let run = try await shell("substitute add https://h.example/a a.txt \(options)")
        #expect(run.status == 1)
        let advice = /Create it with (.*), or name another map with --map FILE\./
        let command = try #require(run.messages.firstMatch(of: advice))
        #expect(try await shell(String(command.1)).status == 0)
        #expect(try await shell("substitute add https://h.example/a a.txt \(options)").status == 0)
    }

    @Test(
        "A map in a folder that anyone can write isn't suggested",
        arguments: [("", "Create it with "), ("open", "Use another map: --map mine/substitutions.json.\n")]
    )
    func anyones(_ open: String, _ advice: String) async throws {
        for map in ["mine", "open", "open/sub"] { try folder.write("{}", to: "\(map)/substitutions.json") }
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: folder.path(open))
        let run = try await folder.substitute("check")
        #expect(run.status == 1)
        #expect(run.messages.contains(advice), "\(run.messages)")
    }

    @Test(
        "If there are maps in the folders below, they're suggested instead",
        arguments: [
            (["My Maps/substitutions.json"], "Use another map: --map 'My Maps/substitutions.json'.\n"),
            (["Sources/Shop/substitutions.json"], "Use another map: --map Sources/Shop/substitutions.json.\n"),
            (
                ["Sources/Shop/substitutions.json", "Tests/ShopTests/substitutions.json"],
                "Use another map: --map Sources/Shop/substitutions.json or --map Tests/ShopTests/substitutions.json.\n"
            ),
            (
                (1...200).map { "m/\($0)/substitutions.json" },
                "Use another map, such as --map m/1/substitutions.json, --map m/10/substitutions.json or "
                    + "--map m/100/substitutions.json.\n"
            ),
            ([".build/x/substitutions.json", "a/b/c/substitutions.json"], "Create it with "),
        ]
    )
    func nearby(_ maps: [String], _ advice: String) async throws {
        for map in maps { try folder.write("{}", to: map) }
        for words in [["check"], ["add", "https://h.example/a", "a.txt"]] {
            let run = try await folder.substitute(words)
            #expect(run.status == 1)
            #expect(run.messages.contains("“\(folder.path("substitutions.json"))” doesn't exist. \(advice)"))
        }
    }
}
#endif
