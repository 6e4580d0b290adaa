import Allocated
import Foundation
import LocalSubstitution

extension Subject {
    private static let entries = 100_000

    fileprivate static let load = Subject("load a map", operations: 1) {
        let fixture = try Fixture(json: Fixture.json(entries: entries))
        return loads(fixture, .reject)
    }

    fileprivate static let decode = Subject("JSONDecoder", operations: 1) {
        decodes(try Fixture(json: Fixture.json(entries: entries)))
    }

    // MARK: As many files as entries

    private static let ownFiles = 1_000

    fileprivate static let loadRejecting = Subject("load 1,000 entries with 1,000 files, .reject", operations: 10) {
        loads(try withOwnFiles(), .reject)
    }

    fileprivate static let loadSkipping = Subject("load 1,000 entries with 1,000 files, .skip", operations: 10) {
        loads(try withOwnFiles(), .skip)
    }

    fileprivate static let decodeFew = Subject("JSONDecoder, 1,000 entries", operations: 10) {
        decodes(try withOwnFiles())
    }

    private static func withOwnFiles() throws -> Fixture {
        try Fixture(json: Fixture.json(entries: ownFiles, files: ownFiles), files: ownFiles)
    }

    private static func loads(
        _ fixture: Fixture,
        _ invalidEntries: SubstitutionMap.InvalidEntries
    ) -> @Sendable (Int) throws -> Void {
        { count in
            for _ in 0..<count {
                consume(try SubstitutionMap(contentsOf: fixture.map, invalidEntries: invalidEntries))
            }
        }
    }

    private static func decodes(_ fixture: Fixture) -> @Sendable (Int) throws -> Void {
        { count in
            for _ in 0..<count {
                consume(try JSONDecoder().decode([String: String].self, from: Data(contentsOf: fixture.map)))
            }
        }
    }

    // MARK: Alternatives

    fileprivate static let loadAlternatives = Subject("load 4,000 alternatives with when.json", operations: 1) {
        loads(try Fixture(json: alternatives(4_000)), .reject)
    }

    fileprivate static let loadHalf = Subject("load 2,000 alternatives with when.json", operations: 1) {
        loads(try Fixture(json: alternatives(2_000)), .reject)
    }

    private static func alternatives(_ count: Int) -> String {
        let all = (0..<count).map { #"{ "json": \#($0), "when": { "json": { "number": \#($0) } } }"# }
        return #"{ "https://h.example/a": [\#(all.joined(separator: ",\n"))] }"#
    }

    // MARK: Memory

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
    static let loading = Topic(
        name: "loading",
        subjects: [
            .load, .decode, .loadRejecting, .loadSkipping, .decodeFew, .loadAlternatives, .loadHalf, .mapBytes,
            .jsonBytes,
        ],
        rows: [
            Row("loading 100,000 entries that name 100 files", .time(.load), per: .time(.decode), .atMost(1.5)),
            Row(
                "loading 1,000 entries with 1,000 files, .reject",
                .time(.loadRejecting),
                per: .time(.decodeFew),
                .atMost(4)
            ),
            Row("the same, .skip", .time(.loadSkipping), per: .time(.decodeFew), .atMost(1.5)),
            Row(
                "loading 4,000 alternatives with when.json, per 2,000",
                .time(.loadAlternatives),
                per: .time(.loadHalf),
                .atMost(2.2)
            ),
            Row("allocated for 100,000 entries", .bytes(.mapBytes), per: .bytes(.jsonBytes), .atMost(3)),
        ]
    )
}
