import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The library's own loader", .sessions, .timeLimit(.minutes(5)))
struct UncachedLoaderTests {
    private func load(_ url: URL, with loader: UncachedLoader) async throws -> (HTTPURLResponse, Data) {
        try await withCheckedContinuation { continuation in
            loader.load(URLRequest(url: url), limit: .max) { continuation.resume(returning: $0) }
        }.get()
    }

    @Test("It takes time in proportion to the body")
    func linear() async throws {
        let sizes = ["/small": 4 << 20, "/large": 32 << 20]
        let origin = try LoopbackServer(routes: sizes.mapValues { .ok(Data(count: $0)) })
        defer { origin.stop() }
        let loader = UncachedLoader(.current)
        defer { loader.end() }
        var best: [String: Duration] = [:]
        // The fastest of several runs, since other work on the machine only adds time.
        for round in 0..<12 {
            for (path, size) in sizes {
                let start = ContinuousClock.now
                let (_, data) = try await load(origin.url(path), with: loader)
                #expect(data.count == size)
                best[path] = min(best[path] ?? .seconds(1_000), ContinuousClock.now - start)
            }
            if round > 1, let small = best["/small"], let large = best["/large"], large / small < 24 { break }
        }
        let (small, large) = (try #require(best["/small"]), try #require(best["/large"]))
        // Eight times as many bytes: 8 if the time is linear, 64 if each piece copies what arrived before. The limit leaves room
        // for a busy machine.
        #expect(large / small < 24, "\(small) for 4 MiB, \(large) for 32 MiB")
    }

    @Test("It follows a redirect that only adds a slash")
    func slash() async throws {
        let origin = try LoopbackServer(routes: ["/about": .redirect(to: "/about/"), "/about/": .text("found")])
        defer { origin.stop() }
        let loader = UncachedLoader(.current)
        defer { loader.end() }
        let (response, data) = try await load(origin.url("about"), with: loader)
        #expect(response.url == origin.url("about/"))
        #expect(data == Data("found".utf8))
    }
}
