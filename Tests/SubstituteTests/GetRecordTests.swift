import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionRecording
import LoopbackOrigin
import MapTools
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("substitute get --cache-only, --record, --offline", .sessions)
struct GetRecordTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("Requests that aren't offered to a cache are answered, except with --cache-only")
    func cacheOnly() async throws {
        try folder.writeMap(#"{ "http://nowhere.invalid/a": "a.txt" }"#, files: ["a.txt": "local"])
        let words = ["get", "--header", "Authorization: x", "http://nowhere.invalid/a"]
        #expect(try await folder.substitute(words + ["--cache-only"]).status == 1)
        let run = try await folder.substitute(words)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("matched ← a.txt"))
    }

    @Test("--record keeps responses, which answer once the origin is gone, and says what it doesn't keep")
    func record() async throws {
        let origin = try LoopbackServer(routes: [
            "/page": .text("<p>", type: "text/html"), "/no": .status(500),
            "/events": .text("data: a\n\n", type: "text/event-stream"),
        ])
        let urls = ["/page", "/no", "/events"].map { origin.url($0).absoluteString }
        let first = try await folder.substitute(["get", "--record", "kept"] + urls)
        #expect(first.status == 1)
        #expect(first.messages.contains("not recorded \(urls[1]): the status is 500, which isn't recorded"))
        #expect(first.messages.contains("2 responses new or changed in "))
        #expect(try folder.contents("kept/substitutions.json").range(of: Data(#""secondsPerEvent": 0"#.utf8)) != nil)
        origin.stop()
        for words in [["--record", "kept"], ["--record", "kept", "--offline"], ["--map", "kept/substitutions.json"]] {
            let run = try await folder.substitute(["get"] + words + [urls[0]])
            #expect(
                run.output.hasPrefix("matched ← 127.0.0.1_\(origin.port)/page.html  200  text/html"),
                "\(words)"
            )
        }
        let missing = try await folder.substitute(["get", "--record", "kept", "--offline", urls[1]])
        #expect(missing.status == 1)
        #expect(!missing.messages.contains("new or changed"))
        #expect(missing.messages.contains("No entry matches this request, and it can't use the network."))
    }

    @Test(
        "--record keeps files where the map's files are",
        arguments: [
            ([], "kept/Substitutes"), (["kept/Resources/x.txt"], "kept/Resources"),
            (["kept/Resources/x.txt", "kept/Substitutes/mine.txt"], "kept/Substitutes"), (["kept/mine.txt"], "kept"),
        ]
    )
    func place(files: [String], place: String) async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("network")])
        defer { origin.stop() }
        for file in files { try folder.write("mine", to: file) }
        let hasOwn = files.contains { $0.hasSuffix("mine.txt") }
        try folder.write(hasOwn ? #"{ "https://h.com/mine": "mine.txt" }"# : "{}", to: "kept/substitutions.json")
        #expect(try await folder.substitute("get", "--record", "kept", origin.url("/a").absoluteString).status == 0)
        #expect(folder.exists("\(place)/127.0.0.1_\(origin.port)/a.txt"))
        #expect(folder.exists("kept/Substitutes") == place.hasSuffix("Substitutes"))
        let check = try await folder.substitute("check", "--map", "kept/substitutions.json")
        #expect(check.output.contains("\(hasOwn ? "2 entries" : "1 entry") in use, 0 errors"), "\(check.output)")
    }

    @Test("A recording sends the type that the origin sent, from two lines, too", arguments: ["get", "serve"])
    func types(command: String) async throws {
        let types = [
            "/two": ["text/html", "text/html; charset=koi8-r"], "/invalid": ["text/css", "text"], "/none": [],
            "/charset": ["text/html"],
        ]
        let origin = try LoopbackServer { request in
            LoopbackServer.Answer(
                headers: (types[request.path] ?? []).map { ("Content-Type", $0) },
                body: Data("<!doctype html><meta charset=iso-2022-jp>\u{1B}$B4A;z\u{1B}(B".utf8)
            )
        }
        defer { origin.stop() }
        let expected = [
            "/two": "text/html; charset=koi8-r", "/invalid": "text/css", "/none": "text/html", "/charset": "text/html",
        ]
        if command == "serve" {
            let base = String(origin.baseURL.absoluteString.dropLast())
            let server = try await ServerProcess(in: folder, ["--record", "kept", "--origin", base])
            for path in expected.keys { _ = try await URLSession.shared.data(from: server.url(path)) }
            #expect(try await server.end().status == 0)
        } else {
            let urls = expected.keys.map { origin.url($0).absoluteString }
            #expect(try await folder.substitute(["get", "--record", "kept"] + urls).status == 0)
        }
        for (path, type) in expected {
            let url = origin.url(path).absoluteString
            let run = try await folder.substitute("get", "--record", "kept", "--offline", "--json", url)
            struct Record: Decodable { let type: String }
            #expect(try run.json([Record].self).map(\.type) == [type])
        }
    }

    @Test("A recorded response that the network says is current is confirmed")
    func confirmed() async throws {
        let origin = try LoopbackServer { request in
            request.header("If-None-Match") == "\"1\""
                ? .status(304)
                : LoopbackServer.Answer(
                    headers: [("ETag", "\"1\""), ("Content-Type", "text/html")],
                    body: Data("<p>page".utf8)
                )
        }
        defer { origin.stop() }
        let words = ["get", "--record", "kept", origin.url("/").absoluteString]
        for source in ["network", "confirmed"] {
            #expect(try await folder.substitute(words).output.hasPrefix("\(source)  200  text/html  7 B  "))
        }
        #expect(
            try await folder.substitute(words + ["--json"]).json([GetTests.Record].self).map(\.source) == ["confirmed"]
        )
    }

    static let refusals: [(words: [String], path: String, reason: String)] = [
        ([], "/a?access_token=x", "the URL's parameter “access_token” may be a credential"),
        ([], "/a;jsessionid=x", "the URL's parameter “jsessionid” may be a credential"),
        (["--header", "Authorization: Basic eDp5"], "/a", "the request has the header “Authorization”"),
        (["--header", "Cookie: a=b"], "/a", "the request has the header “Cookie”"),
        (["--method", "POST"], "/a", "the method is POST; only GET is recorded"),
        (["--data", "x", "--method", "PUT"], "/a", "the method is PUT; only GET is recorded"),
        (["--method", "HEAD"], "/a", "the method is HEAD; only GET is recorded"),
        ([], "/no/a", "the entry “http://127.0.0.1:*/no/*” in the recorder's map excludes the URL"),
        (["--range", "0-0"], "/part", "the response is only a part of the file (status 206)"),
        ([], "/private", "the response's Cache-Control says “private”"),
        ([], "/401", "the status is 401, which isn't recorded"),
        ([], "/a?page=2&api_key=x", "the URL's parameter “api_key” may be a credential"),
        (["--method", "DELETE"], "/a", "the method is DELETE; only GET is recorded"),
        ([], "/no-store", "the response's Cache-Control says “no-store”"),
    ]

    @Test("What --record doesn't save is named with the reason, and the exit status is 1", arguments: refusals)
    func refused(words: [String], path: String, reason: String) async throws {
        let origin = try LoopbackServer { request in
            switch request.path {
            case "/part":
                LoopbackServer.Answer(status: 206, headers: [("Content-Range", "bytes 0-0/2")], body: Data("a".utf8))
            case "/private": LoopbackServer.Answer(headers: [("Cache-Control", "private")], body: Data("a".utf8))
            case "/no-store":
                LoopbackServer.Answer(headers: [("Cache-Control", "max-age=0, no-store")], body: Data("a".utf8))
            case "/401": .status(401)
            default: .text("a")
            }
        }
        defer { origin.stop() }
        try folder.write(#"{ "http://127.0.0.1:*/no/*": null }"#, to: "kept/substitutions.json")
        let (url, kept) = (origin.url(path).absoluteString, origin.url("/kept").absoluteString)
        let run = try await folder.substitute(["get", "--record", "kept", "--json"] + words + [url])
        #expect(run.status == 1)
        #expect(run.messages.contains("not recorded \(url): \(reason)\n"), "\(run.messages)")
        struct Record: Decodable { let notRecorded: String? }
        #expect(try run.json([Record].self).map(\.notRecorded) == [reason])

        let both = try await folder.substitute([
            "get", "--record", "kept", "--json", kept, origin.url("/401").absoluteString,
        ])
        #expect(both.status == 1)
        #expect(try both.json([Record].self).map { $0.notRecorded == nil } == [true, false])
        #expect(try await folder.substitute("get", "--record", "kept", kept).status == 0)
    }

    @Test(
        "Of several responses to one URL, each has its own reason",
        arguments: [
            (["/500", "/200"], [500, nil]), (["/200", "/500"], [nil, 500]),
            (["/500", "/401", "/200"], [500, 401, nil]), (["/200", "/redirect", "/200"], [nil, 401, nil]),
        ]
    )
    func repeated(targets: [String], statuses: [Int?]) async throws {
        let count = Guarded(0)
        // Each request is answered in its turn.
        let origin = try LoopbackServer { request in
            guard request.path == "/a" else { return .status(401) }
            let target = count.withLock { count in
                defer { count += 1 }
                return targets[count]
            }
            if target == "/redirect" { return .redirect(to: "/401") }
            return LoopbackServer.Answer(status: Int(target.dropFirst()) ?? 0, body: Data(target.utf8))
        }
        defer { origin.stop() }
        let urls = targets.map { _ in origin.url("/a").absoluteString }
        let run = try await folder.substitute(["get", "--record", "kept", "--json"] + urls)
        #expect(run.status == 1)
        struct Record: Decodable { let notRecorded: String? }
        let reasons = statuses.map { $0.map { "the status is \($0), which isn't recorded" } }
        #expect(try run.json([Record].self).map(\.notRecorded) == reasons)
    }

    @Test("A recording that can't be saved is an error")
    func unsavedRecording() async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("a"), "/b": .text("b")])
        defer { origin.stop() }
        let words = ["get", "--record", "kept"]
        #expect(try await folder.substitute(words + [origin.url("/a").absoluteString]).status == 0)
        let temporary = ".\(Digest.hexadecimal(of: Data("substitutions.json".utf8))).part"
        try folder.write("", to: "kept/\(temporary)/in-the-way")
        let run = try await folder.substitute(words + [origin.url("/b").absoluteString])
        #expect(run.status == 1)
        #expect(run.output.hasPrefix("network  200"))
        #expect(run.messages.contains("Not everything was recorded. “substitutions.json” can't be written: "))
        #expect(!run.messages.contains("new or changed"))
    }

    @Test(
        "If standard streams are closed, nothing is written into a file that's opened in their place",
        arguments: ["<&- >&- 2>&-", "<&- 2>&-", ">&- 2>&-", "2>&-"]
    )
    func closedStreams(redirections: String) async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("a"), "/no": .status(500)])
        defer { origin.stop() }
        let script = #"exec "$0" get --record kept "$1" "$2" \#(redirections)"#
        let urls = ["/a", "/no"].map { origin.url($0).absoluteString }
        let words = ["-c", script, try Executable.substitute().path] + urls
        let run = try await folder.run(URL(fileURLWithPath: "/bin/sh"), words)
        #expect(run.hasExited)
        #expect(run.status == 1)
        let lock = String(decoding: try folder.contents("kept/.recorder.lock"), as: UTF8.self)
        #expect(Int(lock.dropLast()) != nil, "\(lock)")
        #expect(try folder.contents("kept/.recorder.journal").isEmpty)
    }

    @Test("--offline doesn't use the network")
    func offline() async throws {
        let origin = try LoopbackServer(routes: ["/page": .text("network")])
        defer { origin.stop() }
        try folder.writeMap("{}", files: [:])
        let run = try await folder.substitute("get", "--offline", origin.url("/page").absoluteString)
        #expect(run.status == 1)
        #expect(run.messages.contains("  attached:     unmatched, because the map has no entries\n"))
        #expect(origin.requests.isEmpty)
    }

    @Test("A second process can't use the folder")
    func twoProcesses() async throws {
        let recorder = try SubstitutionRecorder(folder: folder.url.appendingPathComponent("kept"))
        defer { recorder.close() }
        let run = try await folder.substitute("get", "--record", "kept", "http://nowhere.invalid/a")
        #expect(run.status == 1)
        #expect(run.messages.contains("is in use by another recorder"))
        #expect(run.messages.contains("Close that recorder first"))
    }

    @Test("If it's killed at any moment, the folder is a map with whole files and matching validators")
    func killed() async throws {
        let generation = Guarded(0)
        // Every second response is new, so files are replaced all the time.
        let origin = try LoopbackServer { request in
            let number = generation.withLock { generation in
                generation += 1
                return generation / 2
            }
            let body = Self.body(of: request.path, number)
            return LoopbackServer.Answer(
                headers: [("Content-Type", "text/plain; charset=utf-8"), ("ETag", "\"\(number)\"")],
                body: body
            )
        }
        defer { origin.stop() }
        let urls = (0..<160).map { origin.url("/\($0 % 40).txt").absoluteString }
        let kept = folder.url.appendingPathComponent("kept")
        let words = ["get", "--record", "kept"] + urls
        let start = ContinuousClock.now
        #expect(try await folder.substitute(words).status == 0)
        let whole = Int((ContinuousClock.now - start) / .milliseconds(1))
        var found = 0
        // At moments that are spread over the whole time, each a little off, since runs differ.
        let rounds = 30
        for round in 1...rounds {
            let moment = max(5, (whole * round - .random(in: 0...whole)) / rounds)
            _ = try await folder.substitute(words, limit: .milliseconds(moment))
            found += try check(kept)
        }
        #expect(found > 100)
        // Unknown files are gone once the folder has been opened again.
        try SubstitutionRecorder(folder: kept).close()
        let map = try SubstitutionMap(contentsOf: kept.appendingPathComponent("substitutions.json"))
        #expect(MapReview(map).warnings.isEmpty)
    }

    private static func body(of path: String, _ number: Int) -> Data {
        Data((String(repeating: "\(path) \(number)\n", count: 500) + "end").utf8)
    }

    private struct Records: Decodable {
        struct Record: Decodable {
            let file: String
            let etag: String?
        }

        let responses: [String: Record]
    }

    /// Checks what a killed process has left. Returns the number of files.
    private func check(_ kept: URL) throws -> Int {
        let cache = try LocalSubstitutionCache(contentsOf: kept.appendingPathComponent("substitutions.json"))
        let keys = try JSONDecoder()
            .decode([String: String].self, from: Data(contentsOf: kept.appendingPathComponent("substitutions.json")))
            .keys
        let records = try? JSONDecoder()
            .decode(Records.self, from: Data(contentsOf: kept.appendingPathComponent("recorder.json")))
        for key in keys {
            let url = try #require(URL(string: key))
            let file = try #require(cache.explain(URLRequest(url: url)).file)
            let contents = try Data(contentsOf: file)
            let number = try #require(
                Int(String(decoding: contents, as: UTF8.self).prefix { $0 != "\n" }.split(separator: " ")[1])
            )
            #expect(contents == Self.body(of: url.path, number))
            if let record = records?.responses[key], file.path.hasSuffix("/Substitutes/" + record.file),
                let tag = record.etag
            {
                #expect(tag == "\"\(number)\"")
            }
        }
        return keys.count
    }
}
