import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Subject {
    private static let entries = 10_000

    static let bareLookup = bareLookup("bare dictionary, 10,000 keys", entries: entries)

    /// The least that every cache must do: find a URL's text in a dictionary.
    static func bareLookup(_ name: String, entries: Int) -> Subject {
        Subject(name, operations: 100_000) {
            let files = Fixture.dictionary(entries: entries)
            let requests = Requests(entries: stride(from: 0, to: entries, by: entries / 10_000))
            return { count in
                requests.cycle(count) { request in
                    if let url = request.url { consume(files[url.absoluteString]) }
                }
            }
        }
    }

    static let articleHit = Subject("2010 article's code, hit", operations: 100_000) {
        let fixture = try Fixture()
        let cache = ArticleCache(
            fileNames: Fixture.dictionary(entries: entries),
            folder: fixture.resources,
            diskPath: fixture.disk.path
        )
        let requests = Requests(entries: 0..<entries)
        try requests.load(into: cache)
        return { count in
            requests.cycle(count) { consume(cache.cachedResponse(for: $0)) }
            withExtendedLifetime(fixture) {}
        }
    }

    static let stockHit = Subject("URLCache, memory hit", operations: 10_000) {
        let fixture = try Fixture()
        let cache = fixture.stockCache(memoryCapacity: 1 << 30)
        let requests = Requests(entries: 0..<entries)
        try requests.store(in: cache)
        return { count in
            requests.cycle(count) { consume(cache.cachedResponse(for: $0)) }
            withExtendedLifetime(fixture) {}
        }
    }

    static let hit = hit("hit", entries: entries)

    static func hit(_ name: String, entries: Int) -> Subject {
        Subject(name, operations: 100_000) {
            let fixture = try Fixture(json: Fixture.json(entries: entries))
            let cache = try fixture.cache()
            let requests = Requests(entries: stride(from: 0, to: entries, by: entries / 10_000))
            try requests.load(into: cache)
            return { count in
                requests.cycle(count) { consume(cache.cachedResponse(for: $0)) }
                withExtendedLifetime(fixture) {}
            }
        }
    }

    static let reloadingHit = Subject("hit, live reload on", operations: 10_000) {
        let fixture = try Fixture(json: Fixture.json(entries: entries))
        // A file that was just written may still change unnoticed, so it would be read again.
        Thread.sleep(forTimeInterval: 0.1)
        let cache = try LocalSubstitutionCache(contentsOf: fixture.map)
        let requests = Requests(entries: 0..<entries)
        try requests.load(into: cache)
        return { count in
            requests.cycle(count) { consume(cache.cachedResponse(for: $0)) }
            withExtendedLifetime(fixture) {}
        }
    }
}

extension Topic {
    static let hits = Topic(
        name: "hits",
        subjects: [.bareLookup, .hit],
        rows: [Row("hit, exact key, 10,000 entries", .time(.hit), per: .time(.bareLookup), .atMost(2.5))]
    )

    /// Hits beside other caches, whose responses take up the processor's caches in between.
    static let otherHits = Topic(
        name: "other hits",
        subjects: [.articleHit, .stockHit, .hit, .reloadingHit],
        rows: [
            Row("hit, against URLCache", .time(.stockHit), per: .time(.hit), .atLeast(8)),
            Row("the same, against the 2010 code", .time(.hit), per: .time(.articleHit)),
            Row("live reload on", .time(.reloadingHit), per: .limit(5e-6, .seconds), .atMost(1)),
        ]
    )
}
