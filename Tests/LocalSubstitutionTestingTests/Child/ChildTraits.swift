#if os(Linux) || os(macOS)
import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `TraitIssueTests` runs these in a separate process. Most of them are meant to fail.
///
/// The compiler locates the contents of an attribute at the declaration below it.
@Suite(.enabled(if: ChildProcess.isThis))
struct ChildTraits {
    @Test(.substituting("../Fixtures/checkout.json"))
    func answered() async throws {
        #expect(try await text("https://shop.example.com/prices") == "12 euros\n")
    }

    static let swallowedLine = #line + 2
    @Test(.substituting("../Fixtures/checkout.json"))
    func swallowed() async throws {
        for _ in 0..<3 { _ = try? await text("https://shop.example.com/price") }
        _ = try? await text("https://shop.example.com/Old")
    }

    @Test(.substituting("../Fixtures/checkout.json", unmatched: .fail))
    func failing() async throws {
        await #expect(throws: URLError.self) { try await text("https://shop.example.com/price") }
    }

    static let wrongLine = #line + 2
    @Test(.substituting("../Fixtures/wrong.json"), arguments: 0..<3)
    func wrong(_ number: Int) async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting("../Fixtures/no-such-map.json"))
    func missing() async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting("../fixtures/checkout.json"))
    func otherCase() async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting("checkout.json"))
    func otherFolder() async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting("../Fixtures/chekout.json"))
    func misspelled() async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting("../Fixtures/Resources/prices.json"))
    func unlike() async throws {
        Issue.record("it must not run")
    }

    static let fixtures =
        Bundle(path: URL(fileURLWithPath: #filePath + "/../../Fixtures").standardizedFileURL.path) ?? .main

    @Test(.substituting(named: "bundled.json", in: fixtures))
    func withExtension() async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting(named: "bundeld", in: fixtures))
    func misspelledInBundle() async throws {
        Issue.record("it must not run")
    }

    static let copies =
        Bundle(path: URL(fileURLWithPath: #filePath + "/../../Fixtures/Bundle").standardizedFileURL.path) ?? .main

    @Test(.substituting("../Fixtures/flattened.json", in: copies))
    func flattened() async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting("../Fixtures/nowhere.json", in: copies))
    func nowhere() async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting("../Fixtures/handlers.json"))
    func unknownHandler() async throws {
        Issue.record("it must not run")
    }

    private static let orderURL = "https://shop.example.com/orders/7"

    @Test(.substituting("../Fixtures/handlers.json", handlers: ["saveOrder": { _ in "no/such.txt" }]))
    func wrongAnswer() async throws {
        _ = try? await text(Self.orderURL)
    }

    @Test(
        .substituting("../Fixtures/handlers.json", unmatched: .fail, handlers: ["saveOrder": { _ in throw Mistake() }])
    )
    func failingHandler() async throws {
        for _ in 0..<2 { _ = try? await text(Self.orderURL) }
    }

    @Test(
        .substituting(
            "../Fixtures/handlers.json",
            handlers: ["saveOrder": { (try? await $0.response()) ?? .text("a") }]
        )
    )
    func handlerThatAsks() async throws {
        #expect(try await text(Self.orderURL) == "a")
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.matched])
    }

    @Test(.substituting("../Fixtures/handlers.json", handlers: ["saveOrder": { _ in throw URLError(.timedOut) }]))
    func failingRequest() async throws {
        let error = await #expect(throws: URLError.self) { try await text(Self.orderURL) }
        #expect(error?.code == .timedOut)
    }

    struct Mistake: Error, CustomStringConvertible {
        var description: String { "the order has no items" }
    }

    private static func handler(_ body: @escaping SubstitutionMap.Handler) -> SubstitutionsTrait {
        .substituting(["https://shop.example.com/name": .handler(body)])
    }

    private static let nameURL = "https://shop.example.com/name"

    @Test(
        handler { request in
            #expect(request.url.path == "/expected")
            return .text("a")
        }
    )
    func expectationInHandler() async throws {
        #expect(try await text(Self.nameURL) == "a")
    }

    @Test(
        handler { request in
            await Task { #expect(request.url.path == "/expected") }.value
            return .text("a")
        }
    )
    func expectationInTask() async throws {
        #expect(try await text(Self.nameURL) == "a")
    }

    @Test(
        handler { request in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { #expect(request.url.path == "/expected") }
            }
            return .text("a")
        }
    )
    func expectationInGroup() async throws {
        #expect(try await text(Self.nameURL) == "a")
    }

    /// An expectation as code shares it between handlers.
    private static func check(_ path: String) async {
        await Task.yield()
        #expect(path == "/expected", "The path isn't /expected.")
    }

    @Test(
        handler { request in
            await check(request.url.path)
            return .text("a")
        }
    )
    func expectationInFunction() async throws {
        #expect(try await text(Self.nameURL) == "a")
    }

    private static let alternatives: SubstitutionMap.Answer = [
        .text("b").when(headers: ["X-Name": "b"]),
        .handler { request in
            #expect(request.url.path == "/expected")
            return .text("a")
        },
    ]

    @Test(.substituting(["https://shop.example.com/name": alternatives]))
    func expectationOfAlternative() async throws {
        #expect(try await text(Self.nameURL) == "a")
    }

    private static let saveOrder: SubstitutionMap.Handler = { request in
        #expect(request.url.path == "/expected")
        return .text("a")
    }

    @Test(.substituting("../Fixtures/handlers.json", handlers: ["saveOrder": saveOrder]))
    func expectationOfNamedHandler() async throws {
        #expect(try await text(Self.orderURL) == "a")
    }

    @Test(
        handler { request in
            #expect(request.url.path == "/expected")
            return .text("a")
        }
    )
    func expectationInOwnSession() async throws {
        let session = URLSession(configuration: TestSubstitutions.current.configuration)
        #expect(try await text(Self.nameURL, in: session) == "a")
    }

    @Test(
        handler { request in
            let name = try #require(request.header("X-Name"))
            return .text(name)
        },
        arguments: [1, 2]
    )
    func requirementInHandler(_ number: Int) async throws {
        _ = try? await text(Self.nameURL)
    }

    @Test(
        handler { _ in
            try? await Task.sleep(for: .seconds(600))
            // The test's end has to wait for this.
            for _ in 0..<1_000 { await Task.yield() }
            return .text("a")
        }
    )
    func cancelledHandler() async throws {
        URLSession.substituted.dataTask(with: try #require(URL(string: Self.nameURL))).resume()
        _ = try await TestSubstitutions.current.request(Self.nameURL, within: 600)
    }

    private static let blocked = AsyncStream.makeStream(of: Void.self)

    @Test(
        handler { _ in
            blocked.continuation.finish()
            block()
            return .text("a")
        }
    )
    func handlerThatGoesOn() async throws {
        URLSession.substituted.dataTask(with: try #require(URL(string: Self.nameURL))).resume()
        for await _ in Self.blocked.stream {}
    }

    /// Blocks the thread until the process ends.
    private static func block() { DispatchSemaphore(value: 0).wait() }

    static let forgottenLine = #line + 2
    @Test(.substituting(["http://127.0.0.1:9/name": .text("a")]), arguments: [1, 2])
    func forgottenSharedSession(_ number: Int) async throws {
        for path in ["name", "other"] { _ = try? await text("http://127.0.0.1:9/\(path)", in: .shared) }
    }

    @Test(.substituting([:]))
    func noEntries() {}

    @Test(.substituting([:], unmatched: .fail))
    func noEntriesOffline() {}

    @Test(.substituting([:], unmatched: .load))
    func noEntriesOnline() {}

    @Test(.substituting(["https://shop.example.com/name": .text("a")]))
    func otherClient() async throws {
        let request = URLRequest(url: try #require(URL(string: Self.nameURL)))
        #expect(try await TestSubstitutions.current.cache.answer(to: request) != nil)
    }

    static let otherClientLine = #line + 2
    @Test(.substituting("../Fixtures/checkout.json"))
    func unmatchedOtherClient() async throws {
        let request = URLRequest(url: try #require(URL(string: "https://shop.example.com/price")))
        #expect(try await TestSubstitutions.current.cache.answer(to: request) == nil)
    }

    @Test(
        handler { request in
            #expect(request.url.path == "/expected")
            return .text("a")
        }
    )
    func expectationInOtherClient() async throws {
        let request = URLRequest(url: try #require(URL(string: Self.nameURL)))
        #expect(try await TestSubstitutions.current.cache.answer(to: request) != nil)
    }

    @Test(.substituting(["https://shop.example.com/name": .text("a").methods("POST").when(json: [:])]))
    func otherMethod() async throws {
        #expect(try await TestSubstitutions.current.cache.answer(to: order(Self.nameURL)) != nil)
    }

    @Test(.substituting(["https://shop.example.com/name": .text("a")]))
    func otherClientSession() async throws {
        let session = try TestSubstitutions.current.cache.makeSession(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        #expect(try await text(Self.nameURL, in: session) == "a")
    }

    @Test(.substituting(["https://shop.example.com/name": .text("a")]))
    func lookup() throws {
        let request = URLRequest(url: try #require(URL(string: Self.nameURL)))
        #expect(TestSubstitutions.current.cache.cachedResponse(for: request) != nil)
    }

    /// Returns whether the map that's in force has the name.
    private static func hasName() throws -> Bool {
        let request = URLRequest(url: try #require(URL(string: nameURL)))
        return TestSubstitutions.current.cache.cachedResponse(for: request) != nil
    }

    @Test(.substituting(["https://shop.example.com/name": .text("a")]))
    func lookupInside() throws {
        #expect(try withSubstitutions([Self.nameURL: .text("b")]) { try Self.hasName() })
    }

    @Test(.substituting(["https://shop.example.com/name": .text("a")]))
    func lookupInsideAsync() async throws {
        let hasName = try await withSubstitutions([Self.nameURL: .text("b")]) { try Self.hasName() }
        #expect(hasName)
    }

    @Test(.substituting(["https://shop.example.com/prices": "prices.txt"]))
    func noFolder() async throws {
        Issue.record("it must not run")
    }

    @Test(.substituting(["https://shop.example.com/prices": "prices.txt"], resources: "../Fixtures/Recources"))
    func missingFolder() async throws {
        Issue.record("it must not run")
    }

    static let secret = "s3cr3t"

    @Test(.substituting("../Fixtures/checkout.json"))
    func secretInQuery() async throws {
        _ = try await text("https://shop.example.com/prices?page=2&access_token=\(Self.secret)")
    }

    @Test(.substituting("../Fixtures/checkout.json"))
    func secretUser() async throws {
        let path = "price;jsessionid=\(Self.secret)#access_token=\(Self.secret)"
        _ = try await text("https://ada:\(Self.secret)@shop.example.com/\(path)")
    }

    @Test(
        .substituting([
            "https://shop.example.com/prices": .text("12").ignoreQuery().when(query: ["access_token": "other"])
        ])
    )
    func secretInCondition() async throws {
        _ = try await text("https://shop.example.com/prices?access_token=\(Self.secret)")
    }

    @Test(.substituting(["https://shop.example.com/orders": .status(201).methods("POST").when(json: ["item": 1])]))
    func otherBody() async throws {
        let long = String(repeating: "x", count: 400)
        for body in [#"{"token": "\#(Self.secret)", "id": 7}"#, long] {
            _ = try? await URLSession.substituted.data(for: order(body: body))
        }
    }

    @Test(.substituting("../Fixtures/checkout.json"))
    func thrown() async throws {
        _ = try await text("https://shop.example.com/price")
    }

    @Test(.substituting(["https://shop.example.com/once": [.text("once").times(1)]]))
    func usedUp() async throws {
        #expect(try await text("https://shop.example.com/once") == "once")
        _ = try? await text("https://shop.example.com/once")
    }

    @Test(.substituting("../Fixtures/checkout.json"))
    func upload() async throws {
        let url = try #require(URL(string: "https://shop.example.com/order"))
        _ = try await URLSession.substituted.upload(for: order(url.absoluteString, body: nil), from: Data("{}".utf8))
    }

    @Test(.substituting(["https://shop.example.com/orders": .status(201).methods("POST").when(json: ["id": 7])]))
    func uploadWithCondition() async throws {
        _ = try await URLSession.substituted.upload(for: order(body: nil), from: Data(#"{"id":7}"#.utf8))
    }

    @Test(.substituting("../Fixtures/checkout.json", unmatched: .issue(allowing: ["h/a"])))
    func invalidAllowedURL() async throws {
        Issue.record("it must not run")
    }

    static let unusedLine = #line + 2
    @Test(.substituting("../Fixtures/checkout.json", reportsUnused: true), arguments: ["prices", "orders"])
    func unused(_ path: String) async throws {
        _ = try await URLSession.substituted.data(for: order())
        if path == "prices" { _ = try await text("https://shop.example.com/prices") }
    }

    @Test(.substituting(named: "bundled", in: fixtures, unmatched: .fail, reportsUnused: true))
    func unusedInBundle() async throws {
        await #expect(throws: URLError.self) { try await text("https://shop.example.com/other") }
    }

    @Test(.substituting(["https://shop.example.com/name": .text("a")], unmatched: .fail, reportsUnused: true))
    func unusedInCode() async throws {
        await #expect(throws: URLError.self) { try await text("https://shop.example.com/other") }
    }

    private static let keyWithSecret = "*://shop.example.com/name?token=\(secret)&q=*"

    @Test(.substituting([keyWithSecret: .text("a")], unmatched: .fail, reportsUnused: true))
    func unusedWithSecret() async throws {
        await #expect(throws: URLError.self) { try await text("https://shop.example.com/other") }
    }

    @Test(.substituting("../Fixtures/inner.json", reportsUnused: true))
    func used() async throws {
        _ = try await text("https://shop.example.com/name")
    }

    private static let threeNames: SubstitutionMap.Answer = [
        .text("a").when(headers: ["X-Name": "a"]), .text("b").when(headers: ["X-Name": "b"]), .text("c"),
    ]

    @Test(.substituting(["https://shop.example.com/name": threeNames], reportsUnused: true), arguments: ["a", "c"])
    func unusedAlternatives(_ name: String) async throws {
        var request = URLRequest(url: try #require(URL(string: Self.nameURL)))
        request.setValue(name, forHTTPHeaderField: "X-Name")
        #expect(try await URLSession.substituted.data(for: request).0 == Data(name.utf8))
    }

    static let otherSessionLine = #line + 2
    @Test(.substituting("../Fixtures/checkout.json"), arguments: 0..<3)
    func otherSession(_ number: Int) {}

    @Test(.substituting("../Fixtures/checkout.json"), arguments: 0..<3)
    func sessionOfOneArgument(_ number: Int) async throws {
        if number == 1 { _ = try await text("https://shop.example.com/prices") }
    }

    @Test(.substituting("../Fixtures/checkout.json"))
    func withSubstitutionsInside() async throws {
        _ = try await text("https://shop.example.com/prices")
        try await withSubstitutions("../Fixtures/inner.json") {
            _ = try? await text("https://shop.example.com/prices")
        }
    }

    @Suite(.substituting("../Fixtures/suite.json", reportsUnused: true))
    struct OfSuite {
        @Test func one() async throws { _ = try await text("https://shop.example.com/a") }
        @Test func other() async throws { _ = try await text("https://shop.example.com/b") }
        @Test func idle() {}

        @Suite struct Nested {
            @Test func nested() async throws { _ = try await text("https://shop.example.com/c") }
        }
    }

    /// Only one of its tests has several maps.
    @Suite(.substituting("../Fixtures/suite.json", reportsUnused: true))
    struct SuiteThatAdds {
        @Test func one() async throws {
            for path in ["a", "b", "c"] { _ = try await text("https://shop.example.com/\(path)") }
        }

        @Test func adding() async throws {
            try TestSubstitutions.current.add(["https://shop.example.com/added": .text("added")])
            _ = try await text("https://shop.example.com/added")
        }
    }

    @Suite(.substituting(["https://shop.example.com/name": .handler { _ in throw Mistake() }]))
    struct ShownAtTest {
        static let line = #line + 2

        @Test func issues() async throws {
            _ = try? await text("https://shop.example.com/name")
            _ = try? await text("https://shop.example.com/other/name")
        }
    }

    @Suite(.substituting("../Fixtures/wrong.json"))
    struct ReplacedWrong {
        @Test(.substituting("../Fixtures/inner.json"))
        func replaced() async throws { #expect(try await text("https://shop.example.com/name") == "inner") }
    }
}
#endif
