import Foundation
import LocalSubstitution
import LocalSubstitutionServer
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The article on web views and browsers", .sessions, .timeLimit(.minutes(2)))
struct ServerTests {
    fileprivate static let article = Document.article("ShowASite")

    private let site: ExampleSite

    init() throws { site = try ExampleSite() }

    @Test("A local URL has the page's path and query, and the page's references lead to the other port")
    func page() async throws {
        let page = try #require(URL(string: "https://www.example.com/help?topic=3"))
        let server = try SubstitutionServer(cache: LocalSubstitutionCache(contentsOf: site.mapFile))
        let local = try server.url(for: page)
        #expect(local.absoluteString == "http://127.0.0.1:\(local.port ?? 0)/help?topic=3")
        let style = try server.url(for: #require(URL(string: "https://cdn.example.com/app.css")))
        #expect(try await text(of: local).contains("href=\"\(style.absoluteString)\""))
        #expect(try await text(of: style).contains("serif"))
    }

    #if !canImport(WebKit)
    @Test("A web view loads its page and the page's style sheet from the app's bundle")
    @MainActor
    func webView() async throws {
        let webView = WKWebView()
        let page = try #require(URL(string: "https://www.example.com/help?topic=3"))
        let server = try show(page, in: webView, from: #require(Bundle(url: site.folder)))
        let help = try await text(of: #require(webView.url))
        let style = try #require(help.firstMatch(of: /http:\/\/[\d.:]+\/app\.css/)?.output)
        #expect(try await text(of: #require(URL(string: String(style)))).contains("serif"))
        server.stop()
    }
    #endif

    @Test("Pages on a port that the app chose have the same URLs after a restart")
    func restart() async throws {
        let free = try LoopbackServer(routes: [:])
        free.stop()
        let pages = try pages(of: LocalSubstitutionCache(contentsOf: site.mapFile), on: free.port)
        let page = try #require(URL(string: "https://www.example.com/help"))
        let local = try pages.url(for: page)
        #expect(local.port == Int(free.port))
        for _ in 0..<2 {
            #expect(try await text(of: local).contains("<h1>Help</h1>"))
            try pages.restart()
        }
        #expect(try pages.url(for: page) == local)
    }

    #if os(macOS) || os(Linux)
    @Test("substitute serve prints what the article shows", arguments: ["serve --offline", "serve --offline --json"])
    func prints(_ command: String) async throws {
        let block = try #require(Self.article.blocks(in: "").first { $0.lines.first == "$ substitute \(command)" })
        let process = try ServeProcess(command, in: site.folder)
        // The ports of the two origins, and then a line for each request.
        let ports = [try #require(process.line()), try #require(process.line())]
        var lines = ports
        for expected in block.lines.dropFirst(3) {
            let match = try #require(expected.firstMatch(of: /https:\/\/[a-z.]+\/[^\s",:]+/))
            let url = try #require(URL(string: String(match.output)))
            let port = try #require(ports.first { $0.contains(url.host ?? "") })
            let local = try #require(port.firstMatch(of: /http:\/\/[\d.:]+/)?.output)
            _ = try await text(of: #require(URL(string: local + url.path)))
            lines.append(try #require(process.line()))
        }
        #expect(lines.map(Session.normalized) == block.lines.dropFirst().map(Session.normalized))
    }

    @Test("A site that the article's commands have recorded is shown without its origins")
    func recording() async throws {
        let cdn = try LoopbackServer(routes: ["/app.css": .text("h1 { color: red }", type: "text/css")])
        let head = "<link rel=\"stylesheet\" href=\"\(cdn.url("app.css"))\">"
        let www = try LoopbackServer(routes: ["/": .text("\(head)<h1>Help</h1>", type: "text/html")])
        let lines = Self.article.blocks(in: "").flatMap(\.lines)
        let serving = lines.filter { $0.hasPrefix("substitute serve ") && $0.contains(" Site") }
        let commands = serving.prefix(2).map { line in
            line.replacing("https://www.example.com", with: "http://127.0.0.1:\(www.port)")
                .replacing("https://cdn.example.com", with: "http://127.0.0.1:\(cdn.port)")
                .replacing(" --port 8080", with: "").dropFirst("substitute ".count)
        }
        try #require(commands.count == 2)
        let folder = try TemporaryFolder()
        for command in commands {
            let process = try ServeProcess(String(command), in: folder.url)
            let local = try #require(process.line()?.firstMatch(of: /http:\/\/[\d.:]+/)?.output)
            let page = try await text(of: #require(URL(string: "\(local)/")))
            let style = try #require(page.firstMatch(of: /http:\/\/[\d.:]+\/app\.css/)?.output)
            #expect(page.hasSuffix("<h1>Help</h1>") && style != cdn.url("app.css").absoluteString)
            #expect(try await text(of: #require(URL(string: String(style)))) == "h1 { color: red }")
            process.interrupt()
            _ = process.rest()
            for origin in [www, cdn] { origin.stop() }
        }
    }

    @Test("A script that names another origin loads from the recording, once the script is edited")
    func script() async throws {
        let api = try LoopbackServer(routes: ["/x": .text("{}", type: "application/json")])
        let script = "fetch(\"\(api.url("x"))\")"
        let www = try LoopbackServer(routes: ["/app.js": .text(script, type: "text/javascript")])
        let (page, data) = ("http://127.0.0.1:\(www.port)", "http://127.0.0.1:\(api.port)")
        let blocks = Self.article.blocks(in: "")
        let block = try #require(blocks.first { $0.text.hasPrefix("substitute get --record Site ") })
        let commands = block.lines.map { line in
            String(line.dropFirst("substitute ".count)).replacing("https://api.example.com", with: data)
                .replacing(" --port 8080", with: "")
        }
        try #require(commands.count == 2)
        let folder = try TemporaryFolder()
        let visit = try ServeProcess("serve --record Site --origin \(page)", in: folder.url)
        let visited = try #require(visit.line()?.firstMatch(of: /http:\/\/[\d.:]+/)?.output)
        #expect(try await text(of: #require(URL(string: "\(visited)/app.js"))) == script)
        visit.interrupt()
        _ = visit.rest()
        _ = try ServeProcess(commands[0], in: folder.url).rest()
        for origin in [www, api] { origin.stop() }

        let process = try ServeProcess(commands[1], in: folder.url)
        let ports = try [process.line(), process.line()].map { try #require($0) }
        let local = try [page, data].map { origin in
            let line = try #require(ports.first { $0.hasSuffix("  \(origin)") })
            return String(line.prefix { $0 != " " })
        }
        let edited = script.replacing(data, with: local[1])
        try folder.write("Site/Substitutes/127.0.0.1_\(www.port)/app.js", edited)
        #expect(try await text(of: #require(URL(string: local[0] + "/app.js"))) == edited)
        #expect(try await text(of: #require(URL(string: local[1] + "/x"))) == "{}")
    }
    #endif

    private func text(of url: URL) async throws -> String {
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        return String(decoding: try await session.data(from: url).0, as: UTF8.self)
    }
}

/// A folder with the article's map and its files, removed with its last reference.
private final class ExampleSite: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "Site-\(UUID().uuidString)")

    var mapFile: URL { folder.appending(path: "substitutions.json") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: SnippetTests.folder.appending(path: "Fixtures/site"),
            to: folder.appending(path: "Substitutes")
        )
        try Data(try #require(ServerTests.article.blocks(in: "json").first).text.utf8).write(to: mapFile)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

#if os(macOS) || os(Linux)
/// A `substitute` command, such as `serve`, which ends with its last reference.
final class ServeProcess {
    private let process = Process()
    private let output: FileHandle
    private var unread = Data()

    init(_ command: String, in folder: URL) throws {
        let pipe = Pipe()
        output = pipe.fileHandleForReading
        process.executableURL = Session.products.appending(path: "substitute")
        process.arguments = command.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.start()
    }

    deinit { process.interrupt() }

    /// Does what Ctrl-C does.
    func interrupt() { process.interrupt() }

    /// Waits until the process has ended, and returns the lines that it has printed since.
    func rest() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    /// Waits for the next line that it prints; `nil` if it has ended.
    func line() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = Data(unread[(end + 1)...]) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let data = output.availableData
            guard !data.isEmpty else { return nil }
            unread += data
        }
    }
}
#endif
