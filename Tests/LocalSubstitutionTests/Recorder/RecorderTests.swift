import Dispatch
import Foundation
import Guarded
import MapTools
import MapWriting
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import LocalSubstitutionRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The recorder's folder", .threads)
struct RecorderTests {
    private let fixture: RecorderFixture

    init() throws { fixture = try RecorderFixture() }

    struct Row: Sendable {
        let url: String
        var headers: [String: String] = [:]
        var body = Data("body".utf8)
        let file: String
        /// The entry's value in the map; `nil` if it's only the file's name.
        var entry: String?
        let type: String
    }

    static let rows: [Row] = [
        Row(
            url: "https://h/a.css",
            headers: ["Content-Type": "text/css; charset=utf-8"],
            file: "h/a.css",
            type: "text/css; charset=utf-8"
        ),
        Row(
            url: "https://h/a",
            headers: ["Content-Type": "text/html;charset=\"UTF-8\""],
            file: "h/a.html",
            type: "text/html; charset=utf-8"
        ),
        Row(
            url: "https://h/a",
            headers: ["Content-Type": "text/html; charset=ISO-8859-1"],
            body: Data([0xE9]),
            file: "h/a.html",
            entry: #"{ "file": "h/a.html", "charset": "iso-8859-1" }"#,
            type: "text/html; charset=iso-8859-1"
        ),
        Row(
            url: "https://h/a",
            headers: ["Content-Type": "text/html"],
            body: Data([0xE9]),
            file: "h/a.html",
            entry: #"{ "file": "h/a.html", "charset": null }"#,
            type: "text/html"
        ),
        Row(
            url: "https://h/a",
            headers: ["Content-Type": "text/html"],
            body: Data([0xFF, 0xFE, 65, 0]),
            file: "h/a.html",
            entry: #"{ "file": "h/a.html", "charset": null }"#,
            type: "text/html"
        ),
        Row(
            url: "https://h/a.png",
            headers: ["Content-Type": "text/html"],
            file: "h/a.png",
            entry: #"{ "file": "h/a.png", "mimeType": "text/html", "charset": null }"#,
            type: "text/html"
        ),
        Row(
            url: "https://h/a",
            headers: ["Content-Type": "application/ld+json; profile=x"],
            file: "h/a.jsonld",
            entry: #"{ "file": "h/a.jsonld", "headers": { "Content-Type": "application/ld+json; profile=x" } }"#,
            type: "application/ld+json; profile=x"
        ),
        Row(
            url: "https://h/*?b=1&a=2",
            headers: [
                "Content-Type": "text/plain", "Content-Language": "de", "Content-Encoding": "gzip", "Vary": "Accept",
                "Expires": "0",
                "Cache-Control": "max-age=0",
            ],
            file: "h/_-98f3.txt",
            entry: "*",
            type: "text/plain"
        ),
    ]

    @Test("A recorder serves what it recorded, and so does its map", arguments: rows)
    func roundTrip(_ row: Row) throws {
        let recorder = try fixture.open()
        #expect(try recorder.record(row.url, row.body, row.headers).isRecorded)
        recorder.flush()
        if row.entry != "*" {
            #expect(fixture.files == [row.file])
            let key = row.url
            #expect(fixture.mapText == "{\n  \"\(key)\": \(row.entry ?? "\"\(row.file)\"")\n}\n")
        } else {
            #expect(fixture.mapText.contains(#""https://h/%2A?a=2&b=1": "#))
            #expect(fixture.mapText.contains(#""headers": { "Content-Language": "de" }"#))
        }
        let request = try RecorderFixture.request(row.url)
        let kept = try #require(try recorder.answer(request)).response
        let map = try fixture.map()
        let served = try #require(LocalSubstitutionCache(map: map).cachedResponse(for: request))
        for answer in [kept, served] {
            #expect(answer.data == row.body)
            #expect((answer.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type") == row.type)
            #expect((answer.response as? HTTPURLResponse)?.statusCode == 200)
        }
        #expect(!MapReview(map).warnings.contains { $0.kind != .contradictedType })
    }

    /// The `Content-Type` of documents that came without a charset.
    static let documents: [(type: String, body: [UInt8])] = [
        ("text/html", Array("<!doctype html><meta charset=windows-1251><script src=/a.js></script>".utf8)),
        ("text/html", Array("<!doctype html><meta charset=iso-2022-jp><p>\u{1B}$B4A;z\u{1B}(B".utf8)),
        (
            "application/xhtml+xml",
            Array("<?xml version='1.0' encoding='ISO-2022-JP'?><html>\u{1B}$B4A\u{1B}(B</html>".utf8)
        ),
        ("application/xml", Array("<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{E9}</a>".utf8)),
        ("image/svg+xml", Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)),
        ("text/css", [0x61, 0x7B, 0x7D, 0xE9]), ("text/css", Array("a:after{content:'\u{E9}'}".utf8)),
        ("text/javascript", [0x22, 0xCF, 0x22]), ("application/javascript", Array("var a='\u{E9}'".utf8)),
        ("text/plain", Array("\u{E9}".utf8)), ("text/event-stream", Array("data: \u{E9}\n\n".utf8)),
        ("application/json", [0xE9]),
    ]

    @Test("A document that came without a charset gets none", arguments: documents)
    func withoutCharset(type: String, body: [UInt8]) throws {
        let recorder = try fixture.open()
        for path in ["a", "a.html", "a.js", "a.css", "a.bin"] {
            let url = "https://h/\(path)"
            #expect(try recorder.record(url, Data(body), ["Content-Type": type]).isRecorded)
            let answer = try #require(try recorder.answer(RecorderFixture.request(url))).response.http
            #expect(answer?.value(forHTTPHeaderField: "Content-Type") == type, "\(fixture.mapText)")
        }
        recorder.close()
        let map = try fixture.map()
        // Not through a cache, which alone can't send an event stream.
        for entry in map.entries {
            let url = try #require(URL(string: entry.key))
            #expect(map.substitution(for: url)?.contentType(ofBody: Data(body)) == type)
        }
    }

    @Test("JSON is UTF-8, so that its entry needs no field", arguments: ["application/json", "application/ld+json"])
    func json(type: String) throws {
        let recorder = try fixture.open()
        #expect(try recorder.record("https://h/a", Data("{}".utf8), ["Content-Type": type]).isRecorded)
        recorder.close()
        #expect(!fixture.mapText.contains("charset"), "\(fixture.mapText)")
    }

    /// The `Content-Type` that a server sent, the first bytes of a document, and the type that is kept; `nil` for none.
    static let sentTypes: [(sent: String?, start: String, type: String?)] = [
        ("text/html, text/html; charset=utf-8", "<p>", "text/html; charset=utf-8"),
        ("text/html; charset=koi8-r, text/html", "<p>", "text/html; charset=koi8-r"),
        ("text/html; charset=koi8-r, text/css", "<p>", "text/css"), ("text/css, text", "<html>", "text/css"),
        ("text/css,*/*", "<html>", "text/css"), ("a/b; c=\",\", text/css", "a", "text/css"),
        ("a/b; c=\"d,text/css\"", "a", "a/b; c=\"d,text/css\""), ("application/json, text/plain", "{}", "text/plain"),
        ("application/json;;", "{}", "application/json; charset=utf-8"),
        (nil, "<!DOCTYPE html><p>", "text/html"), ("", " <html>", "text/html"),
        ("html", "<!doctype html>", "text/html"),
        (",", "<svg>", "image/svg+xml"), (nil, "\u{89}PNG\r\n\u{1A}\n", "image/png"), (nil, "%PDF-", "application/pdf"),
        (nil, "a", nil), ("", "var a", nil), ("no type", "{}", nil), ("*/*", "a{}", nil),
    ]

    @Test("Of several types, the last valid one is recorded; without one, the bytes' or none", arguments: sentTypes)
    func types(sent: String?, start: String, type: String?) throws {
        let recorder = try fixture.open()
        let body = Data(start.unicodeScalars.map { UInt8($0.value) })
        for url in ["https://h/a", "https://h/a.css", "https://h/a.png"] {
            #expect(try recorder.record(url, body, sent.map { ["Content-Type": $0] } ?? [:]).isRecorded)
        }
        recorder.close()
        let cache = LocalSubstitutionCache(map: try fixture.map())
        for entry in cache.map.entries {
            let request = try RecorderFixture.request(entry.key)
            let answer = try #require(cache.cachedResponse(for: request)?.response as? HTTPURLResponse)
            #expect(answer.value(forHTTPHeaderField: "Content-Type") == type, "\(entry.key)")
            #expect(cache.explain(request).contentType == type)
        }
        #expect(cache.map.entries.count == 3)
    }

    @Test("A range is answered with the part, unless there's If-Range")
    func range() throws {
        let recorder = try fixture.open()
        try recorder.record("https://h/a", "0123456789")
        #expect(try recorder.body("https://h/a", ["Range": "bytes=2-4"]) == "234")
        #expect(try recorder.body("https://h/a", ["Range": "bytes=2-4", "If-Range": "x"]) == "0123456789")
    }

    @Test("A changed body gets a new name and the old file goes, and the same body isn't written again")
    func change() throws {
        let recorder = try fixture.open()
        #expect(try recorder.record("https://h/a", "one", etag: "\"1\"").isRecorded)
        recorder.flush()
        let status = FileStatus(path: fixture.folder.file("Substitutes/h/a.txt").path)
        #expect(try recorder.record("https://h/a", "one", etag: "\"2\"").isUnchanged)
        recorder.flush()
        #expect(FileStatus(path: fixture.folder.file("Substitutes/h/a.txt").path) == status)
        #expect(try recorder.etag("https://h/a") == "\"2\"")
        #expect(try recorder.record("https://h/a", "two", etag: "\"3\"").isRecorded)
        #expect(try recorder.body("https://h/a") == "two")
        recorder.flush()
        #expect(fixture.files.count == 1 && fixture.files != ["h/a.txt"])
        #expect(try recorder.record("https://h/a", "one").isRecorded)
        recorder.flush()
        #expect(try recorder.body("https://h/a") == "one" && fixture.files.count == 1)
        #expect(try Data(contentsOf: fixture.folder.file(".recorder.journal")).isEmpty)
    }

    @Test(
        "Responses that are gone or can't be recorded any more are dropped",
        arguments: [(404, ""), (410, ""), (200, "no-store")]
    )
    func drop(status: Int, control: String) throws {
        let recorder = try fixture.open()
        try recorder.record("https://h/a", "one")
        recorder.flush()
        try recorder.record("https://h/a", Data("two".utf8), ["Cache-Control": control], status: status)
        recorder.flush()
        #expect(try recorder.body("https://h/a") == nil && fixture.files.isEmpty && fixture.mapText == "{}\n")
    }

    @Test("A server's error or a range leaves the copy", arguments: [500, 304, 206, 403])
    func errors(status: Int) throws {
        let recorder = try fixture.open()
        try recorder.record("https://h/a", "one")
        try recorder.record("https://h/a", Data(), [:], status: status)
        try recorder.record("https://h/a", Data(), [:], status: 404, request: ["Range": "bytes=9-"])
        #expect(try recorder.body("https://h/a") == "one")
    }

    @Test("Validators belong to the exact URL and survive a restart")
    func validators() throws {
        do {
            let recorder = try fixture.open()
            try recorder.record("https://h/a", "one", etag: "\"1\"")
            try recorder.record("https://h/b", Data(), ["ETag": "\"2\""], target: "https://h/c")
            #expect(try recorder.etag("https://h/b") == nil)
            recorder.close()
        }
        let recorder = try fixture.open()
        #expect(try recorder.etag("https://h/a") == "\"1\"" && recorder.body("https://h/a") == "one")
        #expect(try recorder.validators(for: RecorderFixture.request("https://h/a", ["If-None-Match": "x"])) == nil)
        recorder.close()
        // A person edits the file, so the server's validator no longer matches it.
        try fixture.folder.write("Substitutes/h/a.txt", "edited")
        let other = try fixture.open()
        #expect(try other.etag("https://h/a") == nil && other.body("https://h/a") == "edited")
    }

    @Test(
        "Without its own file, it serves what the map has",
        arguments: [
            nil, "", "[]", "{\"responses\": 1}",
            "{\"responses\": {\"https://h/a\": {\"file\": \"../x\", \"bytes\": -1, \"date\": 1}}}",
        ]
    )
    func withoutRecords(text: String?) throws {
        try fixture.recordAndClose("https://h/a", "one", etag: "\"1\"")
        try fixture.folder.remove("recorder.json")
        if let text { try fixture.folder.write("recorder.json", text) }
        let recorder = try fixture.open()
        #expect(try recorder.body("https://h/a") == "one" && recorder.etag("https://h/a") == nil)
        #expect(fixture.files == ["h/a.txt"])
    }

    @Test("A second recorder on a folder is refused")
    func two() throws {
        let recorder = try fixture.open()
        let error = #expect(throws: SubstitutionRecorderError.self) { try fixture.open() }
        #expect(error?.kind == .inUse && error?.description.contains("of this process") == true)
        withExtendedLifetime(recorder) {}
    }

    @Test(
        "A broken map is an error, and nothing changes",
        arguments: [
            "", "[]", "{\"a\": }", "{\"https://h/a\": null, \"https://h/a\": null}", "<<<<<<<",
            "{\"https://h/a\": null, \"$version\": \"1.1\"}", "{\"$version\": 1.0}",
        ]
    )
    func brokenMap(text: String) throws {
        try fixture.folder.write("substitutions.json", text)
        let error = #expect(throws: SubstitutionRecorderError.self) { try fixture.open() }
        // Escaped line breaks would mean that a text of several lines was put into one.
        #expect(error?.description.contains(#"\u{A}"#) == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.url.path) == ["substitutions.json"])
        #expect(fixture.mapText == text)
    }

    @Test("Entries that people wrote keep their text")
    func foreign() throws {
        try fixture.folder.write("Substitutes/own.txt", "own")
        let entries = [
            #""$schema": "./s.json""#, #""$defaults": {"comment":  "\u00e9", "headers": {}}"#,
            #""$version": "1.0""#, #""$zzz": [1.0, 12345678901234567890, 1e400]"#,
            #""https://h/b": "own.txt""#, #""https://h/c": { "file":"own.txt",  "comment":"mine / \u00e9" }"#,
            #""https://h/no/*": null"#,
            #""https://x/p/*": "*""#, #""not a url": true"#,
        ]
        try fixture.folder.write("substitutions.json", "{" + entries.reversed().joined(separator: ",\r\n") + "}")
        let recorder = try fixture.open()
        for url in ["https://h/a", "https://h/b", "https://h/c", "https://h/no/x"] { try recorder.record(url, "new") }
        recorder.flush()
        let expected = entries[..<4] + [#""https://h/a": "h/a.txt""#] + entries[4...]
        #expect(fixture.mapText == "{\n  " + expected.joined(separator: ",\n  ") + "\n}\n")
        #expect(try recorder.body("https://h/b") == "own" && recorder.body("https://h/no/x") == nil)
    }

    @Test("Changes that people make while it records are adopted")
    func edits() throws {
        let recorder = try fixture.open()
        for name in ["a", "b", "c"] { try recorder.record("https://h/\(name)", name) }
        recorder.flush()
        try fixture.folder.write(
            "substitutions.json",
            #"{"https://h/a": {"file": "h/a.txt", "comment": "mine"}, "https://h/c": "h/c.txt", "https://h/no/*": null}"#
        )
        try recorder.record("https://h/d", "d")
        recorder.flush()
        #expect(
            fixture.mapText.contains(#"{"file": "h/a.txt", "comment": "mine"}"#)
                && fixture.mapText.contains(#""https://h/no/*": null"#)
        )
        #expect(fixture.files == ["h/a.txt", "h/c.txt", "h/d.txt"])
        #expect(
            try recorder.record("https://h/a", "z").reason == Complaint.entry(key: "https://h/a").description
        )
        #expect(try !recorder.takes(RecorderFixture.request("https://h/no/x")))
        _ = try fixture.map()
    }

    @Test("A map that needs a newer version stays, even if it became newer while the recorder had it open")
    func newerEdit() throws {
        let recorder = try fixture.open()
        let problems = Texts()
        recorder.onProblem = { problems.append($0) }
        try recorder.record("https://h/a", "a")
        recorder.flush()
        let newer = #"{"$version": "1.1", "https://h/a": "h/a.txt"}"#
        try Data(newer.utf8).write(to: fixture.folder.file("substitutions.json"), options: .atomic)
        try recorder.record("https://h/b", "b")
        recorder.flush()
        #expect(fixture.mapText == newer)
        let reason = "This map needs version 1.1 or later; this is 1.0."
        #expect(problems.all.last?.contains(reason) == true)
    }

    @Test("A map that people break while it records stays, and the problem says what to correct")
    func brokenEdit() throws {
        let recorder = try fixture.open()
        let problems = Texts()
        recorder.onProblem = { problems.append($0) }
        try recorder.record("https://h/a", "a")
        recorder.flush()
        // At once, as editors do. The recorder could otherwise read the map while it's still empty, and report that.
        try Data("{ broken".utf8).write(to: fixture.folder.file("substitutions.json"), options: .atomic)
        try recorder.record("https://h/b", "b")
        recorder.flush()
        #expect(fixture.mapText == "{ broken")
        let problem = try #require(problems.all.last)
        let beginning = "“substitutions.json” has a problem, so the recorder doesn't write to it. Correct it: "
        #expect(problem.hasPrefix(beginning))
        #expect(problem.contains("substitutions.json:1:3: error: The map needs a key in double quotes here."))
        try fixture.folder.write("substitutions.json", #"{"https://h/a": "h/a.txt"}"#)
        recorder.flush()
        #expect(fixture.files == ["h/a.txt", "h/b.txt"])
        _ = try fixture.map()
    }

    @Test("The oldest go when the limit is reached")
    func limit() throws {
        let recorder = try fixture.open(limit: 1_000)
        for number in 0..<20 { try recorder.record("https://h/\(number)", String(repeating: "x", count: 50)) }
        recorder.confirm(try RecorderFixture.request("https://h/0"))
        try recorder.record("https://h/new", String(repeating: "y", count: 50))
        recorder.flush()
        #expect(fixture.files.count == 20)
        #expect(try recorder.body("https://h/1") == nil && recorder.body("https://h/0") != nil)
    }

    @Test("Files that a killed recorder left are removed, and other files aren't")
    func orphans() throws {
        try fixture.recordAndClose("https://h/a", "one", etag: "\"1\"")
        for name in ["h/b.txt", "h/.\(Digest.hexadecimal(of: Data("b.txt".utf8))).part", "h/c.txt", "top.txt"] {
            try fixture.folder.write("Substitutes/\(name)", name)
        }
        try fixture.folder.write("outside.txt", "x")
        let lines = [
            "h/b.txt", "h/a.txt", "../outside.txt", "h/../../outside.txt", "/etc/hostname", "top.txt", "", "h",
            "h/./c.txt", "h//c.txt", "x/y",
        ]
        try fixture.folder.write(".recorder.journal", Data(lines.joined(separator: "\n").utf8) + [10, 0xFF, 10])
        let recorder = try fixture.open()
        #expect(fixture.files == ["h/a.txt", "h/c.txt", "top.txt"])
        #expect(FileStatus(path: fixture.folder.file("outside.txt").path) != nil)
        #expect(try recorder.etag("https://h/a") == "\"1\"")
        #expect(try Data(contentsOf: fixture.folder.file(".recorder.journal")).isEmpty)
    }

    @Test(
        "An old file stays if another map in the folder names it, or may name it, and after a kill, too",
        arguments: [
            (#"{"https://x/a": "h/a.txt"}"#, true), (#"{"https://x/*": "h/*"}"#, true),
            (#"{"$version": "9.0", "https://x/a": {"body": "h/a.txt"}}"#, true), (#"{"https://x/a": "b.txt"}"#, false),
            (#"{"https://x/a": "b.txt", "https://x/a": "c.txt"}"#, true), (#"{"https://x/a": "b.txt", }"#, true),
            ("<<<<<<< HEAD\n{}", true), ("", true), (#"["h/a.txt"]"#, false), (#""h/a.txt""#, false),
        ]
    )
    func neighbor(_ other: String, stays: Bool) throws {
        let recorder = try fixture.open()
        try recorder.record("https://h/a", "one")
        recorder.flush()
        try fixture.folder.write("other.json", other)
        try recorder.record("https://h/a", "two")
        recorder.close()
        for _ in 0..<2 {
            #expect(fixture.files.contains("h/a.txt") == stays && fixture.files.count == (stays ? 2 : 1))
            // The next recorder finds what a killed one would have left.
            if !stays { try fixture.folder.write("Substitutes/h/a.txt", "one") }
            try fixture.folder.write(".recorder.journal", "h/a.txt\n")
            try fixture.open().close()
        }
    }

    @Test("Nothing is written through a link that leads outside")
    func links() throws {
        let outside = try TemporaryFolder()
        try fixture.folder.makeFolder("Substitutes")
        try fixture.folder.link("Substitutes/h", to: outside.url.path)
        let recorder = try fixture.open()
        #expect(try recorder.record("https://h/a/b", "x").reason != nil)
        #expect(try recorder.record("https://i/a", "x").isRecorded)
        recorder.flush()
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.url.path).isEmpty)
        _ = try fixture.map()
    }

    /// What a server sends again, and how many responses have changed then.
    static let again: [(body: String, headers: [String: String], changed: Int)] = [
        ("one", ["Content-Type": "text/plain; charset=utf-8"], 0),
        ("one", ["Content-Type": "text/plain; charset=utf-8", "ETag": "\"2\""], 0),
        ("two", ["Content-Type": "text/plain; charset=utf-8"], 1), ("one", ["Content-Type": "text/html"], 1),
        ("one", ["Content-Type": "text/plain; charset=utf-8", "X-Frame-Options": "DENY"], 1),
    ]

    @Test("The same bytes with another type or header count as changed", arguments: again)
    func newOrChanged(body: String, headers: [String: String], changed: Int) throws {
        let first = try fixture.open()
        #expect(first.newOrChanged == 0)
        for body in ["zero", "one"] { try first.record("https://h/a", body) }
        try first.record("https://h/b", "b")
        first.close()
        #expect(first.newOrChanged == 2, "each is counted once")
        let next = try fixture.open()
        try next.record("https://h/a", Data(body.utf8), headers)
        next.close()
        #expect(next.newOrChanged == changed)
    }

    @Test("A folder that isn't writable is refused when it's opened", arguments: [".", "Substitutes"])
    func readOnly(name: String) throws {
        try fixture.recordAndClose("https://h/a", "one")
        let before = try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.url.path)
        let error = try fixture.folder.whileReadOnly(name) {
            #expect(throws: SubstitutionRecorderError.self) { try fixture.open() }
        }
        #expect(error?.kind == .unwritable)
        #expect(error?.description.contains("Permission denied. Allow this user to write ") == true)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.url.path) == before)
    }

    @Test("A folder Substitutes that's removed during recording is made again")
    func removedFolderOfFiles() throws {
        let recorder = try fixture.open()
        try recorder.record("https://h/a", "one")
        recorder.flush()
        try fixture.folder.remove("Substitutes")
        #expect(try recorder.record("https://h/b", "two").isRecorded)
        #expect(try recorder.record("https://h/a", "one").isRecorded)
        recorder.flush()
        #expect(try recorder.body("https://h/b") == "two" && recorder.body("https://h/a") == "one")
        #expect(try fixture.map().count == 2)
    }

    @Test("A folder that's removed during recording isn't made again, since another recorder could have it")
    func removedFolder() throws {
        try fixture.folder.makeFolder("kept")
        let folder = fixture.folder.url.appendingPathComponent("kept", isDirectory: true)
        let recorder = try SubstitutionRecorder(folder: folder)
        try recorder.record("https://h/a", "one")
        recorder.flush()
        try fixture.folder.remove("kept")
        #expect(try recorder.record("https://h/b", "two").reason != nil)
        // This makes the recorder write the map.
        try recorder.record("https://h/a", Data(), status: 404)
        recorder.flush()
        #expect(FileStatus(path: folder.path) == nil)
    }

    @Test("Nothing is written through a folder Substitutes that's a link", arguments: [false, true])
    func linkedFolderOfFiles(whileRecording: Bool) throws {
        let outside = try TemporaryFolder()
        if whileRecording {
            let recorder = try fixture.open()
            try fixture.folder.remove("Substitutes")
            try fixture.folder.link("Substitutes", to: outside.url.path)
            let reason = try recorder.record("https://h/a", "one").reason
            #expect(reason?.contains("Substitutes” is a symbolic link") == true)
        } else {
            try fixture.folder.link("Substitutes", to: outside.url.path)
            let error = #expect(throws: SubstitutionRecorderError.self) { try fixture.open() }
            #expect(error?.kind == .unwritable)
            #expect(error?.description.contains("Substitutes” is a symbolic link") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.url.path).isEmpty)
    }

    @Test("The recorder's folder itself may be a link")
    func linkedFolder() throws {
        try fixture.folder.makeFolder("kept")
        try fixture.folder.link("link", to: "kept")
        let recorder = try SubstitutionRecorder(folder: fixture.folder.url.appendingPathComponent("link"))
        #expect(try recorder.record("https://h/a", "one").isRecorded)
        recorder.flush()
        #expect(FileStatus(path: fixture.folder.file("kept/Substitutes/h/a.txt").path) != nil)
    }

    @Test("A file with a second name isn't written in place", arguments: [".recorder.lock", ".recorder.journal"])
    func hardLink(name: String) throws {
        let mine = try fixture.folder.write("mine.txt", "h/mine.txt\n")
        try fixture.folder.makeFolder("kept")
        let folder = fixture.folder.url.appendingPathComponent("kept", isDirectory: true)
        try FileManager.default.linkItem(at: mine, to: folder.appendingPathComponent(name))
        let error = #expect(throws: SubstitutionRecorderError.self) { try SubstitutionRecorder(folder: folder) }
        #expect(error?.kind == .unwritable)
        #expect(error?.description.contains("“\(name)”") == true)
        #expect(try String(contentsOf: mine, encoding: .utf8) == "h/mine.txt\n")
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        _ = try SubstitutionRecorder(folder: folder)
    }

    @Test(
        "A map that a person removes is written again without that person's entries, and without lost files",
        arguments: [[], ["own.txt"], ["own.txt", "Substitutes/h/a.txt"], ["own.txt", "Substitutes"]]
    )
    func removedMap(_ others: [String]) throws {
        let own = #"{ "$defaults": { "headers": { "X-A": "1" } }, "https://h/own": "own.txt" }"#
        try fixture.folder.write("substitutions.json", own)
        try fixture.folder.write("Substitutes/own.txt", "own")
        let recorder = try fixture.open()
        for name in ["a", "b"] { try recorder.record("https://h/\(name)", name) }
        recorder.flush()
        #expect(try fixture.map().count == 3)
        for name in ["substitutions.json"] + others.map({ $0 == "own.txt" ? "Substitutes/own.txt" : $0 }) {
            try FileManager.default.removeItem(at: fixture.folder.file(name))
        }
        try recorder.record("https://h/c", "c")
        recorder.close()
        let lost = others.count < 2 ? 0 : others[1] == "Substitutes" ? 2 : 1
        #expect(try fixture.map().count == 3 - lost, "\(fixture.mapText)")
        #expect(fixture.mapText.contains("$defaults"))
        #expect(!fixture.mapText.contains("own"))
    }

    @Test("A file that someone put there isn't overwritten")
    func otherFile() throws {
        let recorder = try fixture.open()
        try fixture.folder.write("Substitutes/h/a.txt", "mine")
        try recorder.record("https://h/a", "new")
        recorder.flush()
        #expect(try String(contentsOf: fixture.folder.file("Substitutes/h/a.txt"), encoding: .utf8) == "mine")
        #expect(try recorder.body("https://h/a") == "new" && fixture.files.count == 2)
    }

    @Test("A map that can't be written is reported, and written later")
    func writeFailure() throws {
        let recorder = try fixture.open()
        let problems = Texts()
        recorder.onProblem = { problems.append($0) }
        try recorder.record("https://h/a", "one")
        recorder.flush()
        let before = fixture.mapText
        let temporary = ".\(Digest.hexadecimal(of: Data("substitutions.json".utf8))).part"
        try fixture.folder.makeFolder(temporary)
        try recorder.record("https://h/a", "two")
        recorder.flush()
        #expect(fixture.mapText == before && problems.all.count >= 1)
        _ = try fixture.map()
        try fixture.folder.remove(temporary)
        recorder.flush()
        #expect(fixture.mapText != before && fixture.files.count == 1)
        _ = try fixture.map()
    }

    @Test("A full disk is one problem, until something is written again", arguments: [true, false])
    func recovery(isMap: Bool) throws {
        let recorder = try fixture.open()
        let (texts, outside) = (Texts(), try TemporaryFolder())
        recorder.onProblem = { _ in texts.append("problem") }
        recorder.onRecovery = { texts.append("recovery") }
        let inTheWay =
            isMap ? ".\(Digest.hexadecimal(of: Data("substitutions.json".utf8))).part" : "Substitutes/h"
        for round in 1...2 {
            if isMap {
                try fixture.folder.makeFolder(inTheWay)
            } else {
                try fixture.folder.link(inTheWay, to: outside.url.path)
            }
            for number in 0..<5 {
                try recorder.record("https://h/\(round)/\(number)", "a")
                recorder.flush()
                recorder.flush()
            }
            #expect(texts.all.count == 2 * round - 1)
            try fixture.folder.remove(inTheWay)
            recorder.flush()
            try recorder.record("https://i/\(round)", "b")
            recorder.flush()
            recorder.flush()
        }
        #expect(texts.all == ["problem", "recovery", "problem", "recovery"])
    }

    #if os(Linux)
    /// Runs in a separate process, since the limit is the process's.
    @Test("What a killed recorder has left responds while the disk is full, and is saved when there's space")
    func fullDiskAtOpening() async {
        await #expect(processExitsWith: .success) {
            func limitFiles(to most: rlim_t?) {
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                limit.rlim_cur = most ?? limit.rlim_max
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            }
            // Otherwise, the limit ends the process.
            signal(SIGXFSZ, SIG_IGN)
            let (a, b) = ("https://h/a", "https://h/b")
            let states: [(change: (TemporaryFolder) throws -> Void, kept: [String])] = [
                ({ try $0.remove("recorder.json") }, [a, b]),
                // The map was written, the notes weren't.
                (
                    {
                        try $0.write("recorder.json", #"{ "responses": {} }"#)
                        try $0.write(".recorder.journal", "h/a.txt\nh/b.txt\n")
                    }, [a, b]
                ),
                // A body was written, the map wasn't.
                (
                    {
                        try $0.write("Substitutes/h/c.txt", "three")
                        try $0.write(".recorder.journal", "h/c.txt\n")
                    }, [a, b]
                ),
                ({ try $0.remove("Substitutes/h/a.txt") }, [b]),
            ]
            for (change, kept) in states {
                let fixture = try RecorderFixture()
                try fixture.recordAndClose(a, "one")
                try fixture.recordAndClose(b, "two")
                try change(fixture.folder)
                limitFiles(to: 0)
                let recorder = try fixture.open()
                let problems = Texts()
                recorder.onProblem = { problems.append($0) }
                #expect(try recorder.body(b) == "two")
                #expect(try recorder.record("https://h/d", "four").reason != nil)
                recorder.flush()
                #expect(problems.all.count == 1)
                limitFiles(to: nil)
                recorder.flush()
                #expect(RecorderIndex.notes(in: fixture.folder.url)?.keys.sorted() == kept)
                #expect(try Data(contentsOf: fixture.folder.file(".recorder.journal")).isEmpty)
                #expect(try fixture.map().count == kept.count)
                #expect(fixture.files.count == kept.count)
            }
        }
    }
    #endif

    @Test("A body that can't be written is reported")
    func bodyFailure() throws {
        let recorder = try fixture.open()
        let problems = Texts()
        recorder.onProblem = { problems.append($0) }
        let outside = try TemporaryFolder()
        try fixture.folder.link("Substitutes/h", to: outside.url.path)
        try recorder.record("https://h/a", "one")
        recorder.flush()
        #expect(problems.all == ["“h/a.txt” can't be written: “h” is a symbolic link. Replace it with a folder."])
    }

    @Test("Many concurrent responses leave one file for each URL")
    func concurrency() throws {
        let recorder = try fixture.open()
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            _ = try? recorder.record("https://h/\(number % 20)", "body \(number % 20)")
            if number % 50 == 0 { recorder.flush() }
        }
        recorder.flush()
        #expect(fixture.files.count == 20)
        let map = try fixture.map()
        #expect(map.count == 20)
        for number in 0..<20 { #expect(try recorder.body("https://h/\(number)") == "body \(number)") }
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            _ = try? recorder.record("https://h/same", "body \(number)")
        }
        recorder.flush()
        #expect(fixture.files.count == 21)
        #expect(try fixture.map().count == 21)
    }

    @Test("flush() writes and reports everything recorded before, and only the last response for each URL")
    func flushWrites() throws {
        let recorder = try fixture.open()
        let reported = Texts()
        // Until it's released, nothing is saved, however long this takes.
        var turn: FolderTurn? = try FolderTurn(fixture.folder.url)
        for (number, path) in ["a", "b", "a", "c"].enumerated() {
            let url = "https://h/\(path)"
            let received = try Exchange(
                request: RecorderFixture.request(url),
                response: RecorderFixture.response(url, path == "c" ? 500 : 200, [:]),
                body: Data("\(number)".utf8),
                redirects: []
            )
            recorder.record(received) { outcome in
                reported.append("\(number) \(outcome.isRecorded) \(outcome.isUnchanged)")
            }
        }
        withExtendedLifetime(turn) {}
        turn = nil
        recorder.flush()
        #expect(reported.all == ["0 false true", "1 true false", "2 true false", "3 false false"])
        #expect(try fixture.map().count == 2 && fixture.files.count == 2)
        #expect(try recorder.body("https://h/a") == "2" && recorder.body("https://h/b") == "1")
    }

    @Test("Recorded responses answer while a command works on the folder", .timeLimit(.minutes(5)))
    func answersWhileWaiting() throws {
        let recorder = try fixture.open()
        let turn = try FolderTurn(fixture.folder.url)
        let url = "https://h/a"
        for number in 0..<20 {
            let received = try Exchange(
                request: RecorderFixture.request(url),
                response: RecorderFixture.response(url, 200, ["Content-Type": "text/plain"]),
                body: Data("\(number)".utf8),
                redirects: []
            )
            // It's saved soon, after waiting for its turn.
            recorder.record(received) { _ in }
            #expect(try recorder.body(url) == "\(number)")
        }
        withExtendedLifetime(turn) {}
    }

    @Test(
        "Recorded responses are written without flush(), and when the recorder is released",
        arguments: [false, true]
    )
    func writesByItself(goes: Bool) async throws {
        var recorder: SubstitutionRecorder? = try fixture.open()
        let url = "https://h/a"
        let received = try Exchange(
            request: RecorderFixture.request(url),
            response: RecorderFixture.response(url, 200, ["Content-Type": "text/plain"]),
            body: Data(count: 2 << 20),
            redirects: []
        )
        recorder?.record(received) { _ in }
        if goes { recorder = nil }
        while fixture.mapText == "{}\n" { try await Task.sleep(for: .milliseconds(5)) }
        #expect(fixture.files == ["h/a.txt"])
        #expect(try fixture.map().count == 1)
        withExtendedLifetime(recorder) {}
    }

    @Test("An app can immediately request a response that isn't written yet")
    func answersPending() throws {
        let recorder = try fixture.open()
        let received = try Exchange(
            request: RecorderFixture.request("https://h/a"),
            response: RecorderFixture.response("https://h/a", 200, [:]),
            body: Data("new".utf8),
            redirects: []
        )
        recorder.record(received) { _ in }
        #expect(try recorder.body("https://h/a") == "new")
    }

    @Test("Responses that aren't written yet take a limited amount of memory")
    func pendingMemory() throws {
        var pending = RecorderFolder.PendingResponses()
        let received = try Exchange(
            request: RecorderFixture.request("https://h/a"),
            response: RecorderFixture.response("https://h/a", 200, [:]),
            body: Data(count: 2 << 20),
            redirects: []
        )
        for number in 0..<10 {
            #expect(pending.areMany == (number > 0) && pending.areTooMany == (number > 8))
            pending.append(received) { _ in }
        }
        pending.removeFirst(10)
        #expect(!pending.areMany && pending.all.isEmpty)
    }
}

/// Texts, in order of arrival.
private final class Texts: Sendable {
    private let texts = Guarded<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func append(_ text: String) { texts.withLock { $0.append(text) } }
}
