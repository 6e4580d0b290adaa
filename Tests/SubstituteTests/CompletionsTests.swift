import Foundation
import TestSupport
import Testing

@testable import substitute

@Suite("substitute completions", .sessions)
struct CompletionsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a b.json", "c.har", "d.txt", "My Files/e.json"] { try folder.write("", to: name) }
    }

    // MARK: In a shell

    /// A command line, and what is suggested at its end.
    struct Line: CustomTestStringConvertible, Sendable {
        let text: String
        let words: [String]

        init(_ text: String, _ words: [String]) {
            self.text = text
            self.words = words
        }

        var testDescription: String { text }
    }

    static let all = ["My Files", "a b.json", "c.har", "d.txt"]

    static let lines = samples + optionLines

    /// A line for each command, with all its options.
    private static let optionLines = Subcommand.all.map { command in
        Line("substitute \(command.name) --", command.allOptions.map { "--\($0.name)" }.sorted())
    }

    private static let samples = [
        Line("substitute ge", ["get"]), Line("substitute i", ["import", "init"]),
        Line("substitute --", ["--help", "--version"]), Line("substitute help c", ["check", "completions"]),
        Line("substitute completions ", ["bash", "fish", "zsh"]), Line("substitute completions f", ["fish"]),
        Line("substitute get --data a= --off", ["--offline"]), Line("substitute get --header X: --off", ["--offline"]),
        Line("substitute add https://h/?q= d", ["d.txt"]), Line("substitute add https://h/a== d", ["d.txt"]),
        Line("substitute get --data a=--off", []), Line("substitute help get --h", ["--help"]),
        Line("substitute check get --re", ["--remote", "--resources"]),
        Line("substitute check --map ", ["My Files", "a b.json"]),
        Line("substitute check --map=", ["My Files", "a b.json"]),
        Line("substitute check --map=a", ["a b.json"]), Line("substitute init --resources ", ["My Files"]),
        Line("substitute init --resources=", ["My Files"]),
        Line("substitute import ", ["My Files", "c.har"]),
        Line("substitute import --into My", ["My Files"]), Line("substitute get --output ", all),
        Line("substitute get --method P", ["PATCH", "POST", "PUT"]), Line("substitute add --map x h", []),
        Line("substitute add https://h.example/ ", all), Line("substitute add --map=x https://h.example/ d", ["d.txt"]),
        Line("substitute add --limit 1M https://h.example/ d.txt a", []),
        Line("substitute add --limit ", []), Line("substitute nonsense a", []),
        Line("substitute get $(touch made) `touch made` $made --off", ["--offline"]),
    ]

    #if os(macOS) || os(Linux)
    @Test(
        "It completes in bash",
        .enabled(if: CompletionRun.isThere(.bash), CompletionRun.skipped(.bash)),
        arguments: lines
    )
    func bash(_ line: Line) async throws {
        #expect(try await CompletionRun.suggestions(of: .bash, for: line.text, in: folder) == line.words)
        #expect(!folder.exists("made"))
    }

    @Test(
        "Names are quoted in a bash that doesn't quote them itself, such as 3.2",
        .enabled(if: CompletionRun.isThere(.bash), CompletionRun.skipped(.bash))
    )
    func quotedNames() async throws {
        try folder.write("", to: "$(touch made).json")
        // Outside readline, `compopt` fails, as it does in bash 3.2.
        let line = "substitute check --map $"
        let names = try await CompletionRun.suggestions(of: .bash, for: line, in: folder, isRaw: true)
        #expect(names == [#"\$\(touch\ made\).json"#])
    }

    @Test(
        "It completes in zsh, which finds the script in fpath or sources it",
        .enabled(if: CompletionRun.isThere(.zsh), CompletionRun.skipped(.zsh)),
        arguments: lines.map { ($0, false) } + lines.prefix(2).map { ($0, true) }
    )
    func zsh(_ line: Line, isSourced: Bool) async throws {
        let words = try await CompletionRun.suggestions(of: .zsh, for: line.text, in: folder, isSourced: isSourced)
        #expect(words == line.words)
        #expect(!folder.exists("made"))
    }

    @Test(
        "It completes in fish",
        .enabled(if: CompletionRun.isThere(.fish), CompletionRun.skipped(.fish)),
        arguments: lines
    )
    func fish(_ line: Line) async throws {
        let words = try await CompletionRun.suggestions(of: .fish, for: line.text, in: folder)
        #expect(words == line.words)
        #expect(!folder.exists("made"))
    }

    @Test(
        "Zsh and fish show descriptions, and options only after a hyphen",
        arguments: [Subcommand.CompletingShell.zsh, .fish].filter(CompletionRun.isThere)
    )
    func descriptions(_ shell: Subcommand.CompletingShell) async throws {
        let suggested = [
            ("substitute ge", "get", "load URLs through URLSession with the cache attached"),
            ("substitute get --rel", "--reload", "ignore local data, as a browser's reload does"),
        ]
        #expect(try await CompletionRun.suggestions(of: shell, for: "substitute check ", in: folder) == [])
        for (line, word, description) in suggested {
            let found = try await CompletionRun.suggestions(of: shell, for: line, in: folder, isRaw: true)
            #expect(found.contains { $0.hasPrefix(word) && $0.hasSuffix(description) }, "\(found)")
        }
    }
    #endif

    // MARK: The script

    private func script(for shell: Subcommand.CompletingShell) async throws -> String {
        let run = try await folder.substitute("completions", shell.rawValue)
        #expect(run.status == 0)
        #expect(run.messages.isEmpty)
        return run.output
    }

    @Test("The command that the scripts run suggests all commands and options, with their descriptions")
    func contents() async throws {
        let commands = try await folder.substitute("__complete", "substitute", "").lines
        for command in Subcommand.all {
            #expect(commands.contains("\(command.name)\t\(command.summary)"))
            let options = try await folder.substitute("__complete", "substitute", command.name, "-").lines
            #expect(options.dropLast() == command.allOptions.map { "--\($0.name)\t\($0.help)" }[...])
        }
        #expect(try await !folder.substitute("help").output.contains("__complete"))
    }

    @Test("The scripts run that command", arguments: shells)
    func command(_ shell: Subcommand.CompletingShell) async throws {
        #expect(try await script(for: shell).contains("substitute __complete "))
    }

    @Test("An option that was given isn't suggested again, unless it may be repeated")
    func givenOptions() {
        let suggestions = Subcommand.suggestions(for: [
            "substitute", "get", "--map=x", "--header", "a: b", "--reload", "--",
        ])
        let names = suggestions.map { $0.prefix { $0 != "\t" } }
        #expect(names.contains("--header") && names.contains("--data"))
        #expect(!names.contains("--map") && !names.contains("--reload"))
    }

    @Test("The script begins with how to install it", arguments: shells)
    func firstLine(_ shell: Subcommand.CompletingShell) async throws {
        var lines = try await script(for: shell).split(separator: "\n")[...]
        // compinit reads the first line.
        if shell == .zsh { #expect(lines.popFirst() == "#compdef substitute") }
        #expect(lines.first?.hasPrefix("# To install: substitute completions \(shell.rawValue) > ~/") == true)
    }

    @Test("The script for bash runs nothing that was typed, since it substitutes no commands")
    func commandSubstitution() async throws {
        #expect(try await !script(for: .bash).contains(/\$\([^(]|`|eval/))
    }

    @Test("The commands in help install the script", arguments: shells)
    func installation(_ shell: Subcommand.CompletingShell) async throws {
        let lines = try await folder.substitute("help", "completions").lines.filter { $0.hasPrefix("    ") }
        let home = folder.support.appendingPathComponent("\(shell.rawValue) home", isDirectory: true)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        let path = try "\(Executable.substitute().deletingLastPathComponent().path):/usr/bin:/bin"
        for line in lines where line.contains("completions \(shell.rawValue)") || line.contains("mkdir -p ~/.config") {
            let run = try await folder.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", line],
                environment: ["HOME": home.path, "PATH": path]
            )
            #expect(run.status == 0, "\(run.messages)")
        }
        let places = [
            Subcommand.CompletingShell.bash: ".substitute.bash", .zsh: ".zfunc/_substitute",
            .fish: ".config/fish/completions/substitute.fish",
        ]
        let file = home.appendingPathComponent(try #require(places[shell]))
        #expect(try String(contentsOf: file, encoding: .utf8) == (try await script(for: shell)))
    }

    private static let shells = Subcommand.CompletingShell.allCases

    @Test("It suggests files and folders for options that take one", arguments: Subcommand.all.map(\.name))
    func files(_ name: String) throws {
        let command = try #require(Subcommand.all.first { $0.name == name })
        let values = command.allOptions.compactMap(\.value) + command.operands
        for value in values where value.placeholder.contains("FILE") || value.placeholder == "DIR" {
            #expect(value.suggestions().first?.hasPrefix("*") == true)
        }
    }
}
