import Foundation
import LocalSubstitution
import LocalSubstitutionRecording
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The articles for apps", .sessions, .timeLimit(.minutes(2)))
struct AppTests {
    /// A bundle with the map and the files of the article's tree.
    static var bundle: Bundle? { Bundle(url: folder) }

    private static let folder = SnippetTests.folder.appending(path: "Fixtures/app")

    @Test("The article's tree and map are those of the bundle that the tests use")
    func tree() throws {
        let article = Document.article("ShipFilesWithAnApp")
        let map = try #require(article.blocks(in: "json").first).text
        #expect(
            try String(contentsOf: Self.folder.appending(path: "substitutions.json"), encoding: .utf8) == map + "\n"
        )
        let tree = try #require(article.blocks(in: "").first { $0.text.contains("└──") })
        let names = tree.lines.compactMap { $0.split(separator: " ").last }.filter { !$0.hasSuffix("/") }.map(
            String.init
        )
        let subpaths = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path)
        let files = subpaths.filter { $0.contains(".") }.map { String($0.split(separator: "/").last ?? "") }
        #expect(names.sorted() == (files + ["ShopApp.swift"]).sorted())
    }

    @Test("A bundled file is sent until the network has another one")
    func untilUpdated() async throws {
        let origin = try LoopbackServer(routes: ["/config": .text(#"{ "currency": "USD" }"#, type: "application/json")])
        let block = try #require(
            Document.article("UpdateBundledFiles").blocks(in: "json").first { $0.text.contains("untilUpdated") }
        )
        let folder = try TemporaryFolder()
        try folder.write("config.json", "bundled")
        let map = try SubstitutionMap(json: Data(Self.local(block.text, origin).utf8), resources: folder.url)
        let cache = LocalSubstitutionCache(map: map, directory: folder.file("cache"))
        var events = cache.events().filter { $0.kind == .refreshed }.makeAsyncIterator()
        let session = try cache.makeSession()
        #expect(try await Self.text(of: origin.url("config"), in: session) == "bundled")
        #expect(await events.next()?.url == origin.url("config"))
        #expect(try await Self.text(of: origin.url("config"), in: session).contains("USD"))
        #expect(origin.requests.count == 1)
    }

    @Test("If the network fails, the session gets the bundled file")
    func whenOffline() async throws {
        let origin = try LoopbackServer(routes: ["/news": .text("news of the server")])
        let block = try #require(Document.article("WorkOffline").blocks(in: "json").first)
        let app = try Self.app(Self.local(block.text, origin))
        defer { withExtendedLifetime(app) {} }
        let session = makeSession(bundle: try #require(Bundle(url: app.url)))
        #expect(try await Self.text(of: origin.url("news"), in: session) == "news of the server")
        #expect(
            try await Self.text(of: #require(URL(string: "https://cdn.example.com/logo.png")), in: session) == "logo"
        )
        origin.stop()
        #expect(try await Self.text(of: origin.url("news"), in: session) == "news")
    }

    @Test("A session without a readable map loads everything from the network")
    func sessionWithBrokenMap() async throws {
        let origin = try LoopbackServer(routes: ["/news": .text("news of the server")])
        let app = try Self.app(#"{ "\#(origin.url("news"))": "news.json", }"#)
        defer { withExtendedLifetime(app) {} }
        let session = makeSession(bundle: try #require(Bundle(url: app.url)))
        #expect(try await Self.text(of: origin.url("news"), in: session) == "news of the server")
        #expect(!(session.configuration.urlCache is LocalSubstitutionCache))
    }

    // `URLCache.shared` belongs to the whole process, so these tests run in separate ones.
    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test("The app's sessions get the files of its bundle, and `verify` prints what the article shows")
    func bundled() async {
        await #expect(processExitsWith: .success) {
            useBundledFiles(in: try #require(AppTests.bundle))
            let cache = try #require(LocalSubstitutionCache.installed)
            let url = try #require(URL(string: "https://api.example.com/config"))
            for session in [URLSession.shared, try shopSession()] {
                #expect(try await AppTests.text(of: url, in: session).contains("EUR"))
                let blocks = Document.article("ShipFilesWithAnApp").blocks(in: "")
                let verification = await cache.verify(session).description
                #expect(blocks.contains { $0.text == verification }, "\(verification)")
            }
        }
    }

    @Test("An entry with a mistake is left out, and the others work")
    func mistakenEntry() async {
        await #expect(processExitsWith: .success) {
            let app = try AppTests.app(#"{ "https://api.example.com/news": "news.json", "oops": "news.json" }"#)
            defer { withExtendedLifetime(app) {} }
            useBundledFiles(in: try #require(Bundle(url: app.url)))
            #expect(LocalSubstitutionCache.installed?.map.problems.count == 1)
            let url = try #require(URL(string: "https://api.example.com/news"))
            #expect(try await AppTests.text(of: url, in: .shared) == "news")
        }
    }

    @Test(
        "One comma too many, or a missing map, leaves the app with the default cache and the network",
        arguments: [#"{ "https://api.example.com/news": "news.json", }"#, nil]
    )
    func brokenMap(_ map: String?) async {
        await #expect(processExitsWith: .success) { [map = map as String?] in
            let app = try AppTests.app(map)
            defer { withExtendedLifetime(app) {} }
            useBundledFiles(in: try #require(Bundle(url: app.url)))
            #expect(LocalSubstitutionCache.installed == nil && !(URLCache.shared is LocalSubstitutionCache))
            let origin = try LoopbackServer(routes: ["/news": .text("news of the server")])
            for session in [URLSession.shared, try shopSession()] {
                #expect(try await AppTests.text(of: origin.url("news"), in: session) == "news of the server")
            }
        }
    }

    @Test("What an app has loaded is replayed offline, also after it was started again")
    func recorded() async throws {
        let home = try TemporaryFolder()
        defer { withExtendedLifetime(home) {} }
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            for name in ["HOME", "XDG_CACHE_HOME"] { setenv(name, home, 1) }
            let cache = LocalSubstitutionCache(map: try SubstitutionMap([:]))
            let origin = try LoopbackServer(routes: ["/page": .text("visited")])
            let (session, recorder) = try recordingSession(cache)
            #expect(try await AppTests.text(of: origin.url("page"), in: session) == "visited")
            origin.stop()
            recorder?.close()
            let (later, _) = try recordingSession(cache)
            #expect(try await AppTests.text(of: origin.url("page"), in: later) == "visited")
        }
    }

    @Test("Without a folder for its recorder, an app loads everything as before")
    func noRecorder() async throws {
        let home = try TemporaryFolder()
        defer { withExtendedLifetime(home) {} }
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            for name in ["HOME", "XDG_CACHE_HOME"] { setenv(name, home, 1) }
            let cache = LocalSubstitutionCache(map: try SubstitutionMap([:]))
            let first = openRecorder()
            let (session, recorder) = try recordingSession(cache)
            #expect(first != nil && recorder == nil)
            let origin = try LoopbackServer(routes: ["/page": .text("loaded")])
            #expect(try await AppTests.text(of: origin.url("page"), in: session) == "loaded")
        }
    }

    @Test(
        "An app's sessions share a map and a recorder, and a broken map doesn't turn off recording",
        arguments: [#"{ "https://api.example.com/news": "news.json" }"#, "{ oops }"]
    )
    func filesAndRecorder(_ map: String) async throws {
        let home = try TemporaryFolder()
        defer { withExtendedLifetime(home) {} }
        await #expect(processExitsWith: .success) { [map = map as String, home = home.url.path as String] in
            for name in ["HOME", "XDG_CACHE_HOME"] { setenv(name, home, 1) }
            let app = try AppTests.app(map)
            defer { withExtendedLifetime(app) {} }
            let session = startWorkingOffline(bundle: try #require(Bundle(url: app.url)))
            let origin = try LoopbackServer(routes: ["/own": .text("own"), "/shared": .text("shared")])
            #expect(try await AppTests.text(of: origin.url("own"), in: session) == "own")
            #expect(try await AppTests.text(of: origin.url("shared"), in: .shared) == "shared")
            origin.stop()
            let news = try #require(URL(string: "https://api.example.com/news"))
            for session in [session, .shared] {
                for path in ["own", "shared"] {
                    #expect(try await AppTests.text(of: origin.url(path), in: session) == path)
                }
                if map.contains("news") { #expect(try await AppTests.text(of: news, in: session) == "news") }
            }
        }
    }

    @Test("After an HTTP error, a session that never uses the network has the recorded response")
    func recordedBehindError() async throws {
        let home = try TemporaryFolder()
        defer { withExtendedLifetime(home) {} }
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            for name in ["HOME", "XDG_CACHE_HOME"] { setenv(name, home, 1) }
            let cache = LocalSubstitutionCache(map: try SubstitutionMap([:]))
            let origin = try LoopbackServer { $0.header("X-Down") == nil ? .text("visited") : .status(503) }
            let (session, recorder) = try recordingSession(cache)
            #expect(try await AppTests.text(of: origin.url("page"), in: session) == "visited")
            var request = URLRequest(url: origin.url("page"))
            request.setValue("1", forHTTPHeaderField: "X-Down")
            let (_, response) = try await session.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 503)
            let offline = try cache.makeSession(.default, unmatched: .fail, recorder: recorder)
            #expect(try await AppTests.text(of: origin.url("page"), in: offline) == "visited")
            #expect(origin.requests.count == 2)
        }
    }

    @Test("An installed recorder records what the shared session loads")
    func installedRecorder() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        await #expect(processExitsWith: .success) { [folder = folder.url.path as String] in
            let cache = LocalSubstitutionCache(map: try SubstitutionMap([:]))
            try recordSharedSession(cache, in: URL(filePath: folder))
            let origin = try LoopbackServer(routes: ["/page": .text("visited")])
            for _ in 0..<2 {
                #expect(try await AppTests.text(of: origin.url("page"), in: .shared) == "visited")
                origin.stop()
            }
        }
    }
    #endif

    /// Makes a bundle with a map, or none, and the files `news.json` and `logo.png`, each of which contains its name without
    /// extension.
    private static func app(_ map: String?) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        if let map { try folder.write("substitutions.json", map) }
        for name in ["news.json", "logo.png"] { try folder.write("Substitutes/\(name)", String(name.prefix(4))) }
        return folder
    }

    /// Returns a map with a server's URL in place of api.example.com.
    private static func local(_ map: String, _ origin: LoopbackServer) -> String {
        map.replacing("https://api.example.com/", with: origin.baseURL.absoluteString)
    }

    private static func text(of url: URL, in session: URLSession) async throws -> String {
        String(decoding: try await session.data(from: url).0, as: UTF8.self)
    }
}
