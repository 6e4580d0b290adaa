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

let fixtures: Bundle = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
    return Bundle(path: folder.path) ?? .main
}()

/// A folder as SwiftPM copies it into a bundle.
private let copies: Bundle = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/Bundle")
    return Bundle(path: folder.path) ?? .main
}()

@Suite("The trait", .sessions)
struct TraitTests {
    static let name = "https://shop.example.com/name"

    @Test("A map beside the test's file answers", .substituting("Fixtures/checkout.json"))
    func answers() async throws {
        let (body, response) = try await URLSession.substituted.data(for: order())
        #expect((response as? HTTPURLResponse)?.statusCode == 409)
        #expect(String(decoding: body, as: UTF8.self) == "sold out\n")
    }

    @Test(
        "Cancelling a request cancels its handler while the test goes on",
        .substituting([:]),
        .timeLimit(.minutes(1))
    )
    func cancelledRequest() async throws {
        let (steps, step) = AsyncStream.makeStream(of: Bool.self)
        try TestSubstitutions.current.add([
            Self.name: .handler { _ in
                step.yield(false)
                while !Task.isCancelled { await Task.yield() }
                step.yield(true)
                return .status(204)
            }
        ])
        let task = URLSession.substituted.dataTask(with: try #require(URL(string: Self.name)))
        task.resume()
        for await isCancelled in steps {
            if isCancelled { break }
            task.cancel()
        }
    }

    @Test("A cancelled test waits for its handlers, too")
    func cancelledTest() async throws {
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let handler: SubstitutionMap.Handler = { _ in
            begun.yield()
            try? await Task.sleep(for: .seconds(600))
            // The end has to wait for this. A handler that it didn't wait for would be an issue.
            for _ in 0..<1_000 { await Task.yield() }
            return .status(204)
        }
        try await Task {
            try await withSubstitutions([Self.name: .handler(handler)]) {
                URLSession.substituted.dataTask(with: try #require(URL(string: Self.name))).resume()
                for await _ in begins { break }
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }.value
    }

    @Test("A map in a bundle answers", .substituting(named: "bundled", in: fixtures))
    func bundle() async throws {
        #expect(try await text(Self.name) == "bundled")
    }

    @Test(
        "A map beside the test's file answers before the one in the bundle",
        .substituting("Fixtures/inner.json", in: copies)
    )
    func sourceFirst() async throws {
        #expect(try await text(Self.name) == "inner")
    }

    @Test("Otherwise, the bundle's map answers", .substituting("Fixtures/copied.json", in: copies))
    func bundleSecond() async throws {
        #expect(try await text(Self.name) == "copied")
    }

    @Test("A bundle's archive answers, too", .substituting("Fixtures/copied.har", in: copies))
    func archiveInBundle() async throws {
        #expect(try await text(Self.name) == "archived")
    }

    @Test("The bundle may have the inner folder only", .substituting("../Maps/Fixtures/copied.json", in: copies))
    func innerFolder() async throws {
        #expect(try await text(Self.name) == "copied")
    }

    @Test("The bundle may have the map without its folder", .substituting("Fixtures/flat.json", in: copies))
    func withoutFolder() async throws {
        #expect(try await text(Self.name) == "flat")
    }

    @Test(
        "The named resources folder is used in the bundle, too",
        .substituting("Fixtures/copied.json", in: copies, resources: "Fixtures/Files")
    )
    func resourcesInBundle() async throws {
        #expect(try await text(Self.name) == "other")
    }

    @Test(
        "All parameters of the trait, in their order",
        .substituting(
            "Fixtures/inner.json",
            in: copies,
            unmatched: .fail,
            resources: "Fixtures/Resources",
            handlers: ["saveOrder": { _ in .status(201) }],
            sharedSession: false,
            reportsUnused: true,
            redacting: { $0.isExcluded = true }
        )
    )
    func parameters() async throws {
        #expect(try await text(Self.name) == "inner")
    }

    @Test(
        "A handler runs as part of its test",
        .substituting([
            "https://shop.example.com/test": .handler { _ in
                let name = TestSubstitutions.current.requests.first?.request.url?.path ?? ""
                return .text("\(Test.current?.name ?? "no test") \(name)")
            }
        ])
    )
    func handlerOfTest() async throws {
        #expect(try await text("https://shop.example.com/test") == "handlerOfTest() /test")
        let inside = try await withSubstitutions([
            "https://shop.example.com/a": .handler { _ in
                .text("\(Test.current?.name ?? "no test") \(TestSubstitutions.current.requests.count)")
            }
        ]) {
            let first = try await text("https://shop.example.com/a")
            return [first, try await text("https://shop.example.com/a")]
        }
        #expect(inside == ["handlerOfTest() 1", "handlerOfTest() 2"])
    }

    @Test(
        "Handlers answer what a map's entries leave to them",
        .substituting("Fixtures/handlers.json", handlers: ["saveOrder": { .text("order \($0.captures[0])") }])
    )
    func handlers() async throws {
        #expect(try await text("https://shop.example.com/orders/7") == "order 7")
        let inside = try await withSubstitutions(
            "Fixtures/handlers.json",
            handlers: ["saveOrder": { _ in .text("inside") }]
        ) {
            try await text("https://shop.example.com/orders/7")
        }
        #expect(inside == "inside")
    }

    @Test(
        "Handlers answer for a bundle's map, too",
        .substituting(named: "handlers", in: fixtures, handlers: ["saveOrder": { .text("order \($0.captures[0])") }])
    )
    func handlersInBundle() async throws {
        let url = "https://shop.example.com/orders/7"
        #expect(try await text(url) == "order 7")
        let cache = try LocalSubstitutionCache(
            bundle: fixtures,
            named: "handlers",
            handlers: ["saveOrder": { _ in .text("cache") }]
        )
        #expect(try await text(url, in: cache.makeSession(unmatched: .fail)) == "cache")
    }

    @Test(
        "Handlers answer for the bundle's copy of a map, too",
        .substituting(
            "Nowhere/handlers.json",
            in: fixtures,
            handlers: ["saveOrder": { .text("order \($0.captures[0])") }]
        )
    )
    func handlersInCopy() async throws {
        #expect(try await text("https://shop.example.com/orders/7") == "order 7")
    }

    @Test(
        "The named resources folder is used",
        .substituting("Fixtures/inner.json", resources: "Fixtures/../Fixtures/Resources")
    )
    func resources() async throws {
        #expect(try await text(Self.name) == "inner")
    }

    @Test(
        "Requests are listed with their outcome as soon as the response arrives",
        .substituting("Fixtures/checkout.json")
    )
    func requests() async throws {
        let current = TestSubstitutions.current
        #expect(current.requests.isEmpty)
        #expect(current.cache.unusedEntries.count == 3)
        _ = try await current.session.data(for: order(body: #"{"id":7}"#))
        let first = try #require(current.requests.first)
        #expect(current.requests.count == 1)
        #expect(first.request.url?.path == "/orders")
        #expect(first.request.value(forHTTPHeaderField: "Authorization") == "Bearer token")
        #expect(first.body == Data(#"{"id":7}"#.utf8))
        #expect(first.outcome == .matched)
        #expect(first.entry?.key == "https://shop.example.com/orders")
        #expect(first.error == nil)
        #expect(first.description == "POST https://shop.example.com/orders: matched")
        // The second response is one in memory.
        for _ in 0..<2 { _ = try await text("https://shop.example.com/prices") }
        #expect(current.requests.map(\.outcome) == [.matched, .matched, .matched])
        #expect(current.cache.unusedEntries.map(\.key) == ["https://shop.example.com/old"])
    }

    @Test(
        "A stream's body is listed once it was read for a condition",
        .substituting(["https://shop.example.com/orders": .status(201).methods("POST").when(json: ["id": 7])])
    )
    func streamedBody() async throws {
        var request = try order()
        request.httpBody = nil
        request.httpBodyStream = InputStream(data: Data(#"{"id":7}"#.utf8))
        let (_, response) = try await URLSession.substituted.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        #expect(TestSubstitutions.current.requests.map(\.body) == [Data(#"{"id":7}"#.utf8)])
    }

    @Test("Unanswered requests are listed too", .substituting("Fixtures/checkout.json", unmatched: .fail))
    func unmatchedRequests() async throws {
        await #expect(throws: URLError.self) { try await text("https://shop.example.com/price") }
        let request = try #require(TestSubstitutions.current.requests.first)
        #expect(request.outcome == .unmatched)
        #expect(request.entry == nil)
        #expect(request.error?.localizedDescription.contains("https://shop.example.com/prices") == true)
    }

    @Test("The network is allowed if the trait says so", .substituting("Fixtures/checkout.json", unmatched: .load))
    func load() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        #expect(try await text(origin.url("a").absoluteString) == "network")
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.forwarded])
        origin.stop()
        await #expect(throws: URLError.self) { try await text(origin.url("b").absoluteString) }
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.forwarded, .failed])
    }

    @Test(
        "Allowed URLs are loaded",
        .substituting("Fixtures/checkout.json", unmatched: .issue(allowing: ["http://127.0.0.1:*/*"]))
    )
    func allowed() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        #expect(try await text(origin.url("a").absoluteString) == "network")
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.forwarded])
    }

    @Test("Sessions made from its configuration are answered", .substituting("Fixtures/checkout.json"))
    func configuration() async throws {
        let configuration = TestSubstitutions.current.configuration
        configuration.httpAdditionalHeaders = ["X-Test": "1"]
        let session = URLSession(configuration: configuration)
        #expect(try await text("https://shop.example.com/prices", in: session) == "12 euros\n")
        #expect(TestSubstitutions.current.requests.count == 1)
    }

    @Test("Child tasks use it too", .substituting("Fixtures/checkout.json"))
    func childTasks() async throws {
        async let text = text("https://shop.example.com/prices")
        #expect(try await text == "12 euros\n")
        #expect(
            try await Task { try await LocalSubstitutionTestingTests.text("https://shop.example.com/prices") }.value
                == "12 euros\n"
        )
    }

    @Suite("The trait on a suite", .substituting("Fixtures/suite.json"))
    struct OfSuite {
        let session = URLSession.substituted

        @Test("Each test has its own session, even as a property", arguments: 0..<20)
        func each(_ number: Int) async throws {
            #expect(try await text(TraitTests.name, in: session) == "suite")
            #expect(TestSubstitutions.current.requests.count == 1)
        }

        @Test("The innermost trait is used", .substituting("Fixtures/inner.json"))
        func innermost() async throws {
            #expect(try await text(TraitTests.name, in: session) == "inner")
        }

        @Test("withSubstitutions replaces the trait for its duration")
        func inside() async throws {
            let inside = try await withSubstitutions("Fixtures/inner.json") {
                try await text(TraitTests.name)
            }
            #expect(inside == "inner")
            #expect(try await text(TraitTests.name) == "suite")
        }

        @Suite("A suite inside a suite with a trait", .substituting("Fixtures/inner.json"))
        struct Inner {
            @Test("The inner suite's own trait is used")
            func innermost() async throws {
                #expect(try await text(TraitTests.name) == "inner")
            }
        }
    }

    @Test("After the test, its sessions fail every request, including those for allowed URLs")
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

    @Test("Without the trait, the session fails every request and says what to write")
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
        "In a detached task, the session fails every request and says what to write",
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
        "In an exit test, the session fails every request and says what to write",
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
