import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

@Suite("An archive's repeated requests", .values)
struct ArchiveOrderTests {
    private let fixture: ArchiveFixture

    init() throws { fixture = try ArchiveFixture() }

    @Test(
        "All responses become a sequence, whose last one goes on answering",
        arguments: [
            (["x"], #""h.com/a""#), (["x", "x"], #""h.com/a""#),
            (["x", "x", "y"], #"[{ "file": "h.com/a", "times": 2 }, "h.com/a-2"]"#),
            (["x", "y", "x"], #"[{ "file": "h.com/a", "times": 1 }, { "file": "h.com/a-2", "times": 1 }, "h.com/a"]"#),
        ]
    )
    func inOrder(_ bodies: [String], _ entry: String) throws {
        let recordings = bodies.map { Recording(text: $0) }
        let items = try fixture.take(recordings)
        #expect(items.map { $0.file?.change } == bodies.map { _ in .new })
        let second = items.compactMap(\.file?.name).first { $0 != items.first?.file?.name } ?? "none"
        var text = try fixture.mapText
        for part in ["\n", " "] { text = text.replacingOccurrences(of: part, with: "") }
        let expected = entry.replacingOccurrences(of: "h.com/a-2", with: second)
            .replacingOccurrences(of: "h.com/a\"", with: "h.com/a.txt\"").replacingOccurrences(of: " ", with: "")
        #expect(text == "{\"https://h.com/a\":\(expected)}")
        #expect(Set(items.compactMap(\.file?.name)).count == Set(bodies).count)
        let again = try fixture.take(recordings)
        #expect(again.map { $0.file?.change } == bodies.map { _ in .unchanged })
    }

    /// When an archive's requests began, and the indexes of its entries in the order in which they count.
    static let beginnings: [(times: [String?], order: [Int])] = [
        (["2026-01-01T00:00:05.000Z", "2026-01-01T00:00:01.000Z"], [1, 0]),
        (["2026-01-01T00:00:01Z", "2026-01-01T00:00:05Z"], [0, 1]),
        (["2026-01-01T00:00:05.000Z", "2026-01-01T02:00:01.000+02:00"], [1, 0]),
        (["2026-01-01T00:00:05Z", "2025-12-31T23:30:04.9-0030"], [1, 0]),
        (["2026-01-01T00:00:05Z", "2026-01-01T05:30:06+05:30"], [0, 1]),
        (["2026-01-01T00:00:05.5Z", "2026-01-01T00:00:05.4999Z", "2026-01-01T00:00:05Z"], [2, 1, 0]),
        (["2026-01-01T00:00:05.123456789Z", "2026-01-01T00:00:05.123456788Z"], [1, 0]),
        (["2026-01-01T00:00:05.1Z", "2026-01-01T00:00:05.10Z", "2026-01-01T00:00:05.100+00:00"], [0, 1, 2]),
        (["1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.25Z", "1970-01-01T00:00:00Z"], [1, 0, 2]),
        (["2024-03-01T00:00:00Z", "2024-02-29T23:59:59Z"], [1, 0]),
    ]
    private static let invalid: [String?] = [
        nil, "", "now", "2026-01-01", "2026-01-01T00:00:01", "2026-01-01T00:00:01.5", "2026-13-01T00:00:01Z",
        "2026-01-01 00:00:01Z", "2026-01-01T00:00:01Zulu", "2026-01-01T00:00:01+1", "2026-01-01T00:00:01.Z.5",
        "2026-01-01T00:00:01++100", "2026-01-01T00:00:010100", "2026-01-01T00:00Z", "٢٠٢٦-٠١-٠١T٠٠:٠٠:٠١Z",
        "99999-01-01T00:00:01Z", "9999-01-01T00:00:01Z", "2026-01-01T00:00:01.\u{301}1Z", "2026-01-01T00:00:01+😀00",
    ]
    private static let withInvalid: [(times: [String?], order: [Int])] = invalid.map { time in
        (["2026-01-01T00:00:05Z", "2026-01-01T00:00:01Z", time], [0, 1, 2])
    }

    @Test("Responses are in the order in which the requests began if all say when", arguments: beginnings + withInvalid)
    func inOrderOfTime(_ row: (times: [String?], order: [Int])) throws {
        let recordings = row.times.enumerated().map { Recording(text: "\($0)", time: $1) }
        let items = try fixture.take(recordings)
        #expect(items.map(\.left) == row.order.map { _ in nil })
        let found = try items.map { try fixture.contents()["Resources/\($0.file?.name ?? "")"] }
        #expect(found == row.order.map { Data("\($0)".utf8) })
        // The first request gets the response to the request that began first.
        #expect(try fixture.served("https://h.com/a")?.body == Data("\(row.order[0])".utf8))
        #expect(try fixture.take(recordings, replacing: true, onlyLast: true).filter { $0.file != nil }.count == 1)
        #expect(try fixture.served("https://h.com/a")?.body == row.order.last.map { Data("\($0)".utf8) })
    }

    @Test("A reason names the entry's position in the archive, whatever the order is")
    func position() throws {
        let late = Recording(url: nil, time: "2026-01-01T00:00:05Z")
        let items = try fixture.take([late, Recording(time: "2026-01-01T00:00:01Z")])
        #expect(items.map(\.left) == [nil, .noURL(entry: 1)])
    }

    @Test("Several responses to one request, and conditions made from bodies, are counted if they're written")
    func counted() throws {
        let json = "application/json"
        let recordings = [
            Recording(text: "1"), Recording(text: "2"), Recording(text: "2"),
            Recording(method: "POST", text: "3", request: (#"{"a": 1}"#, json)),
            Recording(method: "POST", text: "4", request: (#"{"a": 1}"#, json)),
            Recording(method: "POST", text: "5", request: ("text", "text/plain")),
            Recording(url: "https://h.com/b", method: "POST", text: "6", request: (#"{"a": 1}"#, json)),
            Recording(url: "https://h.com/c", text: "7"), Recording(url: "https://h.com/c", text: "7"),
        ]
        let archive = try HTTPArchive(Recording.archive(recordings))
        // The second import finds the entries that the first one wrote.
        let runs: [(onlyLast: Bool, replacing: Bool, counts: [Int])] = [
            (true, false, [0, 2]), (true, false, [0, 0]), (false, false, [0, 0]), (false, true, [2, 2]),
            (false, true, [0, 0]),
        ]
        for (onlyLast, replacing, counts) in runs {
            var map = try fixture.edited()
            let imported = map.take(archive, try HTTPArchive.Selection(), replacing: replacing, onlyLast: onlyLast)
            try map.save()
            #expect([imported.sequences, imported.conditions] == counts)
        }
    }

    @Test("Many responses of one URL take time in proportion to their number")
    func many() throws {
        #expect(
            try takesLinearTime(from: 80, of: { (0..<$0).map { Recording(text: "\($0)") } }) { recordings in
                try fixture.take(recordings, isDryRun: true)
            }
        )
    }

    @Test("A URL with more responses than an entry can have is left out, and the others are imported")
    func tooMany() throws {
        let recordings = (0...10_000).map { Recording(text: "\($0)") }
        let archive = try HTTPArchive(Recording.archive(recordings + [Recording(url: "https://h.com/b")]))
        let map = try archive.map()
        #expect(map.count == 1)
        #expect(map.problems.count == recordings.count)
        #expect(map.problems.allSatisfy { $0.message == "GET: the URL has more than 10,000 different responses" })
        var edited = try fixture.edited(isDryRun: true)
        let items = edited.take(archive, try HTTPArchive.Selection()).items
        #expect(items.map { $0.left?.kind } == recordings.map { _ in "tooMany" } + [nil])
    }

    @Test("Requests with other methods and bodies have sequences of their own, and what can't be decoded is left out")
    func requests() throws {
        let json = "application/json"
        let recordings = [
            Recording(method: "POST", text: "1", request: (#"{"a": 1}"#, json)),
            Recording(method: "POST", text: "2", request: (#"{"a": 2}"#, json)), Recording(text: "3"),
            Recording(method: "POST", text: "?!", encoding: "base64", request: (#"{"a": 1}"#, json)),
            Recording(method: "POST", text: "4", request: (#"{"a": 1}"#, json)),
        ]
        let selection = try HTTPArchive.Selection(methods: ["*"])
        #expect(try fixture.take(recordings, selection).map(\.left) == [nil, nil, nil, .brokenBody, nil])
        #expect(try fixture.mapText.components(separatedBy: "times").count == 2)
        #expect(try fixture.served("https://h.com/a")?.body == Data("3".utf8))
        #expect(try fixture.served("https://h.com/a", method: "POST", request: #"{"a": 1}"#)?.body == Data("1".utf8))
    }

    @Test("A map with only the last response has another entry, which is replaced if that's wanted")
    func replacing() throws {
        let recordings = [Recording(text: "x"), Recording(text: "y")]
        try fixture.take(recordings, onlyLast: true)
        #expect(try fixture.take(recordings).map { $0.left?.kind } == ["entry", nil])
        let items = try fixture.take(recordings, replacing: true)
        #expect(items.map { $0.file?.change } == [.replaced, .unchanged])
        #expect(try fixture.served("https://h.com/a")?.body == Data("x".utf8))
    }
}
