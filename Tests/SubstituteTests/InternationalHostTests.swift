import Foundation
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Hosts with letters beyond ASCII", .sessions, .timeLimit(.minutes(5)))
struct InternationalHostTests {
    private static let hosts = ["müller.example", "MÜLLER.example", "xn--mller-kva.example", "mu\u{308}ller.example"]

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.writeMap(
            #"{ "https://müller.example/a b": "a.txt", "https://xn--bcher-kva.example/*": "*" }"#,
            files: ["a.txt": "hello", "page.html": "page"]
        )
    }

    @Test("get finds them in the map", arguments: hosts)
    func get(host: String) async throws {
        let run = try await folder.substitute("get", "https://\(host)/a b", "https://\(host):443/a%20b")
        #expect(run.status == 0)
        #expect(run.lines.count { $0.hasPrefix("matched ← a.txt  200") } == 2)
        #expect(run.lines.first?.hasSuffix("  https://xn--mller-kva.example/a%20b") == true)
    }

    @Test("explain finds them in the map", arguments: hosts)
    func explain(host: String) async throws {
        let run = try await folder.substitute("explain", "https://\(host)/a%20b")
        #expect(run.status == 0)
        let lines = "\n  cache only:   matched: the entry's file\n  entry:        “https://müller.example/a b”"
        #expect(run.output.contains(lines))
    }

    @Test("get finds them by a pattern")
    func pattern() async throws {
        let run = try await folder.substitute("get", "https://bücher.example/page.html")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("matched ← page.html  200"))
    }

    @Test("add adds them, for a file and for a response")
    func add() async throws {
        let file = try await folder.substitute("add", "https://bücher.example/x", "Resources/a.txt")
        #expect(file.status == 0)
        #expect(try await folder.substitute("explain", "https://bücher.example/x").output.contains("bücher.example/x”"))

        let origin = try LoopbackServer(routes: ["/a%20b": .text("from the network")])
        defer { origin.stop() }
        let loaded = try await folder.substitute("add", "http://bücher.localhost:\(origin.port)/a b")
        #expect(loaded.status == 0, "\(loaded.messages)")
        #expect(origin.requests.map(\.target) == ["/a%20b"])
        #expect(origin.requests.first?.header("Host") == "xn--bcher-kva.localhost:\(origin.port)")
    }

    @Test("They can be an origin for serve, which requests paths as the client wrote them")
    func serve() async throws {
        let origin = try LoopbackServer(routes: ["/a%20b": .text("from the network")])
        defer { origin.stop() }
        let server = try await ServerProcess(in: folder, ["--origin", "http://bücher.localhost:\(origin.port)"])
        let (body, _) = try await URLSession.shared.data(from: server.url("/a%20b"))
        #expect(String(decoding: body, as: UTF8.self) == "from the network")
        #expect(origin.requests.map(\.target) == ["/a%20b"])
        #expect(try await server.end().status == 0)
    }

    @Test("import matches them", arguments: ["https://müller.example/*", "https://*.xn--mller-kva.example/*"])
    func importing(pattern: String) async throws {
        let urls = ["https://müller.example/1", "https://xn--mller-kva.example/2", "https://bücher.example/3"]
        try folder.write(ImportTests.archive(urls.map { ImportTests.entry($0, text: "x") }), to: "a.har")
        let run = try await folder.substitute("import", "--match", pattern, "a.har")
        #expect(run.status == 0)
        #expect(run.output.contains("2 new, "))
    }

    @Test("A host without an ASCII form is refused", arguments: ["get", "explain"])
    func refused(command: String) async throws {
        let run = try await folder.substitute(command, "https://\u{FFFD}.example/a")
        #expect(run.status == 64)
        #expect(run.messages.contains("isn't an http or https URL"))
    }
}
