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

    /// A host that no key names; the default cache is empty.
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
    /// What the cache adds to the default cache's own miss.
    static let misses = Topic(
        name: "misses",
        subjects: [.bareLookup, .stockMiss, .miss, .missWithPatterns],
        rows: [
            Row("miss: what is added", .excess(of: .miss, over: .stockMiss), per: .time(.bareLookup), .atMost(3)),
            Row(
                "miss, 1,000 patterns: what is added",
                .excess(of: .missWithPatterns, over: .stockMiss),
                per: .time(.bareLookup),
                .atMost(3)
            ),
        ]
    )
}
