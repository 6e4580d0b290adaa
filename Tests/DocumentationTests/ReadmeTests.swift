import Foundation
import TestSupport
import Testing

@Suite("README and similar documents", .sessions)
struct ReadmeTests {
    @Test("The block under its heading has the two commands, and nothing else")
    func commands() throws {
        let lines = Document.lines(of: "README.md").drop { $0 != "## Try it" }
        let first = try #require(lines.firstIndex { $0.hasPrefix("```") })
        let block = try #require(Document.readme.blocks(in: "").first { $0.place == "README.md:\(first + 1)" })
        let commands = block.lines.map { $0.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces) }
        #expect(commands == ["swift run substitute demo", "swift test"])
    }

    @Test(
        "Every link to a file or a section leads to one",
        arguments: ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "WhatFoundationDoes.md"]
    )
    func links(_ path: String) throws {
        let text = Document.lines(of: path).joined(separator: "\n")
        let targets = text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
        #expect(!targets.isEmpty)
        for target in targets where !target.contains("://") {
            let file = target.hasPrefix("#") ? path : String(target.prefix { $0 != "#" })
            #expect(FileManager.default.fileExists(atPath: Document.root.appending(path: file).path), "\(target)")
            guard let fragment = target.split(separator: "#", omittingEmptySubsequences: false).dropFirst().first
            else { continue }
            #expect(Document.fragments(of: file).contains(String(fragment)), "\(target)")
        }
    }

    @Test(
        "Each article links to the same sections on GitHub and in DocC",
        arguments: Document.articles.map(ArticleLinks.init)
    )
    func links(_ article: ArticleLinks) throws {
        #expect(article.onGitHub.map(\.label) == article.inDocC.map(\.label))
        for (onGitHub, inDocC) in zip(article.onGitHub, article.inDocC) {
            let target = ArticleLinks.targetOnGitHub(of: inDocC.target)
            if onGitHub.target.hasPrefix("../") {
                #expect(article.text(ofSection: target).contains("*\(onGitHub.label)*"), "\(onGitHub.label)")
            } else {
                #expect(onGitHub.target == target)
            }
        }
        for link in article.onGitHub { #expect(article.leadsToSection(link), "\(link.label)") }
        #expect(article.used == Set(article.onGitHub.map(\.label)))
        let text = article.text
        #expect(!text.contains("<doc:"))
        #expect(!text.contains(/\]\([A-Za-z]+\.md/))
    }

    @Test("No document names the machine it was written on", arguments: Document.all.map(\.path))
    func paths(_ path: String) {
        let text = Document.lines(of: path).joined(separator: "\n")
        for place in ["/tmp/", "/home/", "/Users/", "/root/"] { #expect(!text.contains(place), "\(place)") }
    }

    #if os(macOS) || os(Linux)
    @Test("Every command prints what the document shows", arguments: Document.all.flatMap(Session.sessions))
    func prints(_ session: Session) throws {
        #expect(try session.run() == session.expected)
    }

    @Test(
        "each command has a name and options that the command's help lists",
        arguments: Document.all.flatMap(CommandExample.all)
    )
    func isInHelp(_ example: CommandExample) throws {
        let help = try Self.help.get()
        #expect(help[""]?.contains("\n\(example.subcommand) ") == true)
        for option in example.options {
            #expect(help[example.subcommand]?.contains("\n\(option) ") == true, "\(option)")
        }
    }

    /// The command's overview, and the help of each subcommand that is named.
    private static let help = Result {
        let names = Set(Document.all.flatMap(CommandExample.all).map(\.subcommand) + [""])
        let texts = try names.map { ($0, try Session(command: "substitute help \($0)").run()) }
        return Dictionary(uniqueKeysWithValues: texts)
    }
    #endif
}

/// The definitions of an article's links: those for GitHub come first, hidden from DocC, and those for DocC come last.
///
/// DocC can't link to an article of another library. There, such a link leads to a section of this library that names the article.
struct ArticleLinks: Sendable, CustomTestStringConvertible {
    typealias Link = (label: String, target: String)

    let path: String
    let onGitHub: [Link]
    let inDocC: [Link]

    /// The prose, without code and definitions, in one line.
    let text: String

    var testDescription: String { path }

    init(_ article: Document) {
        path = article.path
        let definitions = Document.definitions(in: article.path)
        onGitHub = definitions.filter { $0.target.contains(".md") }
        inDocC = definitions.filter { $0.target.hasPrefix("doc:") }
        let prose = Document.prose(of: article.path).filter { $0.wholeMatch(of: /\[[^\]]+\]: \S+/) == nil }
        text = prose.joined(separator: " ").replacing(/`+[^`]+`+/, with: "")
    }

    /// The labels that the prose uses, as `[label]` or `[text][label]`, except those of pictures.
    var used: Set<String> {
        let links = text.replacing(/!\[[^\]]*\]\[[^\]]+\]/, with: "").matches(of: /\[([^\]]+)\](?:\[([^\]]+)\])?(?!\()/)
        return Set(links.map { String($0.2 ?? $0.1) })
    }

    func leadsToSection(_ link: Link) -> Bool { !text(ofSection: link.target).isEmpty }

    /// Returns a section's prose, from its heading to the next one, or a whole article's if the target has no fragment.
    func text(ofSection target: String) -> String {
        let parts = target.split(separator: "#").map(String.init)
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        let lines = Document.prose(of: "\(folder)/\(parts[0])")
        guard parts.count > 1 else { return lines.joined(separator: " ") }
        let isHeading = { (line: String) in line.hasPrefix("#") }
        let section = lines.drop { !isHeading($0) || Document.fragment(ofHeading: $0) != parts[1] }
        return (section.prefix(1) + section.dropFirst().prefix { !isHeading($0) }).joined(separator: " ")
    }

    /// Returns `Article.md#a-section` for `doc:Article#A-section`.
    static func targetOnGitHub(of target: String) -> String {
        let parts = target.dropFirst("doc:".count).split(separator: "#")
        return "\(parts[0]).md" + parts.dropFirst().map { "#\($0.lowercased())" }.joined()
    }
}

#if os(macOS) || os(Linux)
/// A line of a block of code that runs the command.
struct CommandExample: Sendable, CustomTestStringConvertible {
    let line: String
    let subcommand: String
    let options: [String]

    var testDescription: String { line }

    static func all(in document: Document) -> [CommandExample] {
        let lines = ["", "console"].flatMap { document.blocks(in: $0).flatMap(\.lines) }
        return lines.compactMap { line in
            let command = line.prefix { $0 != "#" }.trimmingPrefix("$ ").trimmingPrefix("swift run ").trimmingPrefix(
                "-q "
            )
            let words = command.split(separator: " ").map(String.init)
            guard words.count > 1, words[0] == "substitute" else { return nil }
            return CommandExample(
                line: line,
                subcommand: words[1],
                options: words.dropFirst(2).filter { $0.hasPrefix("--") }
            )
        }
    }
}

/// A command line in a `console` block, and the text below it.
struct Session: Sendable, CustomTestStringConvertible {
    let command: String
    private(set) var lines: [String] = []

    var testDescription: String { command }

    static func sessions(in document: Document) -> [Session] {
        sessions(in: document.blocks(in: "console").flatMap(\.lines))
    }

    /// The lines that begin with a prompt, each with the lines up to the next one.
    static func sessions(in lines: [String]) -> [Session] {
        var sessions: [Session] = []
        for line in lines {
            if line.hasPrefix("$ ") {
                sessions.append(Session(command: String(line.dropFirst(2))))
            } else if !sessions.isEmpty {
                sessions[sessions.count - 1].lines.append(line)
            }
        }
        return sessions
    }

    var expected: String { Self.normalized(lines.joined(separator: "\n")) }

    /// Runs the command with the package's root as the current folder.
    func run() throws -> String { Self.normalized(try Self.output(of: command, in: Document.root)) }

    /// Runs a command line in a folder, and returns what it prints.
    static func output(of command: String, in folder: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = folder
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["PATH": "\(products.path):\(path)"],
            uniquingKeysWith: { $1 }
        )
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }

    private static let root = "/path/to/LocalSubstitutionCache"

    /// Removes what differs from run to run: the package's path, ports, times, and so the width of columns.
    static func normalized(_ text: String) -> String {
        let lines = text.replacing(Document.root.path.trimmingSuffix("/"), with: root)
            .replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:PORT").replacing(/\d+\.\d ms/, with: "TIME")
            .replacing(/"milliseconds":[\d.]+/, with: "TIME")
            .replacing(/[ ]+/, with: " ").split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
            .trimmingCharacters(in: .newlines)
    }

    /// The folder where the build puts executables and the tests' bundle.
    static let products =
        Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
        ?? Bundle.main.bundleURL
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
#endif
