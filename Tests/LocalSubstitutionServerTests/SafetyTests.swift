import Foundation
import LocalSubstitution
import LocalSubstitutionServer
import Loopback
import LoopbackOrigin
import TestSupport
import Testing

@Suite("What a server refuses", .sessions, .timeLimit(.minutes(5)))
struct SafetyTests {
    private let origin: LoopbackServer
    private let served: ServedMap
    private let name: String
    private let port: UInt16

    init() throws {
        origin = try LoopbackServer { request in
            .text(request.headers.map { "\($0.name.lowercased()): \($0.value)\n" }.joined() + "\(request.body.count)")
        }
        name = String(origin.baseURL.absoluteString.dropLast())
        served = try ServedMap(#"{ "https://h.example/": { "methods": ["*"], "text": "h" } }"#, unmatched: .load)
        port = try served.port(name)
    }

    private func exchange(_ line: String, _ fields: [String], body: String = "") throws -> RawResponse {
        let text = ([line] + fields + ["Connection: close"]).joined(separator: "\r\n") + "\r\n\r\n" + body
        return try RawResponse(RawClient.exchange(text, with: port))
    }

    @Test(
        "Other hosts are refused, so a foreign name that points here can't read anything",
        arguments: [
            ("/", "evil.example", 421), ("/", "evil.example:PORT", 421), ("/", "127.0.0.1.evil.example:PORT", 421),
            ("/", "127.0.0.1:1", 421), ("/", "127.1:PORT", 421), ("/", "", 421), ("/", "user@127.0.0.1:PORT", 421),
            ("http://evil.example/", "127.0.0.1:PORT", 421), ("http://127.0.0.1:PORT/", "evil.example", 421),
            ("http://user@127.0.0.1:PORT/", "127.0.0.1:PORT", 421), ("evil.example:443", "127.0.0.1:PORT", 400),
            ("*", "127.0.0.1:PORT", 400), ("?x", "127.0.0.1:PORT", 400),
            ("?u=http://127.0.0.1:PORT/", "127.0.0.1:PORT", 400), (".evil.example/", "127.0.0.1:PORT", 400),
            ("/", "127.0.0.1:PORT", 200), ("/", "LOCALHOST:PORT", 200),
            ("/", "localhost", 200), ("http://127.0.0.1:PORT/", "127.0.0.1:PORT", 200),
        ]
    )
    func hosts(_ target: String, _ host: String, status: Int) throws {
        defer { origin.stop() }
        let line = "GET \(target) HTTP/1.1".replacing("PORT", with: "\(port)")
        #expect(try exchange(line, ["Host: \(host)".replacing("PORT", with: "\(port)")]).status == status)
        #expect(origin.requests.count == (status == 200 ? 1 : 0))
    }

    @Test(
        "Requests from other sites' pages are refused if they could change something",
        arguments: [
            ("POST", ["Origin: https://evil.example"], 403), ("POST", ["Origin: null"], 403),
            ("POST", ["Origin: null", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate"], 403),
            ("POST", ["Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: iframe"], 403),
            ("POST", ["Origin: http://127.0.0.1:1"], 403), ("POST", ["Sec-Fetch-Site: cross-site"], 403),
            ("POST", ["Sec-Fetch-Site: same-site", "Origin: http://localhost:3000"], 403),
            ("DELETE", ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"], 403),
            ("OPTIONS", ["Origin: https://evil.example", "Access-Control-Request-Method: POST"], 403),
            ("POST", ["Origin: null", "Sec-Fetch-Site: same-origin"], 200), ("POST", [], 200),
            ("POST", ["Origin: http://127.0.0.1:PORT"], 200), ("POST", ["Origin: http://localhost:PORT"], 200),
            ("GET", ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"], 200),
        ]
    )
    func crossSite(method: String, fields: [String], status: Int) throws {
        defer { origin.stop() }
        let fields = fields.map { $0.replacing("PORT", with: "\(port)") }
        let response = try exchange("\(method) / HTTP/1.1", ["Host: 127.0.0.1:\(port)", "Content-Length: 0"] + fields)
        #expect(response.status == status)
        #expect(origin.requests.count == (status == 200 ? 1 : 0))
    }

    @Test(
        "A request without Host is told to send one",
        arguments: ["/", "/a", "/?b=c", "http://127.0.0.1:PORT/", "http://localhost:PORT/a"]
    )
    func noHost(target: String) throws {
        defer { origin.stop() }
        let response = try exchange("GET \(target.replacing("PORT", with: "\(port)")) HTTP/1.0", [])
        #expect(response.status == 400)
        #expect(response.body == "The request has no header Host. Send Host: 127.0.0.1:\(port).\n")
        #expect(origin.requests.isEmpty)
    }

    @Test("A page of another served origin may send anything")
    func servedOrigin() throws {
        defer { origin.stop() }
        let other = try served.local("https://h.example")
        let response = try exchange(
            "PUT / HTTP/1.1",
            ["Host: 127.0.0.1:\(port)", "Content-Length: 1", "Origin: \(other)"],
            body: "x"
        )
        #expect(response.status == 200)
        #expect(response.body.contains("origin: https://h.example\n"))
    }

    @Test("Scripts for service workers are refused")
    func serviceWorkers() throws {
        defer { origin.stop() }
        #expect(
            try exchange("GET /sw.js HTTP/1.1", ["Host: 127.0.0.1:\(port)", "Service-Worker: script"]).status == 403
        )
        #expect(origin.requests.isEmpty)
    }

    @Test("Bodies that are too long are refused before they're read")
    func longBodies() async throws {
        defer { origin.stop() }
        let port = port
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<24 {
                group.addTask {
                    let isChunked = number.isMultiple(of: 2)
                    let client = try RawClient(port)
                    let field = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 60000000"
                    try client.send(
                        "POST / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(field)\r\n\r\n"
                            + (isChunked ? "3938700\r\n" : "")
                    )
                    // No byte of the body was sent.
                    return try RawResponse(client.readToEnd()).status
                }
            }
            for try await status in group { #expect(status == 413) }
        }
        #expect(origin.requests.isEmpty)
        let most = String(repeating: "x", count: 8 << 20)
        let response = try exchange(
            "POST / HTTP/1.1",
            ["Host: 127.0.0.1:\(port)", "Content-Length: \(most.utf8.count)"],
            body: most
        )
        #expect(response.body.hasSuffix("\n\(8 << 20)"))
    }

    @Test("Header bytes from the network that HTTP doesn't allow are removed")
    func headerBytes() throws {
        defer { origin.stop() }
        let raw = try Listener { connection in
            var reader = RequestReader(connection.socket)
            _ = try? reader.nextHead()
            let head =
                "HTTP/1.1 200 OK\r\nX-Good: a\r\nX-Bad: a\u{1}b\r\nX Bad: c\r\nX-Null: a\u{0}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
            try? connection.socket.write(Data(head.utf8))
        }
        defer { raw.stop() }
        let served = try ServedMap("{}", unmatched: .load)
        let response = try served.exchange("http://127.0.0.1:\(raw.listen(on: 0))/")
        if response.status == 200 { #expect(response["X-Good"] == "a") }
        #expect(
            response.fields.allSatisfy { field in
                !field.name.contains(" ") && field.value.unicodeScalars.allSatisfy { $0.value >= 0x20 }
            }
        )
    }
}
