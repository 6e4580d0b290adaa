extension Subject {
    fileprivate static let bareLookupAmongMany = bareLookup("bare dictionary, 1,000,000 keys", entries: 1_000_000)
    fileprivate static let hitAmongMany = hit("hit among 1,000,000", entries: 1_000_000)
}

extension Topic {
    /// A million entries; responses to 10,000 of them, spread, are in memory.
    static let manyEntries = Topic(
        name: "many entries",
        subjects: [.bareLookupAmongMany, .hitAmongMany],
        rows: [
            Row(
                "hit, 1,000,000 entries, 10,000 in memory",
                .time(.hitAmongMany),
                per: .time(.bareLookupAmongMany),
                .atMost(2)
            )
        ]
    )
}
