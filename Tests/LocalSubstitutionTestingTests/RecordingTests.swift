#if os(Linux) || os(macOS)
import Foundation
import Guarded
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

/// A test without a recording at first, an API, a run that records, and a run without the API.
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
            case ("GET", "/long"): answer = .ok(Data(count: ChildRecording.longBody))
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

    /// Returns the recording of a test of `ChildRecording`.
    private static func recording(_ test: String, in folder: TemporaryFolder) -> URL {
        folder.file("recorded/ChildRecording/ChildRecording.\(test).json")
    }

    /// Returns the folder with the bodies in the recording of a test of `ChildRecording`.
    private static func bodies(_ test: String, in folder: TemporaryFolder) -> URL {
        folder.file("recorded/ChildRecording/ChildRecording.\(test)")
    }

    /// Checks that no byte of a folder's files is a secret.
    private static func expectNoSecret(in folder: TemporaryFolder) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
            #expect(!name.contains(secret))
            let text = (try? Data(contentsOf: folder.file(name))).map { String(decoding: $0, as: UTF8.self) }
            #expect(text?.contains(secret) != true, "\(name): \(text ?? "")")
        }
    }

    @Test("What clients other than URLSession get is recorded, too")
    func otherClients() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run("otherClients", folder.file("map.json"), origin, records: true)
        let issues = recording.issues.map(\.text)
        #expect(issues.count == 1 && issues[0].contains("Recorded 2 responses"), "\(issues)")
        origin.stop()
        let replay = try await Self.run("otherClients", folder.file("map.json"), origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("What a server loads is recorded whole, even if it's long")
    func longFromServer() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run("longFromServer", folder.file("map.json"), origin, records: true)
        #expect(recording.issues.count == 1)
        #expect(recording.issues.first?.text.contains("Recorded 1 response") == true, "\(recording.issues)")
        origin.stop()
        let replay = try await Self.run("longFromServer", folder.file("map.json"), origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("One run records and fails, and the next passes without the origin", arguments: [nil, "{\n}\n"])
    func plain(_ map: String?) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        if let map { try folder.write("map.json", map) }
        let recorded = Self.recording("plain", in: folder)
        let origin = try Self.api()
        let recording = try await Self.run("plain", file, origin, records: true)
        #expect(recording.issues.map(\.line) == [ChildRecording.plainLine], "\(recording.issues)")
        // A warning wouldn't fail the run.
        #expect(recording.issues.allSatisfy { !$0.isWarning }, "\(recording.issues)")
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains("Recorded 4 responses in \(recorded.path)"), "\(text)")
        #expect(text.contains("GET \(origin.url("user")) → 127.0.0.1_\(origin.port)/user.json"), "\(text)")
        #expect(text.contains("DELETE \(origin.url("user/7"))\n"), "\(text)")
        #expect(text.contains("the request's body isn't compared, since it's neither JSON nor a form"), "\(text)")
        try Self.expectNoSecret(in: folder)
        let base = origin.baseURL.absoluteString
        let host = "127.0.0.1_\(origin.port)"
        // The map's own file stays as it is.
        #expect(
            try map
                == (FileManager.default.fileExists(atPath: file.path) ? String(contentsOf: file, encoding: .utf8) : nil)
        )
        let written = try String(contentsOf: recorded, encoding: .utf8)
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
        let user = Self.bodies("plain", in: folder).appendingPathComponent("\(host)/user.json")
        #expect(try Data(contentsOf: user) == Data(#"{"name": "Ada"}"#.utf8))
        origin.stop()
        let replay = try await Self.run("plain", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
        let again = try await Self.run("plain", file, origin, records: true)
        let nothing = try #require(again.issues.first?.text)
        #expect(
            again.issues.map(\.isWarning) == [false]
                && nothing.contains("No request needed recording. Run the test again without"),
            "\(again.issues)"
        )
        #expect(try String(contentsOf: recorded, encoding: .utf8) == written)
    }

    @Test("Different requests become alternatives, and different responses a sequence")
    func alternatives() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run("alternatives", file, origin, records: true)
        #expect(recording.issues.count == 1, "\(recording.issues)")
        try Self.expectNoSecret(in: folder)
        let written = try String(contentsOf: Self.recording("alternatives", in: folder), encoding: .utf8)
        #expect(written.contains(#""when": { "json": { "id": 7 } }"#), "\(written)")
        #expect(written.contains(#""when": { "json": { "user": "ada" } }"#), "\(written)")
        #expect(written.contains(#""times": 1"#), "\(written)")
        origin.stop()
        let replay = try await Self.run("alternatives", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test(
        "A test's arguments record together, and different bodies for one URL into one entry",
        arguments: [("manyAtOnce", 9), ("manyBodies", 1)]
    )
    func inParallel(_ test: String, entries: Int) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run(test, file, origin, records: true)
        #expect(recording.issues.count == 1, "\(recording.issues)")
        let recorded = Self.recording("\(test)-_", in: folder)
        let bodies = Self.bodies("\(test)-_", in: folder)
        #expect(try SubstitutionMap(contentsOf: recorded, resources: bodies).count == entries)
        origin.stop()
        let replay = try await Self.run(test, file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("Tests that share a map have recordings of their own", arguments: ["Shared/", "SignIn/"])
    func shared(_ suite: String) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run(suite, file, origin, records: true)
        #expect(recording.issues.allSatisfy { $0.text.contains("Recorded ") }, "\(recording.issues)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("recorded/ChildRecording").path)
        #expect(names.count { $0.hasSuffix(".json") } == recording.issues.count, "\(names)")
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try Self.expectNoSecret(in: folder)
        origin.stop()
        let replay = try await Self.run(suite, file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("One issue names a request to which two arguments got different responses, and the first one's is kept")
    func conflict() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("map.json")
        let origin = try Self.api()
        let recording = try await Self.run("signIn", file, origin, records: true)
        #expect(recording.issues.map(\.isWarning) == [false], "\(recording.issues)")
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains(#"POST \#(origin.url("signin")) when { "json": { "user": "ada" } }"#), "\(text)")
        #expect(text.contains(#""right": 200 (recorded)"#), "\(text)")
        #expect(text.contains(#""wrong": 401"#) && !text.contains("401 (recorded)"), "\(text)")
        try Self.expectNoSecret(in: folder)
        origin.stop()
        let replay = try await Self.run("signIn", file, origin, records: false)
        #expect(replay.issues.count == 1 && replay.issues[0].text.contains("401"), "\(replay.issues)")
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

    @Test(
        "A closure redacts responses before they're recorded",
        arguments: ["redacted", "redactedInEntries", "redactedInScope", "redactedInSynchronousScope"]
    )
    func redacted(_ test: String) async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run(test, folder.file("map.json"), origin, records: true)
        #expect(recording.issues.count == 1)
        try Self.expectNoSecret(in: folder)
        let parent = test == "redacted" ? "recorded" : "Fixtures/recorded"
        let bodies = folder.file("\(parent)/ChildRecording/ChildRecording.\(test)")
        let token = bodies.appendingPathComponent("127.0.0.1_\(origin.port)/token.json")
        #expect(try Data(contentsOf: token) == Data(#"{"token": "redacted"}"#.utf8))
        #expect(recording.issues.first?.text.contains("redacting:") == false, "\(recording.issues)")
    }

    @Test("A token in a response is named, with the test and how to redact it")
    func token() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run("token", folder.file("map.json"), origin, records: true)
        let text = try #require(recording.issues.first?.text)
        let lines = text.components(separatedBy: "\n").drop { !$0.hasPrefix("Recorded 1 response") }.prefix(2)
        let first = try #require(lines.first)
        #expect(first.contains("Redact what's named below, look through the changes, then run the test"), "\(text)")
        let response = "the response to GET \(origin.url("token")) in the test ChildRecording/token"
        let member = "  The member “token” of \(response)"
        let advice = "The file has the real value, so don't commit it. Add “redacting:”, then record with"
        #expect(lines.last == "\(member) may be a credential. \(advice) LOCAL_SUBSTITUTION_RECORD=all.")
        #expect(!text.contains(Self.secret), "\(text)")
    }

    @Test("A request that its URL's entry doesn't match, or that exceeds its times, is recorded")
    func skipped() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let entries = """
            { "\(origin.url("user"))": [{ "json": { "name": "Eve" }, "times": 1 }],
              "\(origin.url("nothing"))": [{ "error": "timedOut", "times": 1 }],
              "\(origin.url("list"))": { "methods": ["POST"], "when": { "json": { "id": 9 } }, "status": 204 } }
            """
        let file = try folder.write("map.json", entries)
        let recording = try await Self.run("skipped", file, origin, records: true)
        let text = try #require(recording.issues.first?.text)
        #expect(text.contains("Recorded 3 responses"), "\(text)")
        origin.stop()
        let replay = try await Self.run("skipped", file, origin, records: false)
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
        "An entry that only changes request headers leaves the response to the recording",
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
        #expect(text.contains("Recorded 1 response in"), "\(text)")
        #expect(origin.requests.first?.header("X-A") == "1")
        origin.stop()
        let replay = try await Self.run("sentOn", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test(
        "What an entry responds to isn't recorded, and a null entry's request isn't loaded",
        arguments: [
            (#"{ "error": "timedOut" }"#, 0), (#"{ "forwardTo": "ORIGIN" }"#, 2), ("null", 0),
            (#"{ "json": {}, "use": "whenOffline" }"#, 0), (#"{ "status": 204 }"#, 0),
        ]
    )
    func responding(_ entry: String, requests: Int) async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let text = entry.replacingOccurrences(of: "ORIGIN", with: origin.url("nothing").absoluteString)
        let file = try folder.write("map.json", #"{ "\#(origin.url("user"))": \#(text) }"#)
        let recording = try await Self.run("sentOn", file, origin, records: true)
        #expect(recording.issues.count { $0.text.contains("No request needed recording") } == 1, "\(recording.issues)")
        #expect(recording.issues.count { $0.text.contains("is null") } == (entry == "null" ? 1 : 0))
        #expect(origin.requests.count == requests)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["map.json"])
    }

    @Test("What a handler asks the server is recorded, and a later run's handler gets it")
    func asking() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let file = try folder.write("map.json", #"{ "\#(origin.baseURL.absoluteString)*": { "handler": "ask" } }"#)
        let recording = try await Self.run("asking", file, origin, records: true)
        let text = try #require(recording.issues.first?.text)
        #expect(recording.issues.count == 1, "\(recording.issues)")
        #expect(text.contains("Recorded 2 responses in"), "\(text)")
        #expect(text.contains("GET \(origin.url("user")) → "), "\(text)")
        #expect(origin.requests.count == 2)
        try Self.expectNoSecret(in: folder)
        origin.stop()
        let replay = try await Self.run("asking", file, origin, records: false)
        #expect(replay.issues.map(\.description) == [])
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

    @Test("With unmatched: .load, what is loaded is recorded, too, and later runs replay it")
    func loading() async throws {
        let folder = try TemporaryFolder()
        let origin = try Self.api()
        let recording = try await Self.run("loading", folder.file("map.json"), origin, records: true)
        #expect(recording.issues.first?.text.contains("Recorded 1 response in") == true, "\(recording.issues)")
        origin.stop()
        let replay = try await Self.run("loading", folder.file("map.json"), origin, records: false)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test(
        "Expected failures and allowed URLs aren't recorded",
        arguments: ["failing", "exception", "allURLsAllowed"]
    )
    func notRecorded(_ test: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("map.json", "{}")
        let origin = try Self.api()
        let recording = try await Self.run(test, file, origin, records: true)
        // A run that records fails, even if there's nothing to record.
        #expect(recording.issues.count == (test == "failing" ? 0 : 1), "\(recording.issues)")
        #expect(recording.issues.allSatisfy { $0.text.contains("No request needed recording") }, "\(recording.issues)")
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
        let recorded = Self.recording("redacted", in: folder)
        let nothing = "Nothing was recorded in \(recorded.path). Fix the problems below and record again, or run"
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
        #expect(child.issues.contains { $0.text.contains("No entry matches this request") })
        #expect(origin.requests.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["map.json"])
    }
}
#endif
