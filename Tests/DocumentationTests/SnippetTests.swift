import Foundation
import LocalSubstitution
import LocalSubstitutionRecording
import LocalSubstitutionTesting
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Swift in the documents", .sessions)
struct SnippetTests {
    /// Except manifests, which aren't part of a program.
    static let blocks = Document.all.flatMap { $0.blocks(in: "swift") }.filter { !$0.text.contains(".package(") }

    @Test("Every code block is a snippet, word for word", arguments: blocks)
    func isSnippet(_ block: Block) throws {
        let source = Self.source
        #expect(block.lines.filter { $0.hasPrefix("import ") }.allSatisfy(source.contains))
        let code = Self.code(of: block)
        #expect(Self.snippets.contains(code), "not in a file that ends in Snippets.swift: \(block.text)")
    }

    /// The lines of a block without the imports at its beginning. A `@testable import` is of the reader's own module.
    private static func code(of block: Block) -> [String] {
        Array(block.lines.drop { $0.isEmpty || $0.hasPrefix("import ") || $0.hasPrefix("@testable import ") })
    }

    @Test("Every snippet is in a document")
    func isInDocument() {
        let used = Self.blocks.map(Self.code)
        #expect(Self.snippets.count > 5)
        // Only what isn't shown, since a failed expectation prints what it has.
        let unused = Self.snippets.filter { !used.contains($0) }
        #expect(unused.isEmpty)
    }

    @Test(
        "No example for tests discards an error, which may say what's wrong with a map",
        arguments: ["StubRequestsInTests", "RecordResponsesForTests", "YourFirstStubbedTest"]
    )
    func errors(_ article: String) throws {
        let blocks = Document.article(article).blocks(in: "swift")
        #expect(blocks.count > 2)
        #expect(blocks.allSatisfy { !$0.text.contains("try?") })
    }

    @Test("A custom session is answered")
    func ownSession() async throws {
        let session = try attachedSession(with: try Self.cache())
        let (body, _) = try await session.data(from: Self.url)
        #expect(String(decoding: body, as: UTF8.self).contains("Ada"))
    }

    @Test("A recorder removes the token and keeps all other bytes")
    func redaction() async throws {
        let picture = Data([0x89, 0x50, 0xFF, 0x00])
        let origin = try LoopbackServer(routes: [
            "/me": .text(#"{"token":"s3cr3t","name":"Ada"}"#, type: "application/json"),
            "/picture": LoopbackServer.Answer(headers: [("Content-Type", "image/png")], body: picture),
        ])
        let folder = FileManager.default.temporaryDirectory.appending(path: "Kept-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let recorder = try keepWithoutTokens(in: folder)
        let session = try Self.cache().makeSession(recorder: recorder)
        let urls = [origin.url("me"), origin.url("picture")]
        for url in urls { _ = try await session.data(from: url) }
        recorder.flush()
        origin.stop()
        #expect(try await session.data(from: urls[0]).0 == Data(#"{"token": "…","name":"Ada"}"#.utf8))
        #expect(try await session.data(from: urls[1]).0 == picture)
        session.finishTasksAndInvalidate()
    }

    @Test("The closure for several tests leaves out the response with a token")
    func sharedClosure() throws {
        let url = try #require(URL(string: "https://api.example.com/token"))
        var responses = [url, Self.url].map { RecordedResponse(url: $0, status: 200, headers: [:], body: Data()) }
        for index in responses.indices { hide(&responses[index]) }
        #expect(responses.map(\.isExcluded) == [true, false])
    }

    @Test("An entry is unused until it has answered")
    func unused() async throws {
        let cache = try Self.cache()
        #expect(cache.unusedEntries.map(\.key) == ["https://api.example.com/user"])
        _ = try await cache.makeSession().data(from: Self.url)
        expectNoUnusedEntries(of: cache)
    }

    @Test("An entry of a test's map is unused until it has answered", .substituting("Fixtures/example.json"))
    func unusedInTest() async throws {
        withKnownIssue { expectAllEntriesUsed() }
        #expect(usedEntries().isEmpty)
        _ = try await URLSession.substituted.data(from: try #require(URL(string: "https://www.example.com/user")))
        expectAllEntriesUsed()
        #expect(usedEntries().map(\.key) == ["https://www.example.com/user"])
    }

    @Test("Problems and warnings are printed")
    func problems() throws {
        let map = try printProblems(of: Self.folder.appending(path: "Fixtures/mistakes/substitutions.json"))
        #expect(map.problems.count == 2)
        #expect(map.fileProblems().count == 1)
        #expect(map.warnings().count == 2)
    }

    @Test("The handlers that the article's map names answer")
    func handlers() async throws {
        let map = try #require(Document.article("MapFormat").blocks(in: "json").first { $0.text.contains("saveOrder") })
        let file = FileManager.default.temporaryDirectory.appending(path: "Handlers-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(map.text.utf8).write(to: file)
        let cache = try cacheWithHandlers(file)
        var order = URLRequest(url: try #require(URL(string: "https://api.example.com/orders/a%20b")))
        order.httpMethod = "PUT"
        #expect(try await cache.answer(to: order)?.1.statusCode == 401)
        order.setValue("Bearer x", forHTTPHeaderField: "Authorization")
        let (saved, head) = try #require(try await cache.answer(to: order))
        #expect(String(decoding: saved, as: UTF8.self) == #"{"id":"a b"}"#)
        #expect(head.statusCode == 201)
        let search = URLRequest(url: try #require(URL(string: "https://api.example.com/search?q=tea")))
        #expect(try await cache.answer(to: search)?.0 == Data(#"{"query":"tea"}"#.utf8))
    }

    @Test("A stream, a rate and a handler in code answer")
    func pieces() async throws {
        let cache = LocalSubstitutionCache(map: try mapInPieces())
        func answer(_ path: String) async throws -> String? {
            let request = URLRequest(url: try #require(URL(string: "https://api.example.com/\(path)")))
            return try await cache.answer(to: request).map { String(decoding: $0.0, as: UTF8.self) }
        }
        #expect(try await answer("log") == "1\n2\n")
        #expect(try await answer("items/7") == #"{"id":"7"}"#)
        let error = await #expect(throws: URLError.self) { try await answer("chat") }
        #expect(error?.code == .networkConnectionLost)
    }

    @Test("A reloading cache can be made and observed until it's released")
    func reloading() async throws {
        func listener() throws -> Task<Void, Never> {
            let cache = try reloadingCache(Document.root.appending(path: "substitutions.json"))
            #expect(cache.map.count > 0)
            return listen(to: cache, Self.url)
        }
        await (try listener()).value
    }

    // `URLCache.shared` belongs to the whole process, so these tests run in separate ones.
    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test("An attached session is answered and verified like the shared one")
    func attached() async {
        await #expect(processExitsWith: .success) {
            let cache = try SnippetTests.cache()
            try cache.install()
            let session = try attachedSession(with: cache)
            var answered = true
            for session in [session, URLSession.shared] {
                if case .notSubstituted = await cache.verify(session) { answered = false }
            }
            _exit(answered ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("Without a map, the default cache stays in place")
    func noMap() async {
        await #expect(processExitsWith: .success) {
            installInApp()
            #expect(throws: SubstitutionMapError.self) { try shareCacheOfMainBundle() }
            #expect(!(URLCache.shared is LocalSubstitutionCache))
        }
    }
    #endif

    static let folder = Document.root.appending(path: "Tests/DocumentationTests")

    static var url: URL { URL(string: "https://api.example.com/user") ?? folder }

    private static func cache() throws -> LocalSubstitutionCache {
        let fixtures = folder.appending(path: "Fixtures")
        return LocalSubstitutionCache(
            map: try SubstitutionMap(["https://api.example.com/user": "user.json"], resources: fixtures)
        )
    }

    /// The lines of all files whose names end in `Snippets.swift`.
    private static let source: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix("Snippets.swift") }.sorted()
            .flatMap { Document.lines(of: "Tests/DocumentationTests/\($0)") }
    }()

    /// The lines between the markers, indented as if they were alone.
    private static let snippets: [[String]] = {
        var found: [[String]] = []
        var open: [String]?
        for line in source {
            switch line.trimmingCharacters(in: .whitespaces) {
            case let text where text.hasPrefix("// snippet: "): open = []
            case "// end":
                found += open.map { [unindented($0)] } ?? []
                open = nil
            default: open?.append(line)
            }
        }
        return found
    }()

    private static func unindented(_ lines: [String]) -> [String] {
        let indent = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(indent)) }
    }
}
