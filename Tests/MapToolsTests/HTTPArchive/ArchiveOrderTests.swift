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
