import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The exact keys of a map", .values)
struct MapIndexTests {
    /// A third of the keys are in canonical form. The others are spelled in different ways.
    private func key(_ number: Int) -> String {
        switch number % 3 {
        case 0: "https://h/\(number)"
        case 1: "HTTPS://H:443/\(number)"
        default: "https://h/%7E/../\(number)?b=2&a=1"
        }
    }

    private func url(_ number: Int) throws -> NormalizedURL { try NormalizedURL(key(number)) }

    private func entry(_ key: String) -> Entry {
        Entry(key: key, line: 0, file: nil, options: .never)
    }

    @Test("It finds each URL's entry in a map of any size", arguments: [0, 1, 7, 8, 9, 1_000])
    func find(count: Int) throws {
        var index = MapIndex()
        for number in 0..<count {
            #expect(index.insert(entry(key(number)), url: try url(number)) == nil)
        }
        for number in 0..<count {
            let candidates = index.candidates(for: try url(number))
            #expect(candidates.map(\.number) == [number])
            #expect(index.entry(equalTo: try url(number))?.key == key(number))
        }
        for number in count..<count + 100 { #expect(index.candidates(for: try url(number)).isEmpty) }
    }

    @Test(
        "An empty query makes no difference to a key without *, but does to one with *",
        arguments: [
            ("https://h/a", "https://h/a?", true), ("https://h/a?", "https://h/a", true),
            ("https://h/?", "https://h", true),
            ("https://h/a?b", "https://h/a?", false), ("https://h/*?*", "https://h/a?", true),
            ("https://h/*?*", "https://h/a", false), ("https://h/*", "https://h/a?", true),
            ("https://h:443/a?", "HTTPS://H/a", true), ("http://h/?", "http://h/?", true),
            ("https://h/a?", "https://h/a?b", false), ("https://h/a", "https://h/a??", false),
            ("https://h/a/?", "https://h/a", false),
        ]
    )
    func emptyQuery(key: String, url: String, isMatched: Bool) throws {
        for answer in [SubstitutionMap.Answer.text("a"), .text("a").ignoreQuery("x")] {
            let map = try SubstitutionMap([key: answer])
            #expect((map.match(try NormalizedURL(url)).winner != nil) == isMatched, "\(key), \(url)")
        }
    }

    @Test("Keys that differ only in an empty query are duplicates")
    func emptyQueryTwice() throws {
        let error = #expect(throws: SubstitutionMapError.self) {
            try SubstitutionMap(["https://h/a": .text("a"), "https://h/a?": .text("b")])
        }
        #expect(error?.problems.map(\.kind) == [.duplicate])
    }

    @Test("A second entry for a URL isn't added, however its key is spelled")
    func duplicate() throws {
        var index = MapIndex()
        for number in 0..<100 { _ = index.insert(entry(key(number)), url: try url(number)) }
        for number in 0..<100 {
            let other = index.insert(entry(try url(number).canonical), url: try url(number))
            #expect(other?.key == key(number))
        }
        #expect(index.entries.count == 100)
    }
}
