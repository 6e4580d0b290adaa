import Foundation
import MapWriting
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

@Suite("Archives imported into a map", .values)
struct ArchiveImportTests {
    struct Body: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let recording: Recording
        let type: String
        let body: Data
        var entry: String?
    }

    static let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0xFF])

    /// A document in XML that names its charset.
    private static let japanese = Data("<?xml version='1.0' encoding='ISO-2022-JP'?><p>\u{1B}$B4A\u{1B}(B</p>".utf8)

    static let bodies = [
        Body(
            testDescription: "Chrome's text",
            recording: Recording(url: "https://h.com/a.html", mimeType: "text/html", text: "ä\u{1F600}\"\n"),
            type: "text/html; charset=utf-8",
            body: Data("ä\u{1F600}\"\n".utf8),
            entry: #""h.com/a.html""#
        ),
        Body(
            testDescription: "Chrome's bytes",
            recording: Recording(
                url: "https://h.com/a.png",
                mimeType: "image/png",
                text: png.base64EncodedString(),
                encoding: "base64"
            ),
            type: "image/png",
            body: png,
            entry: #""h.com/a.png""#
        ),
        Body(
            testDescription: "text that was sent in another charset",
            recording: Recording(
                url: "https://h.com/a.css",
                mimeType: "text/css; charset=ISO-8859-1",
                text: "ü",
                headers: [("Content-Type", "text/css; charset=ISO-8859-1")]
            ),
            type: "text/css; charset=utf-8",
            body: Data("ü".utf8)
        ),
        Body(
            testDescription: "Safari's text as bytes, in the recorded charset",
            recording: Recording(
                url: "https://h.com/a.css",
                mimeType: "text/css",
                text: Data([0xFC]).base64EncodedString(),
                encoding: "base64",
                headers: [("content-type", "text/css; charset=ISO-8859-1")]
            ),
            type: "text/css; charset=iso-8859-1",
            body: Data([0xFC]),
            entry: #"{ "file": "h.com/a.css", "charset": "iso-8859-1" }"#
        ),
        Body(
            testDescription: "bytes that name their charset themselves",
            recording: Recording(
                url: "https://h.com/a.html",
                mimeType: "text/html",
                text: Data("<meta charset=iso-2022-jp>\u{1B}$B4A;z\u{1B}(B".utf8).base64EncodedString(),
                encoding: "base64"
            ),
            type: "text/html",
            body: Data("<meta charset=iso-2022-jp>\u{1B}$B4A;z\u{1B}(B".utf8),
            entry: #"{ "file": "h.com/a.html", "charset": null }"#
        ),
        Body(
            testDescription: "bytes of an XML document that names its charset itself",
            recording: Recording(
                url: "https://h.com/a",
                mimeType: "application/xhtml+xml",
                text: japanese.base64EncodedString(),
                encoding: "base64"
            ),
            type: "application/xhtml+xml",
            body: japanese
        ),
        Body(
            testDescription: "bytes of a style sheet, whose charset is its document's",
            recording: Recording(
                url: "https://h.com/a.css",
                mimeType: "text/css",
                text: Data([0x61, 0x7B, 0x7D, 0xE9]).base64EncodedString(),
                encoding: "base64"
            ),
            type: "text/css",
            body: Data([0x61, 0x7B, 0x7D, 0xE9]),
            entry: #"{ "file": "h.com/a.css", "charset": null }"#
        ),
        Body(
            testDescription: "bytes of a script, which are UTF-8 by chance",
            recording: Recording(
                url: "https://h.com/a.js",
                mimeType: "text/javascript",
                text: Data("var a='é'".utf8).base64EncodedString(),
                encoding: "base64",
                headers: [("Content-Type", "text/javascript")]
            ),
            type: "text/javascript",
            body: Data("var a='é'".utf8),
            entry: #"{ "file": "h.com/a.js", "charset": null }"#
        ),
        Body(
            testDescription: "an event stream",
            recording: Recording(url: "https://h.com/a.txt", mimeType: "text/event-stream", text: "data: a\n\n"),
            type: "text/event-stream; charset=utf-8",
            body: Data("data: a\n\n".utf8),
            entry: #"{ "file": "h.com/a.txt", "mimeType": "text/event-stream", "secondsPerEvent": 0 }"#
        ),
        Body(
            testDescription: "a type that the name does not give",
            recording: Recording(url: "https://h.com/a.js", mimeType: "application/javascript", text: "x"),
            type: "application/javascript; charset=utf-8",
            body: Data("x".utf8),
            entry: #"{ "file": "h.com/a.js", "mimeType": "application/javascript" }"#
        ),
        Body(
            testDescription: "text of a type that is none of text has no charset",
            recording: Recording(url: "https://h.com/list", mimeType: "application/x-list", text: "ä"),
            type: "application/x-list",
            body: Data("ä".utf8)
        ),
        Body(
            testDescription: "no type but the header's",
            recording: Recording(
                mimeType: "x-unknown",
                text: "{}",
                headers: [("Content-Type", "application/json")]
            ),
            type: "application/json; charset=utf-8",
            body: Data("{}".utf8),
            entry: #""h.com/a.json""#
        ),
        Body(
            testDescription: "no type but what the text begins with",
            recording: Recording(mimeType: "x-unknown", text: "<!DOCTYPE html>ä"),
            type: "text/html; charset=utf-8",
            body: Data("<!DOCTYPE html>ä".utf8),
            entry: #""h.com/a.html""#
        ),
        Body(
            testDescription: "text of no type at all",
            recording: Recording(mimeType: nil, text: "x"),
            type: "",
            body: Data("x".utf8),
            entry: #"{ "file": "h.com/a.bin", "headers": { "Content-Type": "" } }"#
        ),
        Body(
            testDescription: "text with other parameters",
            recording: Recording(mimeType: "text/plain; format=flowed; charset=x", text: "x"),
            type: "text/plain; format=flowed; charset=utf-8",
            body: Data("x".utf8)
        ),
        Body(
            testDescription: "base64 with line breaks",
            recording: Recording(mimeType: "image/png", text: "iVBO\r\nRw==", encoding: "BASE64"),
            type: "image/png",
            body: Data([0x89, 0x50, 0x4E, 0x47])
        ),
    ]

    @Test("Bodies and their types", arguments: bodies)
    func body(_ row: Body) throws {
        let fixture = try ArchiveFixture()
        let items = try fixture.take([row.recording])
        #expect(items.map(\.left) == [nil])
        let served = try #require(try fixture.served(row.recording.url ?? ""))
        #expect(served.type == row.type)
        #expect(served.body == row.body)
        #expect(items.first?.file?.contentType == row.type)
        if let entry = row.entry { #expect(try fixture.mapText.contains(": \(entry)\n")) }
    }

    /// What the archive says of a type, the values of the header, the text, and the type that's returned: for text, and for
    /// the same text as bytes.
    static let types: [(type: String?, header: [String], text: String, ofText: String, ofBytes: String)] = [
        ("text/plain", ["text/html"], "x", "text/html; charset=utf-8", "text/html"),
        ("text/html; charset=utf-8", ["text/css"], "x", "text/css; charset=utf-8", "text/css"),
        ("image/png", ["Text/CSS"], "x", "text/css; charset=utf-8", "text/css"),
        ("text/plain", ["text/html", "image/svg+xml"], "x", "image/svg+xml; charset=utf-8", "image/svg+xml"),
        ("text/plain", ["text/html", "x"], "x", "text/html; charset=utf-8", "text/html"),
        ("text/plain", ["text/css, text/html"], "x", "text/html; charset=utf-8", "text/html"),
        ("text/plain", ["x", ""], "<p>", "text/plain; charset=utf-8", "text/plain"),
        ("text/css", ["text/css; charset=koi8-r"], "x", "text/css; charset=utf-8", "text/css; charset=koi8-r"),
        ("text/css; charset=koi8-r", ["text/css"], "x", "text/css; charset=utf-8", "text/css"),
        ("text/css", ["application/x-list"], "ä", "application/x-list", "application/x-list"),
        ("text/css; charset=koi8-r", [], "x", "text/css; charset=utf-8", "text/css; charset=koi8-r"),
        ("x-unknown", [], " <HTML>", "text/html; charset=utf-8", "text/html"),
        ("", [], "<?xml?>", "application/xml; charset=utf-8", "application/xml"),
        (nil, [], "GIF89a", "image/gif", "image/gif"),
        ("*/*", ["html"], "%PDF-1", "application/pdf", "application/pdf"), ("x-unknown", [], "x", "", ""),
        (nil, [], "{}", "", ""), ("", ["", "/"], "ä", "", ""),
    ]

    @Test(
        "The last valid header is the type, else what the archive says, and else what the bytes say",
        arguments: types
    )
    func type(_ row: (type: String?, header: [String], text: String, ofText: String, ofBytes: String)) throws {
        for url in ["https://h.com/a", "https://h.com/a.js"] {
            for (encoding, expected) in [(nil, row.ofText), ("base64", row.ofBytes)] {
                let fixture = try ArchiveFixture()
                let text = encoding == nil ? row.text : Data(row.text.utf8).base64EncodedString()
                let recording = Recording(
                    url: url,
                    mimeType: row.type,
                    text: text,
                    encoding: encoding,
                    headers: row.header.map { ("content-type", $0) }
                )
                #expect(try fixture.take([recording]).map(\.left) == [nil])
                let served = try #require(try fixture.served(url))
                #expect(served.type == expected && served.body == Data(row.text.utf8), "\(url), \(encoding ?? "text")")
            }
        }
    }

    @Test("Escaped slashes and halves of surrogate pairs", arguments: [(#"a\/b"#, "a/b"), (#"\ud83d!"#, "\u{FFFD}!")])
    func escapes(raw: String, text: String) throws {
        let json =
            #"{"log":{"entries":[{"request":{"method":"GET","url":"https://h.com/a"},"response":"#
            + #"{"status":200,"content":{"text":"\#(raw)"}}}]}}"#
        let archive = try HTTPArchive(Data(json.utf8))
        let entry = try #require(archive.entries.first)
        #expect(try archive.body(of: entry, atMost: 100).bytes == Data(text.utf8))
    }

    @Test(
        "Responses that are left out, with reasons",
        arguments: [
            (Recording(url: nil), .noURL(entry: 1)), (Recording(status: nil), .noStatus),
            (Recording(method: nil), .noMethod), (Recording(method: "P T"), .noMethod),
            (Recording(url: "data:text/plain,x"), .url("has no host")),
            (Recording(url: "wss://h.com/a"), .url("has the scheme “wss”, which is never substituted")),
            (Recording(url: "https://u:s3cr3t@h.com/a"), .url("has user info before the host")),
            (Recording(status: 0), .unselectedStatus(0)), (Recording(status: 101), .unselectedStatus(101)),
            (Recording(status: 600), .unselectedStatus(600)), (Recording(status: 304, text: nil, size: 0), .noBody),
            (Recording(text: nil), .noBody), (Recording(text: ""), .noBody), (Recording(text: "", size: 9), .noBody),
            (Recording(status: 302, text: nil), .noBody), (Recording(method: "POST", status: 201, text: nil), .noBody),
            (Recording(mimeType: "text/event-stream", text: nil), .noBody),
            (Recording(encoding: "gzip"), .encoding("gzip")), (Recording(text: "?!", encoding: "base64"), .brokenBody),
            (Recording(text: "iVBOR", encoding: "base64"), .brokenBody),
            (Recording(mimeType: "image/png", text: "\u{FFFD}PNG"), .lostBytes(type: "image/png")),
            (Recording(mimeType: "application/wasm", text: "\u{FFFD}asm"), .lostBytes(type: "application/wasm")),
            (Recording(mimeType: "application/pdf", text: "%PDF\u{FFFD}"), .lostBytes(type: "application/pdf")),
            (
                Recording(url: "https://h.com/a.zip", mimeType: nil, text: "PK\u{FFFD}"),
                .lostBytes(type: "application/zip")
            ),
            (Recording(url: "https://h.com/a?access_token=s3cr3t"), .query(.init(name: "access_token"))),
            (Recording(text: String(repeating: "x", count: 101)), .tooLarge(most: 100)),
            (Recording(url: "https://h.com/no/a"), .excludedByMap(key: "https://h.com/no/*")),
            (Recording(url: "https://h.com/mine"), .alreadyInMap(key: "https://h.com/mine")),
            (Recording(url: "https://h.com/q?x=1"), .alreadyInMap(key: "https://h.com/q")),
        ] as [(Recording, Complaint)]
    )
    func left(recording: Recording, reason: Complaint) throws {
        let fixture = try ArchiveFixture()
        try fixture.folder.makeFolder("Resources")
        let map = #"""
            {
              "https://h.com/no/*": null,

              "https://h.com/mine": { "status": 404, "comment": "\u0061" },
              "https://h.com/q":    { "status": 404, "ignoreQuery": true }
            }
            """#
        try fixture.folder.write("substitutions.json", map)
        let items = try fixture.take([recording], HTTPArchive.Selection(largest: 100))
        #expect(items.map(\.left) == [reason])
        #expect(items.allSatisfy { !$0.url.contains("s3cr3t") })
        #expect(try fixture.contents() == ["substitutions.json": Data(map.utf8)])
    }

    @Test(
        "Only selected responses are imported",
        arguments: [
            (["https://h.com/*"], [], [200], ["https://h.com/a.txt", "https://h.com/b.png?x=1&y=2"]),
            (
                ["https://*.h.com/*", "https://h.com/b.png?y=2&x=1"], [], [200],
                ["https://h.com/b.png?x=1&y=2", "https://s.h.com/a"]
            ),
            (["*://*/b*", "*://*/b*"], [], [], ["https://h.com/b.png?x=1&y=2"]),
            ([], ["Image/*"], [], ["https://h.com/b.png?x=1&y=2"]),
            ([], ["image/*", "text/css"], [], ["https://h.com/b.png?x=1&y=2", "https://s.h.com/a"]),
            ([], [], [404], ["https://h.com/gone"]),
            (["https://h.com/gone"], [], [], ["https://h.com/gone"]),
            ([], ["text/plain"], [200, 404], ["https://h.com/a.txt", "https://h.com/gone"]),
        ] as [([String], [String], [Int], [String])]
    )
    func selection(patterns: [String], types: [String], statuses: [Int], urls: [String]) throws {
        let fixture = try ArchiveFixture()
        let selection = try HTTPArchive.Selection(patterns: patterns, types: types, statuses: statuses)
        let items = try fixture.take(
            [
                Recording(url: "https://h.com/a.txt"),
                Recording(url: "https://h.com/b.png?x=1&y=2", mimeType: "image/png", text: "aaaa", encoding: "base64"),
                Recording(url: "https://s.h.com/a", mimeType: "text/css"),
                Recording(url: "https://h.com/gone", status: 404),
            ],
            selection
        )
        // `*.h.com` matches h.com too.
        let expected = patterns.contains("https://*.h.com/*") ? ["https://h.com/a.txt"] + urls : urls
        #expect(
            Set(items.filter { $0.file != nil }.map(\.url)).subtracting(["https://h.com/gone"])
                == Set(expected).subtracting(["https://h.com/gone"])
        )
        let hasGone = urls.contains("https://h.com/gone")
        if hasGone { #expect(try fixture.served("https://h.com/gone")?.status == 404) }
        #expect(items.contains { $0.url.hasSuffix("/gone") && $0.file != nil } == hasGone)
    }

    @Test(
        "A match pattern that isn't one",
        arguments: ["", "h.com", "https://h*.com/", "ftp://h.com/*", "https://h.com/#x"]
    )
    func badPattern(pattern: String) throws {
        #expect(throws: Complaint.self) { try HTTPArchive.Selection(patterns: [pattern]) }
    }

    @Test("The last response is the last with a body, even if an earlier one orders its parameters differently")
    func lastWins() throws {
        let fixture = try ArchiveFixture()
        let recordings = [
            Recording(url: "https://h.com/a?x=1&y=2", text: "first"),
            Recording(url: "https://h.com/a?y=2&x=1", text: "second"),
            Recording(url: "https://h.com/a?x=1&y=2", text: "?", encoding: "base64"),
            Recording(url: "https://h.com/a?x=1&y=2", text: nil),
            Recording(url: "https://h.com/a?x=1&y=2", status: 500),
        ]
        let items = try fixture.take(recordings, HTTPArchive.Selection(statuses: [200]), onlyLast: true)
        #expect(items.map(\.left) == [.superseded, nil, .brokenBody, .noBody, .unselectedStatus(500)])
        #expect(try fixture.served("https://h.com/a?x=1&y=2")?.body == Data("second".utf8))
        #expect(try fixture.map().count == 1)
    }

    @Test("If only the last of several responses is wanted, it's the last that can be decoded", arguments: 1...6)
    func anyNumber(count: Int) throws {
        for broken in 0..<count {
            let fixture = try ArchiveFixture()
            let bodies = (0..<count - broken).map { "body \($0)" }
            let items = try fixture.take(
                bodies.map { Recording(text: $0) } + (0..<broken).map { _ in Recording(text: "?", encoding: "base64") },
                onlyLast: true
            )
            let superseded = bodies.dropLast().map { _ in Complaint?.some(.superseded) }
            #expect(items.map(\.left) == superseded + [nil] + (0..<broken).map { _ in .brokenBody })
            #expect(try fixture.served("https://h.com/a")?.body == bodies.last.map { Data($0.utf8) })
            #expect(try fixture.contents().keys.sorted() == ["Resources/h.com/a.txt", "substitutions.json"])
        }
    }

    @Test("The headers that a recording has are imported, and no secret is anywhere")
    func headers() throws {
        let fixture = try ArchiveFixture()
        let secret = "s3cr3t"
        try fixture.take([
            Recording(headers: [
                ("Set-Cookie", secret), ("WWW-Authenticate", secret), ("X-Api-Key", secret), ("Date", "x"),
                ("content-encoding", "gzip"), ("Vary", "*"), ("Cache-Control", "private"), ("etag", "x"),
                ("access-control-allow-origin", "*"), ("ACCESS-CONTROL-MAX-AGE", "5"), ("Content-Language", "de"),
                ("Link", "<https://h.com/?token=\(secret)>; rel=next"), ("x-frame-options", "a"),
                ("X-Frame-Options", "b"),
                ("referrer-policy", "a\nb"), ("x-ratelimit-limit", "9"),
            ])
        ])
        let substitution = try #require(try fixture.map().match(NormalizedURL("https://h.com/a")).substitution)
        #expect(
            substitution.headers == [
                "Access-Control-Allow-Origin": "*", "Access-Control-Max-Age": "5", "Content-Language": "de",
                "Referrer-Policy": "a, b", "X-Frame-Options": "a, b", "x-ratelimit-limit": "9",
            ]
        )
        for (name, bytes) in try fixture.contents() {
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
        }
    }

    @Test("Dry runs write nothing and report the same")
    func dryRun() throws {
        let fixture = try ArchiveFixture()
        let recordings = [Recording(), Recording(url: "http://h.com/a", text: "b"), Recording(method: "POST")]
        let items = try fixture.take(recordings, isDryRun: true)
        #expect(try fixture.contents().isEmpty)
        #expect(FileStatus(path: fixture.resources.path) == nil)
        #expect(try fixture.take(recordings).map(\.file) == items.map(\.file))
    }
}
