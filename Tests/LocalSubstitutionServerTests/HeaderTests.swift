import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionServer
import LoopbackOrigin
import TestSupport
import Testing

/// The changes between a client and an origin on the network.
@Suite("Headers that a server changes", .sessions, .timeLimit(.minutes(5)))
struct HeaderTests {
    private let origin: LoopbackServer
    private let other: LoopbackServer
    private let served: ServedMap
    private let name: String
    private let otherName: String

    init() throws {
        let other = try LoopbackServer(routes: ["/": .text("other")])
        otherName = String(other.baseURL.absoluteString.dropLast())
        let otherName = otherName
        origin = try LoopbackServer { request in
            let text = request.headers.map { "\($0.name.lowercased()): \($0.value)\n" }.sorted().joined()
            switch request.path {
            case "/echo": return .text(text + String(decoding: request.body, as: UTF8.self))
            case "/moved": return .redirect(to: otherName + "/x?y", status: 307)
            case "/here": return .redirect(to: "/echo?y")
            case "/away": return .redirect(to: "http://nowhere.invalid/")
            case "/cookies":
                return LoopbackServer.Answer(headers: Self.cookies.map { ("Set-Cookie", $0.sent) })
            case "/zipped":
                return LoopbackServer.Answer(
                    headers: [("Content-Encoding", "gzip"), ("Content-Type", "text/plain")],
                    body: Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA==") ?? Data()
                )
            case "/twice":
                return LoopbackServer.Answer(
                    headers: [("Content-Encoding", "identity, gzip"), ("Content-Type", "text/plain")],
                    body: Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA==") ?? Data()
                )
            case "/private":
                return LoopbackServer.Answer(headers: [
                    ("Referrer-Policy", request.header("X-Policy") ?? ""), ("Content-Type", "text/html"),
                ])
            case "/refresh":
                return LoopbackServer.Answer(headers: [("Refresh", request.header("X-Refresh") ?? "")])
            case "/allowed":
                return LoopbackServer.Answer(headers: [("Access-Control-Allow-Origin", otherName), ("Vary", "X")])
            case "/all":
                return LoopbackServer.Answer(headers: [
                    ("Content-Security-Policy", "default-src 'none'"), ("Strict-Transport-Security", "max-age=1"),
                    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"),
                    ("Cross-Origin-Resource-Policy", "same-site"), ("Cache-Control", "max-age=9"), ("Age", "1"),
                    ("Expires", "Wed, 21 Oct 2037 07:28:00 GMT"), ("Alt-Svc", "h3=\":443\""), ("X-Own", "x"),
                    ("Clear-Site-Data", "\"*\""), ("Connection", "keep-alive,\tX-hop"), ("X-Hop", "x"),
                    ("Link", "<\(otherName)/a.css>; rel=preload; as=style, </b>; rel=next"),
                    ("Refresh", "5; url=\(otherName)/r"),
                ])
            case "/secret":
                return LoopbackServer.Answer(
                    status: 401,
                    headers: [("WWW-Authenticate", "Basic realm=\"x\"")],
                    body: Data("no".utf8)
                )
            case "/unchanged": return .status(304)
            default: return .status(404)
            }
        }
        self.other = other
        name = String(origin.baseURL.absoluteString.dropLast())
        served = try ServedMap(
            #"{ "\#(name)/entry": { "text": "entry" }, "\#(otherName)/entry": { "text": "entry" } }"#,
            unmatched: .load
        )
    }

    @Test(
        "A request's headers are adapted to the origin",
        arguments: [
            (["X-One: 1", "If-None-Match: \"y\""], ["x-one: 1\n", "if-none-match: \"y\"\n"], []),
            (["X-Hop: 2", "Connection: X-Hop"], [], ["x-hop"]),
            (["X-Hop: 2", "Connection: a,\tX-Hop\t"], [], ["x-hop"]),
            (["TE: trailers", "Upgrade: h2c", "Proxy-Authorization: x"], [], ["te:", "upgrade", "proxy"]),
            (["Authorization: Basic x"], [], ["authorization"]),
            (["Range: bytes=2-4"], ["range: bytes=2-4\n", "accept-encoding: identity\n"], []),
        ]
    )
    func request(_ fields: [String], _ present: [String], _ absent: [String]) throws {
        defer { origin.stop() }
        let echo = try served.exchange(name + "/echo", fields: fields).body
        #expect(echo.contains("host: \(name.dropFirst("http://".count))\n"))
        for line in present { #expect(echo.contains(line), "\(echo)") }
        for line in absent { #expect(!echo.contains(line), "\(echo)") }
    }

    @Test("Bytes of a target that aren't ASCII reach the origin percent-encoded")
    func target() throws {
        defer { origin.stop() }
        let port = try served.port(name)
        for byte: UInt8 in [0xE8, 0xE9] {
            let client = try RawClient(port)
            let end = Data(" HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n".utf8)
            try client.connection.write(Data("GET /caf".utf8) + [byte] + Data("?".utf8) + [byte] + end)
            _ = try client.readToEnd()
        }
        #expect(origin.requests.map(\.target) == ["/caf%E8?%E8", "/caf%E9?%E9"])
    }

    @Test("Credentials are forwarded if the server is configured to")
    func credentials() throws {
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load, sendsCredentials: true)
        #expect(
            try served.exchange(name + "/echo", fields: ["Authorization: Basic x"]).body.contains(
                "authorization: Basic x\n"
            )
        )
    }

    @Test("Origin and Referer name the original origins")
    func origins() throws {
        defer { origin.stop() }
        let own = try served.local(name)
        let echo = try served.exchange(
            name + "/echo",
            method: "POST",
            fields: ["Origin: \(try served.local(otherName))", "Referer: \(own)/a?b"],
            body: "x"
        ).body
        #expect(echo.contains("origin: \(otherName)\n"))
        #expect(echo.contains("referer: \(name)/a?b\n"))
        #expect(echo.hasSuffix("\nx"))
    }

    @Test("Redirects lead to the ports of their origins and aren't followed")
    func redirects() throws {
        defer { origin.stop() }
        let moved = try served.exchange(name + "/moved", method: "POST", body: "x")
        #expect(moved.status == 307)
        #expect(moved["Location"] == (try served.local(otherName)) + "/x?y")
        #expect(try served.exchange(name + "/here")["Location"] == "/echo?y")
        #expect(try served.exchange(name + "/away")["Location"] == "http://nowhere.invalid/")
        #expect(other.requests.isEmpty)
    }

    @Test("A target's redirect is relative to the target, not to the URL that the client requested")
    func redirectOfTarget() throws {
        defer { origin.stop() }
        let served = try ServedMap("{ \"https://t.example/f/*\": { \"forwardTo\": \"\(name)/*\" } }")
        let local = try served.local("https://t.example")
        #expect(try served.exchange("https://t.example/f/here")["Location"] == local + "/f/echo?y")
        let fixed = try ServedMap("{ \"https://t.example/f\": { \"forwardTo\": \"\(name)/here\" } }")
        #expect(try fixed.exchange("https://t.example/f")["Location"] == name + "/echo?y")
    }

    @Test("Headers that don't apply on 127.0.0.1 are removed")
    func dropped() throws {
        defer { origin.stop() }
        let response = try served.exchange(name + "/all")
        let names = Set(response.fields.map { $0.name.lowercased() })
        #expect(names == ["cache-control", "connection", "content-length", "link", "refresh", "x-own"])
        #expect(response.all("Cache-Control") == ["no-store"])
        let local = try served.local(otherName)
        #expect(response["Link"] == "<\(local)/a.css>; rel=preload; as=style, </b>; rel=next")
        #expect(response["Refresh"] == "5; url=\(local)/r")
    }

    /// What the origin sends, and what the client gets after the prefix.
    private static let cookies: [(sent: String, received: String)] = [
        (
            "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Domain=127.0.0.1; HttpOnly",
            "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; HttpOnly"
        ),
        ("__Host-b=2; Secure; Path=/; SameSite=None; Partitioned", "__Host-b=2; Path=/"),
        ("prefs=\"a=1,b=2\"; HttpOnly", "prefs=\"a=1,b=2\"; HttpOnly"),
        ("spaced=\"a=1, b=2, c\"; HttpOnly", "spaced=\"a=1, b=2, c\"; HttpOnly"),
        ("bare=a=1,b=2; HttpOnly", "bare=a=1,b=2; HttpOnly"),
        ("quote=\"", "quote=\""),
        ("flag=; Path=/", "flag=; Path=/"),
        ("c=3; SameSite=Lax", "c=3; SameSite=Lax"),
    ]

    @Test("Cookies are kept separate for each origin")
    func cookies() throws {
        defer { origin.stop() }
        let prefix = served.cookiePrefix(name)
        #expect(
            try served.exchange(name + "/cookies").all("Set-Cookie") == Self.cookies.map { prefix + $0.received }
        )
        let echo = try served.exchange(
            name + "/echo",
            fields: ["Cookie: \(prefix)a=1; foreign=2; \(served.cookiePrefix(otherName))x=3", "Cookie: \(prefix)b=4=5"]
        ).body
        #expect(echo.contains("\ncookie: a=1; b=4=5\n"))
        #expect(try !served.exchange(name + "/echo", fields: ["Cookie: foreign=2"]).body.contains("cookie"))
        #expect(try !served.exchange(name + "/echo").body.contains("cookie"), "no cookie of one client goes to another")
    }

    @Test(
        "The log names a cookie that only the prefix makes too long for browsers",
        arguments: [(0, nil), (1, "1 byte"), (20, "20 bytes"), (22, "22 bytes"), (23, nil), (100, nil)]
            as [(Int, String?)]
    )
    func longCookies(_ excess: Int, _ shown: String?) throws {
        defer { origin.stop() }
        let logged = Guarded<[String?]>([])
        // The prefix has 22 bytes.
        let count = "\(self.served.cookiePrefix("https://cookies.example"))id".utf8.count
        let value = String(repeating: "x", count: 4_096 - count + excess)
        let served = try ServedMap(
            #"{ "https://cookies.example/": { "text": "", "headers": { "Set-Cookie": "a=1, id=\#(value); Path=/, b=\"2\"" } } }"#
        ) { request in logged.withLock { $0.append(request.warning) } }
        #expect(try served.exchange("https://cookies.example/").all("Set-Cookie").count == 3)
        let warning = shown.map {
            "Browsers drop the cookie “id”, because the server's prefix makes it \($0) too long. Shorten its name or value."
        }
        #expect(logged.withLock { $0 } == [warning])
    }

    @Test("An origin's cookies aren't sent to another one that is served at the same port later")
    func laterOrigin() throws {
        defer { origin.stop() }
        let first = try ServedMap(
            #"{ "https://first.example/": { "text": "", "headers": { "Set-Cookie": "id=1; HttpOnly" } } }"#
        )
        let port = try first.port("https://first.example")
        let cookie = try #require(try first.exchange("https://first.example/")["Set-Cookie"]?.prefix { $0 != ";" })
        first.server.stop()
        let second = try ServedMap("{}", unmatched: .load, ports: [name: port])
        #expect(try second.port(name) == port)
        #expect(try !second.exchange(name + "/echo", fields: ["Cookie: \(cookie)"]).body.contains("cookie"))
    }

    @Test("A page of another served origin may read a response without CORS headers")
    func access() throws {
        defer { origin.stop() }
        let asking = try served.local(otherName)
        let field = "Access-Control-Allow-Origin"
        let echo = try served.exchange(name + "/echo", fields: ["Origin: \(asking)"])
        #expect(echo[field] == asking)
        #expect(echo.all("Vary").contains("Origin"))
        #expect(try served.exchange(name + "/entry", fields: ["Origin: \(asking)"])[field] == asking)
        #expect(try served.exchange(name + "/allowed", fields: ["Origin: \(asking)"])[field] == asking)
        #expect(try served.exchange(name + "/echo")[field] == nil)
        #expect(try served.exchange(name + "/echo", fields: ["Origin: http://evil.example"])[field] == nil)
    }

    @Test(
        "A page at localhost gets its own spelling, in its references and in what it may read",
        arguments: ["localhost", "127.0.0.1", "LOCALHOST", "LocalHost"],
        ["https", "http"]
    )
    func spelling(_ name: String, scheme: String) throws {
        let spelled = name.lowercased()
        let map = """
            {
              "\(scheme)://h.example/": { "text": "<a href='\(scheme)://i.example/'>i</a>", "mimeType": "text/html" },
              "\(scheme)://h.example/moved": { "status": 302, "headers": { "Location": "\(scheme)://i.example/a" } },
              "\(scheme)://i.example/a": { "text": "a" },
              "\(scheme)://i.example/only": { "text": "b", "headers": { "Access-Control-Allow-Origin": "\(scheme)://h.example" } },
              "\(scheme)://i.example/own": { "text": "b", "headers": { "Access-Control-Allow-Origin": "\(scheme)://i.example" } }
            }
            """
        let served = try ServedMap(map)
        let (page, other) = (try served.port("\(scheme)://h.example"), try served.port("\(scheme)://i.example"))
        func exchange(_ path: String, _ port: UInt16, _ fields: [String] = []) throws -> RawResponse {
            let lines = ["GET \(path) HTTP/1.1", "Host: \(name):\(port)", "Connection: close"] + fields
            return try RawResponse(RawClient.exchange(lines.joined(separator: "\r\n") + "\r\n\r\n", with: port))
        }
        #expect(try exchange("/", page).body == "<a href='http://\(spelled):\(other)/'>i</a>")
        #expect(try exchange("/moved", page)["Location"] == "http://\(spelled):\(other)/a")
        let asking = "http://\(spelled):\(page)"
        for path in ["/a", "/only"] {
            let field = try exchange(path, other, ["Origin: \(asking)"])["Access-Control-Allow-Origin"]
            #expect(field == asking)
        }
        let own = try exchange("/own", other, ["Origin: \(asking)"])["Access-Control-Allow-Origin"]
        #expect(own == "http://\(spelled):\(other)")
    }

    @Test(
        "A referrer policy that hides the page's origin is replaced",
        arguments: [
            ("no-referrer", "strict-origin-when-cross-origin"), ("Same-Origin", "strict-origin-when-cross-origin"),
            ("no-referrer, unsafe-url", "strict-origin-when-cross-origin, unsafe-url"),
            ("strict-origin", "strict-origin"), ("origin,same-origin", "origin, strict-origin-when-cross-origin"),
        ]
    )
    func referrerPolicy(sent: String, received: String) throws {
        defer { origin.stop() }
        let response = try served.exchange(name + "/private", fields: ["X-Policy: \(sent)"])
        #expect(response.all("Referrer-Policy") == [received])
    }

    @Test(
        "The URL of a Refresh header is rewritten wherever browsers find it, and nothing else of the header",
        arguments: [
            ("5; url=ORIGIN/r", "5; url=LOCAL/r"), ("0; ORIGIN/r?a=b", "0; LOCAL/r?a=b"), ("5;ORIGIN/r", "5;LOCAL/r"),
            ("0,ORIGIN/r", "0,LOCAL/r"), ("1 ORIGIN/r", "1 LOCAL/r"), ("0;URL='ORIGIN/r'", "0;URL='LOCAL/r'"),
            ("0; Url = \"ORIGIN/r\" ORIGIN", "0; Url = \"LOCAL/r\" ORIGIN"),
            (".5; ORIGIN/?url=ORIGIN/x", ".5; LOCAL/?url=ORIGIN/x"), ("0; /next", "0; /next"), ("30", "30"),
            ("0; https://elsewhere.example/", "0; https://elsewhere.example/"), ("soon; ORIGIN/r", "soon; ORIGIN/r"),
        ]
    )
    func refresh(sent: String, received: String) throws {
        defer { origin.stop() }
        func named(_ text: String) throws -> String {
            text.replacingOccurrences(of: "ORIGIN", with: otherName)
                .replacingOccurrences(of: "LOCAL", with: try served.local(otherName))
        }
        let response = try served.exchange(name + "/refresh", fields: ["X-Refresh: \(named(sent))"])
        #expect(response.all("Refresh") == [try named(received)])
    }

    @Test("A preflight between served origins is allowed")
    func preflight() throws {
        defer { origin.stop() }
        let asking = try served.local(otherName)
        let fields = ["Origin: \(asking)", "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: x-a"]
        let response = try served.exchange(name + "/echo", method: "OPTIONS", fields: fields)
        #expect(response.status == 204)
        #expect(response["Access-Control-Allow-Origin"] == asking)
        #expect(response["Access-Control-Allow-Methods"] == "PUT")
        #expect(response["Access-Control-Allow-Headers"] == "x-a")
        #expect(origin.requests.isEmpty)
    }

    @Test("A compressed body arrives decoded, and 304 and 401 arrive unchanged")
    func statuses() throws {
        defer { origin.stop() }
        for path in ["/zipped", "/twice"] {
            let zipped = try served.exchange(name + path)
            #expect(zipped.body == "hello world")
            #expect(zipped["Content-Encoding"] == nil)
            #expect(zipped.all("Content-Length").allSatisfy { $0 == "11" })
        }
        #expect(try served.exchange(name + "/unchanged").status == 304)
        let secret = try served.exchange(name + "/secret")
        #expect(secret.status == 401)
        #expect(secret["WWW-Authenticate"] == "Basic realm=\"x\"")
        #expect(secret.body == "no")
    }
}
