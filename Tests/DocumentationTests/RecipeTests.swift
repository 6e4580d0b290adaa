import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Recipes", .sessions)
struct RecipeTests {
    @Test("Every map answers as its recipe says", arguments: Recipe.all)
    func answers(_ recipe: Recipe) async throws {
        let block = try #require(Recipe.maps.first { $0.text.contains("\"\(recipe.key)\":") })
        let folder = try ExampleFolder(files: MapExample.files(namedIn: block.text))
        let map = try SubstitutionMap(json: Data(block.text.utf8), resources: folder.url)
        let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
        for outcome in recipe.outcomes {
            let seen = try await recipe.outcome(in: session)
            #expect(seen == outcome)
        }
    }

    @Test("Every map is tested")
    func all() {
        let others = ["*", "orders/*", "users/*/orders"].map { "https://api.example.com/\($0)" }
        let tried = Recipe.all.map(\.key) + others + [Self.analytics]
        #expect(Recipe.maps.count > 5)
        for map in Recipe.maps { #expect(tried.contains { map.text.contains("\"\($0)\":") }, "\(map.text)") }
    }

    @Test("A request for another server goes there with its path and query")
    func otherServer() throws {
        let block = try #require(Recipe.maps.first { $0.text.contains("localhost") })
        let cache = LocalSubstitutionCache(map: try SubstitutionMap(json: Data(block.text.utf8)))
        let url = try #require(URL(string: "https://api.example.com/v2/user?id=7"))
        #expect(cache.explain(URLRequest(url: url)).description.contains("http://localhost:8080/v2/user?id=7"))
    }

    @Test("Placeholders are filled in the name of a file")
    func placeholders() async throws {
        let block = try #require(Recipe.maps.first { $0.text.contains("users/*/orders") })
        let folder = try ExampleFolder(files: ["orders.json", "avatars/7.png"])
        let map = try SubstitutionMap(json: Data(block.text.utf8), resources: folder.url)
        let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
        for (path, file) in [("users/7/orders", "orders.json"), ("users/7/avatar.png", "avatars/7.png")] {
            let url = try #require(URL(string: "https://api.example.com/\(path)"))
            #expect(try await session.data(from: url).0 == Data(file.utf8))
        }
    }

    @Test("A handler is found by its name")
    func handler() async throws {
        let block = try #require(Recipe.maps.first { $0.text.contains("saveOrder") })
        let folder = try ExampleFolder(files: [])
        let file = folder.url.appending(path: "substitutions.json")
        try Data(block.text.utf8).write(to: file)
        let cache = try cacheWithHandler(file)
        var request = URLRequest(url: try #require(URL(string: "https://api.example.com/orders/7")))
        request.httpMethod = "PUT"
        let (body, response) = try await cache.makeSession(unmatched: .fail).data(for: request)
        #expect(body == Data(#"{"number":"7"}"#.utf8))
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        #expect(cache.explain(request).description.contains("handler “saveOrder”"))
    }

    @Test("Clients that don't use URLSession get the map's answers, and an error for the rest")
    func otherClients() async throws {
        let map = try SubstitutionMap(["https://h/a": .text("a").status(201).methods("POST")])
        let cache = LocalSubstitutionCache(map: map)
        var asked = AsyncHTTPClientStandIn.HTTPClientRequest(url: "https://h/a")
        await #expect(throws: URLError.self) { try await AsyncHTTPClientStandIn.execute(asked, cache) }
        asked.method = .POST
        asked.body = .bytes(.init(string: "x"))
        let got = try await AsyncHTTPClientStandIn.execute(asked, cache)
        #expect(got.status.code == 201 && got.body.buffer.data == Data("a".utf8))
        #expect(got.headers.first(name: "Content-Length") == "1")

        let base = try #require(URL(string: "https://h"))
        let transport = OpenAPIStandIn.SubstitutedTransport(cache: cache)
        let request = OpenAPIStandIn.HTTPRequest(method: .init(rawValue: "POST"), path: "/a")
        let (response, body) = try await transport.send(request, body: nil, baseURL: base, operationID: "a")
        #expect(response.status.code == 201 && body?.data == Data("a".utf8))
        #expect(response.headerFields.contains { $0.name.rawName == "Content-Length" && $0.value == "1" })
        let other = OpenAPIStandIn.HTTPRequest(method: .init(rawValue: "GET"), path: "/b")
        await #expect(throws: URLError.self) {
            try await transport.send(other, body: nil, baseURL: base, operationID: "b")
        }

        let client = VaporStandIn.SubstitutedClient(cache: cache, eventLoop: VaporStandIn.AnyEventLoop())
            .delegating(to: VaporStandIn.AnyEventLoop())
        let post = VaporStandIn.ClientRequest(method: .init(string: "POST"), url: .init(string: "https://h/a"))
        let answer = try await client.send(post).get()
        #expect(answer.status.code == 201 && answer.body?.data == Data("a".utf8))
    }

    @Test("An order is waited for, and its body is checked", .substituting("Fixtures/checkout.json"))
    func order() async throws {
        async let order = sentOrder()
        _ = try await Shop(session: .substituted).order("socks")
        try await expectSocks(in: order)
    }

    @Test(
        "A preview's session has content, a loading state or an error",
        arguments: [
            (.json(["name": "Ada"]), .response(200, #"{ "name": "Ada" }"#)),
            (.json(["name": "Ada"]).delay(30), .error(.timedOut)),
            (.error(.notConnectedToInternet), .error(.notConnectedToInternet)),
        ] as [(SubstitutionMap.Answer, Recipe.Outcome)]
    )
    func preview(_ answer: SubstitutionMap.Answer, outcome: Recipe.Outcome) async throws {
        let user = Recipe("https://api.example.com/user", timeout: 0.2, outcome)
        #expect(try await user.outcome(in: previewSession([user.key: answer])) == outcome)
    }

    @Test("The server responds slowly, with a map", arguments: [(2, nil), (0.05, "12345")] as [(Double, String?)])
    func slowServer(delay: Double, text: String?) async throws {
        let origin = try LoopbackServer(routes: ["/feed": .text("12345")])
        defer { origin.stop() }
        let block = try #require(Recipe.maps.first { $0.text.contains("\"delay\": 2 }") })
        let json = block.text.replacing("https://api.example.com/", with: origin.baseURL.absoluteString)
            .replacing("\"delay\": 2 }", with: "\"delay\": \(delay) }")
        let timeout: TimeInterval = text == nil ? 0.5 : 60
        #expect(try await Self.feed(of: origin, SubstitutionMap(json: Data(json.utf8)), timeout) == text)
    }

    @Test("The server responds slowly, with a handler, and without a body at once")
    func slowServerWithRate() async throws {
        let origin = try LoopbackServer(routes: ["/feed": .text("12345"), "/none": .init(status: 204)])
        defer { origin.stop() }
        let (slowly, whole) = try DocumentationTests.slowServer()
        #expect(whole.count == 1)
        let map = try SubstitutionMap(["\(origin.baseURL)*": .handler(slowly)])
        let started = ContinuousClock.now
        #expect(try await Self.feed(of: origin, map, 60) == "12345")
        #expect(ContinuousClock.now - started >= .seconds(1))
        let (_, response) = try await LocalSubstitutionCache(map: map).makeSession().data(from: origin.url("none"))
        #expect((response as? HTTPURLResponse)?.statusCode == 204)
        #expect(origin.requests.map(\.path) == ["/feed", "/none"])
    }

    /// Returns what the origin sends, or `nil` if the request times out.
    private static func feed(
        of origin: LoopbackServer,
        _ map: SubstitutionMap,
        _ timeout: TimeInterval
    ) async throws -> String? {
        var request = URLRequest(url: origin.url("feed"))
        request.timeoutInterval = timeout
        do {
            let (body, _) = try await LocalSubstitutionCache(map: map).makeSession().data(for: request)
            return String(decoding: body, as: UTF8.self)
        } catch URLError.timedOut {
            return nil
        }
    }

    @Test("What Alamofire uploads is checked", .substituting(["https://api.example.com/files": checkedUpload()]))
    func upload() async throws {
        var request = URLRequest(url: try #require(URL(string: "https://api.example.com/files")))
        request.httpMethod = "POST"
        request.httpBody = Data("Content-Disposition: form-data; name=\"file\"; filename=\"notes.txt\"\r\n".utf8)
        let (_, response) = try await URLSession.substituted.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
    }

    // Installing affects the whole process, so this test runs in a separate one.
    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    private static let analytics = "https://*.analytics.example.com/*"

    @Test("An app's analytics get nothing, and its other requests reach the network")
    func analyticsOfApp() async {
        await #expect(processExitsWith: .success) {
            try blockAnalytics()
            let configuration = URLSessionConfiguration.ephemeral
            try blockAnalytics(in: configuration)
            let origin = try LoopbackServer(routes: ["/page": .text("reached")])
            var event = URLRequest(url: try #require(URL(string: "https://eu.analytics.example.com/events")))
            event.httpMethod = "POST"
            event.httpBody = Data("{}".utf8)
            for session in [URLSession.shared, URLSession(configuration: configuration)] {
                let (_, response) = try await session.data(for: event)
                #expect((response as? HTTPURLResponse)?.statusCode == 204)
                #expect(try await session.data(from: origin.url("page")).0 == Data("reached".utf8))
            }
            let block = try #require(Recipe.maps.first { $0.text.contains("analytics") })
            let map = try SubstitutionMap(json: Data(block.text.utf8))
            #expect(try await LocalSubstitutionCache(map: map).answer(to: event)?.1.statusCode == 204)
        }
    }

    @Test("An app and its own sessions are answered by the map of a UI test")
    func environment() async {
        await #expect(processExitsWith: .success) {
            setenv("LOCAL_SUBSTITUTION_MAP", #"{ "https://api.example.com/user": { "text": "Ada" } }"#, 1)
            useSubstitutionsOfUITests()
            let configuration = URLSessionConfiguration.ephemeral
            try attachInstalled(to: configuration)
            for session in [URLSession.shared, URLSession(configuration: configuration)] {
                let (body, _) = try await session.data(from: SnippetTests.url)
                #expect(String(decoding: body, as: UTF8.self) == "Ada")
            }
        }
    }
    #endif
}

/// A request for a key of the recipes' maps, and its answer each time.
struct Recipe: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        case response(Int, String)
        case error(URLError.Code)
    }

    let key: String
    let method: String
    let body: String?
    let timeout: TimeInterval
    let outcomes: [Outcome]

    var testDescription: String { "\(method) \(key) \(body ?? "")" }

    init(_ key: String, method: String = "GET", body: String? = nil, timeout: TimeInterval = 60, _ outcomes: Outcome...)
    {
        self.key = key
        self.method = method
        self.body = body
        self.timeout = timeout
        self.outcomes = outcomes
    }

    static let maps = Document.article("Recipes").blocks(in: "json")

    private static let id = #"{ "id": 7 }"#
    private static let graphQL = "https://api.example.com/graphql"

    static let all = [
        Recipe("https://api.example.com/me", .response(200, #"{ "name": "Ada", "tags": ["admin"] }"#)),
        Recipe("https://api.example.com/feed", timeout: 0.2, .error(.timedOut)),
        Recipe("https://api.example.com/pay", .error(.notConnectedToInternet)),
        Recipe("https://api.example.com/cart", .response(500, #"{ "message": "Try again later" }"#)),
        Recipe("https://api.example.com/search", timeout: 0.2, .error(.timedOut)),
        Recipe(
            "https://api.example.com/flaky",
            .response(503, ""),
            .response(503, ""),
            .response(200, #"{ "state": "up" }"#),
            .response(200, #"{ "state": "up" }"#)
        ),
        Recipe("https://api.example.com/chat", method: "POST", body: "{}", .error(.networkConnectionLost)),
        Recipe("https://api.example.com/events", .response(200, "events.sse")),
        Recipe("https://cdn.example.com/intro.mp4", .response(200, "intro.mp4")),
        Recipe("https://api.example.com/orders", method: "POST", body: "{}", .response(201, id)),
        Recipe("https://api.example.com/orders", .error(.resourceUnavailable)),
        Recipe("https://api.example.com/users", .response(200, "users.json")),
        Recipe("https://api.example.com/users", method: "POST", body: "{}", .response(201, id)),
        Recipe(
            graphQL,
            method: "POST",
            body: #"{"query":"…","operationName":"Search","variables":{"text":"socks","first":10}}"#,
            .response(200, "socks.json")
        ),
        Recipe(
            graphQL,
            method: "POST",
            body: #"{"operationName":"Me"}"#,
            .response(200, #"{ "data": { "me": { "name": "Ada" } } }"#)
        ),
        Recipe(
            graphQL,
            method: "POST",
            body: #"{"operationName":"Search","variables":{"text":"hats"}}"#,
            .response(200, #"{ "errors": [{ "message": "no such operation" }] }"#)
        ),
    ]

    func outcome(in session: URLSession) async throws -> Outcome {
        var request = URLRequest(url: try #require(URL(string: key)))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        request.timeoutInterval = timeout
        do {
            let (data, response) = try await session.data(for: request)
            let status = try #require(response as? HTTPURLResponse).statusCode
            return .response(status, String(decoding: data, as: UTF8.self))
        } catch let error as URLError {
            return .error(error.code)
        }
    }
}
