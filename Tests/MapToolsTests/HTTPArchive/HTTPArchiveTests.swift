import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

@Suite("Archives with mistakes", .values)
struct HTTPArchiveTests {
    @Test("Many values of one header take about as long in one response as in many")
    func manyValues() throws {
        let link = ("Link", "</style.css>; rel=preload")
        func time(of entries: Int, with values: Int) throws -> Double {
            let recording = Recording(headers: Array(repeating: link, count: values))
            let data = try Recording.archive(Array(repeating: recording, count: entries))
            // The fastest of several runs, since other work on the machine only adds time.
            let times = try (0..<3).map { _ in
                try processorTime {
                    let archive = try HTTPArchive(data)
                    #expect(archive.entries.first?.headers["link"]?.utf8.count == values * (link.1.utf8.count + 2) - 2)
                }
            }
            return try #require(times.min())
        }
        let apart = try time(of: 200, with: 100)
        #expect(try time(of: 1, with: 20_000) < 2 * apart)
    }

    @Test(
        "The lines of a header's value are joined like the values of a repeated header",
        arguments: [
            ("*\n*", "*, *"), ("X-A\r\nX-B", "X-A, X-B"), ("* \n", "*"), ("a\rb\n\nc", "a, b, c"), ("a, b", "a, b"),
            (
                "<https://h.com/2>; rel=\"next\"\n <https://h.com/9>",
                "<https://h.com/2>; rel=\"next\", <https://h.com/9>"
            ),
            ("", ""),
        ]
    )
    func lines(of value: String, joined: String) throws {
        let names = ["Access-Control-Allow-Origin", "link", "Content-Language"]
        let headers = (names + ["Set-Cookie", "Content-Type"]).map { ($0, value) } + [("Link", "z")]
        let archive = try HTTPArchive(Recording.archive([Recording(headers: headers)]))
        let found = try #require(archive.entries.first).headers
        #expect(found == ["access-control-allow-origin": joined, "link": "\(joined), z", "content-language": joined])
        let map = try archive.map()
        let substitution = try #require(map.match(try NormalizedURL("https://h.com/a")).substitution)
        #expect(substitution.headers["Content-Language"] == joined)
    }

    private static let noEntries =
        ":1:1: The archive is JSON, but not an HTTP Archive. It has no list “log.entries”. Export it as HAR."

    @Test(
        "Invalid archives are rejected, with the place",
        arguments: [
            ("", ":1:1: The archive is empty."), (" \n ", ":2:2: The archive is empty."),
            ("[]", ":1:1: The archive isn't an HTTP Archive, which begins with {. Export it as HAR."),
            ("{}", noEntries), (#"{"log": []}"#, noEntries),
            (#"{"log": {"entries": {}}}"#, ":1:1: The archive is JSON, but not an HTTP Archive"),
            ("{\"log\":\n {\"entries\": [1 2]}}", ":2:17: The archive needs a comma or ] here"),
            (#"{"log": {"entries": [nul]}}"#, ":1:22: The archive needs a JSON value here."),
            (
                #"{"log": {"entries": [], "entries": []}}"#,
                ":1:36: The archive has the list “log.entries” twice. Keep one of them."
            ),
            (#"{"log": {"entries": []}} x"#, ":1:26: The archive has text after its end"),
            (#"{"log": {"entries": [{"a": "b}]}}"#, ":1:34: The archive ends inside a string"),
            (#"{"log": {"entries": [{"a" "b"}]}}"#, ":1:27: The archive needs a colon after the key “a”"),
            (#"{"log": {"entries": [{a: 1}]}}"#, ":1:23: The archive needs a key in double quotes here"),
            (#"{"log": {"entries": [{}"#, ":1:24: The archive is incomplete."),
            ("<html>", ":1:1: The archive isn't an HTTP Archive, which begins with {. Export it as HAR."),
        ]
    )
    func broken(text: String, message: String) throws {
        let error = try #require(throws: Complaint.self) { try HTTPArchive(Data(text.utf8)) }
        #expect(error.description.hasPrefix(message))
    }

    @Test("Bodies with an unknown or unreadable encoding are named")
    func unreadable() throws {
        let utf16 = try #require("{}".data(using: .utf16))
        #expect(throws: Complaint.self) { try HTTPArchive(utf16) }
        let folder = try TemporaryFolder(files: ["a.har"])
        try folder.makePipe("pipe")
        for (name, reason) in [
            ("none.har", "doesn't exist"), ("pipe", "is a named pipe"), ("", "is a folder"), ("a.har", "a.har:1:1: "),
        ] {
            let error = try #require(throws: Complaint.self) { try HTTPArchive(contentsOf: folder.file(name)) }
            #expect(error.description.contains(reason))
        }
    }

    @Test("A byte order mark, which Charles writes, does no harm")
    func byteOrderMark() throws {
        #expect(try HTTPArchive(Data([0xEF, 0xBB, 0xBF]) + Recording.archive([Recording()])).count == 1)
    }

    @Test("Entries of wrong types are left out, and the others are imported")
    func wrongTypes() throws {
        let odd = [
            "1", "null", "[]", "{}", #"{"request": 1, "response": []}"#, #"{"request": {"url": 1, "method": {}}}"#,
            #"{"request": {"url": "https://h.com/x", "method": "GET"}, "response": {"status": "200"}}"#,
            #"{"request": {"url": "https://h.com/x", "method": "GET"}, "response": {"status": 2e2, "content": 1}}"#,
            #"{"request": {"url": "https://h.com/\x", "method": "GET"}, "response": {"status": 200}}"#,
        ]
        let right = try JSONSerialization.data(withJSONObject: Recording().json)
        let entries = (odd + [String(decoding: right, as: UTF8.self)]).joined(separator: ",")
        let fixture = try ArchiveFixture()
        var map = try fixture.edited()
        let archive = try HTTPArchive(Data(#"{"log":{"entries":[\#(entries)]}}"#.utf8))
        let items = try map.take(archive, HTTPArchive.Selection()).items
        #expect(items.dropLast().allSatisfy { $0.left?.kind == "malformed" })
        #expect(items.last?.file?.name == "h.com/a.txt")
    }

    @Test("Text that isn't UTF-8 is left out")
    func notUTF8() throws {
        var json = try Recording.archive([Recording(text: "hello"), Recording(url: "https://h.com/b")])
        let place = try #require(json.range(of: Data("hello".utf8)))
        json[place.lowerBound] = 0xFF
        let fixture = try ArchiveFixture()
        var map = try fixture.edited()
        #expect(try map.take(HTTPArchive(json), HTTPArchive.Selection()).items.map(\.left) == [.brokenBody, nil])
    }

    @Test("Nesting is read up to a limit", arguments: [(240, true), (300, false), (100_000, false)])
    func nesting(depth: Int, isRead: Bool) throws {
        let opening = String(repeating: #"{"a":["#, count: depth / 2)
        let nested = opening + String(repeating: "]}", count: depth / 2)
        let json = Data(#"{"log":{"x":\#(nested),"entries":[]}}"#.utf8)
        if isRead {
            #expect(try HTTPArchive(json).count == 0)
        } else {
            #expect(throws: Complaint.self) { try HTTPArchive(json) }
        }
    }

    @Test("An archive that's cut off at any byte is rejected")
    func truncated() throws {
        let json = try Recording.archive([Recording(text: "a\"\\\u{1}"), Recording(text: "aaaa", encoding: "base64")])
        for count in 0..<json.count {
            #expect(throws: Complaint.self, "at \(count)") { try HTTPArchive(json.prefix(count)) }
        }
    }

    @Test("An archive with random changes is rejected or read, and never crashes", arguments: [0x4A2 as UInt64])
    func fuzz(seed: UInt64) throws {
        let json = try Recording.archive([Recording(text: "a\"\\\u{1}😀"), Recording(text: "aaaa", encoding: "base64")])
        var random = SeededGenerator(seed: seed)
        let fixture = try ArchiveFixture()
        var read = 0
        for _ in 0..<3_000 {
            var bytes = json
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let syntax = "{}[]\",:\\u0".utf8.randomElement(using: &random) ?? 0
                bytes[place] = Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : syntax
            }
            guard let archive = try? HTTPArchive(bytes) else { continue }
            read += 1
            var map = try fixture.edited(isDryRun: true)
            _ = try map.take(archive, HTTPArchive.Selection())
        }
        #expect((300..<2_900).contains(read), "seed \(seed): the changes are all too harmless or all too harmful")
    }

    @Test("30,000 entries can be read")
    func manyEntries() throws {
        let right = String(decoding: try JSONSerialization.data(withJSONObject: Recording().json), as: UTF8.self)
        let kinds = [right, right.replacing("GET", with: "POST"), right.replacing("200", with: "404"), "{}"]
        let entries = (0..<30_000).map { (number: Int) -> String in
            if number % 1_000 > 0 { return kinds[1 + number % 3] }
            return right.replacing("h.com\\/a", with: "h.com/\(number)")
        }
        let json = Data(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8)
        let fixture = try ArchiveFixture()
        var map = try fixture.edited()
        let selection = try HTTPArchive.Selection(statuses: [200], methods: ["GET"])
        let items = try map.take(HTTPArchive(json), selection).items
        try map.save()
        #expect(items.count == 30_000)
        #expect(items.filter { $0.file != nil }.count == 30)
        #expect(try fixture.map().count == 30)
    }
}
