import Foundation
import Testing

@testable import LoopbackOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("substitute serve", .serialized, .timeLimit(.minutes(5)))
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

    private func serve(_ words: String...) async throws -> ServerProcess {
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
        let descriptor = socket(AF_INET, Socket.streamType, 0)
        let connection = Socket(owning: descriptor)
        var address = Socket.loopbackAddress(port: UInt16(try #require(server.baseURL.port)))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
        try connection.write(Data(text.utf8))
        var bytes: [UInt8] = []
        while case let part = try connection.read(upTo: 64 << 10), !part.isEmpty { bytes += part }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("answers from files and from the origin, a line each, and ends with totals", arguments: [SIGINT, SIGTERM])
    func serves(signal: Int32) async throws {
        defer { origin.stop() }
        let server = try await serve()
        let file = try await load(server.url("/a.txt"))
        #expect(file.response.statusCode == 200)
        #expect(file.body == "0123456789")
        #expect(file.response.value(forHTTPHeaderField: "Content-Type") == "text/plain; charset=utf-8")
        #expect(
            file.response.value(forHTTPHeaderField: "Cache-Status")?.hasPrefix("LocalSubstitutionCache; hit") == true
        )
        #expect(file.response.value(forHTTPHeaderField: "Cache-Control") == "no-cache")
        let own = try await load(server.url("/b.txt"))
        #expect(own.response.value(forHTTPHeaderField: "Cache-Control") == "max-age=9")
        let other = try await load(server.url("/echo?q=%20a&b=*"))
        #expect(other.body.hasSuffix("/echo?q=%20a&b=*"))
        #expect(try await load(server.url("/gone")).response.statusCode == 410)
        #expect(try await load(server.url("/none")).response.statusCode == 404)
        let dead = try await load(server.url("/dead"))
        #expect(dead.response.statusCode == 502)
        #expect(dead.body.hasPrefix("substitute serve: \(origin.url("/dead").absoluteString): "))
        // Who finds a connection closed that it has used before may ask again.
        #expect(Set(origin.requests.map(\.path)) == ["/echo", "/none", "/dead"])

        let outcome = try await server.end(signal)
        #expect(outcome.status == 0)
        #expect(outcome.hasExited)
        let starts = [
            "GET /a.txt  200  substituted ← a.txt  10 B  ", "GET /b.txt  200  substituted ← a.txt  10 B  ",
            "GET /echo?q=%20a&b=*  200  network  ", "GET /gone  410  substituted ← the map  0 B  ",
            "GET /none  404  network  0 B  ", "GET /dead  502  failed: ", "",
        ]
        #expect(outcome.lines.count == starts.count)
        for (line, start) in zip(outcome.lines, starts) { #expect(line.hasPrefix(start)) }
        #expect(outcome.messages.contains("\nsubstitute: 6 requests: 3 substituted, 2 from the network, 1 failed; "))
    }

    @Test(
        "believes the cache about who answered, not a header",
        arguments: [[], ["--cache-only"], ["--record", "kept"]]
    )
    func forged(_ words: [String]) async throws {
        defer { origin.stop() }
        let server = try await ServerProcess(
            in: folder,
            ["--map", "substitutions.json", "--origin", String(origin.baseURL.absoluteString.dropLast())] + words
        )
        for _ in 0..<2 {
            let forged = try await load(server.url("/forged")).response
            #expect(forged.value(forHTTPHeaderField: "Cache-Control") == "max-age=31536000")
            let own = try await load(server.url("/own")).response
            #expect(own.value(forHTTPHeaderField: "Cache-Control") == "no-cache")
        }
        let outcome = try await server.end()
        #expect(outcome.lines.count { $0.hasPrefix("GET /forged  200  network  ") } == 2)
        #expect(outcome.lines.count { $0.hasPrefix("GET /own  200  substituted ← a.txt  ") } == 2)
        #expect(outcome.messages.contains("4 requests: 2 substituted, 2 from the network, 0 failed"))
    }

    @Test("knows who answered each of many requests for one URL", arguments: [[], ["--record", "kept"]])
    func manyAtOnce(_ words: [String]) async throws {
        defer { origin.stop() }
        let server = try await ServerProcess(
            in: folder,
            ["--map", "substitutions.json", "--origin", String(origin.baseURL.absoluteString.dropLast())] + words
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                // The cache answers half of them, and the protocol the other half.
                let headers = number.isMultiple(of: 2) ? [:] : ["Authorization": "x"]
                group.addTask { _ = try await load(server.url("/a.txt"), headers: headers) }
            }
            try await group.waitForAll()
        }
        let outcome = try await server.end()
        #expect(outcome.lines.count { $0.hasPrefix("GET /a.txt  200  substituted ← a.txt  ") } == 60)
        #expect(outcome.messages.contains("60 requests: 60 substituted, 0 from the network, 0 failed"))
    }

    @Test("answers ranges and HEAD of files and of the origin, on one connection")
    func partsAndHeads() async throws {
        defer { origin.stop() }
        let server = try await serve()
        let range = try await load(server.url("/a.txt"), headers: ["Range": "bytes=2-4"])
        #expect(range.response.statusCode == 206)
        #expect(range.response.value(forHTTPHeaderField: "Content-Range") == "bytes 2-4/10")
        #expect(range.body == "234")
        let asked = try await load(server.url("/echo"), headers: ["Range": "bytes=2-4"])
        #expect(asked.body.contains("range: bytes=2-4\n"))
        #expect(asked.body.contains("accept-encoding: identity\n"))

        let heads = try exchange(
            "HEAD /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD /bytes HTTP/1.1\r\nHost: localhost\r\n\r\n"
                + "GET /a.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            with: server
        )
        let answers = heads.components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst().map { $0.lowercased() }
        #expect(answers.count == 3)
        #expect(answers.map { $0.components(separatedBy: "\r\n\r\n").last ?? "" } == ["", "", "0123456789"])
        #expect(answers.map { $0.contains("content-length: 10\r\n") } == [true, false, true])
        #expect(answers.dropFirst().first?.contains("content-length: 256\r\n") == true)
        #expect(origin.requests.last?.method == "HEAD")
        #expect(try await server.end().status == 0)
    }

    @Test("passes headers on, but those of a connection and of a body that was decoded")
    func headers() async throws {
        defer { origin.stop() }
        let server = try await serve()
        let echo = try exchange(
            "GET /echo HTTP/1.1\r\nHost: localhost\r\nX-One: 1\r\nX-Hop: 2\r\nConnection: X-Hop, close\r\nCookie: c=d\r\n"
                + "Authorization: Basic x\r\nTE: trailers\r\nIf-None-Match: \"y\"\r\n\r\n",
            with: server
        )
        for line in [
            "x-one: 1\n", "cookie: c=d\n", "authorization: Basic x\n", "if-none-match: \"y\"\n", "host: 127.0.0.1:",
        ] {
            #expect(echo.contains(line))
        }
        for name in ["x-hop", "te: ", "localhost"] { #expect(!echo.contains(name)) }

        let cookies = try exchange(
            "GET /cookies HTTP/1.1\r\nHost: localhost\r\n\r\nGET /cookies HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            with: server
        )
        #expect(cookies.components(separatedBy: "HTTP/1.1 200").count == 3, "the origin's close is not ours")
        let lines = cookies.components(separatedBy: "\r\n").map { $0.replacing("Set-cookie", with: "Set-Cookie") }
        #expect(lines.contains("Set-Cookie: a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT"))
        #expect(lines.contains("Set-Cookie: b=2"))
        #expect(lines.contains { $0.lowercased() == "x-own: x" })
        #expect(origin.requests.last?.header("Cookie") == nil, "cookies are the client's")

        let zipped = try exchange("GET /zipped HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", with: server)
        #expect(zipped.hasSuffix("\r\n\r\nhello world"))
        #expect(zipped.lowercased().contains("content-length: 11\r\n"))
        #expect(!zipped.lowercased().contains("content-encoding"))
        #expect(try await server.end().status == 0)
    }

    @Test("follows redirects, and passes on 304 and a 401 that asks for a password")
    func statuses() async throws {
        defer { origin.stop() }
        let server = try await serve()
        #expect(try await load(server.url("/moved")).body.hasSuffix("/echo?moved"))
        #expect(try await load(server.url("/unchanged")).response.statusCode == 304)
        let secret = try exchange("GET /secret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", with: server)
        #expect(secret.hasPrefix("HTTP/1.1 401 "))
        #expect(secret.lowercased().contains("www-authenticate: basic realm=\"x\"\r\n"))
        #expect(secret.hasSuffix("no"))
        #expect(try await server.end().status == 0)
    }

    @Test(
        "refuses other methods and what is no path",
        arguments: ["POST / HTTP/1.1", "PUT /a.txt HTTP/1.1", "GET * HTTP/1.1"]
    )
    func refuses(line: String) async throws {
        defer { origin.stop() }
        let server = try await serve()
        let answer = try exchange(
            "\(line)\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            with: server
        )
        #expect(answer.hasPrefix(line.hasPrefix("GET") ? "HTTP/1.1 400 " : "HTTP/1.1 405 Method Not Allowed\r\n"))
        #expect(answer.contains("Allow: GET, HEAD\r\n") == !line.hasPrefix("GET"))
        #expect(origin.requests.isEmpty)
        #expect(try await server.end().messages.contains("1 request: 0 substituted, 0 from the network, 1 failed"))
    }

    @Test(
        "never asks another host than the origin's, whatever the path",
        arguments: ["//nowhere.invalid/x", "/@nowhere.invalid/", "/%2F|\"<x>"]
    )
    func hosts(path: String) async throws {
        defer { origin.stop() }
        let server = try await serve()
        let answer = try exchange("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", with: server)
        #expect(answer.hasPrefix("HTTP/1.1 404 "))
        #expect(origin.requests.map { $0.target } == [path.replacing("|\"<x>", with: "%7C%22%3Cx%3E")])
        #expect(try await server.end().status == 0)
    }

    @Test(
        "answers for no other host than this one",
        arguments: ["evil.example", "evil.example:80", "127.0.0.1.evil.example"]
    )
    func otherHost(host: String) async throws {
        defer { origin.stop() }
        let server = try await serve()
        let answer = try exchange("GET /bytes HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n", with: server)
        #expect(answer.hasPrefix("HTTP/1.1 421 "))
        #expect(origin.requests.isEmpty)
        #expect(try await server.end().status == 0)
    }

    @Test("never logs what controls a terminal", arguments: ["Host: \(ForeignText.inHTTP)", "Host: localhost"])
    func log(host: String) async throws {
        defer { origin.stop() }
        let server = try await serve()
        for path in ["/\(ForeignText.inHTTP)", "/dead?\(ForeignText.inHTTP)", "*\(ForeignText.inHTTP)"] {
            _ = try exchange("GET \(path) HTTP/1.1\r\n\(host)\r\nConnection: close\r\n\r\n", with: server)
        }
        let outcome = try await server.end()
        #expect(outcome.lines.count == 4)
        #expect(outcome.output.contains(ForeignText.escaped))
        #expect(ForeignText.isHarmless(outcome.output), "\(outcome.output.debugDescription)")
        #expect(ForeignText.isHarmless(outcome.messages))
    }

    @Test("serves a changed file from the next request on")
    func reload() async throws {
        defer { origin.stop() }
        let server = try await serve()
        #expect(try await load(server.url("/a.txt")).body == "0123456789")
        try folder.write("changed", to: "Resources/a.txt")
        #expect(try await load(server.url("/a.txt")).body == "changed")
        #expect(try await server.end().status == 0)
    }

    @Test("reaches no network with --offline, and prints only the totals with --json")
    func offline() async throws {
        defer { origin.stop() }
        let server = try await serve("--offline", "--json")
        #expect(try await load(server.url("/a.txt")).response.statusCode == 200)
        #expect(try await load(server.url("/bytes")).response.statusCode == 502)
        let outcome = try await server.end()
        #expect(origin.requests.isEmpty)
        #expect(
            try outcome.json([String: Int].self) == [
                "requests": 2, "substituted": 1, "fromNetwork": 0, "failed": 1, "bytes": outcome.totalBytes,
            ]
        )
    }

    @Test("listens on the port that is named, and says if it is taken")
    func port() async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("serve", "--origin", "http://h.example", "--port", "\(origin.port)")
        #expect(run.status == 1)
        #expect(
            run.messages.contains(
                "substitute: can't listen on port \(origin.port) of 127.0.0.1 (bind: Address already in use): "
            )
        )
        let free = try LoopbackServer(routes: [:])
        let port = free.port
        free.stop()
        let server = try await serve("--port", "\(port)")
        #expect(server.baseURL.port == Int(port))
        #expect(try await server.end().status == 0)
    }
}

extension Outcome {
    fileprivate var totalBytes: Int { (try? json([String: Int].self)["bytes"]) ?? -1 }
}
