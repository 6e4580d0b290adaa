import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@Suite("The version of a map, in commands", .sessions)
struct MapVersionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let problem =
        "substitutions.json:3: error: “$version”: This map needs version 1.1 or later; this is 1.0. "
        + "Update the package LocalSubstitutionCache."

    /// Writes a map with a field that only a newer version has.
    private func writeNewerMap() throws -> String {
        let map = """
            {
              "https://h.com/a": { "file": "a.txt", "newField": 1 },
              "$version": "1.1",
              "https://h.com/b": "a.txt"
            }
            """
        try folder.writeMap(map, files: ["a.txt": "a", "unused.txt": "unused"])
        return map
    }

    @Test("Commands keep the version when they write a map")
    func keepsVersion() async throws {
        try folder.writeMap("{\n  \"$version\": \"1.0\",\n  \"https://h.com/b\": \"b.txt\"\n}", files: ["b.txt": "b"])
        try folder.write("a", to: "a.txt")
        #expect(try await folder.substitute("add", "https://h.com/a", "a.txt").status == 0)
        try folder.write(ImportTests.archive([ImportTests.entry("https://h.com/c", text: "c")]), to: "c.har")
        #expect(try await folder.substitute("import", "c.har").status == 0)
        let map = String(decoding: try folder.contents("substitutions.json"), as: UTF8.self)
        #expect(map.hasPrefix("{\n  \"$version\": \"1.0\",\n  \"https://h.com/"))
        #expect(map.contains("/a\"") && map.contains("/b\"") && map.contains("/c\""))
    }

    @Test(
        "Commands don't write into a map that needs a newer version",
        arguments: [["add", "https://h.com/c", "c.txt"], ["import", "c.har"]]
    )
    func refusesToWrite(words: [String]) async throws {
        let map = try writeNewerMap()
        try folder.write("c", to: "c.txt")
        try folder.write(ImportTests.archive([ImportTests.entry("https://h.com/c", text: "c")]), to: "c.har")
        let run = try await folder.substitute(words)
        #expect(run.status == 1)
        #expect(run.messages.contains(Self.problem) && !run.messages.contains("newField"))
        #expect(try folder.contents("substitutions.json") == Data(map.utf8))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("Resources"))
        #expect(files.sorted() == ["a.txt", "unused.txt"])
    }

    @Test("get and serve don't record into a folder whose map needs a newer version", arguments: ["get", "serve"])
    func refusesToRecord(command: String) async throws {
        let map = #"{ "$version": "1.1" }"#
        try folder.write(map, to: "kept/substitutions.json")
        let words = command == "get" ? ["https://h.invalid/"] : ["--origin", "https://h.invalid"]
        let run = try await folder.substitute([command, "--record", "kept"] + words)
        #expect(run.status == 1)
        #expect(run.messages.contains("This map needs version 1.1 or later; this is 1.0."))
        #expect(try folder.contents("kept/substitutions.json") == Data(map.utf8))
    }

    @Test("check reports only the version")
    func check() async throws {
        _ = try writeNewerMap()
        let run = try await folder.substitute("check")
        #expect(run.status == 1)
        #expect(run.output == "\(Self.problem)\n1 entry in use, 1 error, 0 warnings\n")
    }

    @Test("check --remote --update replaces no file of such a map, and says why", arguments: [false, true])
    func refusesToUpdate(isNewer: Bool) async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("new")])
        let version = isNewer ? "1.1" : "1.0"
        let map = "{ \"$version\": \"\(version)\", \"\(origin.url("/a").absoluteString)\": \"a.txt\" }"
        try folder.writeMap(map, files: ["a.txt": "old"])
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == (isNewer ? 1 : 0))
        #expect(try folder.contents("Resources/a.txt") == Data((isNewer ? "old" : "new").utf8))
        let reason = "The file wasn't replaced. This map needs version 1.1 or later; this is 1.0. Update"
        #expect(run.output.contains(reason) == isNewer)
    }
}
