import Foundation
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("substitute serve", .sessions, .timeLimit(.minutes(5)))
struct ServeTests {
    private let folder: TemporaryFolder
    private let origin: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        origin = try LoopbackServer { request in
            switch request.path {
            case "/echo":
                .text(
                    request.headers.map { "\($0.name.lowercased()): \($0.value)\n" }.sorted().joined() + request.target
                )
            case "/cookies":
                LoopbackServer.Answer(headers: [
                    ("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT"), ("Set-Cookie", "b=2"),
                    ("Connection", "close"), ("X-Own", "x"),
                ])
            case "/long-cookie":
                LoopbackServer.Answer(headers: [("Set-Cookie", "id=" + String(repeating: "x", count: 4_090))])
            case "/secret":
                LoopbackServer.Answer(
                    status: 401,
                    headers: [("WWW-Authenticate", "Basic realm=\"x\"")],
                    body: Data("no".utf8)
                )
            case "/forged":
                LoopbackServer.Answer(headers: [
                    ("Cache-Status", #"LocalSubstitutionCache; hit; detail="forged.txt""#),
                    ("Cache-Control", "max-age=31536000"),
                ])
            case "/moved": .redirect(to: "/echo?moved")
            case "/bytes": .ok(Data((0...255).map { UInt8($0) }))
            case "/dead": LoopbackServer.Answer(fault: .dropBeforeHead)
            case "/unchanged": .status(304)
            case "/tagged":
                request.header("If-None-Match") == "\"1\""
                    ? .status(304) : LoopbackServer.Answer(headers: [("ETag", "\"1\"")], body: Data("tagged".utf8))
            case "/zipped":
                LoopbackServer.Answer(
                    headers: [("Content-Encoding", "gzip"), ("Content-Type", "text/plain")],
                    body: Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA==") ?? Data()
                )
            default: .status(404)
            }
        }
        try folder.writeMap(
            """
            {
              "http://127.0.0.1:*/a.txt": "a.txt",
              "http://127.0.0.1:*/b.txt": { "file": "a.txt", "headers": { "Cache-Control": "max-age=9" } },
              "http://127.0.0.1:*/own": { "file": "a.txt", "headers": { "Cache-Status": "own" } },
              "http://127.0.0.1:*/gone": { "status": 410 }
            }
            """,
            files: ["a.txt": "0123456789"]
        )
    }

    private func serve(_ words: [String] = []) async throws -> ServerProcess {
        try await ServerProcess(in: folder, ["--origin", String(origin.baseURL.absoluteString.dropLast())] + words)
    }

    private func load(
        _ url: URL,
        method: String = "GET",
        headers: [String: String] = [:]
    ) async throws -> (response: HTTPURLResponse, body: String) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        return (try #require(response as? HTTPURLResponse), String(decoding: data, as: UTF8.self))
    }

    /// Sends a text, and reads to the end of the connection.
    private func exchange(_ text: String, with server: ServerProcess) throws -> String {
        try RawClient.exchange(text, with: UInt16(try #require(server.baseURL.port)))
    }

    @Test(
        "It answers from files and from the origin, prints a line for each request, and ends with totals",
        arguments: [SIGINT, SIGTERM, SIGHUP]
    )
    func serves(signal: Int32) async throws {
        defer { origin.stop() }
        let server = try await serve()
        let file = try await load(server.url("/a.txt"))
        #expect(file.response.statusCode == 200)
        #expect(file.body == "0123456789")
        let other = try await load(server.url("/echo?q=%20a&b=*"))
        #expect(other.body.hasSuffix("/echo?q=%20a&b=*"))
        #expect(try await load(server.url("/gone")).response.statusCode == 410)
        #expect(try await load(server.url("/none")).response.statusCode == 404)
        #expect(try await load(server.url("/a.txt"), method: "POST").response.statusCode == 404)
        let dead = try await load(server.url("/dead"))
        #expect(dead.response.statusCode == 502)
        #expect(dead.body.hasPrefix("\(origin.url("/dead").absoluteString): "))

        let outcome = try await server.end(signal)
        #expect(outcome.status == 0)
        #expect(outcome.hasExited)
        let base = origin.baseURL.absoluteString.dropLast()
        let starts = [
            "\(server.baseURL.absoluteString)  \(base)", "GET \(base)/a.txt  200  matched ← a.txt  10 B  ",
            "GET \(base)/echo?q=%20a&b=*  200  network  ", "GET \(base)/gone  410  matched ← the map  0 B  ",
            "GET \(base)/none  404  network  0 B  ", "POST \(base)/a.txt  404  network  0 B  ",
            "GET \(base)/dead  502  failed: ", "",
        ]
        #expect(outcome.lines.count == starts.count)
        for (line, start) in zip(outcome.lines, starts) { #expect(line.hasPrefix(start), "\(line)") }
        #expect(outcome.messages.contains("\nsubstitute: 6 requests: 2 matched, 3 from the network, 1 failed; "))
    }

    @Test("With --record, a kept response that the network says is current is logged as confirmed")
    func confirmed() async throws {
        defer { origin.stop() }
        let server = try await serve(["--record", "kept"])
        // A response is kept soon after it's delivered.
        repeat {
            #expect(try await load(server.url("/tagged")).body == "tagged")
        } while !origin.requests.contains { $0.header("If-None-Match") != nil }
        let outcome = try await server.end(SIGTERM)
        let start = "GET \(origin.url("/tagged").absoluteString)  200  "
        #expect(outcome.lines.contains { $0.hasPrefix(start + "network  6 B") })
        #expect(outcome.lines.contains { $0.hasPrefix(start + "confirmed  6 B") })
        #expect(outcome.messages.contains(" requests: 0 matched, 1 confirmed, "))
    }

    @Test("It serves each origin in the map, or those that are named instead")
    func origins() async throws {
        defer { origin.stop() }
        try folder.writeMap(
            """
            {
              "https://b.example/": { "text": "b" }, "https://a.example/*": { "text": "a" },
              "https://a.example/x": null, "*://c.example:80/": { "text": "c" }, "https://*.example/": { "text": "*" }
            }
            """,
            files: [:]
        )
        let server = try await ServerProcess(in: folder, ["--offline"])
        let names = ["https://b.example", "https://a.example", "https://c.example:80", "http://c.example"]
        #expect(Set(server.origins.keys) == Set(names))
        #expect(try await load(server.url("/")).body == "b")
        for (origin, url) in server.origins {
            let expected = String(origin.drop { $0 != "/" }.dropFirst(2).prefix(1))
            #expect(try await load(url.appendingPathComponent("/")).body == expected)
        }
        #expect(try await server.end().status == 0)
        let other = try await ServerProcess(
            in: folder,
            ["--offline", "--origin", "https://d.example/", "--origin", "https://a.example"]
        )
        #expect(Set(other.origins.keys) == ["https://d.example", "https://a.example"])
        #expect(try await load(other.url("/")).body == "*")
        #expect(try await other.end().status == 0)
    }

    @Test(
        "It says how many of the map's origins it doesn't serve",
        arguments: [(1, "1 more origin of the map isn't served. "), (2, "2 more origins of the map aren't served. ")]
    )
    func tooManyOrigins(_ more: Int, _ message: String) async throws {
        defer { origin.stop() }
        // As many as a server has, and more.
        let count = min(256, Int(getdtablesize()) / 4) + more
        let entries = (0..<count).map { #""https://\#($0).example/": { "text": "" }"# }
        try folder.writeMap("{ \(entries.joined(separator: ", ")) }", files: [:])
        let messages = try await ServerProcess(in: folder, ["--offline"]).end().messages
        #expect(messages.contains("substitute: \(message)Choose origins with --origin.\n"), "\(messages)")
    }

    @Test("The recorded page's origin comes first")
    func pageFirst() async throws {
        defer { origin.stop() }
        let entries = [
            ImportTests.entry("https://www.example.com/shop/", type: "text/html", text: "<p>"),
            ImportTests.entry("https://cdn.example/a.css", type: "text/css", text: "a {}"),
            ImportTests.entry("https://ads.example/a/b/frame.html", type: "text/html", text: "<p>"),
        ]
        try folder.write(ImportTests.archive(entries), to: "r.har")
        #expect(try await folder.substitute("import", "--map", "imported.json", "r.har").status == 0)
        let server = try await ServerProcess(in: folder, ["--offline", "--map", "imported.json"])
        let origins = try await server.end().lines.compactMap { $0.components(separatedBy: "  ").last }.filter {
            !$0.isEmpty
        }
        #expect(origins == ["https://www.example.com", "https://ads.example", "https://cdn.example"])
    }

    @Test("It writes all numbers with separators")
    func numbers() async throws {
        defer { origin.stop() }
        try folder.writeMap(
            #"{ "http://127.0.0.1:*/a.txt": "a.txt" }"#,
            files: ["a.txt": String(repeating: "x", count: 12_345)]
        )
        let server = try await serve()
        _ = try await load(server.url("/a.txt"))
        let outcome = try await server.end()
        #expect(outcome.output.contains("  12,345 B  "))
        #expect(outcome.messages.contains("; 12,345 bytes sent\n"))
    }

    @Test("It trusts the map about what answered, not a header", arguments: [[], ["--record", "kept"]])
    func forged(_ words: [String]) async throws {
        defer { origin.stop() }
        let server = try await serve(["--map", "substitutions.json"] + words)
        for _ in 0..<2 {
            _ = try await load(server.url("/forged"))
            _ = try await load(server.url("/own"))
        }
        let outcome = try await server.end()
        #expect(outcome.lines.count { $0.contains("/forged  200  network  ") } == 2)
        #expect(outcome.lines.count { $0.contains("/own  200  matched ← a.txt  ") } == 2)
        #expect(outcome.messages.contains("4 requests: 2 matched, 2 from the network, 0 failed"))
    }

    @Test("With --record, it keeps what passes through, and answers with it offline")
    func records() async throws {
        defer { origin.stop() }
        let name = String(origin.baseURL.absoluteString.dropLast())
        let kept = try TemporaryFolder()
        let server = try await ServerProcess(in: kept, ["--origin", name, "--record", "kept"])
        let bytes = try await load(server.url("/bytes")).body
        let outcome = try await server.end()
        #expect(outcome.messages.contains("1 response new or changed in "))
        let offline = try await ServerProcess(in: kept, ["--map", "kept/substitutions.json", "--offline"])
        #expect(offline.origins.keys.first == name)
        #expect(try await load(offline.url("/bytes")).body == bytes)
        #expect(origin.requestCount(path: "/bytes") == 1)
        #expect(try await offline.end().status == 0)
    }

    @Test("It says which cookie gets too long", arguments: [[], ["--json"]])
    func longCookie(_ words: [String]) async throws {
        defer { origin.stop() }
        let server = try await serve(words)
        _ = try await load(server.url("/long-cookie"))
        let outcome = try await server.end()
        #expect(
            outcome.lines.contains { $0.contains("  200  network: Browsers drop the cookie “id”, ") } == words.isEmpty
        )
        #expect(outcome.lines.contains { $0.contains(#""warning":"Browsers drop the cookie “id”, "#) } != words.isEmpty)
    }

    @Test("It never logs characters that control a terminal", arguments: [true, false])
    func log(isOwnHost: Bool) async throws {
        defer { origin.stop() }
        let server = try await serve()
        let host = isOwnHost ? "Host: localhost" : "Host: \(ForeignText.inHTTP)"
        for path in ["/\(ForeignText.inHTTP)", "/dead?\(ForeignText.inHTTP)", "*\(ForeignText.inHTTP)"] {
            _ = try exchange("GET \(path) HTTP/1.1\r\n\(host)\r\nConnection: close\r\n\r\n", with: server)
        }
        let outcome = try await server.end()
        #expect(outcome.lines.count == 5)
        // Percent-encoded when it arrives.
        #expect(outcome.output.contains("%E2%80%AE") || !isOwnHost)
        #expect(ForeignText.isHarmless(outcome.output), "\(outcome.output.debugDescription)")
        #expect(ForeignText.isHarmless(outcome.messages))
    }

    /// Sends requests on one connection. Returns how many were answered by the file.
    private func send(_ count: Int, to server: ServerProcess) throws -> Int {
        let request = "GET /a.txt HTTP/1.1\r\nHost: \(server.baseURL.absoluteString.dropFirst(7))\r\n"
        let requests = String(repeating: request + "\r\n", count: count - 1) + request + "Connection: close\r\n\r\n"
        return try exchange(requests, with: server).components(separatedBy: "0123456789").count - 1
    }

    @Test("It doesn't wait for a reader of its log", arguments: [[], ["--json"]])
    func unreadLog(_ words: [String]) async throws {
        defer { origin.stop() }
        let name = String(origin.baseURL.absoluteString.dropLast())
        let output = Pipe()
        let server = try await ServerProcess(in: folder, ["--origin", name] + words, output: output)
        // Their lines are longer than the pipe and the log's queue together.
        #expect(try send(2_200, to: server) == 2_200)
        let messages = try await server.end().messages
        #expect(messages.contains("2,200 requests: 2,200 matched"))
        #expect(messages.contains(" requests weren't printed, since nothing read the output. "))
        #expect(try output.fileHandleForReading.readToEnd()?.isEmpty == false)
    }

    @Test("Its last lines wait for a reader that reads late")
    func lateReader() async throws {
        defer { origin.stop() }
        let name = String(origin.baseURL.absoluteString.dropLast())
        let output = Pipe()
        let server = try await ServerProcess(in: folder, ["--origin", name, "--json"], output: output)
        // Their lines are longer than the pipe, but fit into the log's queue.
        #expect(try send(1_200, to: server) == 1_200)
        let reading = Task.detached { try output.fileHandleForReading.readToEnd() ?? Data() }
        #expect(try await server.end().status == 0)
        let lines = String(decoding: try await reading.value, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 1_201)
        #expect(lines.last?.contains(#""requests":1200"#) == true)
    }

    @Test("It serves a changed file from the next request on")
    func reload() async throws {
        defer { origin.stop() }
        let server = try await serve()
        #expect(try await load(server.url("/a.txt")).body == "0123456789")
        try folder.write("changed", to: "Resources/a.txt")
        #expect(try await load(server.url("/a.txt")).body == "changed")
        #expect(try await server.end().status == 0)
    }

    @Test("It sends streams, and says which entries only code can answer")
    func streamsAndHandlers() async throws {
        defer { origin.stop() }
        try folder.writeMap(
            #"""
            {
              "http://127.0.0.1:*/stream": { "stream": ["a", { "text": "b", "delay": 0.05 }] },
              "http://127.0.0.1:*/order": { "handler": "saveOrder" }
            }
            """#
        )
        let server = try await serve()
        #expect(try await load(server.url("/stream")).body == "ab")
        let order = try await load(server.url("/order"), method: "PUT")
        #expect(order.response.statusCode == 502)
        #expect(
            order.body.hasSuffix(
                ": The handler “saveOrder” exists only in code. Use this entry in the app or its tests.\n"
            ),
            "\(order.body)"
        )
        let outcome = try await server.end()
        #expect(outcome.status == 0)
        #expect(
            outcome.messages.contains("2 requests: 1 matched, 0 from the network, 1 failed"),
            "\(outcome.messages)"
        )
    }

    @Test("It says when the map is loaded again, and what's wrong with one that isn't")
    func reloadedMap() async throws {
        defer { origin.stop() }
        let server = try await serve()
        try folder.write(#"{ "http://127.0.0.1:*/a.txt": { "test": "a" } }"#, to: "substitutions.json")
        #expect(try await load(server.url("/a.txt")).body == "0123456789")
        try folder.write(#"{ "http://127.0.0.1:*/a.txt": { "text": "corrected" } }"#, to: "substitutions.json")
        // A map with problems is loaded again only after a moment, by a request. The suite's time limit ends the loop.
        while try await load(server.url("/a.txt")).body != "corrected" {}
        let messages = try await server.end().messages
        let problem =
            "substitute: The map has problems, so the last good map stays in use:\nsubstitutions.json:1: error: "
        #expect(messages.components(separatedBy: problem).count == 2, "\(messages)")
        #expect(messages.contains("\nsubstitute: map reloaded: 1 entry\n"), "\(messages)")
    }

    @Test("With --offline it doesn't use the network, and with --json it prints JSON lines")
    func offline() async throws {
        defer { origin.stop() }
        let server = try await serve(["--offline", "--json"])
        #expect(try await load(server.url("/a.txt")).response.statusCode == 200)
        #expect(try await load(server.url("/bytes")).response.statusCode == 502)
        let outcome = try await server.end()
        #expect(origin.requests.isEmpty)
        let lines = try outcome.lines.filter { !$0.isEmpty }.map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(lines.count == 4)
        #expect(lines.first?["origin"] as? String == String(origin.baseURL.absoluteString.dropLast()))
        #expect(lines.first?["url"] as? String == server.baseURL.absoluteString)
        #expect(lines.map { $0["source"] as? String } == [nil, "matched", "failed", nil])
        #expect(lines.map { $0["file"] as? String } == [nil, "a.txt", nil, nil])
        #expect(lines.map { $0["status"] as? Int } == [nil, 200, 502, nil])
        #expect(lines.last?["requests"] as? Int == 2)
        #expect(lines.last?["failed"] as? Int == 1)
    }

    @Test(
        "A run that fails leaves a folder that was there as it was",
        arguments: [
            ["--origin", "http://h.example", "--port", "PORT"], ["--origin", "h.example"],
            ["--origin", "ftp://h.example"], ["--origin", "http://h.example/page"], ["--port", "70000"],
            ["--map", "none.json"],
            ["--origin", "http://h.example", "--origin", "http://i.example", "--port", "65535"],
        ]
    )
    func existingFolder(_ words: [String]) async throws {
        defer { origin.stop() }
        try folder.write("mine", to: "Kept/mine.txt")
        let words = ["serve", "--record", "Kept"] + words.map { $0 == "PORT" ? "\(origin.port)" : $0 }
        #expect(try await folder.substitute(words).status != 0)
        let kept = folder.url.appendingPathComponent("Kept").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: kept) == ["mine.txt"])
    }

    @Test("With --record, it doesn't listen before the folder is open")
    func listensOnce() async throws {
        defer { origin.stop() }
        // While this is locked, the recorder waits.
        let kept = folder.url.appendingPathComponent("Kept")
        try folder.write("mine", to: "Kept/mine.txt")
        let turn = open(kept.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(flock(turn, LOCK_EX) == 0)
        let free = try LoopbackServer(routes: [:])
        let port = free.port
        free.stop()
        async let server = serve(["--record", "Kept", "--port", "\(port)"])
        var connections = 0
        while !FileManager.default.fileExists(atPath: kept.appendingPathComponent(".recorder.lock").path) {
            if (try? RawClient(port)) != nil { connections += 1 }
            await Task.yield()
        }
        #expect(connections == 0)
        close(turn)
        #expect(try await server.end().status == 0)
    }

    @Test(
        "It names the scheme that an origin lacks before the map that is missing",
        arguments: [
            ("127.0.0.1:9401", "scheme. Write http://127.0.0.1:9401 or https://127.0.0.1:9401."),
            ("h.example", "scheme. Write http://h.example or https://h.example."),
            ("localhost:3000", "scheme. Write http://localhost:3000 or https://localhost:3000."),
            ("//h.example", "scheme. Write http://h.example or https://h.example."),
            ("https:/h.example", "// after its scheme. Write https://h.example."),
            ("HTTP:h.example:80", "// after its scheme. Write http://h.example:80."),
        ]
    )
    func scheme(_ name: String, lacks: String) async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("serve", "--map", "none.json", "--origin", name)
        #expect(run.messages == "substitute: The origin “\(name)” has no \(lacks)\n")
    }

    @Test("Closing the terminal doesn't end a run under nohup")
    func nohup() async throws {
        defer { origin.stop() }
        let words = ["--origin", String(origin.baseURL.absoluteString.dropLast())]
        let server = try await ServerProcess(in: folder, words, isUnderNohup: true)
        kill(server.identifier, SIGHUP)
        #expect(try await load(server.url("/a.txt")).body == "0123456789")
        #expect(try await server.end().status == 0)
    }

    @Test("Closing the terminal keeps what was loaded")
    func hangUp() async throws {
        defer { origin.stop() }
        let server = try await serve(["--record", "Kept"])
        for number in 0..<5 { _ = try await load(server.url("/echo?\(number)")) }
        let outcome = try await server.end(SIGHUP)
        #expect(outcome.status == 0)
        #expect(outcome.messages.contains("5 responses new or changed in "), "\(outcome.messages)")
    }

    @Test("It listens on consecutive ports, and says if one is taken")
    func port() async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("serve", "--origin", "http://h.example", "--port", "\(origin.port)")
        #expect(run.status == 1)
        #expect(
            run.messages.contains(
                "substitute: “http://h.example” can't be served on port \(origin.port) of 127.0.0.1 "
                    + "(bind: Address already in use). "
            )
        )
        let free = try LoopbackServer(routes: [:])
        let port = free.port
        free.stop()
        let server = try await serve(["--port", "\(port)"])
        #expect(server.baseURL.port == Int(port))
        #expect(try await server.end().status == 0)
        let beyond = try await folder.substitute(
            "serve",
            "--origin",
            "http://h.example",
            "--origin",
            "http://i.example",
            "--port",
            "65535"
        )
        #expect(beyond.status == 64)
    }

    @Test(
        "It says what's missing",
        arguments: [
            (["--port", "x"], 64), (["x"], 64), ([], 1), (["--origin", "h.example"], 64),
            (["--origin", "127.0.0.1:9401", "--map", "none.json"], 64), (["--origin", "https:///"], 64),
            (["--origin", "http://h.example", "--port", "TAKEN"], 1),
        ]
    )
    func wrong(_ words: [String], status: Int) async throws {
        defer { origin.stop() }
        let words = words.map { $0.replacing("TAKEN", with: "\(origin.port)") }
        let run = try await folder.substitute(["serve", "--record", "new/Kept"] + words)
        #expect(Int(run.status) == status)
        #expect(!FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("new").path))
        #expect(run.messages.contains("--origin") || run.messages.contains("origin") || run.messages.contains("port"))
    }
}
