import Foundation
import Guarded
import LoopbackOrigin
import Testing

@Suite("substitute page", .serialized)
struct PageTests {
    /// What `--json` says.
    struct Record: Decodable {
        struct Totals: Decodable {
            let substituted: Int
            let fromDefaultCache: Int
            let fromNetwork: Int
            let failed: Int
            let bytesNotCarried: Int
        }

        let parts: [GetTests.Record]
        let totals: Totals
        let notSaved: [String]
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

    @Test("loads a page and its parts, each once, relative to base, redirects and style sheets")
    func parts() async throws {
        let origin = try LoopbackServer(routes: Self.site)
        defer { origin.stop() }
        let run = try await folder.substitute("page", origin.url("/dir/").absoluteString)
        #expect(run.status == 1)
        let paths = [
            "/dir/", "/assets/a.css", "/assets/app.js", "/assets/b.png", "/assets/dead.png", "/assets/s.png?a=1&b=2",
            "/assets/gone.png", "/moved/deep/c.css", "/moved/f.woff2?", "/moved/b.png",
        ]
        let rows = run.lines.prefix { !$0.isEmpty }
        #expect(
            Set(rows.compactMap { $0.split(separator: " ").last.map(String.init) })
                == Set(paths.map { origin.url($0).absoluteString })
        )
        #expect(rows.first?.hasPrefix("network  200  text/html; charset=utf-8") == true)
        #expect(run.output.contains("0 substituted, 0 from the default cache, 9 from the network, 1 failed\n0 bytes"))
        #expect(run.messages.contains("substitute: \(origin.url("/assets/dead.png").absoluteString): "))
        #expect(origin.requestCount(path: "/assets/b.png") == 1)
        #expect(origin.requestCount(path: "/assets/a.css") == 1)
        #expect(origin.requestCount(path: "/assets/other.html") == 0)
    }

    @Test("says what came from files, and how much the network did not carry")
    func substituted() async throws {
        let origin = try LoopbackServer(routes: Self.site)
        defer { origin.stop() }
        try folder.writeMap(#"{ "http://127.0.0.1:*/assets/*": "*" }"#, files: ["app.js": "12345", "b.png": "123"])
        let run = try await folder.substitute("page", "--json", origin.url("/dir/").absoluteString)
        let record = try run.json(Record.self)
        #expect(record.totals.substituted == 2)
        #expect(record.totals.fromDefaultCache == 0)
        #expect(record.totals.fromNetwork == 7)
        #expect(record.totals.failed == 1)
        #expect(record.totals.bytesNotCarried == 8)
        #expect(record.parts.compactMap(\.file).sorted() == ["app.js", "b.png"])
        #expect(record.parts.first?.url == origin.url("/dir/").absoluteString)
        #expect(record.missing.isEmpty && record.notSaved.isEmpty)
        #expect(origin.requestCount(path: "/assets/app.js") == 0)
    }

    @Test("saves one file in which only URLs have changed, and lists what is not in it")
    func save() async throws {
        let origin = try LoopbackServer(routes: Self.site)
        defer { origin.stop() }
        let run = try await folder.substitute("page", "--save", "p.html", origin.url("/dir/").absoluteString)
        #expect(run.status == 1)
        let html = String(decoding: try folder.contents("p.html"), as: UTF8.self)
        func dataURL(_ type: String, _ body: String) -> String {
            "data:\(type);base64,\(Data(body.utf8).base64EncodedString())"
        }
        let png = "data:image/png;base64,\(Self.png.base64EncodedString())"
        let deep = "@import 'data:text/css,'; p { src: url(\(png)) }"
        let font = dataURL("font/woff2", "font") + "#x"
        let css = dataURL("text/css", "@import '\(dataURL("text/css", deep))'; p { src: url(\(font)) }")
        #expect(
            html == """
                <!DOCTYPE html><html><head><meta charset="utf-8"><base ><link rel=stylesheet href="\(css)" >
                <link rel=stylesheet href="\(css)#again"><script src="\(dataURL("text/javascript", "'</script>'"))"></script><style>p { background: url(\(png)) }</style>
                </head><body><img srcset="\(png) 1x, gone.png 2x" src='dead.png'><p style="background: url('\(png)')">é</p>
                <img src="data:image/gif;base64,xx"><a href="other.html">x</a><svg><use href="#x"/></svg></body></html>
                """
        )
        let left = run.output.components(separatedBy: "\nNot in the saved page:\n").last?.split(separator: "\n") ?? []
        #expect(
            Set(left.map(String.init))
                == Set(["/assets/dead.png", "/assets/gone.png"].map { origin.url($0).absoluteString })
        )
    }

    @Test(
        "saves bytes of any charset as they are",
        arguments: [
            (
                Data("<p>\u{E9}".unicodeScalars.map { UInt8($0.value) }), "text/html; charset=ISO-8859-1",
                "<meta charset=\"iso-8859-1\">"
            ),
            (Data([0xFF, 0xFE, 0x3C, 0, 0x70, 0, 0x3E, 0]), "text/html", "<meta charset=\"utf-8\">"),
            (Data("<p>é\u{0}\r\n".utf8), "text/html", ""),
        ]
    )
    func charset(body: Data, type: String, start: String) async throws {
        let origin = try LoopbackServer(routes: ["/": .ok(body, type: type)])
        defer { origin.stop() }
        let run = try await folder.substitute("page", "--save=p.html", origin.url("/").absoluteString)
        #expect(run.status == 0)
        let expected = body.first == 0xFF ? Data("<p>".utf8) : body
        #expect(try folder.contents("p.html") == Data(start.utf8) + expected)
    }

    @Test("offline asks nobody, saves what there is, and ends with a map of the rest that can be loaded")
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
                    + "<img src=\(origin.url("/assets/b.png").absoluteString)>",
                "a.css": "@import 'c'",
            ]
        )
        let run = try await folder.substitute("page", "--offline", "--save", "p.html", "http://nowhere.invalid/")
        #expect(run.status == 1)
        #expect(origin.requests.isEmpty)
        let saved = String(decoding: try folder.contents("p.html"), as: UTF8.self)
        #expect(saved.contains("<link rel=stylesheet href=data:text/css;charset=utf-8;base64,QGltcG9ydCAnYyc=>"))
        #expect(saved.contains("<img src=b.png>"))

        let text = try #require(run.output.components(separatedBy: "\nMissing, as a map:\n").last)
        let map = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        let port = origin.port
        #expect(map["http://nowhere.invalid/js"] == "nowhere.invalid/js.js")
        #expect(map["http://nowhere.invalid/c"] == "nowhere.invalid/c.css")
        #expect(map["http://nowhere.invalid/b.png"] == "nowhere.invalid/b.png")
        #expect(map["http://nowhere.invalid/c?a=%2A"]?.hasPrefix("nowhere.invalid/c-") == true)
        #expect(map["http://127.0.0.1:\(port)/assets/b.png"] == "127.0.0.1_\(port)/assets/b.png")
        #expect(map.count == 5)
        try folder.writeMap(text, files: Dictionary(uniqueKeysWithValues: map.values.map { ($0, "x") }))
        #expect(try await folder.substitute("check").output.contains("5 entries in use, 0 errors"))
        let json = try await folder.substitute("page", "--offline", "--json", "http://nowhere.invalid/").json(
            Record.self
        )
        #expect(json.missing == ["http://nowhere.invalid/": "nowhere.invalid/index.html"])
    }

    @Test("keeps all parts with --record, which then are the page without the network")
    func record() async throws {
        let origin = try LoopbackServer(routes: Self.site.filter { $0.key != "/assets/dead.png" })
        let url = origin.url("/dir/").absoluteString
        let first = try await folder.substitute("page", "--record", "kept", "--save", "a.html", url)
        #expect(first.status == 0)
        #expect(first.messages.contains("responses new or changed in "))
        origin.stop()
        try folder.writeMap("{}")
        let second = try await folder.substitute(
            "page",
            "--record",
            "kept",
            "--offline",
            "--save",
            "b.html",
            "--json",
            url
        )
        #expect(try second.json(Record.self).totals.fromNetwork == 0)
        let html = String(decoding: try folder.contents("b.html"), as: UTF8.self)
        #expect(html.contains("url(data:image/png;base64,"))
    }

    @Test(
        "fails and saves nothing, if the page itself can't be had",
        arguments: [
            ("/assets/dead.png", "can't be loaded"), ("/none", "can't be loaded"),
            ("/assets/b.png", "image/png is no page"),
        ]
    )
    func noPage(path: String, message: String) async throws {
        let origin = try LoopbackServer(routes: Self.site)
        defer { origin.stop() }
        let run = try await folder.substitute("page", "--save", "p.html", origin.url(path).absoluteString)
        #expect(run.status == 1)
        #expect(run.messages.contains(message))
        #expect(!folder.exists("p.html"))
    }

    @Test("takes an HTTP error of a part, even one that asks for a password, for an answer")
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
        let run = try await folder.substitute("page", "--json", origin.url("/").absoluteString)
        #expect(run.status == 0)
        #expect(try run.json(Record.self).parts.map(\.status) == [200, 404, 401])
    }

    @Test("loads six parts at a time")
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
        let run = try await folder.substitute("page", origin.url("/").absoluteString)
        #expect(run.status == 0)
        #expect(running.withLock { $0.most } == 6)
    }

    @Test("ends, whatever style sheets import, and saves no page that would be too large", arguments: [false, true])
    func endless(isDoubled: Bool) async throws {
        let origin = try LoopbackServer { request in
            if request.path == "/" { return .text("<link rel=stylesheet href=1>", type: "text/html") }
            let number = Int(request.path.dropFirst()) ?? 0
            let again = isDoubled ? "@import '\(number + 1)#x';" : ""
            return .text("@import '\(number + 1)'; \(again) @import '\(number)'", type: "text/css")
        }
        defer { origin.stop() }
        let run = try await folder.substitute("page", "--save=p.html", origin.url("/").absoluteString)
        #expect(run.status == (isDoubled ? 1 : 0))
        #expect(origin.requests.count == 17)
        #expect(folder.exists("p.html") == !isDoubled)
        #expect(run.messages.contains("the page would take more than 128 MiB") == isDoubled)
    }
}
