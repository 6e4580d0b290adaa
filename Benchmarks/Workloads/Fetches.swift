import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Subject {
    static let size = 10_000

    fileprivate static let substitutedFetch = Subject("fetch, substituted", operations: 200) {
        let fixture = try Fixture(json: Fixture.json(entries: files), bytesPerFile: size)
        let cache = try fixture.cache()
        try Requests(entries: 0..<files).load(into: cache)
        return fetches((0..<files).map(Fixture.key), cache) { withExtendedLifetime(fixture) {} }
    }

    /// The same responses, headers included: `Date` alone takes Linux's loader 70 µs, whoever gives it.
    fileprivate static let stockFetch = Subject("fetch, URLCache memory hit", operations: 200) {
        let fixture = try Fixture(json: Fixture.json(entries: files), bytesPerFile: size)
        let cache = fixture.stockCache()
        try Requests(entries: 0..<files).store(in: cache, from: try fixture.cache())
        return fetches((0..<files).map(Fixture.key), cache) { withExtendedLifetime(fixture) {} }
    }

    /// Responses with a type and a length, and no other header.
    fileprivate static let plainStockFetch = Subject("fetch, URLCache memory hit, two headers", operations: 200) {
        let fixture = try Fixture()
        let cache = fixture.stockCache()
        try Requests(entries: 0..<files).store(in: cache, bytes: size)
        return fetches((0..<files).map(Fixture.key), cache) { withExtendedLifetime(fixture) {} }
    }

    fileprivate static let loopbackFetch = Subject("fetch, loopback HTTP", operations: 200) {
        let server = try TinyServer(body: [UInt8](repeating: 0, count: size))
        return fetches((0..<files).map { "http://127.0.0.1:\(server.port)/\($0)" }, nil) {
            withExtendedLifetime(server) {}
        }
    }

    private static let files = Fixture.files

    /// One after the other, in a session that has this cache.
    private static func fetches(
        _ urls: [String],
        _ cache: URLCache?,
        _ finally: @escaping @Sendable () -> Void
    ) -> @Sendable (Int) async throws -> Void {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        return fetches(urls, configuration, finally)
    }

    static func fetches(
        _ urls: [String],
        _ configuration: URLSessionConfiguration,
        _ finally: @escaping @Sendable () -> Void
    ) -> @Sendable (Int) async throws -> Void {
        let session = URLSession(configuration: configuration)
        let urls = urls.compactMap { URL(string: $0) }
        return { count in
            for index in 0..<count {
                let url = urls[index % urls.count]
                let (data, _) = try await session.data(from: url)
                guard data.count == size else { throw NotAnswered(url: url) }
            }
            finally()
        }
    }
}

extension Topic {
    /// `URLSession.data(from:)` for 10 kB.
    static let fetches = Topic(
        name: "fetches",
        subjects: [.substitutedFetch, .stockFetch, .plainStockFetch, .loopbackFetch],
        rows: [
            Row("URLSession fetch of 10 kB", .time(.substitutedFetch), per: .time(.stockFetch), .atMost(1.1)),
            Row("the same, against two headers", .time(.substitutedFetch), per: .time(.plainStockFetch)),
            Row("the same, against loopback HTTP", .time(.loopbackFetch), per: .time(.substitutedFetch), .atLeast(3)),
        ]
    )
}
