import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Subject {
    fileprivate static let stockMiss = miss("URLCache, miss") { $0.stockCache() }
    fileprivate static let miss = miss("miss", entries: 10_000) { try $0.cache() }
    fileprivate static let missWithPatterns = miss("miss, patterns in the map", entries: 9_000, patterns: 1_000) {
        try $0.cache()
    }

    /// Returns a subject that requests a host no key names. The default cache is empty.
    private static func miss(
        _ name: String,
        entries: Int = 0,
        patterns: Int = 0,
        _ cache: @escaping @Sendable (Fixture) throws -> URLCache
    ) -> Subject {
        Subject(name, operations: 2_000) {
            let fixture = try Fixture(json: Fixture.json(entries: entries, patterns: patterns))
            let cache = try cache(fixture)
            let requests = Requests((0..<10_000).map { "https://elsewhere.example.org/articles/picture-\($0).png" })
            return { count in
                requests.cycle(count) { consume(cache.cachedResponse(for: $0)) }
                withExtendedLifetime(fixture) {}
            }
        }
    }
}

extension Topic {
    /// Linux's `URLCache` lists its folder for each miss. If the folder is empty, this cache doesn't ask the default cache.
    static let misses = Topic(
        name: "misses",
        subjects: [.stockMiss, .miss, .missWithPatterns],
        rows: [
            Row("miss, 10,000 entries", .time(.miss), per: .time(.stockMiss), .atMost(0.25)),
            Row(
                "miss, 9,000 entries and 1,000 patterns",
                .time(.missWithPatterns),
                per: .time(.stockMiss),
                .atMost(0.25)
            ),
        ]
    )
}
