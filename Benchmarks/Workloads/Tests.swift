import Foundation
import LocalSubstitution
import LocalSubstitutionTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// What tests do: they add entries, and their handlers run in a task of the test.

extension Subject {
    /// The time of each call includes its share of a scope with a map of 1,000 entries: a hundredth.
    fileprivate static let added = Subject("adding an entry to a test's map of 1,000", operations: 100) {
        let fixture = try Fixture(json: Fixture.json(entries: 1_000))
        return { count in
            try await withSubstitutions(fixture.map.path) {
                for number in 0..<count {
                    try TestSubstitutions.current.add(["https://added.example.com/\(number)": .status(200)])
                }
            }
        }
    }

    /// Nothing ends these substitutions, so their session stays the same.
    fileprivate static let handledInTest = Subject("fetch, by an empty handler of a test", operations: 200) {
        let entries: KeyValuePairs = ["https://cdn.example.com/*": SubstitutionMap.Answer.handler { _ in .status(200) }]
        try TestSubstitutions.begin(entries, test: "Tests.handled")
        let configuration = TestSubstitutions.current.configuration
        return fetches((0..<100).map { "https://cdn.example.com/\($0)" }, configuration, size: 0)
    }
}

extension Topic {
    static let tests = Topic(
        name: "tests",
        subjects: [.added, .handledInTest, .emptyByHand],
        rows: [
            Row("`add` of one entry to a map of 1,000", .time(.added), per: .limit(0.001, .seconds), .atMost(1)),
            Row(
                "an answer by an empty handler, run by its test's task, per hand's",
                .time(.handledInTest),
                per: .time(.emptyByHand),
                .atMost(2)
            ),
        ]
    )
}
