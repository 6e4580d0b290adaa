#if os(Linux) || os(macOS)
import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionServer
import LoopbackOrigin
import TestSupport
import Testing

@Suite(
    "A server and a browser",
    .sessions,
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(if: Chromium.isAvailable, Chromium.advice)
)
struct BrowserTests {
    /// The requests in a server's log.
    private final class Log: Sendable {
        private let lines = Guarded<[String]>([])

        func add(_ request: SubstitutionServer.LoggedRequest) {
            lines.withLock { $0.append("\(request.method) \(request.url) \(request.status ?? 0)") }
        }

        func lines(to path: String) -> [String] { lines.withLock { $0.filter { $0.contains(path) } } }
    }

    private let log = Log()

    /// Serves a page at https://a.example/, a form's target and a module at https://b.example, and further entries.
    private func served(_ page: String, headers: [String: String] = [:], _ entries: String...) throws -> ServedMap {
        let fields = try String(decoding: JSONEncoder().encode(headers), as: UTF8.self)
        let own = [
            #""https://a.example/": { "file": "page.html", "headers": \#(fields) }"#,
            #""https://a.example/favicon.ico": { "status": 404 }"#,
            #""https://b.example/post": { "methods": ["POST"], "text": "posted" }"#,
            #""https://b.example/module.js": { "text": "document.title = 'imported'" }"#,
        ]
        return try ServedMap(
            "{ \((own + entries).joined(separator: ",\n")) }",
            files: ["page.html": page],
            log: log.add
        )
    }

    private static let form =
        "<form method=post action=https://b.example/post></form><script>document.forms[0].submit()</script>"

    @Test(
        "An entry's error rejects fetch once, and isn't repeated",
        arguments: ["networkConnectionLost", "timedOut", "httpTooManyRedirects"]
    )
    func errors(name: String) async throws {
        let page = """
            <title></title><script>
            const load = () => fetch("/once").then(r => r.text(), e => e.name).then(t => document.title += t + ";")
            fetch("/").then(load).then(load)
            </script>
            """
        let entry = #""https://a.example/once": [{ "error": "\#(name)", "times": 1 }, { "text": "ok" }]"#
        let served = try served(page, entry)
        #expect(try await Chromium.open(served.local("https://a.example/")).contains("<title>TypeError;ok;</title>"))
        #expect(
            log.lines(to: "/once") == ["GET https://a.example/once 0", "GET https://a.example/once 200"]
        )
    }

    @Test(
        "A form of a page whose policy hides its origin reaches another served origin",
        arguments: [
            (["Referrer-Policy": "no-referrer"], ""), (["Referrer-Policy": "same-origin"], ""),
            ([:], "<meta name=referrer content=no-referrer>"), ([:], "<meta name=referrer content=never>"),
        ]
    )
    func forms(headers: [String: String], meta: String) async throws {
        let served = try served(meta + Self.form, headers: headers)
        #expect(try await Chromium.open(served.local("https://a.example/")).contains("posted"))
    }

    @Test("A form of a page on a port that isn't served is refused, and so is one in a sandboxed frame")
    func refusedForms() async throws {
        let frame = "<iframe sandbox='allow-forms allow-scripts' srcdoc='\(Self.form)'></iframe>"
        let served = try served(frame)
        _ = try await Chromium.open(served.local("https://a.example/"))
        #expect(log.lines(to: "/post") == ["POST https://b.example/post 403"])
        let form = Self.form.replacing("https://b.example", with: try served.local("https://b.example"))
        let page = "<meta name=referrer content=no-referrer>\(form)"
        let other = try LoopbackServer(routes: ["/": .ok(Data(page.utf8), type: "text/html")])
        defer { other.stop() }
        #expect(try await Chromium.open(other.baseURL.absoluteString).contains("requests from null aren't accepted"))
    }

    @Test("An import map leads to another served origin")
    func importMap() async throws {
        let map = #"{"imports": {"module": "https://b.example/module.js"}}"#
        let served = try served("<script type=importmap>\(map)</script><script type=module>import 'module'</script>")
        #expect(try await Chromium.open(served.local("https://a.example/")).contains("<title>imported</title>"))
    }

    @Test("A page at localhost imports a module from another served origin", arguments: ["localhost", "127.0.0.1"])
    func spelling(host: String) async throws {
        let served = try served("<script type=module src=https://b.example/module.js></script>")
        let url = try served.local("https://a.example/").replacing("127.0.0.1", with: host)
        #expect(try await Chromium.open(url).contains("<title>imported</title>"))
    }
}
#endif
