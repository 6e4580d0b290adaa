import Allocated
import Foundation
import LocalSubstitution

extension Subject {
    private static let entries = 100_000

    fileprivate static let load = Subject("load a map", operations: 1) {
        let fixture = try Fixture(json: Fixture.json(entries: entries))
        return { count in
            for _ in 0..<count { consume(try SubstitutionMap(contentsOf: fixture.map)) }
        }
    }

    fileprivate static let decode = Subject("JSONDecoder", operations: 1) {
        let fixture = try Fixture(json: Fixture.json(entries: entries))
        return { count in
            for _ in 0..<count {
                consume(try JSONDecoder().decode([String: String].self, from: Data(contentsOf: fixture.map)))
            }
        }
    }

    fileprivate static let mapBytes = Subject(bytesOf: "the map in memory") {
        let fixture = try Fixture(json: Fixture.json(entries: entries))
        return {
            let before = allocated_bytes()
            let map = try SubstitutionMap(contentsOf: fixture.map)
            return withExtendedLifetime(map) { Int(allocated_bytes()) - Int(before) }
        }
    }

    fileprivate static let jsonBytes = Subject(bytesOf: "its JSON") {
        let count = Fixture.json(entries: entries).utf8.count
        return { count }
    }
}

extension Topic {
    /// A map of 100,000 entries that name 100 files.
    static let loading = Topic(
        name: "loading",
        subjects: [.load, .decode, .mapBytes, .jsonBytes],
        rows: [
            Row("loading 100,000 entries", .time(.load), per: .time(.decode), .atMost(1.5)),
            Row("live memory of that map", .bytes(.mapBytes), per: .bytes(.jsonBytes), .atMost(3)),
        ]
    )
}
