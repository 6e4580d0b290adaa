#if os(Linux) || os(macOS)
import Foundation
import Guarded
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

/// A recording, an API that has changed since, and a run that records everything again.
@Suite("Recording again", .threads, .timeLimit(.minutes(5)))
struct RecordingAgainTests {
    /// A folder with a map and recordings, and what an origin sends.
    private struct Site {
        let folder: TemporaryFolder
        let origin: LoopbackServer
        let file: URL

        /// - Parameters:
        ///   - map: The map, with `@` in place of the origin's URL.
        ///   - answers: By method and path, the answers in their order. The last one goes on.
        init(map: String = "{}", _ answers: [String: [LoopbackServer.Answer]]) throws {
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
        }

        /// Returns the recording of a test, with `@` in place of the origin's URL and `host` for its folder; `nil` if there's
        /// none.
        func recording(_ test: String) -> String? {
            try? String(contentsOf: folder.file("recorded/\(test).json"), encoding: .utf8)
                .replacingOccurrences(of: origin.baseURL.absoluteString, with: "@")
                .replacingOccurrences(of: "127.0.0.1_\(origin.port)", with: "host")
        }

        /// The texts of the recorded bodies.
        func bodies(_ test: String) throws -> [String] {
            let folder = folder.file("recorded/\(test)")
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
            return try names.filter { $0.hasSuffix(".txt") }.sorted().map {
                try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
            }
        }

        func run(
            _ first: String,
            in test: String = "first",
            second: String = "",
            value: String? = "all",
            environment: [String: String] = [:]
        ) async throws -> ChildProcess {
            var all = [
                ChildRecording.mapVariable: file.path, ChildRecording.originVariable: origin.baseURL.absoluteString,
                "\(ChildAgain.requestsVariable)_first": first, "\(ChildAgain.requestsVariable)_second": second,
            ].merging(environment) { $1 }
            if let value { all["LOCAL_SUBSTITUTION_RECORD"] = value }
            return try await ChildProcess.run("ChildAgain/\(test)\\(", environment: all)
        }
    }

    private static func error(_ status: Int) -> LoopbackServer.Answer {
        var answer = LoopbackServer.Answer.text("error")
        answer.status = status
        return answer
    }

    @Test("A recording is replaced by what the run loads, and the issue says what became of each response")
    func replaced() async throws {
        let site = try Site(["GET a": [.text("old"), .text("new")], "GET same": [.text("same")]])
        _ = try await site.run("GET a\nGET same\nGET gone")
        let child = try await site.run("GET a\nGET same\nGET b")
        let text = try #require(child.issues.first?.text)
        #expect(child.issues.count == 1, "\(child.issues)")
        #expect(text.contains("Recorded 3 responses in "), "\(text)")
        for (path, note) in [("a", " (replaced)"), ("same", " (unchanged)"), ("b", ".txt")] {
            let line = text.components(separatedBy: "\n").first { $0.contains("GET \(site.origin.url(path)) → ") }
            #expect(line?.hasSuffix(note) == true, "\(text)")
        }
        #expect(text.contains("removed: GET \(site.origin.url("gone"))"), "\(text)")
        #expect(try site.bodies("ChildAgain/ChildAgain.first").sorted() == ["fresh GET b", "new", "same"])
        let replay = try await site.run("GET a\nGET same\nGET b", value: nil)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("What's missing is added, and a recorded response isn't loaded again")
    func missing() async throws {
        let site = try Site(["GET a": [.text("old"), .text("new")]])
        _ = try await site.run("GET a", value: "missing")
        let child = try await site.run("GET a\nGET b", value: "missing")
        #expect(child.issues.first?.text.contains("Recorded 1 response in ") == true, "\(child.issues)")
        #expect(try site.bodies("ChildAgain/ChildAgain.first").sorted() == ["fresh GET b", "old"])
        #expect(site.origin.requests.map(\.path) == ["/a", "/b"])
    }

    @Test(
        "A recording stays as it was if the run got less than it",
        arguments: [
            ("first", "GET a\nGET b", [error(503)], "got the status 503"),
            ("first", "GET a\nGET b", [error(429)], "got the status 429"),
            ("throwing", "GET a\nGET b", [.text("new")], "the test threw an error or was cancelled"),
            ("throwingOnce", "GET a\nGET b", [.text("new")], "the test threw an error or was cancelled"),
        ] as [(String, String, [LoopbackServer.Answer], String)]
    )
    func stays(_ test: String, _ requests: String, _ answers: [LoopbackServer.Answer], _ reason: String) async throws {
        let site = try Site(["GET a": [.text("old")] + answers])
        let name = "ChildAgain/ChildAgain.\(test == "throwingOnce" ? "throwingOnce-_" : test)"
        // The first argument of two gets the old response, and so does the second.
        _ = try await site.run("GET a", in: test, value: "missing")
        let before = site.recording(name)
        #expect(before?.contains("@a") == true, "\(before ?? "")")
        let child = try await site.run(requests, in: test)
        let text = try #require(child.issues.first { $0.text.contains("stays as it was") }?.text, "\(child.issues)")
        #expect(text.contains(reason), "\(text)")
        #expect(site.recording(name) == before)
    }

    @Test(
        "A recording stays as it was if a request failed or is under way",
        arguments: ["first", "underWay"],
        ["{}", #"{ "@held": { "setRequestHeaders": { "A": "1" } } }"#]
    )
    func unfinished(_ test: String, map: String) async throws {
        let site = try Site(map: map, ["GET held": [LoopbackServer.Answer(delay: 600)]])
        let recorded = "{ \"\(site.origin.url("held"))\": { \"status\": 204 } }"
        try site.folder.write("recorded/ChildAgain/ChildAgain.\(test).json", recorded)
        if test == "first" { site.origin.stop() }
        let child = try await site.run("GET held", in: test)
        let text = try #require(child.issues.first { $0.text.contains("stays as it was") }?.text, "\(child.issues)")
        #expect(text.contains("GET \(site.origin.url("held")) wasn't loaded"), "\(text)")
        #expect(site.recording("ChildAgain/ChildAgain.\(test)")?.contains("204") == true)
    }

    @Test("A recording stays as it was if the test couldn't begin")
    func notBegun() async throws {
        let site = try Site([:])
        try site.folder.write("recorded/ChildAgain/ChildAgain.notBegun.json", #"{ "https://h/a": { "status": 204 } }"#)
        let child = try await site.run("GET a", in: "notBegun")
        let text = try #require(child.issues.first { $0.text.contains("stays as it was") }?.text, "\(child.issues)")
        #expect(text.contains("the test or one of its arguments didn't run"), "\(text)")
        #expect(site.recording("ChildAgain/ChildAgain.notBegun")?.contains("204") == true)
    }

    @Test("A recording that would be empty is removed, and the issue says so")
    func removed() async throws {
        let site = try Site(map: "{ \"@a\": { \"status\": 204 } }", [:])
        try site.folder.write(
            "recorded/ChildAgain/ChildAgain.first.json",
            "{ \"\(site.origin.url("b"))\": { \"status\": 204 } }"
        )
        let child = try await site.run("GET a")
        #expect(child.issues.count == 1 && child.issues[0].text.contains("was removed"), "\(child.issues)")
        #expect(child.issues.first?.text.contains("removed: GET \(site.origin.url("b"))") == true, "\(child.issues)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.folder.url.path) == ["map.json"])
    }

    @Test("A recording that isn't a map any more is an issue that says what to do", arguments: ["missing", "all", nil])
    func unreadable(_ value: String?) async throws {
        let site = try Site([:])
        let file = try site.folder.write("recorded/ChildAgain/ChildAgain.first.json", "[]")
        let child = try await site.run("GET a", value: value)
        let text = try #require(child.issues.first?.text)
        let advice = "\nThe recording can't be used. Delete “\(file.path)”, and record the test again."
        #expect(text.contains(advice), "\(text)")
        #expect(site.origin.requests.isEmpty)
        #expect(try String(contentsOf: file, encoding: .utf8) == "[]")
    }

    @Test("A folder that can't be written to fails the run, and loses nothing", arguments: ["missing", "all"])
    func unwritable(_ value: String) async throws {
        let site = try Site([:])
        try site.folder.write("recorded", "a file")
        let child = try await site.run("GET a", value: value)
        let text = try #require(child.issues.first?.text)
        #expect(text.contains("Nothing was recorded in ") && text.contains("can't be created"), "\(text)")
        #expect(try String(contentsOf: site.folder.file("recorded"), encoding: .utf8) == "a file")
    }

    @Test("A killed run leaves the old recording whole")
    func killed() async throws {
        let site = try Site(["GET a": [.text("old"), .text("new")]])
        let name = "ChildAgain/ChildAgain.killed"
        let recorded = "{ \"\(site.origin.url("a"))\": \"a.txt\" }"
        try site.folder.write("recorded/\(name).json", recorded)
        try site.folder.write("recorded/\(name)/a.txt", "old")
        _ = try? await site.run("GET a", in: "killed")
        #expect(site.recording(name) == "{ \"@a\": \"a.txt\" }")
        #expect(try site.bodies(name) == ["old"])
    }

    @Test("Parts of a test with maps of their own share the test's recording, and go on with its sequences")
    func nested() async throws {
        let site = try Site(["GET a": (1...4).map { .text("\($0)") }])
        let child = try await site.run("GET a", in: "nested", value: "missing")
        #expect(child.issues.count == 1, "\(child.issues)")
        let text = try #require(site.recording("ChildAgain/ChildAgain.nested"))
        #expect(text.components(separatedBy: "\"times\": 1").count == 4, "\(text)")
        #expect(try site.bodies("ChildAgain/ChildAgain.nested").sorted() == ["1", "2", "3", "4"])
        site.origin.stop()
        let replay = try await site.run("GET a", in: "nested", value: nil)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("Without a trait, each withSubstitutions of a test adds to the first one's recording")
    func parts() async throws {
        let site = try Site([:])
        let child = try await site.run("GET a", in: "parts", second: "GET b", value: "missing")
        #expect(child.issues.count == 2, "\(child.issues)")
        #expect(child.issues.last?.text.contains("(unchanged)") == true, "\(child.issues)")
        #expect(try site.bodies("ChildAgain/ChildAgain.parts").sorted() == ["fresh GET a", "fresh GET b"])
        // What the first call recorded isn't added again.
        #expect(site.recording("ChildAgain/ChildAgain.parts")?.contains("[") == false)
        site.origin.stop()
        let replay = try await site.run("GET a", in: "parts", second: "GET b", value: nil)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("If two tests have one recording, the second is an issue that names both", arguments: ["missing", nil])
    func samePath(_ value: String?) async throws {
        let site = try Site(map: "{ \"@a\": { \"status\": 204 } }", [:])
        let child = try await site.run("GET a", in: "[sS]ame", value: value)
        let text = try #require(child.issues.first { $0.text.contains("have the same recording") }?.text)
        #expect(text.contains("ChildAgain/same") && text.contains("ChildAgain/Same"), "\(text)")
        #expect(child.issues.count == (value == nil ? 1 : 2), "\(child.issues)")
    }

    @Test("The bundle's copy of a recording responds if there's none at the path")
    func bundled() async throws {
        let site = try Site([:])
        try site.folder.write("bundle/Maps/map.json", "{}")
        let name = "bundle/Maps/recorded/ChildAgain/ChildAgain.bundled"
        try site.folder.write("\(name).json", "{ \"\(site.origin.url("a"))\": \"a.txt\" }")
        try site.folder.write("\(name)/a.txt", "recorded")
        let bundle = [ChildAgain.bundleVariable: site.folder.file("bundle").path]
        let child = try await site.run("", in: "bundled", value: nil, environment: bundle)
        #expect(child.issues.map(\.description) == [], "\(child.output)")
        #expect(site.origin.requests.isEmpty)
    }

    @Test("A response after a server's redirect is recorded for the requested URL")
    func redirected() async throws {
        let site = try Site(["GET from": [.redirect(to: "/to")]])
        let child = try await site.run("GET from", value: "missing")
        #expect(child.issues.first?.text.contains("Recorded 1 response in ") == true, "\(child.issues)")
        #expect(try site.bodies("ChildAgain/ChildAgain.first") == ["fresh GET to"])
        #expect(site.recording("ChildAgain/ChildAgain.first")?.contains("@from") == true)
        site.origin.stop()
        #expect(try await site.run("GET from", value: nil).issues.map(\.description) == [])
    }

    @Test("A response after an entry's redirect is recorded for the redirect's target")
    func redirectedByEntry() async throws {
        let site = try Site(map: "{ \"@from\": { \"status\": 302, \"headers\": { \"Location\": \"/to\" } } }", [:])
        let child = try await site.run("GET from", value: "missing")
        #expect(child.issues.first?.text.contains("GET \(site.origin.url("to")) → ") == true, "\(child.issues)")
        let recording = try #require(site.recording("ChildAgain/ChildAgain.first"))
        #expect(recording.contains("@to") && !recording.contains("@from"), "\(recording)")
        site.origin.stop()
        #expect(try await site.run("GET from", value: nil).issues.map(\.description) == [])
    }

    @Test("A server's redirect to an entry's URL isn't recorded, and the issue shows the entry to write")
    func redirectedToEntry() async throws {
        let site = try Site(map: "{ \"@to\": { \"text\": \"mapped\" } }", ["GET from": [.redirect(to: "/to")]])
        let child = try await site.run("GET from", value: "missing")
        let text = try #require(child.issues.first?.text)
        let target = site.origin.url("to")
        #expect(
            text.contains("GET \(site.origin.url("from")): not recorded: the server redirects the request to \(target)")
        )
        #expect(text.contains(#"{ "status": 302, "headers": { "Location": "\#(target)" } }"#), "\(text)")
        #expect(site.recording("ChildAgain/ChildAgain.first") == nil)
    }

    @Test("A page without a charset is recorded without one")
    func charset() async throws {
        let page = LoopbackServer.Answer.text("<meta charset=windows-1251>", type: "text/html")
        let site = try Site(["GET page": [page]])
        _ = try await site.run("GET page", value: "missing")
        let recording = try #require(site.recording("ChildAgain/ChildAgain.first"))
        #expect(recording.contains("\"charset\": null"), "\(recording)")
    }

    @Test("What a closure changes is what's recorded")
    func redacted() async throws {
        let site = try Site([:])
        _ = try await site.run("GET a\nGET b", in: "redacted")
        #expect(try site.bodies("ChildAgain/ChildAgain.redacted") == ["same", "same"])
    }

    #if os(Linux)
    @Test("Processes of XCTest record beside each other, and a test that records fails")
    func xctest() async throws {
        let site = try Site([:])
        let environment = [
            ChildRecording.mapVariable: site.file.path,
            ChildRecording.originVariable: site.origin.baseURL.absoluteString, "LOCAL_SUBSTITUTION_RECORD": "missing",
        ]
        async let first = ChildProcess.runXCTest("XCTestTests/testInChild", environment: environment)
        async let second = ChildProcess.runXCTest("XCTestTests/testWithNameInChild", environment: environment)
        async let third = ChildProcess.runXCTest("XCTestTests/testBeginInChild", environment: environment)
        let outputs = try await [first, second, third]
        #expect(outputs[0].contains("Recorded 1 response in "), "\(outputs[0])")
        #expect(try site.bodies("XCTestTests/testInChild") == ["fresh GET a"])
        #expect(try site.bodies("XCTestTests/XCTestTests.testWithNameInChild") == ["fresh GET b"], "\(outputs[1])")
        // Entries in code have their recordings beside the test's file, which is here the map.
        let bodies = "Fixtures/recorded/map.json/XCTestTests.testBeginInChild"
        let text = try String(
            contentsOf: site.folder.file("\(bodies)/127.0.0.1_\(site.origin.port)/c.txt"),
            encoding: .utf8
        )
        #expect(text == "redacted", "\(outputs[2])")
    }
    #endif
}
#endif
