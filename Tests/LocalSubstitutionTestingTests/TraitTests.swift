import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionTesting
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let madeBundle: Bundle = {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bundle-\(UUID().uuidString)")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? Data(#"{ "https://shop.example.com/name": "bundled.txt" }"#.utf8).write(
        to: folder.appendingPathComponent("bundled.json")
    )
    try? Data("bundled".utf8).write(to: folder.appendingPathComponent("bundled.txt"))
    return Bundle(path: folder.path) ?? .main
}()

@Suite("The trait")
struct TraitTests {
    static let name = "https://shop.example.com/name"

    @Test("answers by a map beside the test's file", .substituting("Fixtures/checkout.json"))
    func answers() async throws {
        let (body, response) = try await URLSession.substituted.data(for: order())
        #expect((response as? HTTPURLResponse)?.statusCode == 409)
        #expect(String(decoding: body, as: UTF8.self) == "sold out\n")
    }

    @Test("answers by a map in a bundle", .substituting(named: "bundled", in: madeBundle))
    func bundle() async throws {
        #expect(try await text(Self.name) == "bundled")
    }

    @Test(
        "takes the resources folder that is named",
        .substituting("Fixtures/inner.json", resources: "Fixtures/../Fixtures/Resources")
    )
    func resources() async throws {
        #expect(try await text(Self.name) == "inner")
    }

    @Test(
        "has what was requested, with its outcome, as soon as the response arrives",
        .substituting("Fixtures/checkout.json")
    )
    func requests() async throws {
        let current = TestSubstitutions.current
        #expect(current.requests.isEmpty)
        #expect(current.unusedEntries.count == 3)
        _ = try await current.session.data(for: order(body: #"{"id":7}"#))
        let first = try #require(current.requests.first)
        #expect(current.requests.count == 1)
        #expect(first.request.url?.path == "/orders")
        #expect(first.request.value(forHTTPHeaderField: "Authorization") == "Bearer token")
        #expect(first.body == Data(#"{"id":7}"#.utf8))
        #expect(first.outcome == .answered)
        #expect(first.entry?.key == "https://shop.example.com/orders")
        #expect(first.error == nil)
        #expect(first.description == "POST https://shop.example.com/orders: answered")
        // A second time, when the response is retained.
        for _ in 0..<2 { _ = try await text("https://shop.example.com/prices") }
        #expect(current.requests.map(\.outcome) == [.answered, .answered, .answered])
        #expect(current.unusedEntries.map(\.key) == ["https://shop.example.com/old"])
    }

    @Test("has requests that nothing answers too", .substituting("Fixtures/checkout.json", unmatched: .fail))
    func unmatchedRequests() async throws {
        await #expect(throws: URLError.self) { try await text("https://shop.example.com/price") }
        let request = try #require(TestSubstitutions.current.requests.first)
        #expect(request.outcome == .unmatched)
        #expect(request.entry == nil)
        #expect(request.error?.localizedDescription.contains("https://shop.example.com/prices") == true)
    }

    @Test("allows the network, if that is said", .substituting("Fixtures/checkout.json", unmatched: .load))
    func load() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        #expect(try await text(origin.url("a").absoluteString) == "network")
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.loaded])
        origin.stop()
        await #expect(throws: URLError.self) { try await text(origin.url("b").absoluteString) }
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.loaded, .failed])
    }

    @Test(
        "allows exceptions",
        .substituting("Fixtures/checkout.json", unmatched: .issue(except: ["http://127.0.0.1:*/*"]))
    )
    func exceptions() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        #expect(try await text(origin.url("a").absoluteString) == "network")
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.loaded])
    }

    @Test("answers sessions of its configuration", .substituting("Fixtures/checkout.json"))
    func configuration() async throws {
        let configuration = TestSubstitutions.current.configuration
        configuration.httpAdditionalHeaders = ["X-Test": "1"]
        let session = URLSession(configuration: configuration)
        #expect(try await text("https://shop.example.com/prices", in: session) == "12 euros\n")
        #expect(TestSubstitutions.current.requests.count == 1)
    }

    @Test("reaches child tasks", .substituting("Fixtures/checkout.json"))
    func childTasks() async throws {
        async let text = text("https://shop.example.com/prices")
        #expect(try await text == "12 euros\n")
        #expect(
            try await Task { try await LocalSubstitutionTestingTests.text("https://shop.example.com/prices") }.value
                == "12 euros\n"
        )
    }

    @Suite("of a suite", .substituting("Fixtures/suite.json"))
    struct OfSuite {
        let session = URLSession.substituted

        @Test("each test has its own session, also as a property", arguments: 0..<20)
        func each(_ number: Int) async throws {
            #expect(try await text(TraitTests.name, in: session) == "suite")
            #expect(TestSubstitutions.current.requests.count == 1)
        }

        @Test("the innermost is used", .substituting("Fixtures/inner.json"))
        func innermost() async throws {
            #expect(try await text(TraitTests.name, in: session) == "inner")
        }

        @Test("withSubstitutions replaces it for a while")
        func inside() async throws {
            let inside = try await withSubstitutions("Fixtures/inner.json") {
                try await text(TraitTests.name)
            }
            #expect(inside == "inner")
            #expect(try await text(TraitTests.name) == "suite")
        }

        @Suite("with another suite inside", .substituting("Fixtures/inner.json"))
        struct Inner {
            @Test("that has its own")
            func innermost() async throws {
                #expect(try await text(TraitTests.name) == "inner")
            }
        }
    }

    @Test("its sessions fail each request when it has ended, also those that are exceptions")
    func ended() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        let (session, configuration) = try await withSubstitutions("Fixtures/inner.json", unmatched: .load) {
            _ = try await text(Self.name)
            return (URLSession.substituted, TestSubstitutions.current.configuration)
        }
        for session in [session, URLSession(configuration: configuration)] {
            for url in [Self.name, origin.url("a").absoluteString] {
                let error = await #expect(throws: URLError.self) { try await text(url, in: session) }
                #expect(error?.localizedDescription.contains("detached") == true)
            }
        }
        #expect(origin.requests.isEmpty)
    }

    @Test("without one, the session fails each request, and says what to write")
    func outside() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        let error = await #expect(throws: URLError.self) { try await text(origin.url("a").absoluteString) }
        #expect(error?.localizedDescription.contains(".substituting(") == true)
        #expect(error?.localizedDescription.contains("withSubstitutions(") == true)
        #expect(origin.requests.isEmpty)
        #expect(TestSubstitutions.current.requests.isEmpty)
        let session = URLSession(configuration: TestSubstitutions.current.configuration)
        await #expect(throws: URLError.self) { try await text(origin.url("a").absoluteString, in: session) }
    }

    @Test(
        "in a detached task, the session fails each request, and says what to write",
        .substituting("Fixtures/inner.json")
    )
    func detached() async throws {
        let error = await #expect(throws: URLError.self) {
            try await Task.detached { try await text(TraitTests.name) }.value
        }
        #expect(error?.localizedDescription.contains("detached task") == true)
        #expect(try await text(Self.name) == "inner")
    }

    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test(
        "in an exit test, the session fails each request, and says what to write",
        .substituting("Fixtures/inner.json")
    )
    func exitTest() async throws {
        #expect(try await text(Self.name) == "inner")
        await #expect(processExitsWith: .success) {
            let error = await #expect(throws: URLError.self) { try await text(TraitTests.name) }
            #expect(error?.localizedDescription.contains("exit test") == true)
            let inside = try await withSubstitutions("Fixtures/inner.json") { try await text(TraitTests.name) }
            #expect(inside == "inner")
        }
    }
    #endif
}
