import Foundation
import TestSupport
import Testing

@Suite("substitute import", .sessions)
struct ImportTests {
    /// The JSON that `--json` prints for an import.
    struct Report: Decodable {
        struct Response: Decodable {
            let url: String
            let outcome: String
            let file: String?
            let bytes: Int?
            let contentType: String?
            let reason: String?
            let message: String?
        }

        struct Group: Decodable, Equatable {
            let reason: String
            let count: Int
            let urls: [String]
            let more: Int
            let command: String?
        }

        let map: String
        let dryRun: Bool
        let responses: [Response]
        let notImported: [Group]?
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            Self.archive([
                Self.entry("https://h.com/", type: "text/html", text: "<p>"),
                Self.entry("https://h.com/a.png", type: "image/png", text: "iVBORw0KGgo=", encoding: "base64"),
                Self.entry("https://h.com/gone", status: 404, text: "no"),
                Self.entry("https://h.com/\u{1B}[2J", text: "x"),
                Self.entry("https://h.com/sent", method: "POST", text: "x"),
            ]),
            to: "a.har"
        )
    }

    static func entry(
        _ url: String,
        method: String = "GET",
        status: Int = 200,
        type: String = "text/plain",
        text: String? = nil,
        encoding: String? = nil,
        compression: String? = nil,
        body: String? = nil,
        range: String? = nil
    ) -> [String: Any] {
        var content: [String: Any] = ["size": 0, "mimeType": type]
        content["text"] = text
        content["encoding"] = encoding
        let headers = [("Content-Encoding", compression), ("Content-Range", range)].compactMap { name, value in
            value.map { ["name": name, "value": $0] }
        }
        let response: [String: Any] = ["status": status, "content": content, "headers": headers]
        var request: [String: Any] = ["method": method, "url": url]
        request["postData"] = body.map { ["text": $0] }
        return ["request": request, "response": response]
    }

    static func archive(_ entries: [[String: Any]]) throws -> Data {
        try JSONSerialization.data(withJSONObject: ["log": ["version": "1.2", "entries": entries]])
    }

    @Test("It makes the map and files, and says what it imported and what it left out, with reasons")
    func new() async throws {
        let run = try await folder.substitute("import", "--methods", "GET", "--status", "200", "a.har")
        #expect(run.status == 0)
        #expect(
            run.lines == [
                "new  text/html; charset=utf-8   3 B  h.com/index.html  https://h.com/",
                "new  image/png                  8 B  h.com/a.png       https://h.com/a.png",
                #"new  text/plain; charset=utf-8  1 B  h.com/_[2J.txt    https://h.com/\u{1B}[2J"#,
                "left  the status is 404  https://h.com/gone",
                "left  the method is POST, which --methods doesn't list  https://h.com/sent", "3 new, 2 left", "",
            ]
        )
        #expect(try await folder.substitute("check").output == "3 entries in use, 0 errors, 0 warnings\n")
        #expect(try folder.contents("Substitutes/h.com/a.png").starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let again = try await folder.substitute("import", "--methods", "GET", "--status", "200", "a.har")
        #expect(again.lines.dropLast().last == "0 new, 3 unchanged, 2 left")
        let get = try await folder.substitute("get", "--offline", "https://h.com/")
        #expect(get.output.hasPrefix("matched ← h.com/index.html  200  text/html; charset=utf-8  3 B"))
    }

    @Test("It says which entry of the archive has no URL")
    func noURL() async throws {
        try folder.write(#"{ "log": { "entries": [{}, { "request": { "method": "GET" } }] } }"#, to: "odd.har")
        let run = try await folder.substitute("import", "odd.har")
        let reasons = (1...2).map { "left  entry \($0) of the archive has no request with a URL" }
        #expect(run.lines == reasons + ["0 new, 2 left", ""])
    }

    @Test("It only imports what's selected, into another folder")
    func options() async throws {
        let run = try await folder.substitute(
            "import",
            "a.har",
            "--into",
            "sub/dir",
            "--match",
            "https://h.com/g*",
            "--match",
            "https://h.com/*.png",
            "--status",
            "404",
            "--status=200",
            "--type",
            "image/*",
            "--type",
            "text/*",
            "--json"
        )
        let report: Report = try run.json()
        #expect(report.map == folder.path("sub/dir/substitutions.json"))
        #expect(report.responses.map(\.outcome) == ["left", "new", "new", "left", "left"])
        #expect(report.responses.map(\.reason) == ["match", nil, nil, "match", "match"])
        #expect(report.responses.map(\.file) == [nil, "h.com/a.png", "h.com/gone.txt", nil, nil])
        #expect(folder.exists("sub/dir/Substitutes/h.com/a.png") && !folder.exists("substitutions.json"))
        #expect(try folder.contents("sub/dir/substitutions.json").range(of: Data(#""status": 404"#.utf8)) != nil)
    }

    @Test(
        "It imports the methods that --methods names",
        arguments: [("POST", 1), ("get,post", 5), ("*", 5), ("PUT", 0), ("GET", 4)]
    )
    func methods(list: String, count: Int) async throws {
        let run = try await folder.substitute("import", "a.har", "--methods", list)
        #expect(run.status == 0)
        #expect(run.lines.dropLast().last == "\(count) new, \(5 - count) left")
        let isPosted = list.lowercased().contains("post") || list == "*"
        let get = try await folder.substitute("get", "--offline", "--method", "POST", "https://h.com/sent")
        #expect(get.output.hasPrefix("matched ← h.com/sent.txt  200") == isPosted)
    }

    @Test("It keeps every response to a repeated request in order, and with --last only the last")
    func repeated() async throws {
        let texts = ["x", "x", "y"]
        let others = [
            Self.entry("https://h.com/a", method: "POST", text: "z"),
            Self.entry("https://h.com/a", status: 404, text: "z"),
        ]
        try folder.write(Self.archive(texts.map { Self.entry("https://h.com/a", text: $0) } + others), to: "again.har")
        let get = ["--methods", "GET", "--status", "200"]
        let last = try await folder.substitute(["import", "--last", "--dry-run", "again.har"] + get)
        #expect(last.lines.suffix(2) == ["1 new, 4 left; nothing was written", ""])
        #expect(last.output.contains("left  a later response to the same request is used  https://h.com/a\n"))
        let note = "1 request has several responses. --last keeps the last."
        for (options, sums, notes) in [
            ([], "5 new, 0 left", [note]), (get, "3 new, 2 left", [note]),
            (["--status", "200"], "4 new, 1 left", [note]),
            (["--methods", "GET", "--status", "404"], "1 new, 4 left", []),
        ] as [([String], String, [String])] {
            let run = try await folder.substitute(["import", "--dry-run", "again.har"] + options)
            let end = ["\(sums); nothing was written"] + notes + [""]
            #expect(run.lines.suffix(end.count) == end[...], "\(run.output)")
        }
        let run = try await folder.substitute(["import", "again.har"] + get)
        #expect(run.status == 0)
        let report: Report = try await folder.substitute(["import", "--json", "again.har"] + get).json()
        #expect(
            report.responses.map(\.outcome) == ["unchanged", "unchanged", "unchanged", "left", "left"],
            "\(run.output)"
        )
        let files = report.responses.compactMap(\.file)
        #expect(try files.map { String(decoding: try folder.contents("Substitutes/\($0)"), as: UTF8.self) } == texts)
        let map = String(decoding: try folder.contents("substitutions.json"), as: UTF8.self)
        #expect(map.contains("{ \"file\": \"\(files[0])\", \"times\": 2 }"), "\(map)")
        #expect(try await folder.substitute("check", "--attached").output == "1 entry in use, 0 errors, 0 warnings\n")
        let first = try await folder.substitute("get", "--offline", "https://h.com/a")
        #expect(first.output.hasPrefix("matched ← \(files[0])  200"))
    }

    @Test("It says how many alternatives it wrote contain parts of request bodies, and writes no credentials")
    func requestBodies() async throws {
        let bodies = ["page=1&password=s3cr3t", "page=2&password=s3cr3t", "page=1&password=s3cr3t"]
        let entries = bodies.enumerated().map { Self.entry("https://h.com/a", method: "POST", text: "\($0)", body: $1) }
        try folder.write(Self.archive(entries), to: "b.har")
        let notes = [
            "1 request has several responses. --last keeps the last.",
            "3 alternatives contain parts of request bodies. Look through them before you commit.",
        ]
        let run = try await folder.substitute("import", "b.har")
        let end = ["3 new, 0 left"] + notes + [""]
        #expect(run.lines.suffix(end.count) == end[...], "\(run.output)")
        let map = String(decoding: try folder.contents("substitutions.json"), as: UTF8.self)
        #expect(map.contains("page=1&password=*") && !map.contains("s3cr3t"), "\(map)")
        // Nothing is written, so there's nothing to look through.
        let again = try await folder.substitute("import", "b.har")
        #expect(again.lines.suffix(2) == ["0 new, 3 unchanged, 0 left", ""], "\(again.output)")
        let entry = Self.entry("https://h.com/c", method: "POST", text: "x", body: "a=1")
        try folder.write(Self.archive([entry]), to: "c.har")
        let single = try await folder.substitute("import", "c.har")
        let note = "1 alternative contains parts of request bodies. Look through it before you commit."
        #expect(single.lines.suffix(3) == ["1 new, 0 left", note, ""], "\(single.output)")
    }

    @Test("It keeps responses without a body, and says what can't be used")
    func noBody() async throws {
        let entries = [
            Self.entry("https://h.com/a", method: "DELETE", status: 204), Self.entry("https://h.com/b", text: "x"),
            Self.entry("https://h.com/c", text: #"["1f8b0800"]"#, compression: "gzip"),
        ]
        try folder.write(Self.archive(entries), to: "b.har")
        let run = try await folder.substitute("import", "b.har")
        #expect(run.status == 0)
        #expect(
            run.lines == [
                "new  no body                    0 B  —            https://h.com/a",
                "new  text/plain; charset=utf-8  1 B  h.com/b.txt  https://h.com/b",
                "left  the body is still compressed (export the archive again with decoded content)  https://h.com/c",
                "2 new, 1 left", "",
            ]
        )
        let report: Report = try await folder.substitute("import", "--json", "b.har").json()
        #expect(report.responses.map(\.outcome) == ["unchanged", "unchanged", "left"])
        #expect(report.responses.map(\.file) == [nil, "h.com/b.txt", nil])
    }

    @Test(
        "It counts parts of files, and names the command that loads the files into the map's folder",
        arguments: [
            (
                "--into", "my map", " To record whole files: ",
                "get --record 'my map' https://h.com/b.mp4 https://h.com/c.mp4"
            ),
            ("--map", "other.json", ": https://h.com/b.mp4 https://h.com/c.mp4", nil),
        ]
    )
    func parts(option: String, place: String, end: String, command: String?) async throws {
        let part = { (url: String, method: String) in
            Self.entry(url, method: method, status: 206, type: "video/mp4", text: "x", range: "bytes 0-0/9")
        }
        let urls = ["a", "b", "b", "c"].map { "https://h.com/\($0).mp4" }
        let whole = Self.entry(urls[0], type: "video/mp4", text: "x")
        let entries = [whole] + urls.map { part($0, "GET") } + [part("https://h.com/d", "POST")]
        try folder.write(Self.archive(entries), to: "b.har")
        let run = try await folder.substitute("import", option, place, "b.har")
        let reason = "the response is only a part of the file (status 206)"
        let last = try #require(run.lines.dropLast().last)
        #expect(last.hasPrefix("not imported 4 times: \(reason)") && last.contains(end), "\(last)")
        #expect(command.map { last.hasSuffix($0) } != false, "\(last)")
        #expect(run.lines.filter { $0 == "left  \(reason)  https://h.com/b.mp4" }.count == 2)
        let report: Report = try await folder.substitute("import", option, place, "--json", "b.har").json()
        #expect(report.responses.map(\.reason) == [nil] + Array(repeating: "part", count: 5))
        let group = try #require(report.notImported?.first)
        #expect(group.reason == reason && group.count == 4 && group.urls == [urls[1], urls[3]] && group.more == 0)
        #expect((group.command == nil) == (command == nil))
    }

    @Test("It leaves out what's too large, and writes nothing on a dry run")
    func dryRun() async throws {
        let run = try await folder.substitute("import", "--dry-run", "--max-size", "7", "--into", "new", "a.har")
        #expect(run.status == 0)
        #expect(
            run.output.contains(
                "left  the body has more than 7 bytes (--max-size raises the limit)  https://h.com/a.png\n"
            )
        )
        #expect(run.lines.dropLast().last == "4 new, 1 left; nothing was written")
        #expect(!folder.exists("new"))
    }

    @Test(
        "It puts files where the map's files are",
        arguments: [
            (["into/Resources/x.txt"], "{}", "into/Resources"), (["into/x.txt"], "{}", "into/Substitutes"),
            (["into/mine.txt"], #"{ "https://h.com/mine": "mine.txt" }"#, "into"),
        ]
    )
    func place(files: [String], map: String, place: String) async throws {
        for file in files { try folder.write("mine", to: file) }
        try folder.write(map, to: "into/substitutions.json")
        #expect(try await folder.substitute("import", "a.har", "--into", "into", "--type", "image/*").status == 0)
        #expect(folder.exists("\(place)/h.com/a.png"))
        #expect(folder.exists("into/Substitutes") == place.hasSuffix("Substitutes"))
        #expect(try await folder.substitute("check", "--map", "into/substitutions.json").status == 0)
    }

    @Test("It replaces an entry only with --force")
    func force() async throws {
        try folder.writeMap(#"{ "https://h.com/": "mine.html" }"#, files: ["mine.html": "mine"])
        let run = try await folder.substitute("import", "a.har", "--type", "text/html")
        #expect(
            run.output.contains(
                "left  the map already has the entry “https://h.com/” for the URL (--force replaces the entry)"
            )
        )
        let forced = try await folder.substitute("import", "a.har", "--type", "text/html", "--force")
        #expect(forced.output.hasPrefix("replaced  text/html; charset=utf-8  3 B  mine.html  https://h.com/\n"))
    }

    @Test("Its output is short if there's a lot")
    func many() async throws {
        let entries = (0..<400).map { number in
            Self.entry("https://h.com/\(number)", status: number < 150 ? 200 : 404, text: "x")
        }
        try folder.write(Self.archive(entries), to: "many.har")
        let run = try await folder.substitute("import", "--status", "200", "many.har")
        #expect(run.lines.count == 114)
        #expect(run.lines[100] == "and 50 more (--json lists all)")
        #expect(run.lines[111] == "left  and 240 more for similar reasons (--json lists all)")
        #expect(run.lines[112] == "150 new, 250 left")
    }

    @Test(
        "It says what's wrong with an archive, and writes nothing",
        arguments: [
            ("", "bad.har:1:1: The archive is empty."), (#"{"log": {"entries": ["#, "bad.har:1:22: The archive ends"),
            (
                "{}",
                "bad.har:1:1: The archive is JSON, but not an HTTP Archive. It has no list “log.entries”. "
                    + "Export it as HAR."
            ),
        ]
    )
    func broken(text: String, message: String) async throws {
        try folder.write(text, to: "bad.har")
        let run = try await folder.substitute("import", "bad.har")
        #expect(run.status == 1)
        #expect(run.hasExited)
        #expect(run.messages.contains(message))
        #expect(!folder.exists("substitutions.json") && !folder.exists("Substitutes"))
    }

    @Test("It says that an archive doesn't exist")
    func missing() async throws {
        let run = try await folder.substitute("import", "none.har")
        #expect(run.status == 1)
        #expect(run.messages.contains("none.har” doesn't exist"))
    }
}
