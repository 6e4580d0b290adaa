import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Which entry wins", .values)
struct PrecedenceTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(files: ["1.txt", "2.txt", "3.txt", "a/x.txt", "index.html"])
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let why: String
        let winner: String
        let loser: String
        let url: String

        init(_ why: String, _ winner: String, _ loser: String, _ url: String) {
            self.why = why
            self.winner = winner
            self.loser = loser
            self.url = url
        }

        var testDescription: String { "\(why): \(winner) before \(loser)" }
    }

    @Test(
        "The order of the file never matters, but this does",
        arguments: [
            Row("an exact key", "https://h.com/a", "https://h.com/*", "https://h.com/a"),
            Row("an exact key", "https://h.com/a", "https://h.com:*/a", "https://h.com/a"),
            Row("an exact key", "https://h.com/?b=1&a=2", "https://h.com/?a=2*", "https://h.com/?a=2&b=1"),
            Row("an exact host", "https://a.h.com/*", "https://*.a.h.com/*", "https://a.h.com/a/b"),
            Row("a host before a path", "https://a.h.com/*", "https://*.h.com/a/b*", "https://a.h.com/a/b"),
            Row("a host before scheme and port", "*://a.h.com:*/*", "https://*.h.com/*", "https://a.h.com/a"),
            Row("the longer suffix", "https://*.a.h.com/*", "https://*.h.com/*", "https://x.a.h.com/a"),
            Row("a suffix before a path", "https://*.a.h.com/*", "https://*.h.com/a/b*", "https://x.a.h.com/a/b"),
            Row("a suffix before any host", "https://*.com/*", "https://*/*", "https://h.com/a"),
            Row("any host before none", "https://*/a", "https://*/b", "https://h.com/a"),
            Row("more before the first *", "https://h.com/app/*", "https://h.com/*", "https://h.com/app/x"),
            Row("… by one character", "https://h.com/a*", "https://h.com/*a", "https://h.com/aa"),
            Row(
                "… before literals",
                "https://h.com/app/*",
                "https://h.com/*/main.min.js",
                "https://h.com/app/main.min.js"
            ),
            Row("… before scheme and port", "*://h.com:*/ab*", "https://h.com/a*", "https://h.com/ab"),
            Row("… with no * at all", "*://h.com:*/ab", "https://h.com/a*", "https://h.com/ab"),
            Row("more literal characters", "https://h.com/*.min.js", "https://h.com/*.js", "https://h.com/x.min.js"),
            Row("… in the query too", "https://h.com/*?a=1", "https://h.com/*", "https://h.com/x?a=1"),
            Row("… before scheme and port", "*://h.com:*/*.js", "https://h.com/*s", "https://h.com/x.js"),
            Row("a fixed scheme", "https://h.com/*", "*://h.com/*", "https://h.com/a"),
            Row("… before a port", "https://h.com:*/*", "*://h.com/*", "https://h.com/a"),
            Row("a fixed port", "https://h.com/*", "https://h.com:*/*", "https://h.com/a"),
            Row("a fixed port", "https://h.com:81/*", "https://h.com:*/*", "https://h.com:81/a"),
            Row("a fixed port", "*://h.com/*", "*://h.com:*/*", "http://h.com/a"),
            Row("the smaller key", "https://h.com/*ab*", "https://h.com/*bc*", "https://h.com/abc"),
            Row("the smaller key", "https://h.com/*-a*", "https://h.com/*a-*", "https://h.com/-a-"),
            Row("the smaller key", "*://h.com/*", "*://h.com:443/*", "https://h.com/a"),
        ]
    )
    func precedence(_ row: Row) throws {
        for members in [[row.winner, row.loser], [row.loser, row.winner]] {
            let json = members.map { "\"\($0)\": \"\($0 == row.winner ? 1 : 2).txt\"" }.joined(separator: ",")
            let map = try folder.map("{\(json)}")
            #expect(map.count == 2)
            #expect(try map.answer(row.url) == .init(key: row.winner, file: "1.txt"))
        }
    }

    @Test("If the winner's file doesn't exist, the next match is asked")
    func missingFile() throws {
        let map = try folder.map(
            #"{"https://h/*": "1.txt", "https://h/a/*": "a/*", "https://h/a/b/*": "*.txt", "https://*/*": "2.txt"}"#
        )
        #expect(try map.answer("https://h/a/b/3")?.file == "3.txt")
        #expect(try map.answer("https://h/a/x.txt")?.file == "a/x.txt")
        #expect(try map.answer("https://h/a/b/x.txt") == .init(key: "https://h/*", file: "1.txt"))
        #expect(try map.answer("https://i/a/x.txt")?.file == "2.txt")
    }

    @Test("A folder isn't a file, so the next match is asked")
    func folderInTheWay() throws {
        let map = try folder.map(#"{"https://h/a*": "a*", "https://h/*": "1.txt"}"#)
        #expect(try map.answer("https://h/a")?.file == "1.txt")
    }

    @Test("A file that disappears after loading leaves its URL to the next entry")
    func fileIsGone() throws {
        let map = try folder.map(#"{"https://h/a": "1.txt", "https://h/*": "2.txt"}"#)
        try folder.remove("1.txt")
        #expect(try map.answer("https://h/a") == .init(key: "https://h/*", file: "2.txt"))
        try folder.remove("2.txt")
        #expect(try map.answer("https://h/a") == nil)
    }

    @Test("Entries that don't apply don't get in the way")
    func notApplicable() throws {
        let map = try folder.map(#"{"https://h/a/*": "*", "https://h/*": "1.txt"}"#)
        for url in ["https://h/a/.env", "https://h/a//x", "https://h/a/x%2Fy", "https://h/a/%00"] {
            #expect(try map.answer(url)?.key == "https://h/*")
        }
    }

    @Test(
        "null ends the search",
        arguments: [
            // An exception inside a wider pattern, and an exact key inside the exception.
            (#"{"https://h/*": "1.txt", "https://h/live/*": null}"#, "https://h/live/a", nil),
            (#"{"https://h/*": "1.txt", "https://h/live/*": null}"#, "https://h/a", "1.txt"),
            (#"{"https://h/*": "1.txt", "https://h/a": null}"#, "https://h/a", nil),
            (#"{"https://h/live/*": null, "https://h/live/a": "1.txt"}"#, "https://h/live/a", "1.txt"),
            // `null` doesn't take precedence.
            (#"{"https://h/live/*": "1.txt", "https://h/*": null}"#, "https://h/live/a", "1.txt"),
            (#"{"https://h/*": "1.txt", "https://*/*": null}"#, "https://h/a", "1.txt"),
            // `null` ends a search that missing files have led to it, so no wider entry is asked.
            (#"{"https://h/a/*": "a/*", "https://h/*": null, "https://*/*": "1.txt"}"#, "https://h/a/none", nil),
            (#"{"https://h/a/*": "a/*", "https://h/*": null, "https://*/*": "1.txt"}"#, "https://h/a/x.txt", "a/x.txt"),
            (#"{"https://h/a/*": "a/*", "https://h/*": null, "https://*/*": "1.txt"}"#, "https://i/", "1.txt"),
        ] as [(String, String, String?)]
    )
    func null(json: String, url: String, file: String?) throws {
        #expect(try folder.map(json).answer(url)?.file == file)
    }

    @Test("A disabled entry is skipped, as if it didn't exist")
    func disabled() throws {
        let map = try folder.map(
            #"{"https://h/a": {"file": "1.txt", "enabled": false}, "https://h/*": "2.txt", "https://i/*": {"status": 404, "enabled": false}}"#
        )
        #expect(try map.answer("https://h/a")?.file == "2.txt")
        #expect(try map.answer("https://i/a") == nil)
    }

    @Test("Entries with only a status win without a file")
    func status() throws {
        let map = try folder.map(#"{"https://h/a*": {"status": 404}, "https://h/*": "1.txt"}"#)
        #expect(try map.answer("https://h/ab") == .init(key: "https://h/a*", file: nil))
    }

    @Test("A match names the entries that were skipped and those that lost, in their order")
    func losers() throws {
        let map = try folder.map(
            #"{"https://h/a": {"file": "1.txt", "enabled": false}, "https://h/*": "1.txt", "https://*/*": "2.txt", "https://h/a*": "a*.txt", "*://*/*": null}"#
        )
        let match = try map.match(NormalizedURL("https://h/a"))
        #expect(match.skipped.map(\.entry.key) == ["https://h/a", "https://h/a*"])
        #expect(match.winner?.key == "https://h/*")
        #expect(match.shadowed.map(\.key) == ["https://*/*", "*://*/*"])
    }
}
