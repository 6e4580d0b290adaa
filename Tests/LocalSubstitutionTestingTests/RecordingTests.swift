#if os(Linux) || os(macOS)
import Foundation
import Guarded
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

/// A map that's empty at first, an API, a run that records, and a run without the API.
@Suite("Recording missing responses", .threads, .timeLimit(.minutes(5)))
struct RecordingTests {
    private static let secret = "s3cr3t"

    /// Returns an API with a list that changes.
    private static func api() throws -> LoopbackServer {
        let items = Guarded<[Int]>([])
        return try LoopbackServer { request in
            var answer: LoopbackServer.Answer
            switch (request.method, request.path) {
            case ("GET", "/user"): answer = .text(#"{"name": "Ada"}"#, type: "application/json")
            case ("GET", "/list"): answer = .text("[\(items.withLock { $0.map(String.init).joined(separator: ",") })]")
            case ("POST", "/list"):
                let number = String(decoding: request.body, as: UTF8.self).contains("7") ? 7 : 8
                items.withLock { $0.append(number) }
                answer = .text(#"{"id": \#(number)}"#, type: "application/json")
                answer.status = 201
            case ("POST", "/login"): answer = .text("welcome")
            case ("GET", "/token"): answer = .text(#"{"token": "s3cr3t-token"}"#, type: "application/json")
            case ("POST", "/upload"):
                answer = .text("thanks")
                answer.status = 201
            case ("DELETE", _): answer = .status(204)
            case ("POST", "/echo"): answer = .text(String(decoding: request.body, as: UTF8.self))
            case ("POST", "/wait"): answer = LoopbackServer.Answer(delay: 0.3)
            case ("POST", "/signin"):
                answer = .text("signed in?")
                if !String(decoding: request.body, as: UTF8.self).contains("right") { answer.status = 401 }
            case ("GET", "/headers"):
                answer = .text("page")
                answer.headers += [
                    ("X-Total-Count", "40"), ("Retry-After", "5"), ("Location", "/?access_token=s3cr3t"),
                ]
            case ("GET", "/held"): answer = LoopbackServer.Answer(delay: 600)
            default:
                answer = .text("no such thing")
                answer.status = 404
            }
            answer.headers += [("Set-Cookie", "id=s3cr3t-set"), ("X-Session", "s3cr3t-x"), ("Content-Language", "en")]
            return answer
        }
    }

    private static func run(
        _ test: String,
        _ map: URL,
        _ origin: LoopbackServer,
        records: Bool,
        value: String = "missing"
    ) async throws -> ChildProcess {
        var environment = [
            ChildRecording.mapVariable: map.path, ChildRecording.originVariable: origin.baseURL.absoluteString,
        ]
        if records { environment["LOCAL_SUBSTITUTION_RECORD"] = value }
        let child = try await ChildProcess.run(
            "ChildRecording/\(test)" + (test.hasSuffix("/") ? "" : "\\("),
            environment: environment
        )
        #expect(child.ended.contains { $0.hasPrefix("ChildRecording/\(test)") }, "\(child.output)")
        return child
    }

    /// Checks that no byte of a folder's files is a secret.
    private static func expectNoSecret(in folder: TemporaryFolder) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
            #expect(!name.contains(secret))
            let text = (try? Data(contentsOf: folder.file(name))).map { String(decoding: $0, as: UTF8.self) }
            #expect(text?.contains(secret) != true, "\(name): \(text ?? "")")
        }
    }

    @Test("One run records and fails, and the next passes without the origin", arguments: [nil, "{\n}\n"])
    func plain(_ map: String?) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        if let map { try folder.write("map.json", map) }
        let origin = try Self.api()
        let recording = try await Self.run("plain", file, origin, records: true)
        #expect(recording.issues.map(\.line) == [ChildRecording.plainLine], "\(recording.issues)")
        // A warning wouldn't fail the run.
        #expect(recording.issues.allSatisfy { !$0.isWarning }, "\(recording.issues)")
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains("Recorded 4 responses in \(file.path)"), "\(text)")
        #expect(text.contains("GET \(origin.url("user")) → 127.0.0.1_\(origin.port)/user.json"), "\(text)")
        #expect(text.contains("DELETE \(origin.url("user/7"))\n"), "\(text)")
        #expect(text.contains("the request's body isn't compared, since it's neither JSON nor a form"), "\(text)")
        try Self.expectNoSecret(in: folder)
        let base = origin.baseURL.absoluteString
        let host = "127.0.0.1_\(origin.port)"
        let written = try String(contentsOf: file, encoding: .utf8)
        let lines = written.split(separator: "\n").map { $0.trimmingCharacters(in: [" ", ","]) }
        let language = #""headers": { "Content-Language": "en" }"#
        #expect(
            lines.contains(#""\#(base)user": { "file": "\#(host)/user.json", \#(language) }"#),
            "\(written)"
        )
        #expect(
            lines.contains(#""\#(base)user/7": { "methods": ["DELETE"], "status": 204, \#(language) }"#),
            "\(written)"
        )
        #expect(
            lines.contains { $0.hasPrefix(#""\#(base)nothing": { "file": "\#(host)/nothing.txt", "status": 404"#) },
            "\(written)"
        )
        #expect(lines.contains { $0.hasPrefix(#""\#(base)upload": { "methods": ["POST"], "file": "\#(host)/upload-"#) })
        #expect(try Data(contentsOf: folder.file("\(host)/user.json")) == Data(#"{"name": "Ada"}"#.utf8))
        origin.stop()
        let replay = try await Self.run("plain", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
        let again = try await Self.run("plain", file, origin, records: true)
        let nothing = try #require(again.issues.first?.text)
        #expect(
            again.issues.map(\.isWarning) == [false] && nothing.contains("There was nothing to record in \(file.path)"),
            "\(again.issues)"
        )
        #expect(try String(contentsOf: file, encoding: .utf8) == written)
    }

    @Test("Different requests become alternatives, and different responses a sequence")
    func alternatives() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run("alternatives", file, origin, records: true)
        #expect(recording.issues.count == 1, "\(recording.issues)")
        try Self.expectNoSecret(in: folder)
        let written = try String(contentsOf: file, encoding: .utf8)
        #expect(written.contains(#""when": { "json": { "id": 7 } }"#), "\(written)")
        #expect(written.contains(#""when": { "json": { "user": "ada" } }"#), "\(written)")
        #expect(written.contains(#""times": 1"#), "\(written)")
        origin.stop()
        let replay = try await Self.run("alternatives", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test(
        "Parallel tests record into one map, and different bodies for one URL into one entry",
        arguments: [("manyAtOnce", 8, 9), ("manyBodies", 4, 1)]
    )
    func inParallel(_ test: String, issues: Int, entries: Int) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run(test, file, origin, records: true)
        #expect(recording.issues.count == issues, "\(recording.issues)")
        #expect(try SubstitutionMap(contentsOf: file).count == entries)
        origin.stop()
        let replay = try await Self.run(test, file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("Tests that share a map lose nothing, whichever ends first")
    func shared() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run("Shared/", file, origin, records: true)
        #expect(recording.issues.allSatisfy { $0.text.contains("Recorded ") }, "\(recording.issues)")
        let written = try String(contentsOf: file, encoding: .utf8)
        let bodies = [#"{ "q": "a", "page": 2 }"#, #"{ "q": "a" }"#, "q=a&page=2", "q=a", "{}"]
        for body in bodies { #expect(written.components(separatedBy: "\(body)").count > 1, "\(written)") }
        #expect(try SubstitutionMap(contentsOf: file).count == 2)
        origin.stop()
        let replay = try await Self.run("Shared/", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("One issue names all tests whose requests a map can't tell apart, and the first test's response is kept")
    func conflict() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run("SignIn/", file, origin, records: true)
        let conflicts = recording.issues.filter { $0.text.contains("got different responses") }
        #expect(conflicts.map(\.isWarning) == [false], "\(recording.issues)")
        let text = try #require(conflicts.first?.text)
        #expect(text.contains(#"POST \#(origin.url("signin")) when { "json": { "user": "ada" } }"#), "\(text)")
        for (name, end) in [("right", "200 (kept)"), ("wrong", "401"), ("alsoRight", "200 (kept)")] {
            let lines = text.split(separator: "\n").filter { $0.contains("ChildRecording/SignIn/\(name), ") }
            #expect(lines.count == 1 && lines[0].hasSuffix(": \(end)"), "\(text)")
        }
        try Self.expectNoSecret(in: folder)
        #expect(try !String(contentsOf: file, encoding: .utf8).contains(#""status": 401"#))
        origin.stop()
        let replay = try await Self.run("SignIn/", file, origin, records: false)
        #expect(Set(replay.issues.map(\.test)) == ["ChildRecording/SignIn/wrong"])
    }

    @Test("Headers that clients read are kept, and the issue lists the others")
    func headers() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run("headers", file, origin, records: true)
        let lines = recording.issues.first?.text.split(separator: "\n") ?? []
        let line = try #require(lines.first { $0.contains("headers left out: ") })
        #expect(line.contains("Location (its value may be a credential)") && line.contains("X-Session"), "\(line)")
        #expect(line.contains("Set-Cookie") && !line.contains("Content-Type") && !line.contains("X-Total-Count"))
        try Self.expectNoSecret(in: folder)
        origin.stop()
        let replay = try await Self.run("headers", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("A closure redacts responses before they're recorded")
    func redacted() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run("redacted", folder.file("map.json"), origin, records: true)
        #expect(recording.issues.count == 1)
        try Self.expectNoSecret(in: folder)
        let host = "127.0.0.1_\(origin.port)"
        #expect(try Data(contentsOf: folder.file("\(host)/token.json")) == Data(#"{"token": "redacted"}"#.utf8))
    }

    @Test("A request that its URL's entry doesn't match, or that exceeds its times, is recorded")
    func passedOver() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let entries = """
            { "\(origin.url("user"))": [{ "json": { "name": "Eve" }, "times": 1 }],
              "\(origin.url("nothing"))": [{ "error": "timedOut", "times": 1 }],
              "\(origin.url("list"))": { "methods": ["POST"], "when": { "json": { "id": 9 } }, "status": 204 } }
            """
        let file = try folder.write("map.json", entries)
        let recording = try await Self.run("passedOver", file, origin, records: true)
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains("Recorded 3 responses"), "\(text)")
        origin.stop()
        let replay = try await Self.run("passedOver", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("A request that exceeds the times of a forwarding alternative is recorded")
    func sentOn() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let url = origin.url("user")
        let entries = #"{ "\#(url)": [{ "forwardTo": "\#(origin.url("nothing"))", "times": 1 }] }"#
        let file = try folder.write("map.json", entries)
        let recording = try await Self.run("sentOn", file, origin, records: true)
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains("Recorded 1 response in"), "\(text)")
        #expect(text.contains("GET \(url) → "), "\(text)")
        let replay = try await Self.run("sentOn", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test(
        "A request that an entry sends to the URL's server is reported, and one that exceeds its times is recorded",
        arguments: [
            #"{ "setRequestHeaders": { "X-A": "1" } }"#, #"[{ "setRequestHeaders": { "X-A": "1" }, "times": 1 }]"#,
        ]
    )
    func sentWithHeaders(_ entry: String) async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let url = origin.url("user")
        let file = try folder.write("map.json", #"{ "\#(url)": \#(entry) }"#)
        let recording = try await Self.run("sentOn", file, origin, records: true)
        let text = try #require(recording.issues.first?.text)
        let beginning = entry.contains("times") ? "Recorded 1 response in" : "Nothing was recorded in"
        #expect(text.contains("\(beginning) \(file.path)"), "\(text)")
        #expect(text.contains("GET \(url): not recorded: its entry has no “forwardTo”"), "\(text)")
    }

    @Test("A POST without a body is recorded")
    func emptyPost() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run("emptyPost", file, origin, records: true)
        #expect(recording.issues.first?.text.contains("Recorded 1 response in") == true, "\(recording.issues)")
        origin.stop()
        let replay = try await Self.run("emptyPost", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    #if os(Linux)
    @Test("An upload task fails and is reported, since its body is hidden")
    func upload() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run("upload", folder.file("map.json"), origin, records: true)
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains("POST \(origin.url("upload")): not loaded: On Linux, Foundation hides"), "\(text)")
        #expect(origin.requests.isEmpty)
    }
    #endif

    @Test(
        "A run fails because of responses that were loaded but can't be recorded",
        arguments: [
            ("underWay", "held: not recorded: the request hadn't ended"),
            ("refused", "user: not recorded: the redacting closure"),
        ]
    )
    func left(_ test: String, _ reason: String) async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run(test, folder.file("map.json"), origin, records: true)
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains(reason), "\(text)")
        // A map in which nothing was recorded isn't created.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test("A URL with a credential isn't recorded, and the issue says so")
    func secretInURL() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run("secretInURL", folder.file("map.json"), origin, records: true)
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains("not recorded: The URL's parameter “access_token” may be a credential"), "\(text)")
        #expect(!recording.output.contains(Self.secret), "\(recording.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test("Expected failures and exceptions aren't recorded", arguments: ["failing", "exception"])
    func notRecorded(_ test: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("map.json", "{}")
        let origin = try Self.api()
        let recording = try await Self.run(test, file, origin, records: true)
        // A run that records fails, even if there's nothing to record.
        #expect(recording.issues.count == (test == "failing" ? 0 : 1), "\(recording.issues)")
        #expect(recording.issues.allSatisfy { $0.text.contains("nothing to record") }, "\(recording.issues)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["map.json"])
        #expect(origin.requests.isEmpty == (test == "failing"))
    }

    @Test("An unreachable origin is an issue")
    func unreachable() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        origin.stop()
        let file = folder.file("map.json")
        let recording = try await Self.run("redacted", file, origin, records: true)
        #expect(recording.issues.contains { $0.text.contains("not loaded: ") })
        let nothing = "Nothing was recorded in \(file.path). Fix the problems below and record again, or run"
        #expect(recording.issues.contains { $0.text.contains(nothing) }, "\(recording.issues)")
    }

    @Test(
        "A value that means nothing is an issue of each test, which names those that do",
        arguments: ["everything", "1", "All", " "],
        ["redacted", "exception", "scope"]
    )
    func unknownValue(_ value: String, test: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("map.json", "{}")
        let origin = try Self.api()
        let child = try await Self.run(test, file, origin, records: true, value: value)
        let text = try #require(child.issues.first?.text)
        #expect(child.issues.map(\.isWarning) == [false], "\(child.issues)")
        #expect(text.contains("LOCAL_SUBSTITUTION_RECORD is “\(value)”") && text.contains("“missing”"), "\(text)")
        #expect(text.contains("“all”"), "\(text)")
        #expect(origin.requests.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["map.json"])
    }

    @Test("Without the variable, or if it's empty, nothing is loaded or written", arguments: [nil, ""])
    func off(_ value: String?) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("map.json", "{}")
        let origin = try Self.api()
        let child = try await Self.run("redacted", file, origin, records: value != nil, value: value ?? "")
        #expect(child.issues.contains { $0.text.contains("No entry answers this request") })
        #expect(origin.requests.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["map.json"])
    }
}
#endif
