import Foundation
import TestSupport
import Testing

@Suite("Maps that can't be used", .sessions)
struct BadMapTests {
    private static let url = "https://h.example/a"
    /// The commands that need a map, with their arguments.
    private static let commands = [["get", url], ["explain", url], ["check"]]

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("A missing map is an error that says how to name one", arguments: commands, [[], ["--json"]])
    func noMap(words: [String], options: [String]) async throws {
        let run = try await folder.substitute(words + options)
        #expect(run.status == 1)
        #expect(run.bytes.isEmpty)
        let beginning = "substitute: The map “\(folder.path("substitutions.json"))” doesn't exist. Create it with "
        #expect(run.messages.hasPrefix(beginning))
        #expect(run.messages.hasSuffix("\(try Executable.word()) init, or name another map with --map FILE.\n"))
    }

    @Test("A server that records without a map needs an origin")
    func noOrigin() async throws {
        let run = try await folder.substitute("serve", "--record", "kept")
        #expect(run.status == 1)
        #expect(run.messages.hasPrefix("substitute: The map “\(folder.path("substitutions.json"))” doesn't exist. "))
        #expect(run.messages.hasSuffix(" Or serve an origin without a map, with --origin URL.\n"))
    }

    struct Map: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        /// The text after the file's name: line, column and message.
        let problem: String

        init(_ name: String, _ bytes: some Sequence<UInt8>, _ problem: String) {
            testDescription = name
            self.bytes = Array(bytes)
            self.problem = problem
        }

        static let all = [
            Map("empty", [], ":1:1: error: The map is empty"),
            Map("white space", " \n ".utf8, ":2:2: error: The map is empty"),
            Map("not JSON", "hello".utf8, ":1:1: error: The map isn't a JSON object. Begin it with {."),
            Map("no colon", "{\n  \"https://h/a\" 1\n}".utf8, ":2:17: error: The map needs a colon after the key"),
            Map("truncated", "{\n  \"https://h.example/a\": \"a.t".utf8, ":2:30: error: The map ends inside a string"),
            Map("truncated after a value", "{ \"é\": null".utf8, ":1:12: error: The map needs a comma or } here"),
            Map("an array", "[1]".utf8, ":1:1: error: The map isn't a JSON object"),
            Map(
                "UTF-16",
                [0xFF, 0xFE] + "{}".utf16.flatMap { [UInt8($0 & 255), 0] },
                ":1:1: error: The map is UTF-16"
            ),
            Map("UTF-16, big end first", [0, 0x7B, 0, 0x7D], ":1:1: error: The map is UTF-16"),
            Map(
                "an HTTP archive",
                #"{ "log": { "version": "1.2", "entries": [] } }"#.utf8,
                ":1: error: “log”: The map is an HTTP archive. Import it into a map with `substitute import FILE`.\n"
            ),
            Map("something after it", "{}\n{}".utf8, ":2:1: error: The map has text after its end"),
            Map(
                "deep",
                "{\"a\":".utf8 + [UInt8](repeating: 0x5B, count: 1_000),
                ":1:78: error: The map is nested more"
            ),
        ]
    }

    @Test("The error names file, line and column", arguments: Map.all, commands + [["demo"]])
    func badMap(map: Map, words: [String]) async throws {
        try folder.write(Data(map.bytes), to: "map.json")
        try folder.write("hello", to: "Resources/a.txt")
        let run = try await folder.substitute(words + ["--map", "map.json"])
        #expect(run.hasExited)
        #expect(run.status == 1)
        // For `check` it's a result, for the others a message.
        let isCheck = words == ["check"]
        #expect((isCheck ? run.output : run.messages).contains("map.json\(map.problem)"))
        #expect(isCheck || run.bytes.isEmpty)
    }

    @Test("A map that is named but doesn't exist is an error with its whole path", arguments: commands + [["serve"]])
    func missing(words: [String]) async throws {
        let run = try await folder.substitute(words + ["--map", "maps/none.json"])
        #expect(run.status == 1)
        #expect(run.bytes.isEmpty)
        let beginning = "substitute: The map “\(folder.path("maps/none.json"))” doesn't exist. Create it with "
        #expect(run.messages.hasPrefix(beginning))
        let advice = "\(try Executable.word()) init --map maps/none.json, or name another map with --map FILE.\n"
        #expect(run.messages.hasSuffix(advice))
    }

    @Test(
        "100 MB of [ neither crash nor take long",
        .timeLimit(.minutes(5)),
        arguments: [
            ("", ":1:1: error: The map isn't a JSON object"), ("{\"a\":", ":1:78: error: The map is nested more"),
        ]
    )
    func hundredMegabytes(beginning: String, problem: String) async throws {
        try folder.write(Data(beginning.utf8) + Data(repeating: UInt8(ascii: "["), count: 100_000_000), to: "map.json")
        let run = try await folder.substitute("check", "--map", "map.json")
        #expect(run.hasExited)
        #expect(run.status == 1)
        #expect(run.output.hasPrefix("map.json\(problem)"))
    }

    @Test("A map that isn't a file is refused immediately", arguments: ["a folder", "a named pipe"])
    func noFile(kind: String) async throws {
        if kind == "a folder" {
            try FileManager.default.createDirectory(atPath: folder.path("map.json"), withIntermediateDirectories: true)
        } else {
            try #require(mkfifo(folder.path("map.json"), 0o600) == 0)
        }
        let run = try await folder.substitute("explain", Self.url, "--map", "map.json")
        #expect(run.hasExited)
        #expect(run.status == 1)
        #expect(run.messages.contains("map.json” is \(kind), not a regular file"))
    }

    @Test("If the map's files are in neither folder, the error says where they belong")
    func noResources() async throws {
        try folder.write(#"{ "https://h.example/a": "a.txt" }"#, to: "substitutions.json")
        let run = try await folder.substitute("get", Self.url)
        #expect(run.status == 1)
        #expect(run.bytes.isEmpty)
        // Without a folder “Substitutes” or “Resources”, the map's own folder is its resources folder.
        #expect(run.messages.contains("The file “a.txt” doesn't exist. Add it to “\(folder.url.path)”"))

        let named = try await folder.substitute("get", Self.url, "--resources", "nowhere")
        #expect(named.status == 1)
        #expect(named.messages.contains("/nowhere” doesn't exist"))
    }

    @Test("The map works once its files are found with --resources")
    func otherResources() async throws {
        try folder.write(#"{ "https://h.example/a": "a.txt" }"#, to: "substitutions.json")
        try folder.write("hello", to: "elsewhere/a.txt")
        let run = try await folder.substitute("get", Self.url, "--resources", "elsewhere", "--output", "-")
        #expect(run.status == 0)
        #expect(run.output == "hello")
    }

    @Test("An error in the entries lists every problem", arguments: [["get", url], ["explain", url]])
    func problems(words: [String]) async throws {
        try folder.writeMap(
            """
            {
              "https://h.example/a": "a.txt",
              "htp://x": "a.txt",
              "https://h.example/b": "../b"
            }
            """,
            files: ["a.txt": "hello"]
        )
        let run = try await folder.substitute(words)
        #expect(run.status == 1)
        #expect(run.bytes.isEmpty)
        #expect(run.messages.contains("\nsubstitute: The map has problems:\nsubstitutions.json:3: error: “htp://x”: "))
        #expect(run.messages.contains("\nsubstitutions.json:4: error: “https://h.example/b”: The file “../b” "))
    }
}
