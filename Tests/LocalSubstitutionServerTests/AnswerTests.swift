import Foundation
import LocalSubstitution
import Loopback
import LoopbackOrigin
import TestSupport
import Testing

@Suite("A server's answers", .sessions, .timeLimit(.minutes(5)))
struct AnswerTests {
    private static let map = """
        {
          "https://h.example/a.txt": "a.txt",
          "https://h.example/orders": [
            { "json": [] },
            { "methods": ["POST"], "when": { "json": { "id": 7 } }, "status": 201, "json": { "id": 7 } },
            { "methods": ["POST", "OPTIONS"], "status": 400 }
          ],
          "https://h.example/once": [{ "times": 1, "text": "first" }, { "text": "then" }],
          "https://h.example/late": { "text": "late", "delay": 0.2 },
          "https://h.example/old": { "status": 301, "headers": { "Location": "https://h.example/a.txt" } },
          "https://h.example/who": { "when": { "headers": { "Authorization": "Bearer *" } }, "text": "known" },
          "https://h.example/empty": { "status": 204 },
          "https://h.example/gone": { "status": 410, "text": "gone" }
        }
        """

    private func served() throws -> ServedMap { try ServedMap(Self.map, files: ["a.txt": "0123456789"]) }

    @Test(
        "Every method gets what an attached session would get",
        arguments: [
            ("GET", "/a.txt", [], nil, 200, "0123456789"),
            ("HEAD", "/a.txt", [], nil, 200, ""),
            ("GET", "/a.txt", ["Range: bytes=2-4"], nil, 206, "234"),
            ("GET", "/a.txt", ["Range: bytes=20-"], nil, 200, "0123456789"),
            ("GET", "/a.txt", ["Range: bytes=2-4", "If-Range: \"x\""], nil, 200, "0123456789"),
            ("GET", "/orders", [], nil, 200, "[]"),
            ("POST", "/orders", ["Content-Type: application/json"], "{\"id\": 7, \"x\": 1}", 201, "{ \"id\": 7 }"),
            ("POST", "/orders", [], "{}", 400, ""),
            ("POST", "/orders", [], nil, 400, ""),
            ("OPTIONS", "/orders", [], nil, 400, ""),
            ("GET", "/late", [], nil, 200, "late"),
            ("GET", "/who", ["Authorization: Bearer x"], nil, 200, "known"),
            ("GET", "/empty", [], nil, 204, ""),
            ("GET", "/gone", [], nil, 410, "gone"),
            ("GET", "/a%2Etxt?x", [], nil, 502, nil), ("GET", "/gone?", [], nil, 410, "gone"),
        ] as [(String, String, [String], String?, Int, String?)]
    )
    func answers(
        _ method: String,
        _ path: String,
        _ fields: [String],
        _ body: String?,
        _ status: Int,
        _ expected: String?
    ) throws {
        let response = try served().exchange("https://h.example" + path, method: method, fields: fields, body: body)
        #expect(response.status == status)
        if let expected { #expect(response.body == expected) }
        #expect(response.all("Cache-Control") == ["no-store"])
        #expect(response.all("Content-Length").count == (status == 204 ? 0 : 1))
    }

    @Test("A status that allows no body is sent without one", arguments: [204, 205, 304], ["text", "file", "large"])
    func bodiless(status: Int, body: String) throws {
        let entry = #"{ "status": \#(status), "\#(body == "text" ? "text" : "file")": "\#(body)" }"#
        let files = ["file": "body", "large": String(repeating: "x", count: 1 << 20)]
        let served = try ServedMap("{ \"https://h.example/\": \(entry) }", files: files)
        for method in ["GET", "HEAD"] {
            let response = try served.exchange("https://h.example/", method: method)
            #expect(response.status == status)
            #expect(response.body.isEmpty)
            // RFC 9110 section 15.3.6: of these, only a 205 has a length.
            #expect(response.all("Content-Length") == (status == 205 ? ["0"] : []))
        }
    }

    @Test("A body that the network sends with status 205 isn't forwarded", arguments: ["Content-Length: 4", "X-Y: z"])
    func resetContent(field: String) throws {
        let origin = try Listener { connection in
            var reader = RequestReader(connection.socket)
            _ = try? reader.nextHead()
            let response = "HTTP/1.1 205 Reset Content\r\n\(field)\r\nConnection: close\r\n\r\nbody"
            try? connection.socket.write(Data(response.utf8))
        }
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load)
        let response = try served.exchange("http://127.0.0.1:\(origin.listen(on: 0))/")
        #expect((response.status, response.body) == (205, ""))
        #expect(response.all("Content-Length") == ["0"])
    }

    @Test("Only GET gets a part of a body", arguments: ["HEAD", "POST", "PUT"], [10, 1 << 20, 3 << 20])
    func ranges(method: String, size: Int) throws {
        let map = #"{ "https://h.example/a": { "file": "a", "methods": ["GET", "HEAD", "POST", "PUT"] } }"#
        let served = try ServedMap(map, files: ["a": String(repeating: "x", count: size)])
        let fields = ["Range: bytes=2-4"]
        #expect(try served.exchange("https://h.example/a", fields: fields).status == 206)
        let response = try served.exchange("https://h.example/a", method: method, fields: fields)
        #expect(response.status == 200)
        #expect(response["Content-Range"] == nil)
        #expect(response["Content-Length"] == "\(size)")
        #expect(response.body.utf8.count == (method == "HEAD" ? 0 : size))
    }

    @Test("HEAD has the same length as GET")
    func head() throws {
        let served = try served()
        #expect(try served.exchange("https://h.example/a.txt", method: "HEAD")["Content-Length"] == "10")
    }

    @Test("An alternative with a limit stops answering once it's used up")
    func times() throws {
        let served = try served()
        #expect(
            try (0..<3).map { _ in try served.exchange("https://h.example/once").body } == ["first", "then", "then"]
        )
    }

    @Test("The client follows redirects, which lead to the origin's port")
    func redirect() throws {
        let served = try served()
        let response = try served.exchange("https://h.example/old")
        #expect(response.status == 301)
        #expect(response["Location"] == (try served.local("https://h.example") + "/a.txt"))
    }

    @Test(
        "A failure is a 502 that says why",
        arguments: [
            ("/a.tx", "https://h.example/a.txt"), ("/orders", "GET"),
        ]
    )
    func failures(path: String, part: String) throws {
        let method = path == "/orders" ? "PUT" : "GET"
        let response = try served().exchange("https://h.example" + path, method: method)
        #expect(response.status == 502)
        #expect(response.body.hasPrefix("https://h.example\(path): "))
        #expect(response.body.contains(part), "\(response.body)")
        #expect(response["Content-Type"] == "text/plain; charset=utf-8")
    }

    @Test(
        "Only what's served as XHTML is read as XML",
        arguments: [("application/xhtml+xml", true), ("text/html", false), ("application/xml", false)]
    )
    func xhtml(type: String, isRewritten: Bool) throws {
        let page = "<html xmlns='http://www.w3.org/1999/xhtml'><title/><img src='https://h.example/a.png'/></html>"
        let map = #"{ "https://h.example/": { "text": "\#(page)", "mimeType": "\#(type)" } }"#
        let served = try ServedMap(map, files: [:])
        let rewritten = page.replacing("https://h.example", with: try served.local("https://h.example"))
        #expect(try served.exchange("https://h.example/").body == (isRewritten ? rewritten : page))
    }

    @Test("An entry for OPTIONS answers a preflight; without one, the server does")
    func options() throws {
        let served = try served()
        let fields = ["Origin: \(try served.local("https://h.example"))", "Access-Control-Request-Method: POST"]
        #expect(try served.exchange("https://h.example/orders", method: "OPTIONS", fields: fields).status == 400)
        #expect(try served.exchange("https://h.example/a.txt", method: "OPTIONS", fields: fields).status == 204)
    }

    @Test("One connection serves many requests")
    func keepsAlive() throws {
        let served = try served()
        let port = try served.port("https://h.example")
        let head = "GET /a.txt HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        let text = try RawClient.exchange(
            String(repeating: head + "\r\n", count: 3) + head + "Connection: close\r\n\r\n",
            with: port
        )
        #expect(text.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 5)
        #expect(text.components(separatedBy: "0123456789").count == 5)
    }
}
