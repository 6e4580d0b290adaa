import Foundation
import LocalSubstitution
import TestSupport
import Testing

@Suite("substitute explain", .sessions)
struct ExplainTests {
    /// The JSON that `--json` prints for a request.
    private struct Answer: Decodable {
        struct Entry: Decodable {
            let key: String
            let line: Int?
            let remark: String?
        }

        struct Miss: Decodable {
            let key: String
            let differences: [String]
        }

        struct Judgement: Decodable {
            let outcome: String
            let reason: String
            let servedBy: String?
        }

        let url: String
        let method: String
        let attached: Judgement
        let cacheOnly: Judgement
        let entry: Entry?
        let file: String?
        let status: Int?
        let contentType: String?
        let contentTypeSource: String?
        let shadowed: [Entry]
        let skipped: [Entry]
        let nearMisses: [Miss]
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.writeMap(
            """
            {
              "https://h.example/a": "a.txt",
              "https://h.example/off": { "file": "a.txt", "enabled": false },
              "https://h.example/never": null,
              "https://h.example/offline": { "file": "a.txt", "use": "whenOffline" },
              "https://h.example/vary": { "file": "a.txt", "headers": { "Vary": "Cookie" } },
              "https://h.example/gone": { "status": 410 },
              "https://h.example/site/*": "site/*",
              "https://h.example/site/s*": "site/s*",
              "https://*.example/site/*": "site/*",
              "https://h.example/slow": { "text": "late", "delay": 1 },
              "https://h.example/plan": [{ "when": { "headers": { "X-Plan": "pro" } }, "text": "pro" }]
            }
            """,
            files: ["a.txt": "hello", "site/style.css": "a {}"]
        )
        try #require(mkfifo(folder.path("Resources/site/pipe"), 0o600) == 0)
    }

    private func explain(_ words: String...) async throws -> Answer {
        let run = try await folder.substitute(["explain", "--json"] + words)
        #expect(run.status == 0)
        let answers = try run.json([Answer].self)
        #expect(answers.count == 1)
        return try #require(answers.first)
    }

    /// A request, its outcomes, and why no entry responds cache only.
    struct Case: CustomTestStringConvertible, Sendable {
        let words: [String]
        let attached: Explanation.Judgement.Outcome
        let reason: String?
        let entry: String?
        let line: Int?

        init(
            _ words: String...,
            attached: Explanation.Judgement.Outcome,
            _ reason: String? = nil,
            entry: String? = nil,
            line: Int? = nil
        ) {
            self.words = words
            self.attached = attached
            self.reason = reason
            self.entry = entry
            self.line = line
        }

        var testDescription: String { words.joined(separator: " ") }

        static let all = [
            Case("https://h.example/a", attached: .matched, entry: "https://h.example/a", line: 2),
            Case("https://h.example/gone", attached: .matched, entry: "https://h.example/gone", line: 7),
            Case("https://u:p@h.example/a", attached: .unmatched, "no user info"),
            Case("https://other.test/", attached: .unmatched, "no entry matches it"),
            Case("https://h.example/off", attached: .unmatched, "is disabled or has no file for it"),
            Case(
                "https://h.example/never",
                attached: .unmatched,
                "the entry is null",
                entry: "https://h.example/never",
                line: 4
            ),
            Case("--method", "post", "https://h.example/a", attached: .unmatched, "doesn't list the method POST"),
            Case(
                "--reload",
                "https://h.example/a",
                attached: .matched,
                "cache policy ignores local data",
                entry: "https://h.example/a",
                line: 2
            ),
            Case(
                "https://h.example/offline",
                attached: .waitsForOffline,
                "only if the network fails",
                entry: "https://h.example/offline",
                line: 5
            ),
            Case(
                "https://h.example/slow",
                attached: .matched,
                "the entry's field “delay” needs an attached session",
                entry: "https://h.example/slow",
                line: 11
            ),
            Case("https://h.example/plan", attached: .unmatched, "every entry that matches its URL is skipped"),
            Case(
                "https://h.example/vary",
                attached: .matched,
                "the header “Vary”",
                entry: "https://h.example/vary",
                line: 6
            ),
            Case(
                "https://h.example/site/pipe",
                attached: .failed,
                "the file is a named pipe",
                entry: "https://h.example/site/*",
                line: 8
            ),
        ]
    }

    @Test("It prints what responds, attached and cache only, and the winning entry", arguments: Case.all)
    func judgements(_ row: Case) async throws {
        let run = try await folder.substitute(["explain", "--json"] + row.words)
        #expect(run.status == 0)
        let answer = try #require(run.json([Answer].self).first)
        #expect(answer.attached.outcome == row.attached.rawValue)
        #expect(answer.cacheOnly.outcome == (row.reason == nil ? "matched" : "unmatched"))
        if let reason = row.reason {
            #expect(answer.cacheOnly.servedBy == "the network")
            #expect(answer.cacheOnly.reason.contains(reason))
        }
        #expect(answer.entry?.key == row.entry)
        #expect(answer.entry?.line == row.line)
        #expect(answer.url == row.words.last)

        let text = try await folder.substitute(["explain"] + row.words)
        #expect(text.status == 0)
        #expect(text.output.hasPrefix("\(answer.method) \(answer.url)\n"))
        for (label, judgement) in [("attached:     ", answer.attached), ("cache only:   ", answer.cacheOnly)] {
            let line = try #require(text.lines.first { $0.hasPrefix("  \(label)") })
            #expect(line.contains(judgement.servedBy ?? judgement.reason))
            let isOfEntry = !["unmatched", "failed"].contains(judgement.outcome)
            #expect(line.hasSuffix(", because \(judgement.reason)") != isOfEntry)
        }
    }

    #if os(Linux)
    @Test("It names the header that keeps the loader from using a cache")
    func authorization() async throws {
        let answer = try await explain("--header", "Authorization: Basic x", "https://h.example/a")
        #expect(answer.attached.outcome == "matched")
        #expect(answer.cacheOnly.outcome == "unmatched")
        #expect(answer.cacheOnly.reason.contains("“Authorization”"))
    }
    #endif

    @Test("Its text is readable")
    func text() async throws {
        let run = try await folder.substitute("explain", "https://h.example/site/style.css", "https://h.example/A")
        #expect(run.status == 0)
        #expect(
            run.output == """
                GET https://h.example/site/style.css
                  attached:     matched: the entry's file
                  cache only:   matched: the entry's file
                  entry:        “https://h.example/site/s*”, line 9
                  file:         \(folder.path("Resources/site/style.css"))
                  MIME type:    text/css; charset=utf-8, from the file's extension “css”
                  shadowed:     “https://h.example/site/*”, line 8
                  shadowed:     “https://*.example/site/*”, line 10

                GET https://h.example/A
                  attached:     unmatched: the network, because no entry matches it
                  cache only:   unmatched: the network, because no entry matches it
                  near miss:    “https://h.example/a” differs only in letter case. Match the request's letter case.

                """
        )
    }

    @Test(
        "It says what answers, in how many pieces, and at which rate",
        arguments: [
            (#"{ "handler": "saveOrder" }"#, "handler “saveOrder”", "handler", nil),
            (
                #"{ "stream": ["a", "b"], "delay": 2 }"#, "the entry, in 2 pieces after 2 s", "delay",
                "text/event-stream"
            ),
            (#"{ "stream": ["a"], "mimeType": "a/b" }"#, "the entry, in 1 piece", "stream", "a/b"),
            (
                #"{ "stream": ["a", { "error": "timedOut" }], "delay": 2 }"#,
                "the entry, in 1 piece after 2 s, then the error “timedOut”", "delay", "text/event-stream"
            ),
            (#"{ "stream": [{ "error": "timedOut" }] }"#, "the error “timedOut”", "stream", nil),
            (#"{ "error": "timedOut" }"#, "the error “timedOut”", "error", nil),
            (#"{ "forwardTo": "http://l/a" }"#, "the network, at http://l/a", "forwardTo", nil),
            (
                #"{ "forwardTo": "http://l/a", "headers": { "Content-Type": "a/b" } }"#, "the network, at http://l/a",
                "forwardTo", "a/b"
            ),
            (
                #"{ "file": "a.txt", "bytesPerSecond": 1000 }"#, "the entry's file, at 1,000 bytes per second",
                "bytesPerSecond", "text/plain"
            ),
            (
                #"{ "json": 1, "secondsPerLine": 0.5 }"#, "the entry, line by line, 0.5 s apart", "secondsPerLine",
                "application/json"
            ),
            (
                #"{ "text": "", "secondsPerEvent": 1 }"#, "the entry, event by event, 1 s apart", "secondsPerEvent",
                "text/plain"
            ),
        ] as [(String, String, String, String?)]
    )
    func pieces(entry: String, attached: String, field: String, type: String?) async throws {
        try folder.writeMap(#"{ "https://h.example/a": \#(entry) }"#, files: ["a.txt": "a"])
        let answer = try await explain("https://h.example/a")
        #expect(answer.attached.servedBy == attached)
        #expect(answer.cacheOnly.outcome == "unmatched")
        #expect(answer.cacheOnly.reason == "the entry's field “\(field)” needs an attached session")
        #expect(answer.contentType?.prefix { $0 != ";" } == type.map { $0[...] })
    }

    @Test("It names the file, its type, and the shadowed and skipped entries")
    func fields() async throws {
        let answer = try await explain("https://h.example/site/style.css")
        #expect(answer.method == "GET")
        #expect(answer.file == folder.path("Resources/site/style.css"))
        #expect(answer.status == 200)
        #expect(answer.contentType == "text/css; charset=utf-8")
        #expect(answer.contentTypeSource == "from the file's extension “css”")
        #expect(answer.shadowed.map(\.key) == ["https://h.example/site/*", "https://*.example/site/*"])
        #expect(answer.shadowed.map(\.line) == [8, 10])
        #expect(answer.skipped.isEmpty)

        let missing = try await explain("https://h.example/site/script.js")
        #expect(missing.skipped.count == 3)
        #expect(missing.skipped.allSatisfy { $0.remark == "the resources folder has no file “site/script.js”" })
        #expect(try await explain("https://h.example/off").skipped.first?.remark == "it's disabled")
        #expect(try await explain("https://h.example/gone").status == 410)
        #expect(try await explain("https://h.example/gone").file == nil)
    }

    @Test(
        "It says how the MIME type was found",
        arguments: [
            ("t.css", "text/css; charset=utf-8", "from the file's extension “css”"),
            ("by-url.json", "application/json; charset=utf-8", "from the URL's extension “json”"),
            ("set", "image/x-test", "set by the entry"),
            ("unknown", "application/octet-stream", "because neither the file nor the URL has a known extension"),
            ("json", "application/json; charset=utf-8", "from the entry's field “json”"),
            ("text", "text/plain; charset=utf-8", "from the entry's field “text”"),
            ("stream", "text/event-stream; charset=utf-8", "from the entry's field “stream”"),
        ]
    )
    func type(path: String, type: String, source: String) async throws {
        try folder.writeMap(
            """
            { "https://h.example/t.css": "t.css", "https://h.example/by-url.json": "plain",
              "https://h.example/set": { "file": "plain", "mimeType": "image/x-test" },
              "https://h.example/unknown": "plain", "https://h.example/json": { "json": 1 },
              "https://h.example/text": { "text": "" }, "https://h.example/stream": { "stream": [""] } }
            """,
            files: ["t.css": "a {}", "plain": "x"]
        )
        let answer = try await explain("https://h.example/\(path)")
        #expect(answer.contentType == type)
        #expect(answer.contentTypeSource == source)
    }

    @Test(
        "It names the keys that almost match, with their differences",
        arguments: [
            ("http://m.example/a", ["scheme"]), ("https://m.example:8443/a", ["port"]),
            ("https://m.example/a?x=1", ["query"]), ("https://m.example/a/", ["trailing slash"]),
            ("https://m.example/A", ["letter case"]), ("http://m.example/A?x=1", ["scheme", "query", "letter case"]),
            ("https://m.example/b", []), ("https://other.example/a", []),
        ]
    )
    func nearMiss(url: String, differences: [String]) async throws {
        try folder.writeMap(#"{ "https://m.example/a": "a.txt" }"#)
        let answer = try await explain(url)
        #expect(answer.cacheOnly.reason == "no entry matches it")
        #expect(answer.nearMisses.map(\.differences) == (differences.isEmpty ? [] : [differences]))
        #expect(answer.nearMisses.allSatisfy { $0.key == "https://m.example/a" })
    }

    @Test(
        "A key that matches but is disabled or has no file isn't a near miss",
        arguments: ["https://h.example/off", "https://h.example/site/none.css", "https://m.example:8443/none.css"]
    )
    func noNearMiss(url: String) async throws {
        try folder.writeMap(
            """
            { "https://h.example/off": { "file": "a.txt", "enabled": false }, "https://h.example/site/*": "site/*",
              "https://m.example:*/*": "site/*" }
            """
        )
        let answer = try await explain(url)
        #expect(answer.skipped.count == 1)
        #expect(answer.nearMisses.isEmpty)
    }

    @Test("It answers for several URLs in their order")
    func several() async throws {
        let urls = ["https://h.example/never", "https://h.example/a", "https://h.example/never"]
        let run = try await folder.substitute(["explain", "--json"] + urls)
        #expect(try run.json([Answer].self).map(\.url) == urls)
    }

    @Test(
        "A body that doesn't meet an entry's condition is shown, clipped and without credentials",
        arguments: [
            (#"{"id":7,"password":"s3cr3t"}"#, #"  body:         {"id":7,"password":"redacted"}"#),
            (String(repeating: "x", count: 301), "  body:         \(String(repeating: "x", count: 300))…"),
            ("item=1&access_token=s3cr3t", "  body:         item=1&access_token=redacted"),
            ("a\nb", #"  body:         a\u{A}b"#),
        ]
    )
    func body(_ body: String, _ line: String) async throws {
        let folder = try TemporaryFolder()
        try folder.writeMap(
            #"{ "https://h.example/a": { "text": "a", "methods": ["POST"], "when": { "json": { "item": 1 } } } }"#
        )
        let run = try await folder.substitute(["explain", "--data", body, "https://h.example/a"])
        #expect(run.output.split(separator: "\n").last.map(String.init) == line, "\(run.output)")
    }
}
