import Foundation
import LocalSubstitutionServer
import LocalSubstitutionTesting
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The article on troubleshooting", .sessions, .timeLimit(.minutes(2)))
struct TroubleshootingTests {
    fileprivate static let article = Document.article("Troubleshooting")

    @Test("what the product says is in the article", arguments: Saying.all)
    func isQuoted(_ saying: Saying) async throws {
        let quotation = try #require(Quotation.all.first { $0.text == saying.quotation }, "\(saying.quotation)")
        let text = try await saying.text()
        #expect(quotation.isIn(text), "\(text)")
    }

    @Test("the product says what the article quotes", arguments: Quotation.all)
    func isSaid(_ quotation: Quotation) async {
        let texts = await Saying.texts.value + Saying.sources
        #expect(texts.contains { quotation.isIn($0) })
    }

    @Test("the three steps load a URL of the map through the session, and nothing else")
    func steps() async throws {
        let url = SnippetTests.url
        let cache = try Saying.cache("{ \"\(url)\": { \"text\": \"Ada\" } }")
        let session = try cache.makeSession(unmatched: .fail)
        let listener = await findOut(about: URLRequest(url: url), session, cache)
        #expect(cache.statistics.requests == 0, "A verification isn't counted.")
        listener.cancel()
        await listener.value
        session.invalidateAndCancel()
    }

    @Test("each key that doesn't match does as it should be written")
    func keys() throws {
        let header = ["the request", "the key", "what to write"]
        let table = try #require(Self.article.tables.first { $0.header == header })
        #expect(table.rows.count > 3)
        for (line, cells) in table.rows {
            let url = try #require(URL(string: cells[0]))
            let isField = cells[2].hasPrefix("\"")
            let corrected = isField ? "{ \"\(cells[1])\": { \"status\": 204, \(cells[2]) } }" : Self.map(cells[2])
            let isAnswered = try [Self.map(cells[1]), corrected].map { json in
                let map = try SubstitutionMap(json: Data(json.utf8))
                return LocalSubstitutionCache(map: map).cachedResponse(for: URLRequest(url: url)) != nil
            }
            #expect(isAnswered == [false, true], "line \(line)")
        }
    }

    private static func map(_ key: String) -> String { "{ \"\(key)\": { \"status\": 204 } }" }

    // Installing changes the whole process, so this runs in its own.
    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test("what is said when a session was used before is in the article")
    func sessionInUse() async {
        await #expect(processExitsWith: .success) {
            _ = URLSession(configuration: .default)
            _ = URLSession.shared
            let error = #expect(throws: AttachmentError.self) {
                try Saying.cache(#"{ "https://h/a": null }"#).install()
            }
            let text = try #require(error).description
            let quotation = "A session was used before the cache was installed"
            #expect(text.contains(quotation) && Quotation.all.contains { $0.text == quotation }, "\(text)")
        }
    }
    #endif
}

/// A message that the article quotes. “…” stands for any text.
struct Quotation: Sendable, CustomTestStringConvertible {
    let text: String

    var testDescription: String { text }

    /// The first cells of tables with messages, and other code that is long enough to be one.
    static let all: [Quotation] = {
        let tables = TroubleshootingTests.article.tables.filter { $0.header.first == "message" }
        let prose = TroubleshootingTests.article.prose.replacing(/``[^`]+``/, with: "")
        let code = prose.matches(of: /`([^`]+)`/).map { String($0.1) }.filter { $0.split(separator: " ").count > 3 }
        let texts = Set(tables.flatMap(\.rows).map { $0.cells[0] } + code)
        return texts.sorted().map(Quotation.init)
    }()

    func isIn(_ said: String) -> Bool {
        var rest = Substring(said)
        for part in text.split(separator: "…") {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}

extension Document {
    /// The text without blocks of code.
    fileprivate var prose: String {
        var isCode = false
        return Self.lines(of: path).filter { line in
            defer { if line.hasPrefix("```") { isCode.toggle() } }
            return !isCode && !line.hasPrefix("```")
        }
        .joined(separator: "\n")
    }
}

/// A message of the product, what the article quotes of it, and how to produce it.
struct Saying: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let quotation: String
    let text: @Sendable () async throws -> String

    private init(
        _ description: String,
        _ quotation: String,
        _ text: @escaping @Sendable () async throws -> String
    ) {
        testDescription = description
        self.quotation = quotation
        self.text = text
    }

    static let all = [verifications, explanations, maps, requests, attachments, served].flatMap(\.self)

    /// All messages, each produced once. Those that throw are left out: `isQuoted` tries each.
    static let texts = Task {
        var texts: [String] = []
        for saying in all { texts += (try? await saying.text()).map { [$0] } ?? [] }
        return texts
    }

    /// The source of messages that need another platform, a failing test or an hour, without comments and with its literals
    /// joined.
    static let sources = [
        "LocalSubstitution/Answering/Explanation", "LocalSubstitution/Answering/Plan",
        "LocalSubstitution/Map/Obstacle",
        "LocalSubstitution/LocalSubstitutionCache+Attaching",
        "LocalSubstitution/LocalSubstitutionCache+Installing", "LocalSubstitution/Protocol/Attachment",
        "LocalSubstitution/Protocol/RequestLoad", "LocalSubstitutionTesting/SubstitutionsTrait",
        "LocalSubstitutionTesting/SubstitutionScope", "LocalSubstitutionTesting/SharedSession",
        "LocalSubstitutionTesting/MapSource", "LocalSubstitutionTesting/TestSubstitutions+XCTest",
        "LocalSubstitutionTesting/Recording", "MapTools/Recordings/RecordedMap",
        "LocalSubstitution/Observing/Event",
        "LocalSubstitution/Verification",
    ]
    .map { name in
        Document.lines(of: "Sources/\(name).swift").map { $0.replacing(/(?:^|\s)\/\/.*/, with: "") }.joined(
            separator: "\n"
        )
        .replacing(/"\n *\+ "/, with: "").replacing(/\\\([^"]*"entry has", "[^"]*"\)\)/, with: "1 entry has")
    }

    static func cache(_ json: String) throws -> LocalSubstitutionCache {
        LocalSubstitutionCache(map: try SubstitutionMap(json: Data(json.utf8)))
    }

    private static let url = SnippetTests.url

    // MARK: Verifying

    private static let verifications = [
        Saying("verify: nothing to load", "The map has no URL to verify with.") {
            try await verification(of: #"{ "https://api.example.com/*": { "text": "a" } }"#) { _, _ in }
        },
        Saying("verify: no cache", "The session's configuration has no urlCache.") {
            try await verification { configuration, _ in configuration.urlCache = nil }
        },
        // An ephemeral configuration has its own.
        Saying("verify: another cache", "The session has another cache. Attach this cache") {
            try await verification { _, _ in }
        },
        // These depend on what the whole process shares, on the network or on the platform.
        Saying("verify: policy", "The session's configuration ignores local data (requestCachePolicy).") {
            LocalSubstitutionCache.Verification.Reason.policy.description
        },
        Saying(
            "verify: made before",
            "The session has another cache. The session was made before URLCache.shared was set"
        ) {
            LocalSubstitutionCache.Verification.Reason.madeBefore.description
        },
        Saying("verify: failed", "The request failed.") {
            LocalSubstitutionCache.Verification.Reason.failed.description
        },
        Saying("verify: platform", "URLSession didn't use the cache's response.") {
            LocalSubstitutionCache.Verification.Reason.platform.description
        },
    ]

    private static func verification(
        of json: String = #"{ "http://127.0.0.1:1/a": { "text": "a" } }"#,
        _ change: @Sendable (URLSessionConfiguration, LocalSubstitutionCache) -> Void
    ) async throws -> String {
        let cache = try cache(json)
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration, cache)
        return await cache.verify(URLSession(configuration: configuration)).description
    }

    // MARK: Explaining

    private static let explanations = [
        explanation("no entry", "no entry matches it", #"{ "https://api.example.com/users": { "text": "a" } }"#),
        explanation(
            "another scheme",
            "only http and https URLs with a host and no user info are substituted",
            "{}",
            of: URL(string: "ftp://api.example.com/user")
        ),
        explanation("null", "the entry is null, so the URL is never substituted", entry("null")),
        explanation("disabled", "it's disabled", entry(#"{ "text": "a", "enabled": false }"#)),
        explanation("method", "the entry doesn't list the method POST", entry(#"{ "text": "a" }"#)) {
            $0.httpMethod = "POST"
        },
        explanation(
            "a header",
            "the request has no header “…”",
            entry(#"{ "text": "a", "when": { "headers": { "Accept": "*" } } }"#)
        ),
        explanation(
            "a body",
            #"the body's “operationName” is "You", not "Me""#,
            entry(#"{ "text": "a", "methods": ["POST"], "when": { "json": { "operationName": "Me" } } }"#)
        ) {
            $0.httpMethod = "POST"
            $0.httpBody = Data(#"{ "operationName": "You" }"#.utf8)
        },
        explanation(
            "POST, cache only",
            "URLSession never uses a cached response to POST",
            entry(#"{ "text": "a", "methods": ["POST"] }"#)
        ) {
            $0.httpMethod = "POST"
        },
        explanation(
            "Vary",
            "URLSession never uses a cached response with the header “Vary”",
            entry(#"{ "text": "a", "headers": { "Vary": "Accept" } }"#)
        ),
        explanation(
            "no-store",
            "the entry's Cache-Control says “no-store”",
            entry(#"{ "text": "a", "headers": { "Cache-Control": "no-store" } }"#)
        ),
        explanation(
            "Expires",
            "URLSession treats every “Expires” date as past",
            entry(
                #"{ "text": "a", "headers": { "Cache-Control": "public", "Expires": "Fri, 01 Jan 2049 00:00:00 GMT" } }"#
            )
        ),
        // Only Linux's loader is known to refuse it.
        Saying("explain: Authorization", "URLSession never uses a cached response to a request with “Authorization”") {
            LoaderRules.refusal(ofRequestHeader: "Authorization")
        },
        explanation("401", "URLSession never uses a cached response with the status 401", entry(#"{ "status": 401 }"#)),
        explanation("policy", "the request's cache policy ignores local data", entry(#"{ "text": "a" }"#)) {
            $0.cachePolicy = .reloadIgnoringLocalCacheData
        },
        explanation(
            "delay",
            "the entry's field “delay” needs an attached session",
            entry(#"{ "text": "a", "delay": 1 }"#)
        ),
        explanation(
            "offline",
            #"the entry is used only if the network fails ("use": "whenOffline")"#,
            entry(#"{ "text": "a", "use": "whenOffline" }"#)
        ),
        Saying("explain: used up", "it has matched 1 request, the most that its “times” allows") {
            let cache = try Self.cache(entry(#"{ "alternatives": [{ "text": "a", "times": 1 }] }"#))
            _ = try await cache.makeSession().data(from: url)
            return cache.explain(URLRequest(url: url)).description
        },
        Saying("explain: no such file", "the resources folder has no file “…”") {
            let folder = try TemporaryFolder(files: ["app/a"])
            return try explanation(of: #"{ "https://api.example.com/*": "app/*.js" }"#, in: folder)
        },
        Saying("explain: a file that is gone", "its file “…” no longer exists") {
            let folder = try TemporaryFolder(files: ["a.txt"])
            let map = try SubstitutionMap([url.absoluteString: "a.txt"], resources: folder.url)
            try folder.remove("a.txt")
            let cache = LocalSubstitutionCache(map: map)
            _ = cache.cachedResponse(for: URLRequest(url: url))
            return cache.explain(URLRequest(url: url)).description
        },
    ]

    private static func entry(_ value: String) -> String { "{ \"\(url)\": \(value) }" }

    private static func explanation(
        _ description: String,
        _ quotation: String,
        _ json: String,
        of url: URL? = url,
        _ change: @escaping @Sendable (inout URLRequest) -> Void = { _ in }
    ) -> Saying {
        Saying("explain: \(description)", quotation) {
            var request = URLRequest(url: try #require(url))
            change(&request)
            return try cache(json).explain(request).description
        }
    }

    private static func explanation(of json: String, in folder: TemporaryFolder) throws -> String {
        let cache = LocalSubstitutionCache(map: try SubstitutionMap(json: Data(json.utf8), resources: folder.url))
        return cache.explain(URLRequest(url: url)).description
    }

    // MARK: Loading maps

    private static let maps = [
        Saying("no map in a bundle", "There's no substitutions.json in the bundle “…”.") {
            let folder = try TemporaryFolder()
            return try problem { try SubstitutionMap(bundle: #require(Bundle(url: folder.url))) }
        },
        Saying("a flattened folder", "The file “…” doesn't exist. Did you mean “…”? Xcode groups …") {
            let folder = try TemporaryFolder(files: ["a.json"])
            try folder.write("substitutions.json", "{ \"\(url)\": \"data/a.json\" }")
            return try problem { try SubstitutionMap(bundle: #require(Bundle(url: folder.url))) }
        },
        problem("a misspelled file", "The file “…” doesn't exist. Did you mean “…”?", ["status.json"], "statuss.json"),
        problem("a missing file", "The file “…” doesn't exist. Add it to “…”, or correct the name.", [], "a.json"),
        problem("the map itself", "is the map or a hidden file, so it's never served.", [], "substitutions.json"),
        problem(
            "a file beside the map",
            "is beside the map, but a folder … exists, so only that counts. Move the file.",
            ["a.txt", "Substitutes/b.txt"],
            "a.txt"
        ),
        problem(
            "a file in the other folder",
            "is in the folder …, but a folder … exists, so only that counts. Move the file.",
            ["Resources/a.txt", "Substitutes/b.txt"],
            "a.txt"
        ),
        problem(
            "a name with the folder's",
            "Names are relative to “…”. Write “…”.",
            ["Substitutes/a.txt"],
            "Substitutes/a.txt"
        ),
        problem(
            "a folder in another letter case",
            "isn't used, since letter case matters. Rename it to …",
            ["substitutes/a.txt"],
            "a.txt"
        ),
        Saying("a file outside", "leads outside the resources folder. Replace the link with a copy.") {
            let folder = try TemporaryFolder(files: ["a.txt", "Substitutes/b.txt"])
            try FileManager.default.createSymbolicLink(
                at: folder.file("Substitutes/a.txt"),
                withDestinationURL: folder.file("a.txt")
            )
            return try problem(of: "a.txt", in: folder)
        },
        Saying("a map that isn't reloaded", "map not reloaded; the last good map stays in use") {
            let folder = try TemporaryFolder()
            try folder.write("substitutions.json", entry(#"{ "text": "a" }"#))
            let cache = try LocalSubstitutionCache(contentsOf: folder.file("substitutions.json"))
            let events = cache.events()
            try folder.write("substitutions.json", entry(#"{ "test": "a" }"#))
            _ = cache.cachedResponse(for: URLRequest(url: url))
            for await event in events { return event.description }
            return ""
        },
    ]

    private static func problem(
        _ description: String,
        _ quotation: String,
        _ files: [String],
        _ name: String
    ) -> Saying {
        Saying(description, quotation) { try problem(of: name, in: TemporaryFolder(files: files)) }
    }

    private static func problem(of name: String, in folder: TemporaryFolder) throws -> String {
        let map = try folder.write("substitutions.json", "{ \"\(url)\": \"\(name)\" }")
        return try problem { try SubstitutionMap(contentsOf: map) }
    }

    private static func problem(_ load: () throws -> SubstitutionMap) throws -> String {
        try #require(throws: SubstitutionMapError.self) { _ = try load() }.description
    }

    // MARK: Requests

    private static let requests = [
        Saying("a strict session", "No entry matches this request, and it can't use the network.") {
            let session = try cache(entry("null")).makeSession(unmatched: .fail)
            return try await error(of: session)
        },
        Saying("an error of an entry", "The entry “…” makes this request fail with the error “…”.") {
            try await error(of: cache(entry(#"{ "error": "timedOut" }"#)).makeSession())
        },
        Saying("a handler's error", "The handler of the entry “…” threw an error: …") {
            let map = try SubstitutionMap([url.absoluteString: .handler { _ in throw CancellationError() }])
            return try await error(of: LocalSubstitutionCache(map: map).makeSession())
        },
        Saying("a handler's wrong answer", "The handler of the entry “…” returned a wrong answer: …") {
            let map = try SubstitutionMap([url.absoluteString: .handler { _ in .status(1000) }])
            return try await error(of: LocalSubstitutionCache(map: map).makeSession())
        },
        Saying("a timeout", "The response took longer than the request's timeout of … s.") {
            let map = try SubstitutionMap([url.absoluteString: .status(200).delay(3600)])
            var request = URLRequest(url: url)
            request.timeoutInterval = 0.01
            return try await error(of: LocalSubstitutionCache(map: map).makeSession(), request)
        },
        Saying(
            "a handler that only code has",
            "The handler “…” exists only in code. Use this entry in the app or its tests."
        ) {
            let json = Data(entry(#"{ "handler": "saveOrder" }"#).utf8)
            let map = try SubstitutionMap(json: json, handlers: .any)
            return try await error(of: LocalSubstitutionCache(map: map).makeSession())
        },
        Saying("a session outside a test", "There are no substitutions here, so this session fails every request.") {
            try await Task.detached { try await error(of: .substituted) }.value
        },
        Saying(
            "a session of a test that has ended",
            "This session's cache was detached, usually because its test ended."
        ) {
            var session: URLSession?
            let folder = try TemporaryFolder()
            let map = try folder.write("substitutions.json", entry("null"))
            try await withSubstitutions(map.path) { session = .substituted }
            return try await error(of: #require(session))
        },
        Saying("a file that can't be read", "The entry's file is a folder, not a regular file.") {
            let folder = try TemporaryFolder()
            try folder.makeFolder("a")
            let json = Data(entry("\"a\"").utf8)
            let map = try SubstitutionMap(json: json, resources: folder.url, invalidEntries: .skip)
            return try await error(of: LocalSubstitutionCache(map: map).makeSession())
        },
    ]

    private static func error(of session: URLSession, _ request: URLRequest? = nil) async throws -> String {
        let request = request ?? URLRequest(url: url)
        return try #require(await #expect(throws: URLError.self) { try await session.data(for: request) })
            .localizedDescription
    }

    // MARK: Attaching

    private static let attachments = [
        Saying("an allowed URL", "The allowed URL “…”") {
            try attachmentError { _ = try cache("{}").makeSession(unmatched: .fail(allowing: ["oops"])) }
        },
        Saying("the environment", "LOCAL_SUBSTITUTION_UNMATCHED is “…”.") {
            try attachmentError {
                _ = try LocalSubstitutionCache.install(
                    from: ["LOCAL_SUBSTITUTION_MAP": "{}", "LOCAL_SUBSTITUTION_UNMATCHED": "no"],
                    isAllowed: true
                )
            }
        },
    ]

    private static func attachmentError(_ attach: () throws -> Void) throws -> String {
        try #require(throws: AttachmentError.self) { try attach() }.description
    }

    // MARK: The server

    private static let served = [
        response(
            "an entry that is missing",
            "No entry matches this request, and it can't use the network.",
            "GET /price HTTP/1.1"
        ),
        response("a foreign host", "The host “…” isn't served here.", "GET /user HTTP/1.1", host: "evil.example.com"),
        response("a service worker", "Service workers aren't served", "GET /user HTTP/1.1\r\nService-Worker: script"),
        response(
            "another site's POST",
            "POST requests from … aren't accepted.",
            "POST /user HTTP/1.1\r\nOrigin: https://evil.example.com\r\nContent-Length: 0"
        ),
        Saying("server: stopped", "The server was stopped.") {
            let server = try SubstitutionServer(cache: cache(entry(#"{ "text": "a" }"#)))
            server.stop()
            return try #require(throws: SubstitutionServerError.self) { _ = try server.url(for: url) }.description
        },
        Saying("server: a port in use", "can't be served on … of 127.0.0.1") {
            let other = try LoopbackServer(routes: [:])
            defer { other.stop() }
            return try #require(throws: SubstitutionServerError.self) {
                _ = try SubstitutionServer(cache: cache("{}"), ports: ["https://api.example.com": other.port])
            }.description
        },
    ]

    private static func response(
        _ description: String,
        _ quotation: String,
        _ request: String,
        host: String = "127.0.0.1"
    ) -> Saying {
        Saying("server: \(description)", quotation) {
            let server = try SubstitutionServer(cache: cache(entry(#"{ "text": "a" }"#)), unmatched: .fail)
            let port = try #require(server.url(for: url).port)
            return try RawClient.exchange(
                "\(request)\r\nHost: \(host)\r\nConnection: close\r\n\r\n",
                with: UInt16(port)
            )
        }
    }
}
