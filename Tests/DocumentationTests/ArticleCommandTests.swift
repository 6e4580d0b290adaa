import Foundation
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if os(macOS) || os(Linux)
@Suite("Commands that the articles show with their output", .sessions, .timeLimit(.minutes(2)))
struct ArticleCommandTests {
    private static let blue = "body { margin: 0; color: blue }\n"

    private let folder: TemporaryFolder
    private let origin: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        origin = try LoopbackServer(routes: [
            "/app.css": .text(Self.blue, type: "text/css; charset=utf-8"), "/motd.txt": .text("Hello\n"),
        ])
    }

    @Test("An edited file answers, and differs from what its URL serves")
    func editedFile() throws {
        let commands = ArticleCommand.commands(in: "MakeAMap")
        try #require(commands.count == 4)
        _ = try Session.output(of: "substitute init", in: folder.url)
        for (index, command) in commands.enumerated() {
            if index == 1 {
                let edited = Self.blue.replacing("blue", with: "red")
                try folder.write("Substitutes/127.0.0.1_\(origin.port)/app.css", edited)
            }
            #expect(try command.run(in: folder, origin) == command.expected)
        }
    }

    @Test("README's edited file is served, without a restart of the server")
    func servedFile() async throws {
        let page = try LoopbackServer(routes: ["/": .text("original", type: "text/html")])
        let block = try #require(Document.readme.blocks(in: "").first { $0.lines.first == "substitute init" })
        try #require(block.lines.count == 3 && block.lines.last == "substitute serve")
        for line in block.lines.dropLast() {
            let command = line.replacing("https://www.example.com/", with: page.baseURL.absoluteString)
            _ = try ServeProcess(String(command.trimmingPrefix("substitute ")), in: folder.url).rest()
        }
        let process = try ServeProcess("serve", in: folder.url)
        let local = try #require(process.line()?.firstMatch(of: /http:\/\/[\d.:]+/)?.output)
        let url = try #require(URL(string: "\(local)/"))
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        for text in ["original", "edited"] {
            if text == "edited" { try folder.write("Substitutes/127.0.0.1_\(page.port)/index.html", text) }
            #expect(try await session.data(from: url).0 == Data(text.utf8))
        }
        #expect(page.requests.count == 1)
    }

    @Test("Files are compared, and replaced")
    func comparison() throws {
        let commands = ArticleCommand.commands(in: "UpdateBundledFiles")
        try #require(commands.count == 2)
        let map = try #require(Document.article("UpdateBundledFiles").blocks(in: "json").first)
        try folder.write("substitutions.json", ArticleCommand.local(map.text + "\n", origin))
        try folder.write("Substitutes/app.css", Self.blue.replacing("blue", with: "gray"))
        try folder.write("Substitutes/motd.txt", "Hello\n")
        try folder.write("Substitutes/old.json", "{}")
        try folder.write("Substitutes/help/index.html", "<h1>Help</h1>")
        for command in commands { #expect(try command.run(in: folder, origin) == command.expected) }
        let replaced = try Data(contentsOf: folder.file("Substitutes/app.css"))
        #expect(replaced == Data(Self.blue.utf8))
    }
}

/// A command for a URL of cdn.example.com, and what the article says that it prints.
private struct ArticleCommand {
    let session: Session

    /// The commands with a prompt in an article's blocks, if one of the block's lines names the host.
    static func commands(in article: String) -> [ArticleCommand] {
        let blocks = Document.article(article).blocks(in: "").filter { $0.text.contains("//\(host)/") }
        return Session.sessions(in: blocks.flatMap(\.lines)).map(ArticleCommand.init)
    }

    var expected: String { session.expected }

    /// Runs the command in a folder, with an origin in place of the host, and returns what it prints about the host.
    func run(in folder: TemporaryFolder, _ origin: LoopbackServer) throws -> String {
        let text = try Session.output(of: Self.local(session.command, origin), in: folder.url)
        let place = "127.0.0.1"
        let remote = text.replacing("\(place):\(origin.port)", with: Self.host)
            .replacing("\(place)_\(origin.port)", with: Self.host)
        return Session.normalized(remote)
    }

    static func local(_ text: String, _ origin: LoopbackServer) -> String {
        text.replacing(host, with: "127.0.0.1:\(origin.port)")
    }

    private static let host = "cdn.example.com"
}
#endif
