import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("File names with wildcards", .values)
struct FileNameTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let key: String
        let file: String
        let url: String
        let name: String?

        init(_ key: String, _ file: String, _ url: String, _ name: String?) {
            self.key = key
            self.file = file
            self.url = url
            self.name = name
        }

        var testDescription: String { "\(key) → \(file): \(url)" }
    }

    /// Checks the file name that a map's only entry makes from a URL. No file is read.
    private func expect(_ row: Row) throws {
        let json = try JSONEncoder().encode([row.key: row.file])
        let index = MapLoader.load(json: Array(json), folder: nil, looksAtFiles: true).index
        let url = try NormalizedURL(row.url)
        let candidates = index.candidates(for: url)
        #expect(candidates.count == 1)
        for candidate in candidates {
            let entry = index.entries[candidate.number]
            #expect((try? entry.fileNames(filledWith: candidate.captures))?.first == row.name)
        }
    }

    @Test(
        "Wildcards are filled with what the path's wildcards matched",
        arguments: [
            Row("https://h/*", "*", "https://h/a.txt", "a.txt"),
            Row("https://h/app/*", "app/*", "https://h/app/a/b.js", "app/a/b.js"),
            Row("https://*.h.com/f/*.woff2", "f/*.woff2", "https://a.h.com/f/x.woff2", "f/x.woff2"),
            // In order, each takes as little as possible, and the last one takes the rest.
            Row("https://h/*/*", "*-*", "https://h/a/b/c", "a-b/c"),
            Row("https://h/*.*", "*/*", "https://h/a.b.c", "a/b.c"),
            Row("https://h/*/x/*", "*.*", "https://h/a/b/x/c", "a/b.c"),
            Row("https://h/*/*/*", "*", "https://h/a/b/c", "a"),
            Row("https://h/*/*", "x*y*z", "https://h//", "xyz"),
            Row("https://h/**", "*.*", "https://h/ab", nil),
            Row("https://h/**", "a*-*", "https://h/ab", "a-ab"),
            // The host's wildcard fills nothing, and neither does a port's.
            Row("*://*:*/*", "*", "http://h:81/a", "a"),
            // A file without wildcards is the same for all URLs.
            Row("https://h/*", "a.txt", "https://h/.env?x", "a.txt"),
            // The query is dropped.
            Row("https://h/*", "*", "https://h/a.txt?v=1", "a.txt"),
            Row("https://h/*", "*.txt", "https://h/a?b?c", "a.txt"),
            Row("https://h/*.js*", "*.js", "https://h/a.js?b=.js", "a.js"),
            Row("https://h/*.js*", "x/*.js*", "https://h/a.js?b", "x/a.js"),
            // A query's wildcards count too, in the order of the key, however the request orders its parameters.
            Row("https://h/*?v=*", "*-*", "https://h/a?v=1", "a-1"),
            Row("https://h/x?b=*&a=*", "*-*", "https://h/x?b=2&a=1", "2-1"),
            Row("https://h/x?b=*&a=*", "*-*", "https://h/x?a=1&b=2", "2-1"),
            Row("https://h/*?c=*&b=*-*&a=1", "*.*.*.*", "https://h/x?a=1&b=2-3&c=4", "x.4.2.3"),
            // Percent-decoded once.
            Row("https://h/*", "*", "https://h/a%20b.txt", "a b.txt"),
            Row("https://h/*", "*", "https://h/%C3%A9.txt", "é.txt"),
            Row("https://h/*", "*", "https://h/é.txt", "é.txt"),
            Row("https://h/*", "*", "https://h/100%25.txt", "100%.txt"),
            Row("https://h/*", "*", "https://h/%2541.txt", "%41.txt"),
            Row("https://h/*", "*", "https://h/a%3Fb", "a?b"),
            Row("https://h/*", "*", "https://h/a*b", "a*b"),
            Row("https://h/*", "%41*", "https://h/a", "%41a"),
            Row("https://h/*", "*\u{301}.txt", "https://h/e", "e\u{301}.txt"),
            // index.html.
            Row("https://h/*", "*", "https://h/", "index.html"),
            Row("https://h/*", "*", "https://h", "index.html"),
            Row("https://h/*", "*", "https://h/?a", "index.html"),
            Row("https://h/*", "*", "https://h/a/", "a/index.html"),
            Row("https://h/*", "docs/*", "https://h/", "docs/index.html"),
            Row("https://h/*", "*/", "https://h/a", "a/index.html"),
        ]
    )
    func filled(_ row: Row) throws {
        try expect(row)
    }

    @Test(
        "Hostile requests don't match",
        arguments: [
            "https://h/%2e%2e%2fx", "https://h/..%2Fx", "https://h/a%2Fb", "https://h/%2F", "https://h/a%5Cb",
            "https://h/a\\b", "https://h/..\\x", "https://h/a%00b", "https://h/a\u{0}b", "https://h/a%0Ab",
            "https://h/a%7Fb", "https://h/a%C2%85b", "https://h/%FF", "https://h/%C3", "https://h/%C0%AE%C0%AE/x",
            "https://h/%ED%A0%80", "https://h//x", "https://h//", "https://h/a//b", "https://h/a//", "https://h/.env",
            "https://h/%2Eenv", "https://h/a/.git/config", "https://h/...", "https://h/.../x", "https://h/a/%2e%2e%2e",
        ]
    )
    func hostile(url: String) throws {
        try expect(Row("https://h/*", "*", url, nil))
    }

    @Test(
        "Names with an empty segment or one that begins with a period don't match",
        arguments: [
            Row("https://h/a*", "a/*", "https://h/a/b", nil), Row("https://h/a*", "*", "https://h/a/b", nil),
            Row("https://h/*/*", "*/*", "https://h//b", nil), Row("https://h/*a", "*/a", "https://h/a", nil),
            Row("https://h/*a*", "x*.*", "https://h/a", "x."), Row("https://h/*", "a/.*", "https://h/b", nil),
            Row("https://h/*", "x.*", "https://h/./b", "x.b"),
        ]
    )
    func segments(_ row: Row) throws {
        try expect(row)
    }

    @Test("A part that fills nothing may be anything")
    func unusedPart() throws {
        try expect(Row("https://h/*/*", "*", "https://h/a/%FF%00..%2F", "a"))
        try expect(Row("https://h/*", "*", "https://h/a?%2F%00%FF", "a"))
    }

    @Test(
        "Names never lead outside the folder",
        arguments: [
            "https://h/../x", "https://h/%2e%2e/x", "https://h/%2e%2e%2fx", "https://h/a/../../x", "https://h/a%00b",
            "https://h//x", "https://h/a\\b", "https://h/..\\x", "https://h/.env", "https://h/a/..%2f..%2fx",
            "https://h/%252e%252e/x", "https://h/....//x",
        ]
    )
    func inside(url: String) throws {
        let outer = try TemporaryFolder(files: ["x", "b", ".env", "Resources/.env", "Resources/a/b"])
        let resources = outer.file("Resources")
        let map = try SubstitutionMap(["https://h/*": "*"], resources: resources)
        #expect(try map.answer(url) == nil)
    }

    @Test("A request's dot segments are removed before it's matched")
    func dotSegments() throws {
        let folder = try TemporaryFolder(files: ["x", "a/b"])
        let map = try SubstitutionMap(["https://h/*": "*"], resources: folder.url)
        for url in ["https://h/../x", "https://h/%2e%2e/x", "https://h/a/../../x"] {
            #expect(try map.answer(url)?.file == "x")
        }
    }

    @Test("A path of 100 kB names no file and takes no time", .timeLimit(.minutes(5)))
    func longPath() throws {
        let folder = try TemporaryFolder()
        let map = try SubstitutionMap(["https://h/*": "*"], resources: folder.url)
        for piece in ["a", "a/", "%C3%A9", "../", "//"] {
            let url = "https://h/" + String(repeating: piece, count: 100_000 / piece.utf8.count)
            #expect(try map.answer(url) == nil)
        }
    }

    @Test("Filling many wildcards takes linear time")
    func many() {
        let isLinear = takesLinearTime(from: 2_000, of: { String(repeating: "*abcdefgh", count: $0) }) { name in
            let captures = [[UInt8]](repeating: [UInt8(ascii: "x")], count: name.utf8.count / 9).map { $0[...] }
            let filled = try? FileName(text: name).filled(with: captures)
            #expect(filled?.utf8.count == name.utf8.count)
        }
        #expect(isLinear)
    }
}
