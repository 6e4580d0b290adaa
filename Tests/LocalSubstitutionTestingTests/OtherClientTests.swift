import Foundation
import LocalSubstitution
import LocalSubstitutionServer
import LocalSubstitutionTesting
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Clients other than URLSession in a test", .sessions, .timeLimit(.minutes(2)))
struct OtherClientTests {
    private static let name = "https://shop.example.com/name"
    private static let other = "https://shop.example.com/other"
    private static let order: SubstitutionMap.Answer = .status(201).methods("POST").when(json: ["id": 7])

    private static func load(_ url: String, body: String? = nil) async throws -> (body: String, status: Int?) {
        let server = try SubstitutionServer(cache: TestSubstitutions.current.cache)
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: try server.url(for: try #require(URL(string: url))))
        if let body {
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
        }
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), (response as? HTTPURLResponse)?.statusCode)
    }

    private static func answer(_ url: String) async throws -> String? {
        let request = URLRequest(url: try #require(URL(string: url)))
        return try await TestSubstitutions.current.cache.answer(to: request).map {
            String(decoding: $0.0, as: UTF8.self)
        }
    }

    @Test("A server's requests are listed with their origin's URL", .substituting([name: .text("a"), other: order]))
    func server() async throws {
        // The second response is one in memory.
        for _ in 0..<2 { #expect(try await Self.load(Self.name) == ("a", 200)) }
        #expect(try await Self.load(Self.other, body: #"{"id":7}"#).status == 201)
        let requests = TestSubstitutions.current.requests
        #expect(requests.map(\.outcome) == [.matched, .matched, .matched])
        #expect(requests.map { $0.request.url?.absoluteString } == [Self.name, Self.name, Self.other])
        #expect(requests.last?.text == #"{"id":7}"# && requests.last?.entry?.key == Self.other)
    }

    @Test(
        "answer(to:) lists its requests, and returns nil for an unmatched one",
        .substituting([name: .text("a")], unmatched: .fail)
    )
    func answer() async throws {
        for _ in 0..<2 { #expect(try await Self.answer(Self.name) == "a") }
        #expect(try await Self.answer(Self.other) == nil)
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.matched, .matched, .unmatched])
    }

    @Test("An unmatched request to a server gets a 502, and doesn't reach the network")
    func unmatched() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        try await withSubstitutions([:], unmatched: .fail) {
            let response = try await Self.load(origin.url("a").absoluteString)
            #expect(response.status == 502)
            #expect(TestSubstitutions.current.requests.map(\.outcome) == [.unmatched])
        }
        #expect(origin.requests.isEmpty)
    }

    @Test(
        "What the test lets reach the network is loaded by a server, and left to other clients by answer(to:)",
        arguments: [.load, .issue(allowing: ["http://127.0.0.1:*/*"])] as [TestSubstitutions.Unmatched]
    )
    func network(_ unmatched: TestSubstitutions.Unmatched) async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        let url = origin.url("a").absoluteString
        try await withSubstitutions([:], unmatched: unmatched) {
            let answer = try await Self.answer(url)
            #expect(answer == nil)
            #expect(origin.requests.isEmpty)
            let loaded = try await Self.load(url)
            #expect(loaded == ("network", 200))
            #expect(TestSubstitutions.current.requests.map(\.outcome) == [.forwarded, .forwarded])
        }
    }

    @Test("Entries that the test adds are for them, too", .substituting([:]))
    func added() async throws {
        try TestSubstitutions.current.add([Self.name: .text("added")])
        #expect(try await Self.answer(Self.name) == "added")
        #expect(try await Self.load(Self.name).body == "added")
    }

    @Test(
        "A server's own decision about unmatched requests is refused",
        .substituting([:]),
        arguments: [.load, .fail, .fail(allowing: ["https://h/a"])] as [LocalSubstitutionCache.Unmatched]
    )
    func refused(_ unmatched: LocalSubstitutionCache.Unmatched) {
        let error = #expect(throws: SubstitutionServerError.self) {
            try SubstitutionServer(cache: TestSubstitutions.current.cache, unmatched: unmatched)
        }
        #expect(error?.kind == .decidedByTest)
        #expect(error?.description.contains("Leave out “unmatched” here") == true)
    }
}
