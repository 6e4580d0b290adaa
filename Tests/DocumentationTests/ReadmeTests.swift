import Foundation
import TestSupport
import Testing

@Suite("README and its like")
struct ReadmeTests {
    @Test("the first block has the two commands")
    func commands() throws {
        let block = try #require(Document.readme.blocks(in: "").first)
        let commands = block.lines.map { $0.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces) }
        #expect(commands == ["swift run substitute demo", "swift test"])
        let first = try #require(Document.lines(of: "README.md").firstIndex { $0.hasPrefix("```") })
        #expect(block.place == "README.md:\(first + 1)")
    }

    @Test("each link to a file leads somewhere", arguments: ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
    func links(_ path: String) throws {
        let text = Document.lines(of: path).joined(separator: "\n")
        let targets = text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
        #expect(!targets.isEmpty)
        for target in targets where !target.contains("://") {
            let file = Document.root.appending(path: target.prefix { $0 != "#" })
            #expect(FileManager.default.fileExists(atPath: file.path), "\(target)")
        }
    }

    @Test("no document names the machine that it was written on", arguments: Document.all.map(\.path))
    func paths(_ path: String) {
        let text = Document.lines(of: path).joined(separator: "\n")
        for place in ["/tmp/", "/home/", "/Users/", "/root/"] { #expect(!text.contains(place), "\(place)") }
    }

    #if os(macOS) || os(Linux)
    @Test("each command prints what it says", arguments: Document.all.flatMap(Session.sessions))
    func prints(_ session: Session) throws {
        #expect(try session.run() == session.expected)
    }
    #endif
}

#if os(macOS) || os(Linux)
/// A command line in a `console` block, and what stands below it.
struct Session: Sendable, CustomTestStringConvertible {
    let command: String
    private(set) var lines: [String] = []

    var testDescription: String { command }

    static func sessions(in document: Document) -> [Session] {
        var sessions: [Session] = []
        for line in document.blocks(in: "console").flatMap(\.lines) {
            if line.hasPrefix("$ ") {
                sessions.append(Session(command: String(line.dropFirst(2))))
            } else if !sessions.isEmpty {
                sessions[sessions.count - 1].lines.append(line)
            }
        }
        return sessions
    }

    var expected: String { Self.normalized(lines.joined(separator: "\n")) }

    /// Runs the command as it stands, with the package's root as the current folder. The demo's page goes elsewhere.
    func run() throws -> String {
        let page = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString).html")
        defer { try? FileManager.default.removeItem(at: page) }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command.replacing("demo.html", with: page.path)]
        process.currentDirectoryURL = Document.root
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["PATH": "\(Self.products.path):\(path)"],
            uniquingKeysWith: { $1 }
        )
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Self.normalized(text.replacing(page.path, with: "\(Self.root)/demo.html"))
    }

    private static let root = "/path/to/LocalSubstitutionCache"

    /// Without what differs from run to run: where the package is, ports, times, and so the width of columns.
    static func normalized(_ text: String) -> String {
        let lines = text.replacing(Document.root.path.trimmingSuffix("/"), with: root)
            .replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:PORT").replacing(/\d+\.\d ms/, with: "TIME")
            .replacing(/"milliseconds":[\d.]+/, with: "TIME")
            .replacing(/[ ]+/, with: " ").split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
            .trimmingCharacters(in: .newlines)
    }

    /// Where the build puts executables and the bundle of the tests.
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
