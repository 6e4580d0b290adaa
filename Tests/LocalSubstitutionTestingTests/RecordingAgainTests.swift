#if os(Linux) || os(macOS)
import Foundation
import Guarded
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

/// A map that was recorded, an API that has changed since, and a run that records everything again.
@Suite("Recording again", .threads, .timeLimit(.minutes(5)))
struct RecordingAgainTests {
    /// A map and its files in a folder, and what an origin answers.
    private struct Site {
        let folder: TemporaryFolder
        let origin: LoopbackServer
        let file: URL

        /// - Parameters:
        ///   - map: The map, with `@` in place of the origin's URL.
        ///   - answers: By method and path, the answers in their order. The last one goes on.
        init(
            _ map: String,
            files: [String: String] = ["a.txt": "old", "b.txt": "old b"],
            _ answers: [String: [LoopbackServer.Answer]]
        ) throws {
            let rest = Guarded(answers)
            folder = try TemporaryFolder()
            origin = try LoopbackServer { request in
                rest.withLock { rest in
                    let name = "\(request.method) \(request.path.dropFirst())"
                    guard let answers = rest[name], let next = answers.first else { return .text("fresh \(name)") }
                    if answers.count > 1 { rest[name]?.removeFirst() }
                    return next
                }
            }
            file = try folder.write("map.json", map.replacingOccurrences(of: "@", with: origin.baseURL.absoluteString))
            for (name, text) in files { try folder.write(name, text) }
        }

        var map: String {
            get throws {
                try String(contentsOf: file, encoding: .utf8)
                    .replacingOccurrences(of: origin.baseURL.absoluteString, with: "@")
                    .replacingOccurrences(of: "127.0.0.1_\(origin.port)", with: "host")
            }
        }

        func text(_ name: String) throws -> String {
            let name = name.replacingOccurrences(of: "host", with: "127.0.0.1_\(origin.port)")
            return try String(contentsOf: folder.file(name), encoding: .utf8)
        }

        /// The names of the files in the folder.
        var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
        }

        func run(
            _ first: String,
            in test: String = "first",
            second: String = "",
            value: String = "all",
            environment: [String: String] = [:]
        ) async throws -> ChildProcess {
            try await ChildProcess.run(
                test.contains("/") ? test : "ChildAgain/\(test)\\(",
                environment: [
                    ChildRecording.mapVariable: file.path,
                    ChildRecording.originVariable: origin.baseURL.absoluteString,
                    "\(ChildAgain.requestsVariable)_first": first, "\(ChildAgain.requestsVariable)_second": second,
                    "LOCAL_SUBSTITUTION_RECORD": value,
                ].merging(environment) { $1 }
            )
        }
    }

    @Test(
        "A recorded answer is replaced, and what a recording doesn't write stays",
        arguments: [
            (#""a.txt""#, "GET a", .text("new"), #""a.txt""#, "new"),
            (#"{ "file": "a.txt" }"#, "GET a", .text("old"), #"{ "file": "a.txt" }"#, "old"),
            (
                #"{ "comment": "c", "delay": 0.01, "file": "a.txt", "status": 404, "ignoreQuery": true }"#, "GET a?x=1",
                .text("new"), #"{ "comment": "c", "delay": 0.01, "file": "a.txt", "ignoreQuery": true }"#, "new"
            ),
            (
                #"{ "methods": ["POST"], "when": { "json": { "a": 1 } }, "file": "a.txt", "status": 500 }"#,
                #"POST a {"a":1,"b":2}"#,
                LoopbackServer.Answer(
                    status: 503,
                    headers: [("Content-Type", "text/plain; charset=utf-8")],
                    body: Data("new".utf8)
                ),
                #"{ "methods": ["POST"], "when": { "json": { "a": 1 } }, "file": "a.txt", "status": 503 }"#, "new"
            ),
            (#"{ "status": 204 }"#, "GET a", .text("new"), #""host/a.txt""#, "old"),
            ("[\n    \"a.txt\"\n  ]", "GET a", .text("new"), "[\n    \"a.txt\"\n  ]", "new"),
            (
                #"{ "headers": { "Link": "<old>", "X-Mine": "1" }, "file": "a.txt" }"#, "GET a", .text("new"),
                #"{ "headers": { "X-Mine": "1" }, "file": "a.txt" }"#, "new"
            ),
            (
                #"{ "headers": { "Link": "<old>", "X-Mine": "1" }, "file": "a.txt" }"#, "GET a",
                LoopbackServer.Answer(
                    headers: [("link", "<new>"), ("Content-Type", "text/plain; charset=utf-8")],
                    body: Data("new".utf8)
                ),
                #"{ "headers": { "Link": "<new>", "X-Mine": "1" }, "file": "a.txt" }"#, "new"
            ),
            (
                "{ \"ignoreQuery\": true, \"alternatives\": [\n  {\"text\": \"x\", \"methods\": [\"PUT\"]}, \"a.txt\" ] }",
                "GET a", .status(204),
                "{ \"ignoreQuery\": true, \"alternatives\": [\n  {\"text\": \"x\", \"methods\": [\"PUT\"]}, "
                    + "{ \"status\": 204 } ] }", "old"
            ),
            (
                #"{ "comment": "c", "delay": 0.01, "methods": ["POST"], "alternatives": [{ "file": "a.txt", "comment": "d" }] }"#,
                "POST a", .status(204),
                #"{ "comment": "c", "delay": 0.01, "methods": ["POST"], "alternatives": [{ "comment": "d", "status": 204 }] }"#,
                "old"
            ),
        ] as [(String, String, LoopbackServer.Answer, String, String)]
    )
    func replaced(_ entry: String, _ request: String, _ answer: LoopbackServer.Answer, _ new: String, _ text: String)
        async throws
    {
        let method = request.prefix { $0 != " " }
        let map = "{\n  \"@other\":   null,\n  \"@a\": \(entry),\n  \"@b\": \"b.txt\"\n}\n"
        let site = try Site(map, ["\(method) a": [answer]])
        let child = try await site.run(request)
        #expect(child.issues.map(\.isWarning) == [false], "\(child.output)")
        let issue = try #require(child.issues.first?.text)
        #expect(issue.contains("Recorded 1 response in \(site.file.path)"), "\(issue)")
        let isSame = new == entry && text == "old"
        #expect(issue.contains(isSame ? "(unchanged)" : "(replaced)"), "\(issue)")
        let advice = isSame ? ". Nothing changed. Run" : ". Review the changed entries, then run"
        #expect(issue.contains("\(site.file.path)\(advice) the test again without"), "\(issue)")
        #expect(try site.map == map.replacingOccurrences(of: "\"@a\": \(entry)", with: "\"@a\": \(new)"))
        #expect(try site.text("a.txt") == text)
        if new.contains("host") { #expect(try site.text("host/a.txt") == "new") }
        #expect(try site.text("b.txt") == "old b")
    }

    @Test("Entries that were written by hand answer as before, and are listed")
    func byHand() async throws {
        let entries: [(key: String, value: String, request: String)] = [
            ("json", #"{ "json": { "a": 1 } }"#, "GET json"), ("text", #"{ "text": "t" }"#, "GET text"),
            ("stream", #"{ "stream": ["data: a\n\n"] }"#, "GET stream"),
            ("error", #"{ "error": "timedOut" }"#, "GET error"),
            ("handler", #"{ "methods": ["PUT"], "handler": "saveOrder" }"#, "PUT handler"),
            ("enabled", #"{ "file": "a.txt", "enabled": true }"#, "GET enabled"),
            ("pace", #"{ "file": "a.txt", "secondsPerLine": 0 }"#, "GET pace"),
            ("use", #"{ "file": "a.txt", "use": "untilUpdated" }"#, "GET use"), ("p/*", #""a.txt""#, "GET p/x"),
            ("methods", #"{ "file": "a.txt", "methods": ["*"] }"#, "PUT methods"),
            ("when", #"{ "file": "a.txt", "when": { "headers": { "Authorization": "*" } } }"#, "GET when"),
            ("sequence", #"[{ "text": "t", "times": 1 }, "a.txt"]"#, "GET sequence\nGET sequence"),
            ("limited", #"[{ "file": "a.txt", "times": 9 }]"#, "GET limited"),
            ("names", #"{ "file": "a.txt", "methods": ["GET", "PUT"] }"#, "GET names"),
            ("rate", #"{ "file": "a.txt", "bytesPerSecond": 1000000 }"#, "GET rate"),
            ("slow", #"{ "file": "a.txt", "secondsPerEvent": 0.001 }"#, "GET slow"),
            ("shared", #"{ "enabled": true, "alternatives": ["a.txt"] }"#, "GET shared"),
        ]
        let lines = entries.map { "  \"@\($0.key)\": \($0.value)" }
        let map = "{\n" + lines.joined(separator: ",\n") + "\n}"
        let site = try Site(map, [:])
        let child = try await site.run(entries.map(\.request).joined(separator: "\n"))
        let issue = try #require(child.issues.first?.text)
        #expect(child.issues.count == 1 && issue.contains("Nothing was recorded in"), "\(child.output)")
        #expect(issue.contains("\(site.file.path). Run the test again without"), "\(issue)")
        for entry in entries {
            let key = site.origin.baseURL.absoluteString + entry.key
            #expect(issue.contains("\n  as before: “\(key)”"), "\(issue)")
        }
        #expect(try site.map == map)
        // A newer copy is asked for in the background, as in other runs.
        #expect(site.origin.requests.allSatisfy { $0.path == "/use" }, "\(site.origin.requests.map(\.path))")
    }

    @Test("A null entry and one that forwards stay")
    func sentOn() async throws {
        let map = "{\n  \"@null\": null,\n  \"@on\": { \"forwardTo\": \"@target\" },\n  \"@a\": \"a.txt\"\n}"
        let site = try Site(map, [:])
        let issue = try #require(try await site.run("GET null\nGET on\nGET a").issues.first?.text)
        #expect(issue.contains("as before: “\(site.origin.url("on"))”, line 3"), "\(issue)")
        #expect(issue.contains("GET \(site.origin.url("null")): not recorded: The entry"), "\(issue)")
        #expect(try site.map == map)
        #expect(try site.text("a.txt") == "fresh GET a")
    }

    @Test(
        "Nothing is replaced if the request fails, or gets an error in place of a response",
        arguments: [
            (200, .status(401), "the status is now 401, and was 200"), (200, .status(403), "the status is now 403"),
            (302, .status(429), "the status is now 429, and was 302"), (200, .status(500), "the status is now 500"),
            (200, .status(503), "the status is now 503"), (200, .status(304), "the status is now 304"),
            (200, .status(206), "the status is now 206, and was 200"), (206, .status(206), nil),
            (200, LoopbackServer.Answer().failing(.dropBeforeHead), "not replaced, since it was not loaded: "),
            (404, .status(500), nil), (399, .status(500), "the status is now 500, and was 399"),
            (400, .status(500), nil), (200, .status(499), nil), (500, .status(401), nil), (200, .status(404), nil),
            (200, .status(410), nil),
        ] as [(Int, LoopbackServer.Answer, String?)]
    )
    func failed(_ old: Int, _ answer: LoopbackServer.Answer, _ reason: String?) async throws {
        let map = #"{ "@a": { "file": "a.txt", "status": \#(old) } }"#
        let site = try Site(map, ["GET a": [answer]])
        let issue = try #require(try await site.run("GET a").issues.first?.text)
        if let reason {
            #expect(issue.contains("GET \(site.origin.url("a")): not replaced") && issue.contains(reason), "\(issue)")
            #expect(try site.map == map)
        } else {
            #expect(issue.contains("(replaced)"), "\(issue)")
            #expect(try site.map == #"{ "@a": { "status": \#(answer.status) } }"#)
        }
        #expect(try site.text("a.txt") == "old")
        #expect(try site.names == ["a.txt", "b.txt", "map.json"])
    }

    @Test("A request with the method HEAD replaces nothing, since it gets no body")
    func head() async throws {
        let map = #"{ "@a": "a.txt", "@b": "b.txt" }"#
        let site = try Site(map, [:])
        let issue = try #require(try await site.run("HEAD a\nHEAD b\nGET b").issues.first?.text)
        let reason = "HEAD \(site.origin.url("a")): not replaced: the tests made this request only with HEAD"
        #expect(issue.contains(reason), "\(issue)")
        #expect(try site.map == map)
        #expect(try [site.text("a.txt"), site.text("b.txt")] == ["old", "fresh GET b"])
    }

    @Test("An excluded response replaces nothing")
    func refused() async throws {
        let site = try Site(#"{ "@a": "a.txt" }"#, [:])
        let issue = try #require(try await site.run("GET a", in: "refused").issues.first?.text)
        #expect(issue.contains("not replaced: the redacting closure excludes it"), "\(issue)")
        #expect(try site.text("a.txt") == "old")
    }

    @Test(
        "A sequence is replaced as a whole",
        arguments: [
            (3, ["x", "x", "y"], [#"{ "file": "a.txt", "times": 2 }"#, #""b.txt""#], ["x", "y"]),
            (2, ["x", "x"], [#""a.txt""#], ["x", "old b"]),
            (2, ["old b", "x"], [#"{ "file": "b.txt", "times": 1 }"#, #""a.txt""#], ["x", "old b"]),
            (
                3, ["x", "y", "z"],
                [#"{ "file": "a.txt", "times": 1 }"#, #"{ "file": "b.txt", "times": 1 }"#, #""host/a.txt""#],
                ["x", "y"]
            ),
            (2, ["x", ""], nil, ["old", "old b"]), (3, ["x", "y", ""], nil, ["old", "old b"]),
        ] as [(Int, [String], [String]?, [String])]
    )
    func sequence(_ count: Int, _ bodies: [String], _ new: [String]?, _ files: [String]) async throws {
        let old = [#"{ "file": "a.txt", "times": 1 }"#, #""b.txt""#]
        let map = { (alternatives: [String]) in
            let put = #"{ "methods": ["PUT"], "json": 1 }"#
            return "{\n  \"@a\": [\n    \(put),\n    \(alternatives.joined(separator: ",\n    "))\n  ]\n}\n"
        }
        // An empty body is a failure.
        let answers = bodies.map { $0.isEmpty ? LoopbackServer.Answer.status(500) : .text($0) }
        let site = try Site(map(old), ["GET a": answers])
        _ = try await site.run(Array(repeating: "GET a", count: count).joined(separator: "\n"))
        #expect(try site.map == map(new ?? old))
        #expect(try [site.text("a.txt"), site.text("b.txt")] == files)
        if new?.count == 3 { #expect(try site.text("host/a.txt") == "z") }
    }

    @Test(
        "The status of each answer of a sequence counts",
        arguments: [
            (#""b.txt""#, 503, false), (#"{ "status": 500 }"#, 503, true), (#"{ "status": 404 }"#, 401, true),
            (#"{ "status": 302 }"#, 429, false),
        ]
    )
    func statuses(_ second: String, _ status: Int, _ isReplaced: Bool) async throws {
        let map = { (second: String) in "{ \"@a\": [{ \"file\": \"a.txt\", \"times\": 1 }, \(second)] }" }
        let site = try Site(map(second), ["GET a": [.text("new"), .status(status)]])
        _ = try await site.run("GET a\nGET a")
        #expect(try site.map == map(isReplaced ? "{ \"status\": \(status) }" : second))
        #expect(try site.text("a.txt") == (isReplaced ? "new" : "old"))
    }

    @Test("A sequence stays if a test made fewer requests than it answers", arguments: [2, 3])
    func tooFew(_ count: Int) async throws {
        let map = #"{ "@a": [{ "file": "a.txt", "times": 2 }, "b.txt"] }"#
        let site = try Site(map, ["GET a": [.text("x"), .text("x"), .text("y")]])
        let requests = Array(repeating: "GET a", count: count).joined(separator: "\n")
        let issue = try #require(try await site.run(requests).issues.first?.text)
        #expect(try site.map == map)
        #expect(try [site.text("a.txt"), site.text("b.txt")] == (count == 2 ? ["old", "old b"] : ["x", "y"]))
        let reason = "GET \(site.origin.url("a")): not replaced: the tests made this request only 2 times, but its "
        #expect(issue.contains(reason) == (count == 2), "\(issue)")
    }

    @Test("A sequence is replaced by a test that requests all of it, even if an earlier test doesn't")
    func enough() async throws {
        let map = #"{ "@a": [{ "file": "a.txt", "times": 1 }, "b.txt"] }"#
        let site = try Site(map, ["GET a": [.text("x"), .text("y"), .text("z")]])
        let child = try await site.run("GET a", in: "ChildAgain/(first|second)\\(", second: "GET a\nGET a")
        let issues = child.issues.map(\.text)
        #expect(issues.count { $0.contains("got different responses") } == 1, "\(issues)")
        #expect(try site.map == map)
        #expect(try site.text("a.txt") != "old" && site.text("b.txt") != "old b")
    }

    @Test(
        "Answers stay at their places, so that none comes before a handwritten one that it would hide",
        arguments: [
            (["x", "x"], [nil, "hand", #""a.txt""#]),
            (["x", "y"], [#"{ "file": "a.txt", "times": 1 }"#, "hand", #""b.txt""#]),
            (
                ["x", "y", "z"],
                [
                    #"{ "file": "a.txt", "times": 1 }"#, "hand", #"{ "file": "b.txt", "times": 1 }"#,
                    #""host/a.txt""#,
                ]
            ),
        ] as [([String], [String?])]
    )
    func places(_ bodies: [String], _ new: [String?]) async throws {
        let map = { (alternatives: [String]) in
            let list = alternatives.joined(separator: ",\n    ")
            return "{ \"@a\": [\n    \(list)\n  ] }".replacingOccurrences(
                of: "hand",
                with: #"{ "when": { "headers": { "X-Mine": "1" } }, "text": "t" }"#
            )
        }
        let site = try Site(
            map([#"{ "file": "a.txt", "times": 1 }"#, "hand", #""b.txt""#]),
            ["GET a": bodies.map { .text($0) }]
        )
        _ = try await site.run(bodies.map { _ in "GET a" }.joined(separator: "\n"))
        #expect(try site.map == map(new.compactMap { $0 }))
    }

    @Test("A sequence that only loses an answer has changed")
    func shortened() async throws {
        let map = #"{ "@a": [{ "file": "a.txt", "times": 1 }, { "file": "b.txt", "times": 1 }, "a.txt"] }"#
        let site = try Site(map, ["GET a": [.text("old")]])
        let issue = try #require(try await site.run("GET a\nGET a\nGET a").issues.first?.text)
        #expect(issue.contains("Recorded 1 response in \(site.file.path). Review the changed entries"), "\(issue)")
        #expect(issue.contains("(replaced)"), "\(issue)")
        #expect(try site.map == #"{ "@a": ["a.txt"] }"#)
    }

    @Test("A sequence stays if the server now redirects one of its requests elsewhere")
    func redirectInSequence() async throws {
        let redirect = #"{ "status": 302, "headers": { "Location": "@b" }, "times": 1 }"#
        let map = "{ \"@a\": [\(redirect), \"a.txt\"], \"@b\": \"b.txt\" }"
        let site = try Site(map, ["GET a": [.redirect(to: "/c"), .text("x"), .text("y")]])
        let issue = try #require(try await site.run("GET a\nGET a\nGET a").issues.first?.text)
        #expect(issue.contains("not replaced: its entry redirects to another URL than the server does"), "\(issue)")
        #expect(try site.map == map)
        #expect(try site.text("a.txt") == "old")
    }

    @Test(
        "An entry gets alternatives if its request now has different responses, and its comment stays with the first",
        arguments: ["", #""comment": "c", "#]
    )
    func grown(_ comment: String) async throws {
        let site = try Site(
            #"{ "@a": { \#(comment)"file": "a.txt", "ignoreQuery": true } }"#,
            ["GET a": [.text("x"), .text("y")]]
        )
        _ = try await site.run("GET a?1\nGET a?2")
        let list = "[\n    { \(comment)\"file\": \"a.txt\", \"times\": 1 },\n    \"host/a.txt\"\n  ]"
        #expect(try site.map == #"{ "@a": { "ignoreQuery": true, "alternatives": \#(list) } }"#)
        #expect(try site.text("a.txt") == "x")
        #expect(try site.text("host/a.txt") == "y")
    }

    @Test("A file that another entry names stays, and the new bytes get a new name")
    func sharedFile() async throws {
        let site = try Site(#"{ "@a": "a.txt", "@c": "a.txt", "@d": "b.txt", "@e/*": "b*.txt" }"#, [:])
        _ = try await site.run("GET a\nGET d")
        #expect(try site.map == #"{ "@a": "host/a.txt", "@c": "a.txt", "@d": "host/d.txt", "@e/*": "b*.txt" }"#)
        #expect(try [site.text("a.txt"), site.text("host/a.txt")] == ["old", "fresh GET a"])
        #expect(try [site.text("b.txt"), site.text("host/d.txt")] == ["old b", "fresh GET d"])
    }

    @Test("A file that another map in the folder names stays", arguments: [true, false])
    func sharedByMaps(_ isAll: Bool) async throws {
        let map = #"{ "@a": "a.txt" }"#
        let site = try Site(map, ["GET a": [.text("x"), .text("y")]])
        let other = try site.folder.write(
            "other.json",
            #"{ "\#(site.origin.url("b"))": "a.txt" }"#
        )
        if isAll { try site.folder.write("other.json", try String(contentsOf: site.file, encoding: .utf8)) }
        _ = try await site.run(
            "GET a",
            in: isAll ? "(first|other)" : "first",
            second: "GET a",
            environment: [ChildAgain.otherMapVariable: other.path]
        )
        let bodies = try [site.file, other].map { file in
            let map = try SubstitutionMap(contentsOf: file, resources: site.folder.url)
            let name = try #require(
                map.substitution(for: site.origin.url(isAll || file == site.file ? "a" : "b"))?.fileName
            )
            return try String(contentsOf: site.folder.file(name), encoding: .utf8)
        }
        #expect(isAll ? bodies.sorted() == ["x", "y"] : bodies == ["x", "old"], "\(bodies)")
    }

    @Test("If a file can't be written, the entry and all its files stay")
    func unwritable() async throws {
        let map = #"{ "@a": [{ "file": "a.txt", "times": 1 }, "link/b.txt"], "@c": "c.txt" }"#
        let site = try Site(
            map,
            files: ["a.txt": "old", "files/b.txt": "old b", "c.txt": "old c"],
            ["GET a": [.text("x"), .text("y")]]
        )
        try site.folder.link("link", to: "files")
        let issue = try #require(try await site.run("GET a\nGET a\nGET c").issues.first?.text)
        let reason = "GET \(site.origin.url("a")): not replaced: “link/b.txt” can't be written"
        #expect(issue.contains(reason), "\(issue)")
        #expect(try site.map == map)
        #expect(
            try [site.text("a.txt"), site.text("link/b.txt"), site.text("c.txt")] == ["old", "old b", "fresh GET c"]
        )
        #expect(try site.names == ["a.txt", "c.txt", "files", "link", "map.json"])
    }

    @Test(
        "A recorded redirect stays as long as the server redirects there, and its target's answer is replaced or added",
        arguments: [
            ("b", true, "/b", nil), ("b", false, "/b", nil), ("b", true, "/c", "redirects to another URL"),
            ("d", true, "/d", nil), ("b", true, nil, nil),
        ] as [(String, Bool, String?, String?)]
    )
    func redirects(_ target: String, _ hasTarget: Bool, _ location: String?, _ reason: String?) async throws {
        let redirect = "\"@a\": { \"status\": 302, \"headers\": { \"Location\": \"@\(target)\" } }"
        // A chain of two.
        let next = #""@d": { "status": 307, "headers": { "Location": "/b" } }"#
        let rest = hasTarget ? ",\n  \"@b\": \"b.txt\"" : ""
        let map = "{\n  \(redirect),\n  \(next)\(rest)\n}"
        let site = try Site(
            map,
            [
                "GET a": [location.map { .redirect(to: $0) } ?? .text("direct")],
                "GET d": [.redirect(to: "/b", status: 307)],
            ]
        )
        let issue = try #require(try await site.run("GET a").issues.first?.text)
        let new = try site.map
        if let reason {
            #expect(issue.contains("GET \(site.origin.url("a")): not replaced: ") && issue.contains(reason), "\(issue)")
            #expect(new == map)
            #expect(try site.text("b.txt") == "old b")
        } else if location == nil {
            #expect(new == map.replacingOccurrences(of: redirect, with: "\"@a\": \"host/a.txt\""), "\(new)")
            #expect(try site.text("host/a.txt") == "direct")
        } else {
            #expect(issue.contains("\n  GET \(site.origin.url("b")) → "), "\(issue)")
            let added = ",\n  \"@b\": \"host/b.txt\""
            #expect(new == (hasTarget ? map : map.dropLast(2) + added + "\n}"), "\(new)")
            #expect(try site.text(hasTarget ? "b.txt" : "host/b.txt") == "fresh GET b")
        }
    }

    @Test(
        "What a handwritten redirect leads to is recorded",
        arguments: [("missing", false), ("all", false), ("all", true)]
    )
    func handwrittenRedirect(_ value: String, _ hasTarget: Bool) async throws {
        let redirect = #""@a": { "status": 302, "headers": { "Location": "@b" }, "enabled": true }"#
        let site = try Site("{ \(redirect)\(hasTarget ? ", \"@b\": \"b.txt\"" : "") }", [:])
        let issue = try #require(try await site.run("GET a", value: value).issues.first?.text)
        #expect(
            issue.contains("Recorded 1 response in") && issue.contains("GET \(site.origin.url("b")) → "),
            "\(issue)"
        )
        let target = hasTarget ? ", \"@b\": \"b.txt\"" : ",\n  \"@b\": \"host/b.txt\""
        #expect(try site.map == "{ \(redirect)\(target) }")
        #expect(try site.text(hasTarget ? "b.txt" : "host/b.txt") == "fresh GET b")
    }

    @Test("A request that the server redirects to an entry's URL is listed, with the entry to write")
    func redirectToEntry() async throws {
        let map = #"{ "@b": "b.txt" }"#
        let site = try Site(map, ["GET a": [.redirect(to: "/b")]])
        let issue = try #require(try await site.run("GET a\nGET b", value: "missing").issues.first?.text)
        let line = try #require(issue.split(separator: "\n").first { $0.contains("GET \(site.origin.url("a")): ") })
        #expect(line.contains("not recorded: the server redirects the request to \(site.origin.url("b"))"), "\(issue)")
        let entry = #"{ "status": 302, "headers": { "Location": "\#(site.origin.url("b"))" } }"#
        #expect(line.hasSuffix("Write the redirect's entry by hand: \(entry)"), "\(issue)")
        #expect(try site.map == map)
        try site.folder.write(
            "map.json",
            #"{ "\#(site.origin.url("a"))": \#(entry), "\#(site.origin.url("b"))": "b.txt" }"#
        )
        let again = try #require(try await site.run("GET a\nGET b", value: "missing").issues.first?.text)
        #expect(again.contains("There was nothing to record"), "\(again)")
    }

    @Test("With sharedSession, a request that may be another test's replaces nothing")
    func ofAnotherTest() async throws {
        let map = #"{ "@a": "a.txt", "@b": "b.txt" }"#
        let site = try Site(map, [:])
        let issue = try #require(try await site.run("", in: "shared").issues.first?.text)
        let reason = "GET \(site.origin.url("b")): not replaced: it may be another test's request"
        #expect(issue.contains(reason), "\(issue)")
        let added = issue.split(separator: "\n").first { $0.contains("GET \(site.origin.url("c")) → ") }
        #expect(added?.contains("(it may be another test's request") == true, "\(issue)")
        #expect(try [site.text("a.txt"), site.text("b.txt")] == ["fresh GET a", "old b"])
    }

    @Test("What an entry doesn't compare is said when it's replaced, too")
    func notes() async throws {
        let site = try Site(#"{ "@a": { "methods": ["POST"], "file": "a.txt" } }"#, [:])
        let issue = try #require(try await site.run("POST a text").issues.first?.text)
        #expect(issue.contains("(replaced; ") && issue.contains("neither JSON nor a form"), "\(issue)")
    }

    @Test("What's missing is added, also to an entry that is replaced")
    func missing() async throws {
        let site = try Site(#"{ "@a": "a.txt" }"#, ["POST a": [.status(201)]])
        let issue = try #require(try await site.run("GET a\nPOST a\nGET c").issues.first?.text)
        #expect(issue.contains("Recorded 3 responses in"), "\(issue)")
        let alternatives = "[\n    \"a.txt\",\n    { \"methods\": [\"POST\"], \"status\": 201 }\n  ]"
        let map = try site.map
        #expect(map == "{ \"@a\": \(alternatives),\n  \"@c\": \"host/c.txt\" }", "\(map)")
        #expect(try site.text("a.txt") == "fresh GET a")
    }

    @Test(
        "An event stream that has ended is kept as one, and one that was cut off isn't",
        arguments: ["missing", "all"]
    )
    func eventStreams(_ value: String) async throws {
        var stream = LoopbackServer.Answer.text("data: a\n\n", type: "text/event-stream")
        stream.chunked = true
        let entry = #"{ "file": "a.txt", "mimeType": "text/event-stream", "secondsPerEvent": 0 }"#
        let answers = ["GET a": [stream], "GET c.txt": [stream], "GET cut": [stream.failing(.dropAfter(bodyBytes: 3))]]
        let site = try Site(#"{ "@a": \#(entry) }"#, answers)
        let issue = try #require(try await site.run("GET a\nGET c.txt\nGET cut", value: value).issues.first?.text)
        #expect(issue.contains("GET \(site.origin.url("cut")): not loaded: "), "\(issue)")
        let same = value == "all" ? entry.replacingOccurrences(of: " }", with: ", \"charset\": null }") : entry
        let type = #""mimeType": "text/event-stream", "charset": null"#
        let new = #"{ "file": "host/c.txt", \#(type), "secondsPerEvent": 0 }"#
        let map = try site.map
        #expect(map == "{ \"@a\": \(same),\n  \"@c.txt\": \(new) }", "\(map)")
        #expect(try site.text("a.txt") == (value == "all" ? "data: a\n\n" : "old"))
    }

    @Test("Each test's responses are saved when it has ended, and the first test's are kept")
    func tests() async throws {
        let answers = ["GET a": [LoopbackServer.Answer.text("same")], "GET c": [.text("x"), .text("y")]]
        let site = try Site(
            #"{ "@a": "a.txt", "@b": "b.txt", "@c": "c.txt" }"#,
            files: [
                "a.txt": "old", "b.txt": "old b", "c.txt": "old c",
            ],
            answers
        )
        let child = try await site.run("GET a\nGET c", in: "(first|second)", second: "GET a\nGET b\nGET c")
        #expect(child.issues.contains { $0.text.contains("got different responses in these tests") }, "\(child.output)")
        #expect(try site.map == #"{ "@a": "a.txt", "@b": "b.txt", "@c": "c.txt" }"#)
        #expect(try [site.text("a.txt"), site.text("b.txt")] == ["same", "fresh GET b"])
        #expect(try ["x", "y"].contains(site.text("c.txt")))
        #expect(try site.names == ["a.txt", "b.txt", "c.txt", "map.json"])
    }

    @Test("The first test is that of the first file, whatever its line is, and responses are compared after redaction")
    func firstTest() async throws {
        let answers = ["GET c": [LoopbackServer.Answer.text("x"), .text("y"), .text("z")]]
        let site = try Site("{}", answers)
        let child = try await site.run("GET c", in: "Child(Again|Elsewhere)/first\\(")
        let conflicts = child.issues.filter { $0.text.contains("got different responses") }
        let kept = try #require(conflicts.first?.text.split(separator: "\n").filter { $0.hasSuffix("(kept)") })
        #expect(conflicts.count == 1 && kept.count == 1 && kept[0].contains("ChildAgain/first, "), "\(conflicts)")
        let redacted = try Site("{}", answers)
        #expect(
            try await redacted.run("GET c", in: "redacted").issues.allSatisfy { $0.text.contains("Recorded 1 resp") }
        )
        #expect(try redacted.text("host/c.txt") == "same")
    }

    @Test("Each request with different responses is an issue at the line of the first test, whose response is kept")
    func conflicts() async throws {
        let site = try Site("{}", ["GET c": [.text("x"), .text("y")], "GET d": [.text("x"), .text("y")]])
        let child = try await site.run("GET c\nGET d", in: "ChildAgain/(first|second)\\(", second: "GET c\nGET d")
        let conflicts = child.issues.filter { $0.text.contains("got different responses") }
        #expect(conflicts.count == 2, "\(child.issues)")
        for path in ["c", "d"] {
            let beginning = "GET \(site.origin.url(path)) got different responses"
            let conflict = try #require(conflicts.first { $0.text.contains(beginning) }, "\(child.issues)")
            let kept = conflict.text.split(separator: "\n").filter { $0.hasSuffix("(kept)") }
            #expect(kept.count == 1, "\(conflict)")
            #expect(
                kept.first?.contains("ChildAgain/first, ChildAgain.swift:\(conflict.line): ") == true,
                "\(conflict)"
            )
        }
    }

    @Test("A conflict that another test joins later is reported with that test only")
    func laterConflict() async throws {
        let site = try Site("{}", ["GET c": [.text("x"), .text("y"), .text("z")]])
        let child = try await site.run("GET c", in: "ChildAgain/OneByOne/")
        let conflicts = child.issues.map(\.text).filter { $0.contains("got different responses") }
        #expect(conflicts.count == 2, "\(conflicts)")
        let (first, second) = (try #require(conflicts.first), try #require(conflicts.last))
        #expect(["one", "two"].allSatisfy { first.contains("OneByOne/\($0), ") }, "\(first)")
        #expect(!first.contains("another test") && second.contains("in another test, too"), "\(second)")
        #expect(
            ["one", "two", "three"].map { second.contains("OneByOne/\($0), ") } == [false, false, true],
            "\(second)"
        )
    }

    @Test("A map that somebody changes during the run is recorded as it's then", arguments: [true, false])
    func changed(_ isByHand: Bool) async throws {
        let site = try Site(#"{ "@a": "a.txt" }"#, [:])
        let origin = site.origin.baseURL.absoluteString
        let entry = isByHand ? #"{ "text": "mine" }"# : #""b.txt""#
        let change = "{\n  \"\(origin)mine\":   null,\n  \"\(origin)a\": \(entry) }"
        let child = try await site.run("GET a", in: "changing", environment: [ChildAgain.changeVariable: change])
        #expect(child.issues.count == 1, "\(child.output)")
        #expect(try site.map == change.replacingOccurrences(of: origin, with: "@"))
        #expect(try [site.text("a.txt"), site.text("b.txt")] == ["old", isByHand ? "old b" : "fresh GET a"])
    }

    @Test("Two spellings of a map's path are one run")
    func spellings() async throws {
        let site = try Site("{}", ["GET c": [.text("x"), .text("y")]])
        let links = try TemporaryFolder()
        try links.link("link", to: site.folder.url.deletingLastPathComponent().path)
        let child = try await site.run(
            "GET c",
            in: "(first|other)",
            second: "GET c\nGET d",
            environment: [
                ChildAgain.otherMapVariable: links.file("link/\(site.folder.url.lastPathComponent)/map.json").path
            ]
        )
        #expect(child.issues.count { $0.text.contains("got different responses") } == 1, "\(child.output)")
        let map = try site.map
        // If the second test ends first, its file of this name isn't replaced.
        #expect(map.contains(try Regex(#""@c": "host/c(-[0-9a-f]{8})?\.txt""#)), "\(map)")
        #expect(map.contains(#""@d": "host/d.txt""#), "\(map)")
    }

    @Test(
        "If the process is killed, the tests that have ended are saved, and nothing of the others",
        arguments: [false, true]
    )
    func killed(_ isNew: Bool) async throws {
        let map = isNew ? "{}" : #"{ "@a": "a.txt", "@b": "b.txt" }"#
        let site = try Site(map, [:])
        _ = try? await site.run("GET a", in: "ChildAgain/Killed/", second: "GET b")
        #expect(site.origin.requests.map(\.path) == ["/a", "/b"])
        let saved = isNew ? "{\n  \"@a\": \"host/a.txt\"\n}" : map
        #expect(try site.map.trimmingCharacters(in: .whitespacesAndNewlines) == saved)
        #expect(try [site.text(isNew ? "host/a.txt" : "a.txt"), site.text("b.txt")] == ["fresh GET a", "old b"])
        #expect(try site.names.filter { !$0.hasPrefix("127.") } == ["a.txt", "b.txt", "map.json"])
        // The next run can record.
        _ = try await site.run("GET b")
        #expect(try site.text(isNew ? "host/b.txt" : "b.txt") == "fresh GET b")
    }

    @Test("With a bundle, recording writes beside the test's file")
    func beside() async throws {
        let site = try Site("{}", [:])
        let bundle = try TemporaryFolder()
        let copy = try bundle.write("map.json", "{}")
        try site.folder.remove("map.json")
        let child = try await site.run(
            "GET c",
            in: "bundled",
            value: "missing",
            environment: [ChildAgain.bundleVariable: bundle.url.path]
        )
        #expect(
            child.issues.first?.text.contains("Recorded 1 response in \(site.file.path)") == true,
            "\(child.output)"
        )
        #expect(try String(contentsOf: copy, encoding: .utf8) == "{}")
        #expect(try site.map == "{\n  \"@c\": \"host/c.txt\"\n}\n")
    }

    @Test("A bundle's map that a test names without a path isn't recorded into", arguments: ["missing", "all"])
    func named(_ value: String) async throws {
        let site = try Site(#"{ "@a": "a.txt" }"#, [:])
        let child = try await site.run(
            "GET a\nGET c",
            in: "named",
            value: value,
            environment: [ChildAgain.bundleVariable: site.folder.url.path]
        )
        let issue = try #require(child.issues.first?.text)
        #expect(child.issues.count == 1 && issue.contains("No entry answers this request"), "\(child.output)")
        #expect(issue.contains("Recording needs a map that the test names by its path"), "\(issue)")
        #expect(try site.map == #"{ "@a": "a.txt" }"#)
        #expect(site.origin.requests.isEmpty)
    }

    @Test("An exception doesn't keep a recorded answer from being replaced")
    func exception() async throws {
        let site = try Site(#"{ "@a": "a.txt" }"#, [:])
        _ = try await site.run("GET a\nGET c", in: "exception")
        #expect(try site.text("a.txt") == "fresh GET a")
        #expect(try site.map == #"{ "@a": "a.txt" }"#)
    }

    @Test("A test that wants requests to fail gets recorded answers as they are")
    func failing() async throws {
        let site = try Site(#"{ "@a": "a.txt" }"#, [:])
        let child = try await site.run("", in: "failing")
        #expect(child.issues.map(\.description) == [])
        #expect(try site.text("a.txt") == "old")
    }

    @Test("With the value “missing”, recorded answers stay")
    func onlyMissing() async throws {
        let site = try Site(#"{ "@a": "a.txt" }"#, [:])
        let issue = try #require(try await site.run("GET a", value: "missing").issues.first?.text)
        #expect(issue.contains("There was nothing to record in \(site.file.path)"), "\(issue)")
        #expect(site.origin.requests.isEmpty)
    }

    @Test(
        "A second process that records into the same map is refused",
        arguments: ["missing", "all"],
        ["first", "scope"]
    )
    func secondProcess(_ value: String, _ test: String) async throws {
        let site = try Site("{}", ["GET held": [LoopbackServer.Answer(delay: 600)]])
        let first = Task { try await site.run("GET held", value: value) }
        while site.origin.requests.isEmpty { await Task.yield() }
        let second = try await site.run("GET a", in: test, value: value)
        #expect(second.issues.count == 1, "\(second.output)")
        let issue = try #require(second.issues.first?.text)
        #expect(issue.contains("Another process is recording into “") && !issue.contains("record it"), "\(issue)")
        #expect(site.origin.requests.count == 1)
        #if os(Linux)
        // In XCTest, it's an error.
        let output = try await ChildProcess.runXCTest(
            "XCTestTests/testInChild",
            environment: [ChildRecording.mapVariable: site.file.path, "LOCAL_SUBSTITUTION_RECORD": value]
        )
        let file = "\(site.file.deletingLastPathComponent().lastPathComponent)/map.json”"
        #expect(output.contains("Another process is recording into “") && output.contains(file), "\(output)")
        #endif
        // A test that records nothing needs no turn.
        try site.folder.write("map.json", #"{ "\#(site.origin.url("a"))": "a.txt" }"#)
        #expect(try await site.run("", in: "failing", value: value).issues.map(\.description) == [])
        site.origin.stop()
        let ended = try await first.value
        #expect(ended.issues.first?.text.contains("held: not loaded: ") == true, "\(ended.output)")
        let third = try await site.run("GET c", in: test, value: value)
        #expect(third.issues.first?.text.contains("not loaded: ") == true, "\(third.output)")
    }
}
#endif
