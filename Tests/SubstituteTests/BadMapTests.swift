import Foundation
import Testing

@Suite("A map that can't be used", .serialized)
struct BadMapTests {
    private static let url = "https://h.example/a"
    /// What the commands that need a map are called with.
    private static let commands = [["get", url], ["explain", url], ["check"]]

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("because there is none is an error that says how to name one", arguments: commands, [[], ["--json"]])
    func noMap(words: [String], options: [String]) async throws {
        let run = try await folder.substitute(words + options)
        #expect(run.status == 1)
        #expect(run.bytes.isEmpty)
        #expect(
            run.messages
                == "substitute: \(folder.path("substitutions.json")) doesn't exist. Make a map with substitute init, "
                + "or name one with --map FILE.\n"
        )
    }

    struct Map: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]?
        /// What follows the file's name: line, column and message.
        let problem: String

        init(_ name: String, _ bytes: some Sequence<UInt8>, _ problem: String) {
            testDescription = name
            self.bytes = Array(bytes)
            self.problem = problem
        }

        private init(missing problem: String) {
            testDescription = "missing"
            bytes = nil
            self.problem = problem
        }

        static let missing = Map(missing: ": error: the map “")

        static let all = [
            missing,
            Map("empty", [], ":1:1: error: the map is empty"),
            Map("white space", " \n ".utf8, ":2:2: error: the map is empty"),
            Map("not JSON", "hello".utf8, ":1:1: error: the map is not a JSON object: it must begin with {"),
            Map("no colon", "{\n  \"https://h/a\" 1\n}".utf8, ":2:17: error: the map needs a colon after the key"),
            Map("truncated", "{\n  \"https://h.example/a\": \"a.t".utf8, ":2:30: error: the map ends inside a string"),
            Map("truncated after a value", "{ \"é\": null".utf8, ":1:12: error: the map needs a comma or } here"),
            Map("an array", "[1]".utf8, ":1:1: error: the map is not a JSON object"),
            Map(
                "UTF-16",
                [0xFF, 0xFE] + "{}".utf16.flatMap { [UInt8($0 & 255), 0] },
                ":1:1: error: the map is UTF-16"
            ),
            Map("UTF-16, big end first", [0, 0x7B, 0, 0x7D], ":1:1: error: the map is UTF-16"),
            Map("something after it", "{}\n{}".utf8, ":2:1: error: the map has something after its closing }"),
            Map(
                "deep",
                "{\"a\":".utf8 + [UInt8](repeating: 0x5B, count: 1_000),
                ":1:78: error: the map is nested more"
            ),
        ]
    }

    @Test("is an error that names file, line and column", arguments: Map.all, commands + [["demo"]])
    func badMap(map: Map, words: [String]) async throws {
        if let bytes = map.bytes { try folder.write(Data(bytes), to: "map.json") }
        try folder.write("hello", to: "Resources/a.txt")
        let run = try await folder.substitute(words + ["--map", "map.json"])
        #expect(run.hasExited)
        #expect(run.status == 1)
        // To `check` it is a result, to the others a message.
        let isCheck = words == ["check"]
        #expect((isCheck ? run.output : run.messages).contains("map.json\(map.problem)"))
        #expect(isCheck || run.bytes.isEmpty)
    }

    @Test("because it does not exist is named with its whole path")
    func missing() async throws {
        let run = try await folder.substitute("explain", Self.url, "--map", "maps/none.json")
        #expect(run.messages.contains("/work/maps/none.json” does not exist: name an existing one"))
    }

    @Test(
        "of 100 MB of [ neither crashes nor takes long",
        .timeLimit(.minutes(5)),
        arguments: [
            ("", ":1:1: error: the map is not a JSON object"), ("{\"a\":", ":1:78: error: the map is nested more"),
        ]
    )
    func hundredMegabytes(beginning: String, problem: String) async throws {
        try folder.write(Data(beginning.utf8) + Data(repeating: UInt8(ascii: "["), count: 100_000_000), to: "map.json")
        let run = try await folder.substitute("check", "--map", "map.json")
        #expect(run.hasExited)
        #expect(run.status == 1)
        #expect(run.output.hasPrefix("map.json\(problem)"))
    }

    @Test("because it is no file is refused at once", arguments: ["a folder", "a named pipe"])
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

    @Test("because its files are in neither folder is an error that says where they belong")
    func noResources() async throws {
        try folder.write(#"{ "https://h.example/a": "a.txt" }"#, to: "substitutions.json")
        let run = try await folder.substitute("get", Self.url)
        #expect(run.status == 1)
        #expect(run.bytes.isEmpty)
        // Without a folder “Resources”, the map's own is its resources folder.
        #expect(run.messages.contains("the file “a.txt” does not exist: add it to “\(folder.url.path)”"))

        let named = try await folder.substitute("get", Self.url, "--resources", "nowhere")
        #expect(named.status == 1)
        #expect(named.messages.contains("/nowhere” does not exist"))
    }

    @Test("works once its files are found by --resources")
    func otherResources() async throws {
        try folder.write(#"{ "https://h.example/a": "a.txt" }"#, to: "substitutions.json")
        try folder.write("hello", to: "elsewhere/a.txt")
        let run = try await folder.substitute("get", Self.url, "--resources", "elsewhere", "--output", "-")
        #expect(run.status == 0)
        #expect(run.output == "hello")
    }

    @Test("because of its entries is an error that lists every problem", arguments: [["get", url], ["explain", url]])
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
        #expect(run.messages.contains("\nsubstitute: the map has problems:\nsubstitutions.json:3: error: “htp://x”: "))
        #expect(run.messages.contains("\nsubstitutions.json:4: error: “https://h.example/b”: the file “../b” "))
    }
}
