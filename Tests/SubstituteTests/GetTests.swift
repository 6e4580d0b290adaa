import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@Suite("substitute get", .sessions)
struct GetTests {
    /// The JSON that `--json` prints for a load.
    struct Record: Decodable {
        let url: String
        let source: String
        let file: String?
        let status: Int?
        let type: String?
        let bytes: Int
        /// Missing in the output of `demo`.
        let milliseconds: Double?
        let error: String?
    }

    /// A host that doesn't exist (RFC 6761). The map names its URLs.
    private static let host = "http://nowhere.invalid"

    private let folder: TemporaryFolder
    private let origin: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        origin = try LoopbackServer(routes: [
            "/page": .text("from the network"), "/mapped": .text("not the file"),
            "/dead": LoopbackServer.Answer(fault: .dropBeforeHead),
            "/about": .redirect(to: "/about/"), "/about/": .text("found"),
            "/password": LoopbackServer.Answer(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"x\"")]),
            "/forged": LoopbackServer.Answer(
                headers: [("Cache-Status", #"LocalSubstitutionCache; hit; detail="forged.txt""#)],
                body: Data("from the network".utf8)
            ),
        ])
        try folder.writeMap(
            """
            {
              "\(Self.host)/a.txt": "a.txt",
              "\(Self.host)/bytes": "bytes.bin",
              "\(Self.host)/gone": { "status": 410 },
              "\(Self.host)/own": { "file": "a.txt", "headers": { "Cache-Status": "own" } },
              "http://127.0.0.1:*/mapped": "a.txt"
            }
            """,
            files: ["a.txt": "0123456789"]
        )
        try folder.write(Data((0...255).map { UInt8($0) }), to: "Resources/bytes.bin")
    }

    @Test(
        "It requests a URL as it was written, with invalid characters encoded once",
        arguments: [("/a%20b|c", "/a%20b%7Cc"), ("/x%7Cy%20é", "/x%7Cy%20%C3%A9"), ("/100%", "/100%25")]
    )
    func encoding(_ written: String, _ asked: String) async throws {
        defer { origin.stop() }
        let base = origin.baseURL.absoluteString.dropLast().replacing("http://", with: "HTTP://")
        let run = try await folder.substitute("get", base + written)
        #expect(run.output.hasSuffix(origin.url(asked).absoluteString + "\n"))
        #expect(origin.requests.map(\.target) == [asked])
    }

    @Test("A file's name doesn't control the terminal")
    func controlCharacters() async throws {
        try folder.writeMap(#"{ "http://nowhere.invalid/a": "\u001b[31m.txt" }"#, files: ["\u{1B}[31m.txt": "x"])
        let run = try await folder.substitute("get", "http://nowhere.invalid/a")
        #expect(run.output.hasPrefix(#"matched ← \u{1B}[31m.txt  200"#))
    }

    @Test("It prints each answer's source, status, MIME type, size and time, in the order of the URLs")
    func table() async throws {
        defer { origin.stop() }
        let urls = [Self.host + "/a.txt", origin.url("/page").absoluteString, Self.host + "/gone"]
        let run = try await folder.substitute(["get"] + urls)
        #expect(run.status == 0)
        #expect(run.lines.count == 4)
        let rows = [
            "matched ← a.txt    200  text/plain; charset=utf-8  10 B",
            "network            200  text/plain; charset=utf-8  16 B",
            "matched ← the map  410  application/octet-stream    0 B",
        ]
        for (number, row) in rows.enumerated() {
            #expect(run.lines[number].hasPrefix(row + " "))
            #expect(run.lines[number].hasSuffix("  \(urls[number])"))
            #expect(run.lines[number].contains(/\d\.\d ms/))
        }
        #expect(origin.requests.map(\.path) == ["/page"])
    }

    @Test("With --json, it prints one JSON document, and nothing else on standard output")
    func json() async throws {
        defer { origin.stop() }
        let urls = [
            Self.host + "/a.txt", origin.url("/page").absoluteString, Self.host + "/gone",
            origin.url("/dead").absoluteString, origin.url("/nothing").absoluteString,
        ]
        let run = try await folder.substitute(["get", "--json"] + urls)
        #expect(run.status == 1)
        let records = try run.json([Record].self)
        #expect(records.map(\.url) == urls)
        #expect(records.map(\.source) == ["matched", "network", "matched", "failed", "network"])
        #expect(records.map(\.file) == ["a.txt", nil, nil, nil, nil])
        #expect(records.map(\.status) == [200, 200, 410, nil, 404])
        #expect(records.map(\.bytes) == [10, 16, 0, 0, 0])
        #expect(records[0].type == "text/plain; charset=utf-8")
        #expect(records[3].type == nil)
        #expect(records.map { $0.error == nil } == [true, true, true, false, true])
        #expect(records.allSatisfy { ($0.milliseconds ?? -1) >= 0 })
    }

    @Test(
        "It trusts the cache about what answered, not a header",
        arguments: [[], ["--cache-only"], ["--record", "kept"]]
    )
    func forged(_ words: [String]) async throws {
        defer { origin.stop() }
        let url = origin.url("/forged").absoluteString
        let run = try await folder.substitute(["get"] + words + [url, Self.host + "/own", url])
        #expect(run.status == 0)
        #expect(
            run.lines.map { String($0.prefix(15)) }.dropLast() == [
                "network        ", "matched ← a.txt", "network        ",
            ]
        )
    }

    @Test("It follows a redirect that only adds a slash")
    func slash() async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--output", "-", origin.url("/about").absoluteString)
        #expect(run.status == 0)
        #expect(run.output == "found")
    }

    @Test(
        "An HTTP error is an answer, even one that asks for a password",
        arguments: [("/nothing", 404), ("/password", 401)]
    )
    func httpError(path: String, status: Int) async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("get", origin.url(path).absoluteString)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("network  \(status)  —  0 B"))
    }

    @Test("It fails with a message that names the URL that can't be loaded, and loads the others")
    func dead() async throws {
        defer { origin.stop() }
        let dead = origin.url("/dead").absoluteString
        let run = try await folder.substitute("get", dead, Self.host + "/a.txt")
        #expect(run.status == 1)
        #expect(run.hasExited)
        let message = try #require(run.messages.split(separator: "\n").last)
        #expect(message.hasPrefix("substitute: \(dead): "))
        #expect(message.contains(/: [A-Z][a-z]+ [^()]*$/), "a sentence, no code: \(message)")
        #expect(run.lines[0].hasPrefix("failed           —    —    "))
        #expect(run.lines[1].hasPrefix("matched ← a.txt  200"))
    }

    @Test("It sends the request's headers to the origin, and a repeated one with both values")
    func headers() async throws {
        defer { origin.stop() }
        let run = try await folder.substitute(
            "get",
            "--header",
            "X-One: a: b",
            "--header=X-Two:  c",
            "--header",
            "X-Two: d",
            origin.url("/page").absoluteString
        )
        #expect(run.status == 0)
        let request = try #require(origin.requests.first)
        #expect(request.header("X-One") == "a: b")
        #expect(request.header("X-Two")?.replacing(" ", with: "") == "c,d")
    }

    @Test("It sends a header with an empty value, written as in curl")
    func emptyHeader() async throws {
        defer { origin.stop() }
        let words = ["X-Empty;", " X-Spaces ; ", "X-Other: a;"].flatMap { ["--header", $0] }
        let run = try await folder.substitute(["get"] + words + [origin.url("/page").absoluteString])
        #expect(run.status == 0, "\(run.messages)")
        #expect(origin.requests.first?.header("X-Empty") == "")
        #expect(origin.requests.first?.header("X-Spaces") == "")
        #expect(origin.requests.first?.header("X-Other") == "a;")
    }

    @Test(
        "If the network fails, it names the keys that almost match, as explain does",
        arguments: [[], ["--cache-only"]]
    )
    func nearMiss(_ words: [String]) async throws {
        defer { origin.stop() }
        let run = try await folder.substitute(["get"] + words + [Self.host + "/b.txt", Self.host + "/A.txt"])
        #expect(run.status == 1)
        let messages = run.messages.split(separator: "\n").filter { !$0.contains(": map ") }
        #expect(messages.count == 2, "\(run.messages)")
        #expect(!messages[0].contains("near miss"))
        let miss = "(near miss: “\(Self.host)/a.txt” differs only in letter case. Match the request's letter case.)"
        #expect(messages[1].hasSuffix(" \(miss)"), "\(run.messages)")
    }

    @Test(
        "It sends the request's method to the origin in capitals, whether or not the URL is mapped",
        arguments: ["/page", "/mapped"],
        ["POST", "patch"]
    )
    func method(path: String, method: String) async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--method", method, origin.url(path).absoluteString)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("network  200"))
        #expect(origin.requests.map(\.method) == [method.uppercased()])
    }

    @Test("It answers HEAD without a body, from the file or the origin", arguments: [("/page", 1), ("/mapped", 0)])
    func head(path: String, asked: Int) async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--method=HEAD", "--json", origin.url(path).absoluteString)
        #expect(run.status == 0)
        let record = try #require(run.json([Record].self).first)
        #expect(record.source == (asked == 0 ? "matched" : "network"))
        #expect((record.status, record.bytes) == (200, 0))
        #expect(origin.requests.map(\.method) == Array(repeating: "HEAD", count: asked))
    }

    @Test(
        "It answers a range with 206 and those bytes",
        arguments: [("0-3", "0123"), ("7-", "789"), ("-2", "89"), ("4-4", "4"), ("8-99", "89")]
    )
    func range(range: String, part: String) async throws {
        defer { origin.stop() }
        let url = Self.host + "/a.txt"
        let body = try await folder.substitute("get", "--range", range, "--output", "-", url)
        #expect(body.status == 0)
        #expect(body.output == part)
        let record = try await folder.substitute("get", "--range=\(range)", "--json", url).json([Record].self).first
        #expect(record?.status == 206)
        #expect(record?.bytes == part.count)
    }

    @Test("It sends a range to the origin if the URL isn't mapped")
    func rangeToOrigin() async throws {
        defer { origin.stop() }
        _ = try await folder.substitute("get", "--range", "5-6", origin.url("/page").absoluteString)
        #expect(origin.requests.map { $0.header("Range") } == ["bytes=5-6"])
    }

    @Test(
        "The file answers, but the network does with --reload if the session only has the cache",
        arguments: [
            ([], false), (["--reload"], false), (["--cache-only"], false), (["--cache-only", "--reload"], true),
        ]
    )
    func reload(words: [String], isFromNetwork: Bool) async throws {
        defer { origin.stop() }
        let url = origin.url("/mapped").absoluteString
        let run = try await folder.substitute(["get", "--output", "-"] + words + [url])
        #expect(run.status == 0)
        #expect(run.output == (isFromNetwork ? "not the file" : "0123456789"))
        #expect(origin.requests.count == (isFromNetwork ? 1 : 0))
    }

    @Test("With --output -, it writes only the unchanged body to standard output")
    func outputToStandardOutput() async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--output", "-", Self.host + "/bytes")
        #expect(run.status == 0)
        #expect(Array(run.bytes) == (0...255).map { UInt8($0) })
    }

    @Test("With --output, it overwrites the file with the body, and still prints the row")
    func outputToFile() async throws {
        defer { origin.stop() }
        try folder.write(String(repeating: "old ", count: 1_000), to: "real")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"),
            withDestinationPath: folder.path("real")
        )
        let run = try await folder.substitute("get", "--output", "link", Self.host + "/bytes")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("matched ← bytes.bin  200"))
        #expect(try Array(folder.contents("real")) == (0...255).map { UInt8($0) })
        // A device or a link stays what it is.
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) == folder.path("real"))
    }

    @Test(
        "It says why it can't write the file",
        arguments: [("none/f", "No such file or directory"), ("Resources", "Is a directory")]
    )
    func unwritable(file: String, reason: String) async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--output", file, Self.host + "/a.txt")
        #expect(run.status == 1)
        #expect(run.bytes.isEmpty)
        let message = "“\(folder.path(file))” can't be written: \(reason). Name another file with --output."
        #expect(run.messages.hasSuffix("substitute: \(message)\n"))
    }

    @Test("It writes no file if the URL can't be loaded")
    func outputOfDead() async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("get", "--output=f", origin.url("/dead").absoluteString)
        #expect(run.status == 1)
        #expect(!folder.exists("f"))
    }

    static let needsProtocol: [(entry: String, words: [String], reason: String, attached: String)] = [
        (
            #"{ "file": "a.txt", "status": 418 }"#, [],
            "URLSession never uses a cached response with the status 418", "the entry's file"
        ),
        (
            #"{ "file": "a.txt", "methods": ["POST"] }"#, ["--method=POST"],
            "URLSession never uses a cached response to POST", "the entry's file"
        ),
        (#"{ "status": 503 }"#, [], "URLSession never uses a cached response with the status 503", "the entry"),
        (
            #"{ "file": "a.txt", "use": "whenOffline" }"#, [],
            #"the entry is used only if the network fails ("use": "whenOffline")"#,
            "the network or, if that fails, the entry's file"
        ),
        (#""a.txt""#, ["--reload"], "the request's cache policy ignores local data", "the entry's file"),
    ]

    @Test(
        "It says which entry names a URL that fails, why the cache can't answer, and what would help",
        arguments: needsProtocol
    )
    func failsWithEntry(entry: String, words: [String], reason: String, attached: String) async throws {
        defer { origin.stop() }
        let url = Self.host + "/x"
        try folder.writeMap("{ \"\(url)\": \(entry) }", files: ["a.txt": "0123456789"])
        let advice =
            "The entry “\(url)” matches the URL, but doesn't respond with --cache-only: \(reason). "
            + "Leave out --cache-only to get \(attached).\n"
        let run = try await folder.substitute(["get", "--json", "--cache-only"] + words + [url])
        #expect(run.status == 1)
        #expect(run.messages.contains("substitute: \(url): "))
        #expect(run.messages.hasSuffix(advice))
        #expect(try run.json([Record].self).first?.error.map { advice.hasPrefix($0.suffix(advice.count - 1)) } == true)
        let withProtocol = try await folder.substitute(["get"] + words + [url])
        #expect(withProtocol.status == 0)
        #expect(withProtocol.output.hasPrefix("matched ← "))
    }

    @Test(
        "It gets what explain says, attached and cache only",
        arguments: [
            (#""a.txt""#, [], "matched", "matched"),
            (#"{ "file": "a.txt", "status": 500 }"#, [], "matched", "unmatched"),
            (#"{ "file": "a.txt", "methods": ["POST"] }"#, ["--method=POST"], "matched", "unmatched"),
            (#""a.txt""#, ["--reload"], "matched", "unmatched"),
            (#"{ "text": "entry", "delay": 0.01 }"#, [], "matched", "unmatched"),
            (#"{ "file": "a.txt", "use": "whenOffline" }"#, [], "waitsForOffline", "unmatched"),
            (#"{ "forwardTo": "ORIGIN/page" }"#, [], "forwarded", "unmatched"),
            (#"{ "error": "timedOut" }"#, [], "failed", "unmatched"), ("null", [], "unmatched", "unmatched"),
            (#""a.txt""#, ["--method=PUT"], "unmatched", "unmatched"),
        ] as [(String, [String], String, String)]
    )
    func explained(entry: String, words: [String], attached: String, cacheOnly: String) async throws {
        struct Answer: Decodable {
            struct Judgement: Decodable {
                let outcome: String
            }

            let attached: Judgement
            let cacheOnly: Judgement
        }

        defer { origin.stop() }
        let url = origin.url("/page").absoluteString
        let value = entry.replacing("ORIGIN/page", with: origin.url("/page?other").absoluteString)
        try folder.writeMap("{ \"\(url)\": \(value) }", files: ["a.txt": "entry"])
        let explained = try await folder.substitute(["explain", "--json"] + words + [url])
        let answer = try #require(explained.json([Answer].self).first)
        #expect(answer.attached.outcome == attached)
        #expect(answer.cacheOnly.outcome == cacheOnly)
        for (option, outcome) in [([], attached), (["--cache-only"], cacheOnly)] as [([String], String)] {
            let run = try await folder.substitute(["get", "--output", "-"] + option + words + [url])
            let body = outcome == "matched" ? "entry" : outcome == "failed" ? "" : "from the network"
            #expect(run.output == body)
            #expect(run.status == (outcome == "failed" ? 1 : 0))
        }
    }

    @Test("It names the error that an entry gives", arguments: ["notConnectedToInternet", "timedOut", "badURL"])
    func entryError(name: String) async throws {
        defer { origin.stop() }
        let url = Self.host + "/x"
        try folder.writeMap("{ \"\(url)\": { \"error\": \"\(name)\" } }")
        let message = "The entry “\(url)” makes this request fail with the error “\(name)”."
        let run = try await folder.substitute("get", "--json", url)
        #expect(run.status == 1)
        #expect(run.messages.hasSuffix("substitute: \(url): \(message)\n"))
        #expect(try run.json([Record].self).first?.error == message)
    }

    @Test("It prints a stream's whole body, and says that the map answered")
    func stream() async throws {
        defer { origin.stop() }
        let url = Self.host + "/x"
        try folder.writeMap(
            #"{ "\#(url)": { "stream": ["a", { "json": 1, "delay": 0.05 }, { "file": "a.txt" }] } }"#,
            files: ["a.txt": "!"]
        )
        #expect(try await folder.substitute("get", "--output=-", url).output == "a1!")
        let run = try await folder.substitute("get", "--json", url, url)
        #expect(run.status == 0)
        let records = try run.json([Record].self)
        #expect(records.map(\.source) == ["matched", "matched"])
        #expect(records.map(\.bytes) == [3, 3])
    }

    @Test("It says which error ended a stream, and doesn't take that for the next answer")
    func brokenStream() async throws {
        defer { origin.stop() }
        let url = Self.host + "/x"
        try folder.writeMap(
            #"""
            { "\#(url)": [
                { "times": 1, "stream": ["a", { "error": "networkConnectionLost" }] },
                { "times": 1, "error": "timedOut" },
                { "forwardTo": "\#(origin.url("/page").absoluteString)" }
            ] }
            """#
        )
        let run = try await folder.substitute("get", "--json", url, url, url)
        #expect(run.status == 1)
        let records = try run.json([Record].self)
        #expect(
            records.prefix(2).map(\.error)
                == ["networkConnectionLost", "timedOut"].map {
                    "The entry “\(url)” makes this request fail with the error “\($0)”."
                }
        )
        #expect(records.map(\.source) == ["failed", "failed", "network"])
    }

    @Test("It says that only code can answer an entry with a handler")
    func handler() async throws {
        defer { origin.stop() }
        let url = Self.host + "/x"
        try folder.writeMap(#"{ "\#(url)": { "handler": "saveOrder" } }"#)
        let run = try await folder.substitute("get", "--json", "--method=PUT", url)
        #expect(run.status == 1)
        let message = "The handler “saveOrder” exists only in code. Use this entry in the app or its tests."
        #expect(run.messages.hasSuffix("substitute: \(url): \(message)\n"))
        #expect(try run.json([Record].self).first?.error == message)
    }

    @Test("It doesn't mention entries if none names the failing URL, or if the protocol is attached")
    func failsWithoutEntry() async throws {
        defer { origin.stop() }
        for words in [["--cache-only"], ["--offline"], []] {
            let run = try await folder.substitute(["get"] + words + [Self.host + "/other"])
            #expect(run.status == 1)
            #expect(!run.messages.contains("--cache-only"))
        }
    }

    @Test("It works without a home folder")
    func noHome() async throws {
        defer { origin.stop() }
        let run = try await folder.substitute(
            "get",
            Self.host + "/a.txt",
            origin.url("/page").absoluteString,
            environment: ["HOME": "/dev/null/none"]
        )
        #expect(run.status == 0)
        #expect(run.lines.first?.hasPrefix("matched ← a.txt") == true)
    }
}
