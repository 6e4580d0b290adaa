import Foundation
import LocalSubstitution
import LocalSubstitutionRecording
import LocalSubstitutionServer
import LocalSubstitutionTesting
import Testing
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The Swift code of the documents, word for word between `// snippet` and `// end`, so that it is compiled and run.

func shareCacheOfMainBundle() throws {
    // snippet: the shared cache
    URLCache.shared = try LocalSubstitutionCache(bundle: .main)
    // end
}

func installCacheOfFolder() throws {
    // snippet: the map in a folder
    let mapFile = URL(fileURLWithPath: "/path/to/Shop/substitutions.json")
    try LocalSubstitutionCache(contentsOf: mapFile).install()
    // end
}

func attachedSession(with cache: LocalSubstitutionCache) throws -> URLSession {
    // snippet: attaching
    let configuration = URLSessionConfiguration.default
    try cache.attach(to: configuration)
    let session = URLSession(configuration: configuration)
    // end
    return session
}

func listen(to cache: LocalSubstitutionCache, _ url: URL) -> Task<Void, Never> {
    // snippet: finding mistakes
    let events = cache.events()
    let listener = Task { for await event in events { print(event) } }
    print(cache.explain(URLRequest(url: url)))
    print(cache.statistics)
    print(cache.unusedEntries)
    // end
    return listener
}

func answerInCode() -> SubstitutionMap.Answer {
    // snippet: an answer in code
    let orders: SubstitutionMap.Answer = ["orders.json", .json(["id": 7]).status(201).methods("POST")]
    // end
    return orders
}

func cacheWithHandlers(_ mapFile: URL) throws -> LocalSubstitutionCache {
    // snippet: handlers
    let cache = try LocalSubstitutionCache(
        contentsOf: mapFile,
        handlers: [
            "saveOrder": { request in
                guard request.header("Authorization") != nil else { return .status(401) }
                return .json(["id": request.captures[0]]).status(201)
            },
            "search": { request in .json(["query": request.query("q") ?? ""]) },
        ]
    )
    // end
    return cache
}

func mapInPieces() throws -> SubstitutionMap {
    // snippet: a stream, a rate and a handler in code
    let map = try SubstitutionMap([
        "https://api.example.com/chat": .stream([
            "data: Hel\n\n", .text("data: lo\n\n").delay(0.2), .error(.networkConnectionLost),
        ]),
        "https://api.example.com/log": .text("1\n2\n").secondsPerLine(0.1),
        "https://api.example.com/items/*": .handler { request in .json(["id": request.captures[0]]) },
    ])
    // end
    return map
}

func mapThatAsksTheServer() throws -> SubstitutionMap {
    // snippet: a handler that asks the server
    let map = try SubstitutionMap([
        "https://api.example.com/cart": .handler { request in
            var answer = try await request.response()
            answer.headers["X-Feature"] = "new-cart"
            return answer
        }
    ])
    // end
    return map
}

func printProblems(of mapFile: URL) throws -> SubstitutionMap {
    // snippet: problems and warnings
    let map = try SubstitutionMap(contentsOf: mapFile, invalidEntries: .skip)
    for problem in map.problems + map.fileProblems() { print(problem) }
    for warning in map.warnings() { print(warning) }
    // end
    return map
}

func reloadingCache(_ mapFile: URL) throws -> LocalSubstitutionCache {
    // snippet: live reload
    let cache = try LocalSubstitutionCache(contentsOf: mapFile)
    // end
    return cache
}

func keepWithoutTokens(in folder: URL) throws -> SubstitutionRecorder {
    // snippet: a recorder that removes tokens
    let recorder = try SubstitutionRecorder(folder: folder) { response in
        guard response.headers["Content-Type"]?.hasPrefix("application/json") == true else { return }
        let text = String(decoding: response.body, as: UTF8.self)
        let token = #""token": *"[^"]*""#
        let changed = text.replacingOccurrences(of: token, with: #""token": "…""#, options: .regularExpression)
        response.body = Data(changed.utf8)
    }
    // end
    return recorder
}

// snippet: pages for web views
final class LocalPages {
    private let cache: LocalSubstitutionCache
    private let ports: [String: UInt16]
    private var server: SubstitutionServer

    init(_ cache: LocalSubstitutionCache, ports: [String: UInt16] = [:]) throws {
        self.cache = cache
        self.ports = ports
        server = try SubstitutionServer(cache: cache, ports: ports)
    }

    func url(for page: URL) throws -> URL {
        try server.url(for: page)
    }

    /// Call this when the app comes back to the foreground, and load the pages again.
    func restart() throws {
        server.stop()
        server = try SubstitutionServer(cache: cache, ports: ports)
    }
}
// end

func pages(of cache: LocalSubstitutionCache, on port: UInt16) throws -> LocalPages {
    // snippet: a stable port
    let pages = try LocalPages(cache, ports: ["https://www.example.com": port])
    // end
    return pages
}

// snippet: a shop
struct Shop {
    let session: URLSession

    func order(_ item: String) async throws -> String {
        var request = URLRequest(url: URL(string: "https://shop.example.com/orders")!)
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode(["item": item])
        return String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }
}
// end

// snippet: a test with the trait
@Test("an order that is refused says why", .substituting("Fixtures/checkout.json"))
func refusedOrder() async throws {
    let shop = Shop(session: .substituted)
    let refusal = try await shop.order("socks")
    #expect(refusal == "sold out\n")
}
// end

extension Bundle {
    /// What SwiftPM makes for a target that has resources.
    fileprivate static var module: Bundle { .main }
}

// snippet: a test on a device
@Test(.substituting("Fixtures/checkout.json", in: .module))
func refusedOrderOnDevice() async throws {
    let refusal = try await Shop(session: .substituted).order("socks")
    #expect(refusal == "sold out\n")
}
// end

// snippet: a handler
@Test(
    .substituting(
        "Fixtures/shop.json",
        handlers: ["saveOrder": { request in .text("order \(request.captures[0]) saved").status(201) }]
    )
)
func savedOrder() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://shop.example.com/orders/7")))
    request.httpMethod = "PUT"
    let (body, _) = try await URLSession.substituted.data(for: request)
    #expect(String(decoding: body, as: UTF8.self) == "order 7 saved")
}
// end

// snippet: another mock's closure
@Sendable func respond(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
    let url = try #require(request.url)
    let head = try #require(HTTPURLResponse(url: url, statusCode: 201, httpVersion: nil, headerFields: nil))
    return (head, request.httpBody ?? Data())
}

@Test(.substituting(["https://shop.example.com/*": .handler(for: URLRequest.self, respond)]))
func orderWithOldMock() async throws {
    let answer = try await Shop(session: .substituted).order("socks")
    #expect(answer == #"{"item":"socks"}"#)
}
// end

/// A client that doesn't use the test's session.
private struct OtherClient {
    func load(_ url: URL) async throws -> String {
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        return String(decoding: try await session.data(from: url).0, as: UTF8.self)
    }
}

// snippet: a test with a server
@Test(.substituting(["https://api.example.com/user": .json(["name": "Ada"])]))
func userOfOtherClient() async throws {
    let server = try SubstitutionServer(cache: TestSubstitutions.current.cache)
    let url = try server.url(for: #require(URL(string: "https://api.example.com/user")))
    #expect(try await OtherClient().load(url).contains("Ada"))
    #expect(TestSubstitutions.current.requests.map(\.outcome) == [.matched])
}
// end

// snippet: entries that a test adds
@Test(.substituting("Fixtures/checkout.json"))
func newPrices() async throws {
    let url = try #require(URL(string: "https://shop.example.com/prices.json"))
    let prices = ["socks": Int.random(in: 1...9)]
    try TestSubstitutions.current.add([url.absoluteString: .json(prices)])
    let (body, _) = try await URLSession.substituted.data(from: url)
    #expect(try JSONDecoder().decode([String: Int].self, from: body) == prices)
}
// end

/// Code that makes a request and doesn't wait for it.
private struct Analytics {
    let session: URLSession

    func appOpened() {
        guard let url = URL(string: "https://api.example.com/events") else { return }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(#"{ "name": "opened" }"#.utf8)
        session.dataTask(with: request).resume()
    }
}

// snippet: waiting for a request
@Test(.substituting(["https://api.example.com/events": .status(204).methods("POST")]))
func opening() async throws {
    Analytics(session: .substituted).appOpened()
    let request = try await TestSubstitutions.current.request("https://api.example.com/events", within: 5)
    #expect(try request.json([String: String].self) == ["name": "opened"])
}
// end

// snippet: the shared session
@Test(.substituting("Fixtures/checkout.json", sharedSession: true))
func sharedPrices() async throws {
    let url = try #require(URL(string: "https://shop.example.com/prices.json"))
    let (body, _) = try await URLSession.shared.data(from: url)
    #expect(!body.isEmpty)
}
// end

// snippet: a suite with the trait
@Suite("Prices", .substituting("Fixtures/substitutions.json"))
struct Prices {
    let session = URLSession.substituted

    @Test("are the same in each language", arguments: ["de", "fr"])
    func languages(_ language: String) async throws {
        var request = URLRequest(url: try #require(URL(string: "https://shop.example.com/prices.json")))
        request.setValue(language, forHTTPHeaderField: "Accept-Language")
        let (_, response) = try await session.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(TestSubstitutions.current.requests.count == 1)
    }
}
// end

// snippet: XCTest with begin and end
final class PriceTests: XCTestCase {
    override func setUpWithError() throws {
        try TestSubstitutions.begin("Fixtures/checkout.json", test: name)
    }

    override func tearDownWithError() throws {
        try TestSubstitutions.end()
    }

    func testRefusedOrder() async throws {
        let refusal = try await Shop(session: .substituted).order("socks")
        XCTAssertEqual(refusal, "sold out\n")
    }
}
// end

// snippet: XCTest
final class OrderTests: XCTestCase {
    func testRefusedOrder() async throws {
        try await withSubstitutions("Fixtures/checkout.json") {
            let refusal = try await Shop(session: .substituted).order("socks")
            XCTAssertEqual(refusal, "sold out\n")
        }
    }
}
// end

func expectNoUnusedEntries(of cache: LocalSubstitutionCache) {
    // snippet: unused entries
    #expect(cache.unusedEntries.isEmpty)
    // end
}

func usedEntries() -> [SubstitutionMap.EntryReference] {
    // snippet: used entries of a test
    let matched = TestSubstitutions.current.requests.filter { $0.outcome == .matched }
    let used = matched.compactMap(\.entry)
    // end
    return used
}

func expectAllEntriesUsed() {
    // snippet: unused entries of a test
    #expect(TestSubstitutions.current.cache.unusedEntries.isEmpty)
    // end
}

// snippet: an archive
@Test("the cart has socks", .substituting("Fixtures/session.har"))
func cart() async throws {
    let url = try #require(URL(string: "https://shop.example.com/cart"))
    let (body, _) = try await URLSession.substituted.data(from: url)
    #expect(String(decoding: body, as: UTF8.self) == "socks")
}
// end

// snippet: recorded fixtures
@Test("prices are what was recorded", .substituting("Fixtures/substitutions.json"))
func recordedPrices() async throws {
    let url = try #require(URL(string: "https://shop.example.com/prices.json"))
    let (body, _) = try await URLSession.substituted.data(from: url)
    #expect(!body.isEmpty)
}
// end
