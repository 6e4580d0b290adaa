import Foundation
import TestSupport
import Testing

@Suite("substitute demo", .sessions)
struct DemoTests {
    /// The JSON that `--json` prints.
    private struct Report: Decodable {
        let defaultCache: [GetTests.Record]
        let substitutionCache: [GetTests.Record]
        let page: String
    }

    private static let parts = ["/", "/style.css", "/nav-bg.png", "/hero.png", "/app.js", "/status.json"]

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("It loads all parts from the network with the default cache, then from files with the substitution cache")
    func report() async throws {
        let run = try await folder.substitute("demo", "--json")
        #expect(run.status == 0)
        let report = try run.json(Report.self)
        #expect(report.defaultCache.map { URL(string: $0.url)?.path } == Self.parts)
        #expect(report.defaultCache.allSatisfy { $0.source == "network" && $0.status == 200 && $0.bytes > 0 })

        let second = report.substitutionCache
        #expect(second.map(\.url).dropLast() == report.defaultCache.map(\.url)[...])
        #expect(second.last?.url == "http://images.apple.com/global/nav/images/globalnavbg.png")
        #expect(second.first?.source == "network", "the page itself is not mapped")
        #expect(second.dropFirst().allSatisfy { $0.source == "matched" && $0.status == 200 })
        #expect(
            second.dropFirst().map(\.file) == [
                "site/style.css", "fakeGlobalNavBG.png", "site/hero.png", "site/app.js", "site/status.json",
                "fakeGlobalNavBG.png",
            ]
        )
    }

    @Test("It prints aligned sizes but no times, which would only show how long a first load takes")
    func columns() async throws {
        let run = try await folder.substitute("demo")
        for rows in run.lines.split(whereSeparator: { !$0.hasPrefix("network") && !$0.hasPrefix("matched") }) {
            let ends = rows.compactMap { row in
                row.range(of: " B  http").map { row.distance(from: row.startIndex, to: $0.lowerBound) }
            }
            #expect(ends.count == rows.count)
            #expect(Set(ends).count == 1)
        }
        #expect(run.output.contains("163,196 B  http://"))
        #expect(!run.output.contains(" ms"))
        #expect(try await folder.substitute("demo", "--json").json(Report.self).defaultCache[0].milliseconds == nil)
    }

    @Test("It shows the map next to the pages, and marks the lines that answered")
    func mapLines() async throws {
        let map = "{\n  \"http://127.0.0.1:*/hero.png\": \"a & <b>\",\n  \"https://h.example/x\": \"a & <b>\"\n}\n"
        try folder.writeMap(map, files: ["a & <b>": "no picture"])
        #expect(try await folder.substitute("demo", "--output", "page.html", "--map", "substitutions.json").status == 0)
        let page = String(decoding: try folder.contents("page.html"), as: UTF8.self)
        let lines = page.matches(of: /<li( class="local")?>(.*)<\/li>/)
        #expect(lines.map { Self.unescaped(String($0.2)) } == map.split(separator: "\n").map(String.init))
        #expect(lines.map { $0.1 != nil } == [false, true, false, false])
        #expect(page.contains("<span class=\"tag\">line 2</span> <span class=\"file\">a &amp; &lt;b></span>"))
    }

    @Test("It contacts no host other than its own")
    func ownHost() async throws {
        let report = try await folder.substitute("demo", "--json").json(Report.self)
        let loaded = (report.defaultCache + report.substitutionCache).filter { $0.source != "matched" }
        #expect(loaded.count == Self.parts.count + 1)
        #expect(loaded.allSatisfy { URL(string: $0.url)?.host() == "127.0.0.1" })
    }

    @Test("It prints both tables and the requests to the origin, and a link to the page in its last line")
    func text() async throws {
        let run = try await folder.substitute("demo")
        #expect(run.status == 0)
        #expect(run.messages == "substitute: the demo's own map, 7 entries\n")
        #expect(run.lines.count { $0.hasPrefix("network ") } == Self.parts.count + 1)
        #expect(run.lines.count { $0.hasPrefix("matched ← ") } == Self.parts.count)
        #expect(run.output.contains("\nWith the default cache: The origin got 6 requests and sent "))
        #expect(run.output.contains("\nWith LocalSubstitutionCache: The origin got 1 request and sent "))
        #expect(run.output.contains(". 5 of 6 responses came from local files.\n"))
        #expect(run.output.contains(" and sent 21,010 B. 0 of 6 responses came from local files.\n"))
        let link = try #require(run.output.split(separator: "\n").last)
        let page = try #require(URL(string: String(link)))
        #expect(link.hasPrefix("file:///") && page.pathExtension == "html")
        #expect(FileManager.default.fileExists(atPath: page.path))
    }

    @Test("Each run writes the same file, in a folder that only this user can use")
    func cacheFolder() async throws {
        let home = try Self.home(in: folder)
        let run = try await folder.substitute("demo", environment: ["HOME": home.path, "XDG_CACHE_HOME": ""])
        let page = try Self.page(run)
        #expect(page.path.hasPrefix(home.path) && page.lastPathComponent == "demo.html")
        let permissions = try FileManager.default.attributesOfItem(atPath: page.deletingLastPathComponent().path)
        #expect(permissions[.posixPermissions] as? Int == 0o700)

        // A link there is replaced, not followed.
        try folder.write("kept", to: "kept.html")
        try FileManager.default.removeItem(at: page)
        try FileManager.default.createSymbolicLink(atPath: page.path, withDestinationPath: folder.path("kept.html"))
        let second = try await folder.substitute("demo", environment: ["HOME": home.path, "XDG_CACHE_HOME": ""])
        #expect(try Self.page(second) == page)
        #expect(try folder.contents("kept.html") == Data("kept".utf8))
        #expect(try String(contentsOf: page, encoding: .utf8).hasPrefix("<!doctype html>"))
        let files = try FileManager.default.contentsOfDirectory(atPath: page.deletingLastPathComponent().path)
        #expect(files == ["demo.html"])
    }

    @Test(
        "It writes to a new folder if there's no cache folder, or others can write there",
        arguments: ["file", "writable", "link"]
    )
    func noCacheFolder(_ home: String) async throws {
        let (manager, home) = (FileManager.default, try Self.home(home, in: folder))
        let caches = home.appendingPathComponent("caches")
        let other = home.appendingPathComponent("other")
        switch home.lastPathComponent {
        case "file":
            try manager.removeItem(at: home)
            try Data().write(to: home)
        case "writable":
            let inner = caches.appendingPathComponent("substitute")
            try manager.createDirectory(at: inner, withIntermediateDirectories: true)
            try manager.setAttributes([.posixPermissions: 0o770], ofItemAtPath: inner.path)
        default:
            for made in [caches, other] { try manager.createDirectory(at: made, withIntermediateDirectories: true) }
            try manager.createSymbolicLink(at: caches.appendingPathComponent("substitute"), withDestinationURL: other)
        }
        let environment = ["HOME": home.path, "XDG_CACHE_HOME": caches.path]
        let page = try Self.page(try await folder.substitute("demo", environment: environment))
        #expect(!page.path.hasPrefix(home.path))
        #expect(manager.fileExists(atPath: page.path))
        let permissions = try manager.attributesOfItem(atPath: page.deletingLastPathComponent().path)
        #expect(permissions[.posixPermissions] as? Int == 0o700)
        #expect(try Self.page(try await folder.substitute("demo", environment: ["HOME": ""])).isFileURL)
    }

    private static func home(_ name: String = "home", in folder: TemporaryFolder) throws -> URL {
        let home = folder.support.appendingPathComponent("homes/\(name)", isDirectory: true)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        return home
    }

    /// Returns the file that the last line links to.
    private static func page(_ run: Outcome) throws -> URL {
        #expect(run.status == 0)
        return try #require(run.output.split(separator: "\n").last.flatMap { URL(string: String($0)) })
    }

    @Test("It writes one page with both tables and both sites, which refers to nothing outside")
    func page() async throws {
        let run = try await folder.substitute("demo", "--output", "page.html")
        #expect(run.status == 0)
        #expect(run.lines.dropLast().last == folder.url.appendingPathComponent("page.html").absoluteString)
        let page = String(decoding: try folder.contents("page.html"), as: UTF8.self)
        #expect(page.hasPrefix("<!doctype html>"))
        #expect(!page.contains("{{"), "a placeholder is left")

        let tables = page.matches(of: /(?s)<tbody>(.*?)<\/tbody>/).map { String($0.1) }
        #expect(tables.count == 2)
        for table in tables {
            #expect(table.matches(of: /<tr class="[a-z]+"><td>([^<]*)<\/td>/).map { String($0.1) } == Self.parts)
        }
        #expect(tables.first?.contains("class=\"local\"") == false)
        #expect(
            tables.last?.contains("<span class=\"tag\">line 6</span> <span class=\"file\">fakeGlobalNavBG.png</span>")
                == true
        )

        let sites = page.matches(of: /srcdoc="([^"]*)"/).map { Self.unescaped(String($0.1)) }
        #expect(sites.count == 2)
        #expect(sites.first != sites.last)
        for site in sites {
            // The site's own parts are a style sheet, a picture, a script and JSON. The bar's picture is in the style sheet.
            #expect(site.matches(of: /="data:[a-z]+\/[a-z;=0-9-]+,/).count == 4)
        }
        let texts = [page.replacing(/srcdoc="[^"]*"/, with: "")] + sites + sites.flatMap(Self.embedded)
        #expect(texts.count == 3 + 2 * 4)
        for text in texts {
            let names = text.matches(
                of: /(?:(?:src|href|action|poster)=|url\(|@import\s)\s*["']?([^"'\s)>]*)/
            )
            #expect(names.allSatisfy { $0.1.hasPrefix("data:") }, "\(names.map { $0.1.prefix(40) })")
            #expect(!text.contains(/(?:=|\(|import)\s*["'`]?(?:https?:)?\/\//))
        }
    }

    @Test("It works with another map, and leaves out the URL that this map doesn't name")
    func otherMap() async throws {
        try folder.writeMap(#"{ "http://127.0.0.1:*/hero.png": "other.png" }"#, files: ["other.png": "no picture"])
        let run = try await folder.substitute("demo", "--json", "--map", "substitutions.json")
        #expect(run.status == 0)
        #expect(run.messages.isEmpty)
        let second = try run.json(Report.self).substitutionCache
        #expect(second.map { URL(string: $0.url)?.path } == Self.parts)
        #expect(second.compactMap(\.file) == ["other.png"])
    }

    @Test("It says which files a lone copy of the command lacks, and where it looked")
    func alone() async throws {
        let command = try folder.copyOfSubstitute()
        let run = try await folder.run(command, ["demo"])
        #expect(run.hasExited)
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        // The system names the command's folder without symbolic links.
        let place = command.deletingLastPathComponent().resolvingSymlinksInPath()
            .appendingPathComponent("LocalSubstitutionCache_substitute.")
        #expect(run.messages.hasPrefix("substitute: The demo's files aren't at \(place.path)"))
        #expect(run.messages.split(separator: "\n").count == 1)
    }

    @Test("It fails with a message if it can't write the page")
    func unwritable() async throws {
        let run = try await folder.substitute("demo", "--output", "none/page.html")
        #expect(run.status == 1)
        #expect(
            run.messages.hasSuffix(
                "“\(folder.path("none/page.html"))” can't be written: No such file or directory. "
                    + "Name another file with --output.\n"
            )
        )
    }

    private static func unescaped(_ text: String) -> String {
        text.replacing("&lt;", with: "<").replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
    }

    /// Returns the contents of a text's `data:` URLs.
    private static func embedded(_ text: String) -> [String] {
        text.matches(of: /data:[^,"]*;base64,([A-Za-z0-9+\/=]*)/).compactMap { match in
            Data(base64Encoded: String(match.1)).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
