import Foundation
import TestSupport
import Testing

@Suite("The command's help", .sessions)
struct HelpTests {
    static let commands = [
        "init", "add", "import", "get", "serve", "explain", "check", "schema", "completions", "demo", "help",
    ]

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("It's an overview of all commands", arguments: [["help"], ["--help"], ["-h"]])
    func overview(words: [String]) async throws {
        let run = try await folder.substitute(words)
        #expect(run.status == 0)
        #expect(run.messages.isEmpty)
        #expect(run.output.hasPrefix("Usage: substitute COMMAND"))
        for command in [
            "swift build -c release --product substitute", "swift package experimental-install --product substitute",
        ] {
            #expect(run.output.replacing(/\s+/, with: " ").contains(command))
        }
        #expect(run.output.contains("\nExit status:\n  0   success\n"))
        #expect(run.output.hasSuffix("\n  75  check --remote couldn't reach some URLs\n"))
        for command in Self.commands {
            #expect(run.lines.contains { $0.hasPrefix("  \(command) ") }, "\(command) is missing")
        }
    }

    @Test("A command's help is the same however it's requested, and needs no map", arguments: commands)
    func help(command: String) async throws {
        let texts = [
            try await folder.substitute("help", command), try await folder.substitute(command, "--help"),
            try await folder.substitute(command, "-h"), try await folder.substitute(command, "operand", "--help"),
        ]
        #expect(texts.allSatisfy { $0.status == 0 && $0.messages.isEmpty })
        #expect(Set(texts.map(\.output)).count == 1)
        #expect(texts[0].output.hasPrefix("Usage: substitute \(command) [options]"))
    }

    @Test(
        "A command's help lists each of its options once",
        arguments: [
            ("init", []), ("add", ["force", "limit"]),
            ("import", ["dry-run", "force", "into", "last", "match", "max-size", "methods", "status", "type"]),
            (
                "get",
                [
                    "cache-only", "data", "header", "limit", "method", "offline", "output", "range", "record", "reload",
                ]
            ),
            ("explain", ["data", "header", "method", "range", "reload"]),
            ("check", ["attached", "limit", "remote", "update"]), ("schema", ["json"]), ("completions", []),
            ("serve", ["offline", "origin", "port", "record"]), ("demo", ["output"]),
            ("help", []),
        ]
    )
    func options(command: String, own: [String]) async throws {
        let text = try await folder.substitute("help", command).output
        let listed = text.matches(of: /(?m)^  --([a-z-]+)/).map { String($0.1) }
        let common = ["schema", "completions", "help"].contains(command) ? [] : ["map", "resources", "json"]
        #expect(listed.sorted() == (own + common + ["help"]).sorted())
    }

    @Test("It says which map a command works on if none is named")
    func defaultMap() async throws {
        let lines = try await folder.substitute("help", "check").lines
        #expect(lines.contains { $0.hasPrefix("  --map FILE ") && $0.hasSuffix("(default: ./substitutions.json)") })
        let ofDemo = try await folder.substitute("help", "demo").lines
        #expect(ofDemo.contains { $0.hasPrefix("  --map FILE ") && $0.hasSuffix("(default: the demo's own)") })
        let ofImport = try await folder.substitute("help", "import").lines
        #expect(ofImport.contains { $0.hasPrefix("  --map FILE ") && !$0.contains("./substitutions.json") })
    }

    @Test(
        "It fits into 80 columns, without white space at the end of a line",
        arguments: [["help"]] + commands.map { ["help", $0] }
    )
    func width(words: [String]) async throws {
        let run = try await folder.substitute(words)
        #expect(run.output.hasSuffix("\n") && !run.output.hasSuffix("\n\n"))
        for line in run.lines {
            #expect(line.count <= 80)
            #expect(line.last?.isWhitespace != true, "“\(line)”")
        }
    }

    @Test("Without a command, the overview is printed on standard error, as wrong usage")
    func noCommand() async throws {
        let run = try await folder.substitute([])
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        #expect(run.messages == (try await folder.substitute("help").output))
    }

    @Test("There's a version", arguments: ["--version", "-version", "-V", "-v", "version"], [[], ["--json"]])
    func version(word: String, options: [String]) async throws {
        let run = try await folder.substitute([word] + options)
        #expect(run.status == 0)
        #expect(run.messages.isEmpty)
        #expect(run.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    }
}
