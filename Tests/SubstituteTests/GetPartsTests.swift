import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@Suite("substitute get --parts", .sessions)
struct GetPartsTests {
    /// The JSON that `--json` prints.
    struct Record: Decodable {
        struct Totals: Decodable {
            let substituted: Int
            let fromDefaultCache: Int
            let confirmed: Int
            let fromNetwork: Int
            let failed: Int
            let bytesNotCarried: Int
        }

        let parts: [GetTests.Record]
        let totals: Totals
        let leftOut: [String]
        let missing: [String: String]
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.writeMap("{}")
    }

    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0, 0xFF])

    private static let site: [String: LoopbackServer.Answer] = [
        "/dir/": .text(
            """
            <!DOCTYPE html><html><head><base href="../assets/"><link rel=stylesheet href="a.css" integrity="sha256-x">
            <link rel=stylesheet href="a.css#again"><script src="app.js"></script><style>p { background: url(b.png) }</style>
            </head><body><img srcset="s.png?a=1&amp;b=2 1x, gone.png 2x" src='dead.png'><p style="background: url('b.png')">é</p>
            <img src="data:image/gif;base64,xx"><a href="other.html">x</a><svg><use href="#x"/></svg></body></html>
            """,
            type: "text/html; charset=utf-8"
        ),
        "/assets/a.css": .redirect(to: "/moved/a.css"),
        "/moved/a.css": .text("@import 'deep/c.css'; p { src: url(f.woff2?#x) }", type: "text/css"),
        "/moved/deep/c.css": .text("@import '/moved/deep/c.css'; p { src: url(../b.png) }", type: "text/css"),
        "/moved/f.woff2": .ok(Data("font".utf8), type: "font/woff2"), "/moved/b.png": .ok(png, type: "image/png"),
        "/assets/app.js": .text("'</script>'", type: "text/javascript"), "/assets/b.png": .ok(png, type: "image/png"),
        "/assets/s.png?a=1&b=2": .ok(png, type: "image/png"),
        "/assets/dead.png": LoopbackServer.Answer(fault: .dropBeforeHead),
    ]

    @Test("It loads a page and its parts, each once, relative to base, redirects and style sheets")
    func parts() async throws {
        let origin = try LoopbackServer(routes: Self.site)
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--parts", origin.url("/dir/").absoluteString)
        #expect(run.status == 1)
        let paths = [
            "/dir/", "/assets/a.css", "/assets/app.js", "/assets/b.png", "/assets/dead.png", "/assets/s.png?a=1&b=2",
            "/assets/gone.png", "/moved/deep/c.css", "/moved/f.woff2?", "/moved/b.png",
        ]
        let rows = run.lines.prefix { !$0.isEmpty }
        #expect(
            rows.compactMap { $0.split(separator: " ").last.map(String.init) }.sorted()
                == paths.map { origin.url($0).absoluteString }.sorted()
        )
        #expect(rows.first?.hasPrefix("network  200  text/html; charset=utf-8") == true)
        let totals = "0 substituted, 0 from the default cache, 9 from the network, 1 failed\n"
        #expect(run.output.contains(totals + "0 B from files and the default cache, in "))
        #expect(run.output.hasSuffix("\n\nLeft out:\nURLs that 1 script builds, which aren't known\n"))
        #expect(run.messages.contains("substitute: \(origin.url("/assets/dead.png").absoluteString): "))
        #expect(origin.requestCount(path: "/assets/b.png") == 1)
        #expect(origin.requestCount(path: "/assets/a.css") == 1)
        #expect(origin.requestCount(path: "/assets/other.html") == 0)
    }

    @Test(
        "It loads everything that browsers load, and nothing that they don't",
        arguments: [
            ("<iframe src=p></iframe>", ["p": "<img src=x>", "x": ""]), ("<frameset><frame src=p>", ["p": ""]),
            ("<object data=p></object>", ["p": "<img src=x>", "x": ""]), ("<embed src=p>", ["p": ""]),
            ("<iframe srcdoc='<img src=p>' src=x></iframe>", ["p": ""]),
            (
                "<script type=module src=p.js></script>",
                ["p.js": "import './q.js'", "q.js": "export*from'./r.js'", "r.js": ""]
            ),
            ("<link rel=modulepreload href=p.js>", ["p.js": "import 'bare'; import './q.js'", "q.js": ""]),
            ("<script type=module>import './p.js'</script>", ["p.js": ""]),
            ("<script src=p.js></script>", ["p.js": "import './q.js'"]),
            (
                "<link rel=preload as=font href=p><link rel=icon href=q><link rel=manifest href=r>",
                ["p": "", "q": "", "r": ""]
            ),
            ("<link rel=stylesheet href=p.txt>", ["p.txt": "x{y:url(q)}", "q": ""]),
            ("<script type=module src=p.txt></script>", ["p.txt": "import './q.js'", "q.js": ""]),
            ("<link rel=preload as=style href=p.css>", ["p.css": "x{y:url(q)}", "q": ""]),
            ("<link rel=preload as=image imagesrcset='p 1x, q 2x' href=r>", ["p": "", "q": "", "r": ""]),
            ("<svg><image href=p /><use xlink:href='q#r'></svg>", ["p": "", "q": ""]),
            ("<style>x{y:image-set('p' 1x,'q' 2x)</style>", ["p": "", "q": ""]),
            ("<a href=p></a><form action=q><link rel=next href=r><link rel=preconnect href=/>", [:]),
            ("<img src=p>", ["p": "<img src=q>"]), ("<noscript><img src=p></noscript>", [:]),
        ] as [(String, [String: String])]
    )
    func kinds(html: String, files: [String: String]) async throws {
        let types = ["js": "text/javascript", "css": "text/css", "txt": "text/plain"]
        let origin = try LoopbackServer { request in
            if request.path == "/" { return .text(html, type: "text/html") }
            let name = String(request.path.dropFirst())
            guard let text = files[name] else { return .status(404) }
            let type = name.split(separator: ".").dropFirst().first.flatMap { types[String($0)] }
            return .text(text, type: type ?? "text/html")
        }
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--parts", origin.url("/").absoluteString)
        #expect(run.status == 0)
        #expect(origin.requests.map(\.path).sorted() == ([""] + files.keys).map { "/\($0)" }.sorted())
    }

    @Test("It says what came from files, and how much the network didn't carry")
    func substituted() async throws {
        let origin = try LoopbackServer(routes: Self.site)
        defer { origin.stop() }
        try folder.writeMap(#"{ "http://127.0.0.1:*/assets/*": "*" }"#, files: ["app.js": "12345", "b.png": "123"])
        let run = try await folder.substitute("get", "--parts", "--json", origin.url("/dir/").absoluteString)
        let record = try run.json(Record.self)
        #expect(record.totals.substituted == 2)
        #expect(record.totals.fromDefaultCache == 0)
        #expect(record.totals.fromNetwork == 7)
        #expect(record.totals.failed == 1)
        #expect(record.totals.bytesNotCarried == 8)
        #expect(record.parts.compactMap(\.file).sorted() == ["app.js", "b.png"])
        #expect(record.parts.first?.url == origin.url("/dir/").absoluteString)
        #expect(record.missing.isEmpty)
        #expect(record.leftOut == ["URLs that 1 script builds, which aren't known"])
        #expect(origin.requestCount(path: "/assets/app.js") == 0)
    }

    @Test("The options are only for the request for the page")
    func options() async throws {
        let origin = try LoopbackServer(routes: ["/?q": .text("<img src=a>", type: "text/html"), "/a": .status(200)])
        defer { origin.stop() }
        let url = origin.url("/?q#f").absoluteString
        let run = try await folder.substitute("get", "--parts", "--header", "X-A: b", "--data", "c", url)
        #expect(run.status == 0)
        #expect(origin.requests.map(\.target) == ["/?q", "/a"])
        #expect(origin.requests.map(\.method) == ["POST", "GET"])
        #expect(origin.requests.map { $0.header("X-A") } == ["b", nil])
    }

    @Test("With --offline, it sends no requests and ends with a valid map of what's missing")
    func offline() async throws {
        let origin = try LoopbackServer(routes: Self.site)
        defer { origin.stop() }
        try folder.writeMap(
            """
            { "http://nowhere.invalid/": "index.html", "http://nowhere.invalid/a.css": "a.css" }
            """,
            files: [
                "index.html":
                    "<link rel=stylesheet href=a.css><script src=/js></script><img src=b.png><img src='c?a=*'>"
                    + "<iframe src=/frame></iframe><img src=\(origin.url("/assets/b.png").absoluteString)>",
                "a.css": "@import 'c'",
            ]
        )
        let run = try await folder.substitute("get", "--parts", "--offline", "http://nowhere.invalid/")
        #expect(run.status == 1)
        #expect(origin.requests.isEmpty)
        let reason = "No entry answers this request, and it can't use the network."
        #expect(run.messages.components(separatedBy: reason).count == 2)

        let text = try #require(run.output.components(separatedBy: "\nMissing, as a map:\n").last)
        let map = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        let port = origin.port
        #expect(map["http://nowhere.invalid/js"] == "nowhere.invalid/js.js")
        #expect(map["http://nowhere.invalid/c"] == "nowhere.invalid/c.css")
        #expect(map["http://nowhere.invalid/frame"] == "nowhere.invalid/frame.html")
        #expect(map["http://nowhere.invalid/b.png"] == "nowhere.invalid/b.png")
        #expect(map["http://nowhere.invalid/c?a=%2A"]?.hasPrefix("nowhere.invalid/c-") == true)
        #expect(map["http://127.0.0.1:\(port)/assets/b.png"] == "127.0.0.1_\(port)/assets/b.png")
        #expect(map.count == 6)
        try folder.writeMap(text, files: Dictionary(uniqueKeysWithValues: map.values.map { ($0, "x") }))
        #expect(try await folder.substitute("check").output.contains("6 entries in use, 0 errors"))
        let json = try await folder.substitute("get", "--parts", "--offline", "--json", "http://nowhere.invalid/")
        #expect(try json.json(Record.self).missing == ["http://nowhere.invalid/": "nowhere.invalid/index.html"])
    }

    @Test("With --record, it keeps all parts, including redirects and 404s, so the page loads without the network")
    func record() async throws {
        var site = Self.site
        site["/assets/dead.png"] = nil
        site["/dir/"]?.headers += [("Set-Cookie", "session=secret"), ("Cache-Control", "private, no-store")]
        let origin = try LoopbackServer(routes: site)
        let url = origin.url("/dir/").absoluteString
        let words = ["get", "--parts", "--record", "kept", url]
        let first = try await folder.substitute(words)
        #expect(first.status == 0)
        #expect(first.messages.contains("responses new or changed in "))
        origin.stop()
        try folder.writeMap("{}")
        let record = try await folder.substitute(words + ["--offline", "--json"]).json(Record.self)
        #expect(record.totals.fromNetwork == 0)
        #expect(record.totals.substituted == 10)
        #expect(record.totals.failed == 0)
        #expect(record.parts.first?.source == "substituted")
        #expect(try !String(decoding: folder.contents("kept/substitutions.json"), as: UTF8.self).contains("secret"))
    }

    @Test("With --record, a kept part that the network says is current is confirmed")
    func confirmed() async throws {
        let origin = try LoopbackServer { request in
            request.header("If-None-Match") == "\"1\""
                ? .status(304)
                : LoopbackServer.Answer(
                    headers: [("ETag", "\"1\""), ("Content-Type", "text/html")],
                    body: Data("<p>page".utf8)
                )
        }
        defer { origin.stop() }
        try folder.writeMap("{}")
        let words = ["get", "--parts", "--record", "kept", origin.url("/").absoluteString]
        #expect(try await folder.substitute(words).output.contains("0 substituted, 0 from the default cache, 1 from"))
        let run = try await folder.substitute(words)
        #expect(
            run.output.contains("confirmed") && run.output.contains("0 substituted, 1 confirmed, 0 from the default")
        )
        let record = try await folder.substitute(words + ["--json"]).json(Record.self)
        #expect(record.parts.map(\.source) == ["confirmed"])
        #expect(record.totals.confirmed == 1 && record.totals.bytesNotCarried == 7)
        #expect(record.totals.substituted == 0 && record.totals.fromNetwork == 0)
    }

    @Test("It fails if the page itself can't be loaded", arguments: ["/assets/dead.png", "/none"])
    func noPage(path: String) async throws {
        let origin = try LoopbackServer(routes: Self.site)
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--parts", origin.url(path).absoluteString)
        #expect(run.status == 1)
        #expect(!run.output.contains("Left out"))
    }

    @Test("It treats a part's HTTP error as an answer, even one that asks for a password")
    func httpErrors() async throws {
        let origin = try LoopbackServer(routes: [
            "/": .text("<img src=a><img src=b>", type: "text/html"),
            "/b": LoopbackServer.Answer(
                status: 401,
                headers: [("WWW-Authenticate", "Basic realm=\"x\"")],
                body: Data("no".utf8)
            ),
        ])
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--parts", "--json", origin.url("/").absoluteString)
        #expect(run.status == 0)
        #expect(try run.json(Record.self).parts.map(\.status) == [200, 404, 401])
    }

    @Test("It loads six parts at a time")
    func six() async throws {
        let running = Guarded<(now: Int, most: Int)>((0, 0))
        let full = DispatchSemaphore(value: 0)
        let origin = try LoopbackServer { request in
            if request.path == "/" {
                return .text((0..<20).map { "<img src=\($0)>" }.joined(), type: "text/html")
            }
            let isSixth = running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
                return running.now == 6
            }
            // The first six wait for each other.
            if isSixth { for _ in 0..<20 { full.signal() } }
            _ = full.wait(timeout: .now() + 5)
            running.withLock { $0.now -= 1 }
            return .status(200)
        }
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--parts", origin.url("/").absoluteString)
        #expect(run.status == 0)
        #expect(running.withLock { $0.most } == 6)
    }

    @Test(
        "It ends however deeply frames and style sheets are nested, and says what it left out",
        arguments: [
            ("<iframe src=/N></iframe>", "text/html", 4, "1 part more than 3 frames deep, HOST/4"),
            (
                "<iframe src=/N></iframe><object data=/Nx>", "text/html", 7,
                "2 parts more than 3 frames deep, such as HOST/4"
            ),
            ("@import '/N'; @import '/N#x'", "text/css", 17, "1 part more than 16 style sheets deep, HOST/17"),
        ]
    )
    func endless(text: String, type: String, requests: Int, leftOut: String) async throws {
        let origin = try LoopbackServer { request in
            let number = Int(request.path.dropFirst().prefix { $0.isNumber }) ?? 0
            if number == 0, type == "text/css" { return .text("<link rel=stylesheet href=/1>", type: "text/html") }
            return .text(text.replacing("N", with: "\(number + 1)"), type: type)
        }
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--parts", "--json", origin.url("/").absoluteString)
        #expect(run.status == 0)
        #expect(origin.requests.count == requests)
        let host = String(origin.baseURL.absoluteString.dropLast())
        let expected = leftOut.replacing("HOST", with: host)
        #expect(try run.json(Record.self).leftOut.contains { $0.hasPrefix(expected) })
    }

    @Test("It loads at most 5,000 parts")
    func most() async throws {
        let page = (1...5_002).map { "<img src=\($0)>" }.joined()
        try folder.writeMap(#"{ "http://nowhere.invalid/": "index.html" }"#, files: ["index.html": page])
        let run = try await folder.substitute("get", "--parts", "--offline", "--json", "http://nowhere.invalid/")
        let record = try run.json(Record.self)
        #expect(record.parts.count == 5_001)
        #expect(record.leftOut == ["2 parts beyond the limit of 5,000, such as http://nowhere.invalid/5001"])
    }

    @Test("A part that's loaded through another reference isn't listed as left out")
    func foundAgain() async throws {
        let origin = try LoopbackServer { request in
            let depth = request.path.count - 1
            let deeper = "<iframe src=\(request.path)x></iframe>"
            // A URL that's too deep as a frame is also a picture of the page.
            return .text(depth == 0 ? deeper + "<img src=/xxxx>" : deeper, type: "text/html")
        }
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--parts", "--json", origin.url("/").absoluteString)
        #expect(origin.requests.map(\.path).sorted() == ["/", "/x", "/xx", "/xxx", "/xxxx"])
        #expect(try run.json(Record.self).leftOut.isEmpty)
    }
}
