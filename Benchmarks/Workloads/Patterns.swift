import LocalSubstitution

extension Subject {
    fileprivate static let fewPatternsInMemory = pattern("10 patterns, in memory", patterns: 10, urls: 1_000)
    fileprivate static let manyPatternsInMemory = pattern("10,000 patterns, in memory", patterns: 10_000, urls: 1_000)
    fileprivate static let builtFewPatterns = pattern("10 patterns, built anew", patterns: 10, urls: 4_000)
    fileprivate static let builtManyPatterns = pattern("10,000 patterns, built anew", patterns: 10_000, urls: 4_000)

    /// Returns a subject that looks up URLs in turn. Patterns' responses stay in memory for up to 1,024 URLs. With more, each
    /// response is built anew.
    private static func pattern(_ name: String, patterns: Int, urls: Int) -> Subject {
        Subject(name, operations: urls > 1_024 ? 4_000 : 100_000) {
            let fixture = try Fixture(json: Fixture.json(entries: 0, patterns: patterns))
            let cache = try fixture.cache()
            let spread = max(1, patterns / urls)
            let requests = Requests((0..<urls).map { Fixture.url(ofPattern: $0 * spread % patterns, $0) })
            try requests.load(into: cache)
            return { count in
                requests.cycle(count) { consume(cache.cachedResponse(for: $0)) }
                withExtendedLifetime(fixture) {}
            }
        }
    }
}

extension Topic {
    /// 10,000 patterns over 100 hosts, against 10.
    static let patterns = Topic(
        name: "patterns",
        subjects: [.fewPatternsInMemory, .manyPatternsInMemory, .builtFewPatterns, .builtManyPatterns],
        rows: [
            Row(
                "hit by pattern, in memory: 10,000 patterns",
                .time(.manyPatternsInMemory),
                per: .time(.fewPatternsInMemory),
                .atMost(3)
            ),
            Row(
                "hit by pattern, built anew: 10,000 patterns",
                .time(.builtManyPatterns),
                per: .time(.builtFewPatterns),
                .atMost(3)
            ),
        ]
    )
}
