import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Each fetch is `URLSession.data(from:)` for 10 kB in a `.default` session.

extension Subject {
    static let size = 10_000

    // MARK: One after the other

    static func byHand(among count: Int) -> Subject {
        Subject("fetch among \(count) URLs, by hand", operations: 200) { fetches(spread(count), hand(keys(count))) }
    }

    static func attached(among count: Int) -> Subject {
        Subject("fetch among \(count) entries, attached", operations: 200) {
            let urls = spread(count)
            let (fixture, cache) = try cacheAndFiles(entries: count, files: urls.count)
            return fetches(urls, try attachedConfiguration(cache)) { withExtendedLifetime(fixture) {} }
        }
    }

    fileprivate static let byHand = byHand(among: Fixture.files)

    fileprivate static let attached = attached(among: Fixture.files)

    fileprivate static let attachedReloading = Subject("fetch, attached, live reload on", operations: 200) {
        let fixture = try Fixture(json: Fixture.json(entries: Fixture.files), bytesPerFile: size)
        // A file that was just written may still change unnoticed, so it would be read again.
        Thread.sleep(forTimeInterval: 0.1)
        let cache = try LocalSubstitutionCache(contentsOf: fixture.map)
        return fetches(keys(), try attachedConfiguration(cache)) { withExtendedLifetime(fixture) {} }
    }

    fileprivate static let attachedAmongMany = attached(among: 10_000)

    fileprivate static let byCache = Subject("fetch, by the cache alone", operations: 200) {
        let (fixture, cache) = try cacheAndFiles()
        return fetches(keys(), configuration(cache)) { withExtendedLifetime(fixture) {} }
    }

    /// The same responses as from the cache, including their headers.
    fileprivate static let byURLCache = Subject("fetch, URLCache memory hit", operations: 200) {
        let (fixture, cache) = try cacheAndFiles()
        let stock = fixture.stockCache()
        try Requests(keys()).store(in: stock, from: cache)
        return fetches(keys(), configuration(stock)) { withExtendedLifetime(fixture) {} }
    }

    fileprivate static let overLoopback = Subject("fetch, loopback HTTP", operations: 200) {
        let server = try TinyServer(body: [UInt8](repeating: 0, count: size))
        let urls = (0..<Fixture.files).map { "http://127.0.0.1:\(server.port)/\($0)" }
        return fetches(urls, configuration(nil)) { withExtendedLifetime(server) {} }
    }

    // MARK: 64 at once

    fileprivate static let byHandAtOnce = Subject("fetch, by hand, 64 at once", operations: 1_000) {
        fetches(keys(), hand(keys()), atOnce: 64)
    }

    fileprivate static let attachedAtOnce = Subject("fetch, attached, 64 at once", operations: 1_000) {
        let (fixture, cache) = try cacheAndFiles()
        return fetches(keys(), try attachedConfiguration(cache), atOnce: 64) { withExtendedLifetime(fixture) {} }
    }

    // MARK: Each URL for the first time

    private static let manyFiles = 2_200

    fileprivate static let firstByHand = Subject("first fetch of 2,200 URLs, by hand", operations: manyFiles) {
        fetches(keys(manyFiles), hand(keys(manyFiles)))
    }

    /// Before each round the cache drops what it has in memory, including files.
    fileprivate static let firstAttached = Subject("first fetch of 2,200 URLs, attached", operations: manyFiles) {
        let (fixture, cache) = try cacheAndFiles(entries: manyFiles, files: manyFiles)
        let fetch = fetches(keys(manyFiles), try attachedConfiguration(cache)) { withExtendedLifetime(fixture) {} }
        return { count in
            cache.removeAllCachedResponses()
            try await fetch(count)
        }
    }

    // MARK: Helpers

    static func keys(_ count: Int = Fixture.files) -> [String] { (0..<count).map(Fixture.key) }

    /// Returns the keys to fetch in turn: at most 100 of them, spread over all.
    static func spread(_ count: Int) -> [String] {
        stride(from: 0, to: count, by: max(1, count / Fixture.files)).map(Fixture.key)
    }

    private static func cacheAndFiles(
        entries: Int = Fixture.files,
        files: Int = Fixture.files
    ) throws -> (Fixture, LocalSubstitutionCache) {
        let json = Fixture.json(entries: entries, files: files)
        let fixture = try Fixture(json: json, files: files, bytesPerFile: size)
        return (fixture, try fixture.cache())
    }

    private static func hand(_ keys: [String]) -> URLSessionConfiguration {
        for key in keys { HandWrittenProtocol.bodies[key] = Data(repeating: 0, count: size) }
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [HandWrittenProtocol.self]
        return configuration
    }

    private static func attachedConfiguration(_ cache: LocalSubstitutionCache) throws -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        try cache.attach(to: configuration)
        return configuration
    }

    private static func configuration(_ cache: URLCache?) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        return configuration
    }

    /// Returns work that fetches URLs in turn, `atOnce` of them at a time. A body is sent by POST.
    static func fetches(
        _ urls: [String],
        _ configuration: URLSessionConfiguration,
        atOnce: Int = 1,
        body: Data? = nil,
        size: Int = size,
        _ finally: @escaping @Sendable () -> Void = {}
    ) -> @Sendable (Int) async throws -> Void {
        let session = URLSession(configuration: configuration)
        let urls = urls.compactMap { URL(string: $0) }
        let fetch: @Sendable (Int) async throws -> Void = { number in
            let url = urls[number % urls.count]
            let data: Data
            if let body {
                var request = URLRequest(url: url)
                request.httpMethod = "POST"
                request.httpBody = body
                (data, _) = try await session.data(for: request)
            } else {
                (data, _) = try await session.data(from: url)
            }
            guard data.count == size else { throw NotAnswered(url: url) }
        }
        return { count in
            if atOnce == 1 {
                for number in 0..<count { try await fetch(number) }
            } else {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        if number >= atOnce { try await group.next() }
                        group.addTask { try await fetch(number) }
                    }
                    try await group.waitForAll()
                }
            }
            finally()
        }
    }
}

extension Topic {
    static let fetches = Topic(
        name: "fetches",
        subjects: [
            .byHand, .attached, .attachedReloading, .attachedAmongMany, .byCache, .byURLCache, .overLoopback,
            .byHandAtOnce, .attachedAtOnce, .firstByHand, .firstAttached,
        ],
        rows: [
            Row("fetch of 10 kB, attached", .time(.attached), per: .time(.byHand), .atMost(0.4)),
            Row("the same, live reload on", .time(.attachedReloading), per: .time(.byHand), .atMost(0.5)),
            Row("the same, 64 at once", .time(.attachedAtOnce), per: .time(.byHandAtOnce), .atMost(1)),
            Row(
                "first fetch of each of 2,200 URLs, attached",
                .time(.firstAttached),
                per: .time(.firstByHand),
                .atMost(1.7)
            ),
            Row("fetch among 10,000 entries, attached", .time(.attachedAmongMany), per: .time(.attached), .atMost(1.1)),
            Row("fetch by the cache alone", .time(.byCache), per: .time(.byHand), .atMost(0.75)),
            Row("the same, against URLCache", .time(.byCache), per: .time(.byURLCache), .atMost(1.1)),
            Row("loopback HTTP, against the cache alone", .time(.overLoopback), per: .time(.byCache), .atLeast(3)),
        ]
    )
}
