import Foundation
import TestSupport
import Testing

@Suite("What the command prints", .sessions)
struct OutputTests {
    private static let url = "http://nowhere.invalid/a"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.writeMap(#"{ "\#(Self.url)": "a.txt", "http://nowhere.invalid/b": "b.txt" }"#, files: ["a.txt": "x"])
        try folder.writeMap(#"{ "\#(Self.url)": "a.txt" }"#, as: "maps/other.json", files: ["a.txt": "x"])
        try folder.write("x", to: "maps/Resources/a.txt")
        try folder.write("x", to: "Resources/b.txt")
    }

    @Test(
        "Standard error says which map is used if none is named, and standard output only has results",
        arguments: [["get", url], ["explain", url], ["check"]],
        [[], ["--json"]]
    )
    func map(words: [String], options: [String]) async throws {
        let run = try await folder.substitute(words + options)
        #expect(run.status == 0)
        #expect(run.messages == "substitute: map \(folder.path("substitutions.json"))\n")
        #expect(!run.bytes.isEmpty)

        let other = try await folder.substitute(words + options + ["--map", "maps/other.json"])
        #expect(other.status == 0)
        #expect(other.messages.isEmpty, "a map that the command names isn't announced")
    }

    /// The name of a link to the test's folder, and what `PWD` is there.
    @Test(
        "A path is printed as the user's shell names it",
        arguments: [
            ("LINK", "LINK/"), ("LINK/../LINK", "REAL/"), ("/tmp", "REAL/"), ("nothing", "REAL/"), ("", "REAL/"),
        ],
        ["maps/none.json", "./maps/none.json"]
    )
    func path(_ shown: (pwd: String, prefix: String), _ map: String) async throws {
        let link = folder.support.appendingPathComponent("a link", isDirectory: false)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        func path(_ text: String) -> String {
            text.replacing("LINK", with: link.path).replacing("REAL", with: folder.url.resolvingSymlinksInPath().path)
        }
        let run = try await folder.substitute("check", "--map", map, environment: ["PWD": path(shown.pwd)])
        #expect(run.messages.hasPrefix("substitute: The map “\(path(shown.prefix))maps/none.json” doesn't exist."))
    }

    @Test("A path with .. means what it does to the system, also below a symbolic link")
    func pathUpwards() async throws {
        let link = folder.support.appendingPathComponent("link", isDirectory: false)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        let map = "../\(folder.url.lastPathComponent)/substitutions.json"
        let run = try await folder.substitute("check", "--map", map, environment: ["PWD": link.path])
        #expect(run.status == 0, "\(run.messages)")
    }

    @Test("With --json, it's one JSON document", arguments: [["get", url], ["explain", url], ["check"], ["demo"]])
    func json(words: [String]) async throws {
        let run = try await folder.substitute(words + ["--json"])
        #expect(run.status == 0)
        _ = try JSONSerialization.jsonObject(with: run.bytes)
        #expect(!run.output.contains("\\/"), "a URL is readable")
    }

    @Test(
        "It has no escape codes unless it's read on a terminal",
        arguments: [
            ["get", url], ["get", "http://nowhere.invalid/none"], ["explain", url], ["check"],
            ["check", "--map", "none"],
            ["demo"], ["help"], ["gett"],
        ]
    )
    func noEscapes(words: [String]) async throws {
        let run = try await folder.substitute(words, environment: ["TERM": "xterm-256color", "COLORTERM": "truecolor"])
        #expect(!run.output.contains("\u{1B}"))
        #expect(!run.messages.contains("\u{1B}"))
    }

    @Test(
        "It's colored on a terminal, but not with NO_COLOR",
        .enabled(if: Terminal.isThere, "util-linux's script makes the terminal"),
        arguments: [
            ([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false),
        ] as [([String: String], Bool)]
    )
    func color(environment: [String: String], isColored: Bool) async throws {
        let get = try await Terminal.run(folder, ["get", Self.url], environment)
        #expect(get.status == 0)
        #expect(get.output.contains("\u{1B}[32mmatched ← a.txt\u{1B}[0m  200") == isColored)
        #expect(get.output.contains("\u{1B}") == isColored)

        try folder.write("x", to: "Resources/unused.txt")
        let check = try await Terminal.run(folder, ["check"], environment)
        #expect(check.status == 0)
        #expect(check.output.contains("substitutions.json: \u{1B}[33mwarning\u{1B}[0m: ") == isColored)
        #expect(check.output.contains("\u{1B}") == isColored)

        try folder.write("[]", to: "bad.json")
        let bad = try await Terminal.run(folder, ["check", "--map", "bad.json"], environment)
        #expect(bad.status == 1)
        #expect(bad.output.contains("bad.json:1:1: \u{1B}[31merror\u{1B}[0m: ") == isColored)

        let json = try await Terminal.run(folder, ["check", "--json"], environment)
        #expect(!json.output.contains("\u{1B}"))
    }

    private static let fullDevice = "/dev/full"

    @Test(
        "What can't be written is an error",
        .enabled(if: FileManager.default.fileExists(atPath: fullDevice), "only Linux has such a file"),
        arguments: [
            ["completions", "zsh"], ["schema"], ["explain", url], ["explain", "--json", url], ["get", url],
            ["get", "--json", url], ["get", "--output", "-", url], ["check"], ["check", "--json"], ["help"],
            ["get", "--help"], ["--version"], ["demo"], ["import", "--dry-run", "recording.har"],
        ]
    )
    func fullDisk(words: [String]) async throws {
        try folder.write(#"{"log":{"version":"1.2","creator":{},"entries":[]}}"#, to: "recording.har")
        let full = try #require(FileHandle(forWritingAtPath: Self.fullDevice))
        let run = try await folder.substitute(words, output: full)
        #expect(run.status == 1)
        #expect(
            run.messages.hasSuffix(
                "substitute: Standard output can't be written: No space left on device. "
                    + "The output is incomplete. Redirect it to another place.\n"
            ),
            "\(run.messages)"
        )
        #expect(run.messages.components(separatedBy: "can't be written").count == 2, "once")
    }

    @Test("Its reader may go away", arguments: [["help"], ["check"], ["get", "--output", "-", url]])
    func closedPipe(words: [String]) async throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let run = try await folder.substitute(words, output: pipe.fileHandleForWriting)
        #expect(run.hasExited)
        #expect(run.status == 0)
        #expect(!run.messages.contains("NSCocoaErrorDomain"))
    }
}
