import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@Suite("substitute check --remote", .sessions)
struct RemoteCheckTests {
    /// The JSON that `--json` prints for the remote side.
    private struct Report: Decodable {
        struct Remote: Decodable {
            let entries: [Entry]
        }

        struct Entry: Decodable {
            let key: String
            let line: Int
            let url: String
            let file: String
            let result: String
            let bytes: Int?
            let remoteBytes: Int?
            let firstDifference: Int?
            let status: Int?
            let reason: String?
        }

        let errors: Int
        let remote: Remote?
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Writes a map whose entries are on the lines from 2 on. `/x` in a key is a path on the origin.
    private func writeMap(_ origin: LoopbackServer, _ entries: [(String, String)], files: [String: String]) throws {
        let lines = entries.map { key, value in
            "\"\(key.hasPrefix("/") ? origin.url(key).absoluteString : key)\": \(value)"
        }
        try folder.writeMap("{\n" + lines.joined(separator: ",\n") + "\n}", files: files)
    }

    private func text(_ file: String) throws -> String {
        String(decoding: try folder.contents("Resources/\(file)"), as: UTF8.self)
    }

    // MARK: Comparing

    /// A file, the URL's response, and the expected report.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var value = #""a.txt""#
        var file = "hello"
        let answer: LoopbackServer.Answer
        let result: String
        let status: Int32
        /// The text after the key; `nil` for no line.
        let line: String?

        static let all = [
            Row(testDescription: "the same", answer: .text("hello"), result: "same", status: 0, line: nil),
            Row(testDescription: "both empty", file: "", answer: .text(""), result: "same", status: 0, line: nil),
            Row(
                testDescription: "other bytes",
                answer: .text("help!!"),
                result: "changed",
                status: 1,
                line: "The file “a.txt” has 5 B, and the URL serves 6 B. They differ from offset 3 on."
            ),
            Row(
                testDescription: "more bytes",
                answer: .text("hello, world"),
                result: "changed",
                status: 1,
                line: "The file “a.txt” has 5 B, and the URL serves 12 B. They differ from offset 5 on."
            ),
            Row(
                testDescription: "no bytes",
                answer: .text(""),
                result: "changed",
                status: 1,
                line: "The file “a.txt” has 5 B, and the URL serves 0 B. They differ from offset 0 on."
            ),
            Row(
                testDescription: "a difference far in a large file",
                file: String(repeating: "x", count: 200_000) + "a" + String(repeating: "x", count: 9),
                answer: .text(String(repeating: "x", count: 200_000) + "b" + String(repeating: "x", count: 9)),
                result: "changed",
                status: 1,
                line:
                    "The file “a.txt” has 200,010 B, and the URL serves 200,010 B. They differ from offset 200,000 on."
            ),
            Row(
                testDescription: "404",
                answer: .status(404),
                result: "gone",
                status: 1,
                line: "The server responded with status 404, so the file “a.txt” is the only copy. "
                    + "Remove the entry if nothing requests its URL."
            ),
            Row(
                testDescription: "410",
                answer: .status(410),
                result: "gone",
                status: 1,
                line: "The server responded with status 410, so the file “a.txt” is the only copy. "
                    + "Remove the entry if nothing requests its URL."
            ),
            Row(
                testDescription: "401 with a challenge",
                answer: LoopbackServer.Answer(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"x\"")]),
                result: "unreachable",
                status: 75,
                line: "The server responded with status 401. Open the URL to see why."
            ),
            Row(
                testDescription: "403",
                answer: .status(403),
                result: "unreachable",
                status: 75,
                line: "The server responded with status 403. Open the URL to see why."
            ),
            Row(
                testDescription: "503",
                answer: .status(503),
                result: "unreachable",
                status: 75,
                line: "The server responded with status 503. Open the URL to see why."
            ),
            Row(
                testDescription: "204, which is no answer for a file",
                answer: .status(204),
                result: "unreachable",
                status: 75,
                line: "The server responded with status 204. Open the URL to see why."
            ),
            Row(
                testDescription: "the entry's own status",
                value: #"{ "file": "a.txt", "status": 404 }"#,
                answer: LoopbackServer.Answer(status: 404, body: Data("hello".utf8)),
                result: "same",
                status: 0,
                line: nil
            ),
            Row(
                testDescription: "a redirect without a target or body",
                value: #"{ "file": "a.txt", "status": 301 }"#,
                answer: .status(301),
                result: "unreachable",
                status: 75,
                line: "The server responded with status 301. Open the URL to see why."
            ),
        ]
    }

    @Test("It compares a file with what its URL serves now", arguments: Row.all)
    func compare(_ row: Row) async throws {
        let origin = try LoopbackServer(routes: ["/a": row.answer])
        defer { origin.stop() }
        try writeMap(origin, [("/a", row.value)], files: ["a.txt": row.file])
        let run = try await folder.substitute("check", "--remote")
        #expect(run.status == row.status)
        let key = origin.url("/a").absoluteString
        let expected = row.line.map { ["substitutions.json:2: \(row.result): “\(key)”: \($0)"] } ?? []
        #expect(run.lines.filter { $0.contains("“\(key)”") && !$0.contains(": warning: ") } == expected)
        #expect(run.lines.contains { $0.hasPrefix("1 URL: ") && $0.contains("1 \(row.result)") })

        let report = try await folder.substitute("check", "--remote", "--json").json(Report.self)
        let entry = try #require(report.remote?.entries.first)
        #expect((entry.key, entry.line, entry.url, entry.file) == (key, 2, key, "a.txt"))
        #expect(entry.result == row.result)
        #expect(entry.bytes == row.file.utf8.count)
        #expect(try text("a.txt") == row.file)
    }

    @Test("No response, or half of one, is unreachable, and the file is left alone")
    func faults() async throws {
        let origin = try LoopbackServer(routes: [
            "/dropped": .text("hello").failing(.dropBeforeHead),
            "/half": .text("other bytes").failing(.dropAfter(bodyBytes: 4)),
        ])
        defer { origin.stop() }
        try writeMap(
            origin,
            [
                ("/dropped", #""a.txt""#), ("/half", #""b.txt""#),
                ("http://nowhere.invalid/c", #""c.txt""#), ("http://127.0.0.1:1/d", #""d.txt""#),
            ],
            files: ["a.txt": "a", "b.txt": "b", "c.txt": "c", "d.txt": "d"]
        )
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == 75)
        #expect(run.lines.count { $0.contains(": unreachable: “") } == 4)
        #expect(run.output.hasSuffix("\n4 URLs: 0 same, 0 changed, 0 updated, 0 gone, 4 unreachable\n"))
        for name in ["a", "b", "c", "d"] { #expect(try text("\(name).txt") == name) }
    }

    @Test("Requests are plain: without cache or cookies, and redirects are followed")
    func plain() async throws {
        let origin = try LoopbackServer(routes: [
            "/a": .redirect(to: "/b"),
            "/b": LoopbackServer.Answer(headers: [("Cache-Control", "max-age=1000")], body: Data("hello".utf8)),
            "/c": LoopbackServer.Answer(headers: [("Set-Cookie", "id=1; Path=/")], body: Data("hello".utf8)),
        ])
        defer { origin.stop() }
        // More URLs than are loaded at a time, so that later requests could send what earlier ones received.
        let entries = (0..<20).map { ("/c?\($0)", #""a.txt""#) } + [("/a", #""a.txt""#), ("/b", #""a.txt""#)]
        try writeMap(origin, entries, files: ["a.txt": "hello"])
        let run = try await folder.substitute("check", "--remote")
        #expect(run.status == 0)
        #expect(run.output.hasSuffix("22 URLs: 22 same, 0 changed, 0 gone, 0 unreachable\n"))
        #expect(origin.requestCount(path: "/a") == 1)
        #expect(origin.requestCount(path: "/b") == 2)
        #expect(origin.requests.allSatisfy { $0.header("Cookie") == nil && $0.header("Authorization") == nil })
    }

    @Test("It only requests what a GET of one URL can check")
    func chosen() async throws {
        let origin = try LoopbackServer { _ in .text("hello") }
        defer { origin.stop() }
        try writeMap(
            origin,
            [
                ("/exact", #""a.txt""#), ("/never", "null"), ("/status", #"{ "status": 404 }"#),
                ("/off", #"{ "file": "a.txt", "enabled": false }"#),
                ("/post", #"{ "file": "a.txt", "methods": ["POST"] }"#),
                ("/all", #"{ "file": "a.txt", "methods": ["*"] }"#),
                ("/when", #"{ "file": "a.txt", "when": { "headers": { "X-Plan": "pro" } } }"#),
                ("/list", #"[{ "file": "b.txt", "methods": ["POST"] }, "a.txt"]"#),
                ("/object", #"{ "alternatives": [{ "file": "a.txt", "delay": 1 }], "ignoreQuery": true }"#),
                ("/lateList", #"[{ "file": "b.txt", "when": { "query": { "a": "b" } } }, "a.txt"]"#),
                ("/countedList", #"[{ "file": "b.txt", "times": 1 }, "a.txt"]"#),
                ("/textList", #"[{ "text": "b", "methods": ["GET"] }, { "file": "b.txt", "methods": ["PUT"] }]"#),
                ("/offList", #"{ "alternatives": ["a.txt"], "enabled": false }"#),
                ("http://127.0.0.1:\(origin.port)/pattern/*", #""a.txt""#),
                ("/later?b=2&a=1", #"{ "file": "a.txt", "use": "whenOffline" }"#),
            ],
            files: ["a.txt": "hello", "b.txt": "other"]
        )
        let run = try await folder.substitute("check", "--remote")
        #expect(run.status == 0)
        #expect(Set(origin.requests.map(\.target)) == ["/exact", "/all", "/list", "/object", "/later?b=2&a=1"])
        #expect(run.lines.dropLast().last == "5 URLs: 5 same, 0 changed, 0 gone, 0 unreachable")
    }

    @Test("It replaces an alternative's file, and names its line")
    func alternative() async throws {
        let origin = try LoopbackServer { _ in .text("newer") }
        defer { origin.stop() }
        let list = "[\n{ \"text\": \"x\", \"methods\": [\"POST\"] },\n\"a.txt\"\n]"
        try writeMap(origin, [("/list", list)], files: ["a.txt": "hello"])
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(
            run.lines.contains {
                $0.hasPrefix("substitutions.json:4: updated: “\(origin.url("/list"))”: The file “a.txt”")
            }
        )
        #expect(try text("a.txt") == "newer")
    }

    @Test("It compares the valid entries of a map with errors, which are listed first")
    func brokenMap() async throws {
        let origin = try LoopbackServer { _ in .text("hello") }
        defer { origin.stop() }
        try writeMap(
            origin,
            [("/a", #""a.txt""#), ("/b", #""missing.txt""#), ("/c", #""c.txt""#)],
            files: ["a.txt": "hello", "c.txt": "other"]
        )
        let run = try await folder.substitute("check", "--remote")
        #expect(run.status == 1)
        #expect(run.lines[0].hasPrefix("substitutions.json:3: error: "))
        #expect(run.lines[1] == "2 entries in use, 1 error, 0 warnings")
        #expect(run.lines[2].hasPrefix("substitutions.json:4: changed: "))
        #expect(run.lines[3] == "2 URLs: 1 same, 1 changed, 0 gone, 0 unreachable")
    }

    @Test(
        "A map with errors is a failure even if its files are the same, and nothing is requested if it isn't JSON"
    )
    func statusOfBrokenMap() async throws {
        let origin = try LoopbackServer { _ in .text("hello") }
        defer { origin.stop() }
        try writeMap(origin, [("/a", #""a.txt""#), ("/b", "5")], files: ["a.txt": "hello"])
        #expect(try await folder.substitute("check", "--remote").status == 1)
        let asked = origin.requests.count
        try folder.writeMap("{ \"\(origin.url("/a"))\": ")
        let run = try await folder.substitute("check", "--remote", "--json")
        #expect(run.status == 1)
        let report = try run.json(Report.self)
        #expect(report.errors == 1 && report.remote == nil)
        #expect(origin.requests.count == asked)
    }

    @Test("A changed file outweighs an unreachable one")
    func worst() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("other"), "/b": .status(500)])
        defer { origin.stop() }
        try writeMap(origin, [("/a", #""a.txt""#), ("/b", #""b.txt""#)], files: ["a.txt": "a", "b.txt": "b"])
        #expect(try await folder.substitute("check", "--remote").status == 1)
    }

    @Test("It loads six URLs at a time")
    func sixAtATime() async throws {
        let meeting = Meeting(of: 6)
        // Two origins, since a session opens six connections to each by default.
        let origins = try (0..<2).map { _ in
            try LoopbackServer { request in
                meeting.attend()
                return .text(request.path)
            }
        }
        defer { for origin in origins { origin.stop() } }
        let entries = (0..<24).map { (origins[$0 % 2].url("/\($0)").absoluteString, "\"\($0).txt\"") }
        let files = Dictionary(uniqueKeysWithValues: (0..<24).map { ("\($0).txt", "/\($0)") })
        try writeMap(origins[0], entries, files: files)
        let run = try await folder.substitute("check", "--remote")
        #expect(run.status == 0)
        #expect(meeting.largest == 6)
        #expect(!run.messages.contains("URLs"), "progress is for terminals")
    }

    // MARK: Updating

    @Test("--update replaces only changed files, which then aren't failures")
    func update() async throws {
        let origin = try LoopbackServer(routes: [
            "/a": .text("new"), "/b": .text("b"), "/c": .status(404), "/sub": .text("new too"),
        ])
        defer { origin.stop() }
        try writeMap(
            origin,
            [("/a", #""a.txt""#), ("/b", #""b.txt""#), ("/sub", #""sub/s.txt""#)],
            files: ["a.txt": "old", "b.txt": "b", "sub/s.txt": "old too"]
        )
        let map = try folder.contents("substitutions.json")
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == 0)
        let key = origin.url("/a").absoluteString
        #expect(
            run.lines.contains(
                "substitutions.json:2: updated: “\(key)”: The file “a.txt” had 3 B, and the URL serves 3 B. "
                    + "They differ from offset 0 on. The file was replaced."
            )
        )
        #expect(run.output.hasSuffix("3 URLs: 1 same, 0 changed, 2 updated, 0 gone, 0 unreachable\n"))
        #expect(try text("a.txt") == "new")
        #expect(try text("b.txt") == "b")
        #expect(try text("sub/s.txt") == "new too")
        #expect(try folder.contents("substitutions.json") == map)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path("Resources"))
        #expect(names.sorted() == ["a.txt", "b.txt", "sub", "sub/s.txt"])
        #expect(try await folder.substitute("check", "--remote").status == 0)
    }

    /// The responses of the URLs of two entries for one file, and the outcome.
    struct Sharing: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let answers: [LoopbackServer.Answer]
        /// The file's text afterwards. Before, it's “old”.
        let text: String
        /// Why the file is left alone.
        var reason: String?
        var files = ["a.txt", "a.txt"]

        static let all = [
            Sharing(testDescription: "the same", answers: [.text("new"), .text("new")], text: "new"),
            Sharing(
                testDescription: "different bytes",
                answers: [.text("new"), .text("newer")],
                text: "old",
                reason: "The file wasn't replaced. Several entries use the file, but their URLs serve different bytes. "
                    + "Give each entry its own file."
            ),
            Sharing(
                testDescription: "one as before",
                answers: [.text("old"), .text("new")],
                text: "old",
                reason:
                    "replaced. Several entries use the file, but their URLs serve different bytes. "
                    + "Give each entry its own file."
            ),
            Sharing(
                testDescription: "one gone",
                answers: [.text("new"), .status(404)],
                text: "old",
                reason:
                    "The entry “ORIGIN/1” also uses the file, but its URL couldn't be compared. Correct that entry first."
            ),
            Sharing(
                testDescription: "one that is not reached",
                answers: [.status(500), .text("new")],
                text: "old",
                reason:
                    "The entry “ORIGIN/0” also uses the file, but its URL couldn't be compared. Correct that entry first."
            ),
            Sharing(
                testDescription: "different bytes for two names of one file",
                answers: [.text("new"), .text("newer")],
                text: "old",
                reason:
                    "replaced. Several entries use the file, but their URLs serve different bytes. "
                    + "Give each entry its own file.",
                files: ["a.txt", "link.txt"]
            ),
        ]
    }

    @Test(
        "--update leaves a file of several entries alone unless all URLs serve the same bytes",
        arguments: Sharing.all
    )
    func shared(_ sharing: Sharing) async throws {
        let answers = sharing.answers
        let origin = try LoopbackServer(routes: ["/0": answers[0], "/1": answers[1]])
        defer { origin.stop() }
        try folder.write("old", to: "Resources/a.txt")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("Resources/link.txt"),
            withDestinationPath: "a.txt"
        )
        let entries = sharing.files.enumerated().map { ("/\($0)", "\"\($1)\"") }
        try writeMap(origin, entries, files: [:])
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == (sharing.reason == nil ? 0 : 1))
        #expect(try text("a.txt") == sharing.text)
        let base = String(origin.baseURL.absoluteString.dropLast())
        if let reason = sharing.reason { #expect(run.output.contains(reason.replacing("ORIGIN", with: base))) }
    }

    @Test("--update leaves a file alone that's also a piece of a stream", arguments: ["a.txt", "link.txt"])
    func piece(file: String) async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("new")])
        defer { origin.stop() }
        try folder.write("old", to: "Resources/a.txt")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("Resources/link.txt"),
            withDestinationPath: "a.txt"
        )
        let stream = #"[{ "times": 1, "status": 503 }, { "stream": ["x", { "file": "\#(file)" }] }]"#
        try writeMap(origin, [("/a", #""a.txt""#), ("/s", stream)], files: [:])
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == 1)
        #expect(try text("a.txt") == "old")
        #expect(run.output.contains("wasn't replaced. The file is also a piece of the stream of the entry “"))
        #expect(run.output.contains("1 URL: 0 same, 1 changed"))
        let check = try await folder.substitute("check", "--remote")
        #expect(!check.output.contains("piece of the stream"))
    }

    @Test("--update writes to the target of a link inside the folder, and keeps the link")
    func link() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("new")])
        defer { origin.stop() }
        try folder.write("old", to: "Resources/real/a.txt")
        let link = folder.path("Resources/link.txt")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real/a.txt")
        try writeMap(origin, [("/a", #""link.txt""#)], files: [:])
        #expect(try await folder.substitute("check", "--remote", "--update").status == 0)
        #expect(try text("real/a.txt") == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real/a.txt")
    }

    @Test("--update writes nothing outside, even if a link replaces a file while its URL is loaded")
    func swapped() async throws {
        let resources = folder.path("Resources")
        try folder.write("secret", to: "outside.txt")
        try folder.write("old", to: "Resources/sub/outside.txt")
        let origin = try LoopbackServer { _ in
            try? FileManager.default.removeItem(atPath: "\(resources)/sub")
            try? FileManager.default.createSymbolicLink(atPath: "\(resources)/sub", withDestinationPath: "..")
            return .text("new")
        }
        defer { origin.stop() }
        try writeMap(origin, [("/a", #""sub/outside.txt""#)], files: [:])
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == 1)
        #expect(
            run.output.contains(
                "The file wasn't replaced. Another program changed or removed the file while its URL was loaded. "
            )
        )
        #expect(String(decoding: try folder.contents("outside.txt"), as: UTF8.self) == "secret")
    }

    @Test("--update doesn't write through a resources folder that's a link")
    func linkedFolder() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("new")])
        defer { origin.stop() }
        try folder.write("old", to: "elsewhere/a.txt")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("Resources"),
            withDestinationPath: "elsewhere"
        )
        try folder.write("{ \"\(origin.url("/a").absoluteString)\": \"a.txt\" }", to: "substitutions.json")
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == 1)
        #expect(run.output.contains("/Resources” is a symbolic link. Replace it with a folder."))
        #expect(String(decoding: try folder.contents("elsewhere/a.txt"), as: UTF8.self) == "old")
    }

    @Test("--update waits for a command that's changing the folder")
    func turn() async throws {
        try folder.write("old", to: "Resources/a.txt")
        let descriptor = open(folder.path("Resources"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        let isFirst = Guarded(true)
        let origin = try LoopbackServer { _ in
            // Another command begins while the URL is requested for the first time.
            if isFirst.withLock({ $0 }) { _ = flock(descriptor, LOCK_EX) }
            return .text("new")
        }
        defer { origin.stop() }
        try writeMap(origin, [("/a", #""a.txt""#)], files: [:])
        let words = ["check", "--remote", "--update"]
        // It's killed, since it would wait as long as the other command runs.
        let waiting = try await folder.substitute(words, limit: .seconds(3))
        #expect(!waiting.hasExited)
        #expect(origin.requests.count == 1)
        #expect(try text("a.txt") == "old")
        isFirst.withLock { $0 = false }
        _ = flock(descriptor, LOCK_UN)
        #expect(try await folder.substitute(words).status == 0)
        #expect(try text("a.txt") == "new")
    }

    @Test("--update removes what a killed command left, even if nothing has changed", arguments: ["same", "new"])
    func leftovers(_ served: String) async throws {
        let origin = try LoopbackServer(routes: ["/a": .text(served)])
        defer { origin.stop() }
        let leftover = ".0123456789abcdef0123456789abcdef.edit"
        try writeMap(origin, [("/a", #""a.txt""#)], files: ["a.txt": "same", "sub/\(leftover)": "half"])
        #expect(try await folder.substitute("check", "--remote").status == (served == "same" ? 0 : 1))
        #expect(folder.exists("Resources/sub/\(leftover)"))
        #expect(try await folder.substitute("check", "--remote", "--update").status == 0)
        #expect(!folder.exists("Resources/sub/\(leftover)"))
        #expect(try text("a.txt") == served)
    }

    @Test("--update loses no edit that's made while the URL is loaded")
    func edited() async throws {
        let file = URL(fileURLWithPath: folder.path("Resources/a.txt"))
        let origin = try LoopbackServer { _ in
            try? Data("edited".utf8).write(to: file)
            return .text("new")
        }
        defer { origin.stop() }
        try writeMap(origin, [("/a", #""a.txt""#)], files: ["a.txt": "old"])
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == 1)
        #expect(try text("a.txt") == "edited")
    }

    @Test("--update doesn't replace a picture with a page")
    func errorPage() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("<!DOCTYPE html><p>Not found", type: "text/html")])
        defer { origin.stop() }
        try writeMap(origin, [("/a", #""a.gif""#)], files: ["a.gif": "GIF89a......"])
        let run = try await folder.substitute("check", "--remote", "--update")
        #expect(run.status == 1)
        #expect(run.output.contains("but the first bytes that the URL serves say otherwise: text/html."))
        #expect(try text("a.gif") == "GIF89a......")
    }

    @Test("--update without --remote is refused")
    func usage() async throws {
        try folder.writeMap("{}")
        let run = try await folder.substitute("check", "--update")
        #expect(run.status == 64)
        #expect(run.messages.contains("--update needs --remote"))
    }

    @Test("No control character of a key reaches the terminal")
    func controlCharacters() async throws {
        let origin = try LoopbackServer { _ in .text("other") }
        defer { origin.stop() }
        try writeMap(origin, [("\(origin.baseURL)\\u001b[2J", #""a.txt""#)], files: ["a.txt": "hello"])
        let run = try await folder.substitute("check", "--remote")
        #expect(run.status == 1)
        #expect(run.output.contains(": changed: “"))
        #expect(!run.output.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }
}

/// Requests that wait for each other, which shows all that run at the same time.
private final class Meeting: Sendable {
    private let size: Int
    private let condition = NSCondition()
    private nonisolated(unsafe) var present = 0
    private nonisolated(unsafe) var arrived = 0
    private nonisolated(unsafe) var most = 0

    init(of size: Int) { self.size = size }

    var largest: Int { condition.withLock { most } }

    /// Waits until a full round has arrived.
    func attend() {
        condition.withLock {
            present += 1
            arrived += 1
            most = max(most, present)
            let round = (arrived + size - 1) / size * size
            condition.broadcast()
            while arrived < round, condition.wait(until: Date().addingTimeInterval(10)) {}
            // A request too many would arrive now, while the whole first round is still here.
            let end = Date().addingTimeInterval(0.3)
            while round == size, most <= size, condition.wait(until: end) {}
            present -= 1
        }
    }
}
