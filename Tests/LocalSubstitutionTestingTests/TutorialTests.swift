#if os(Linux) || os(macOS)
import Foundation
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

/// The steps of *Your first stubbed test* and of *Record responses for tests* whose tests fail or record. The code is in
/// `DocumentationTests`, word for word as in the articles.
@Suite("Steps of the articles about tests", .sessions, .timeLimit(.minutes(5)))
struct TutorialTests {
    private static let articles = "Sources/LocalSubstitution/Documentation.docc"
    private static let tutorial = "\(articles)/YourFirstStubbedTest.md"
    private static let recording = "\(articles)/RecordResponsesForTests.md"

    /// The articles' package, in which the tests are.
    private static let package = "/path/to/Client"

    /// Runs a suite of `DocumentationTests`, as if its tests were in a file of a folder.
    private static func run(
        _ suite: String,
        in folder: TemporaryFolder,
        server: LoopbackServer? = nil,
        records: Bool = false
    ) async throws -> ChildProcess {
        var environment = ["LOCAL_SUBSTITUTION_TUTORIAL_FILE": folder.file("Tests/ClientTests/UserTests.swift").path]
        environment["LOCAL_SUBSTITUTION_TUTORIAL_SERVER"] = server.map { "http://127.0.0.1:\($0.port)" }
        if records { environment["LOCAL_SUBSTITUTION_RECORD"] = "missing" }
        let child = try await ChildProcess.run(#"DocumentationTests\.\#(suite)/"#, environment: environment)
        #expect(child.ended.contains { $0.hasPrefix("\(suite)/") }, "\(child.output)")
        return child
    }

    /// Returns what a reader of an article sees instead of the issues of a run here.
    private static func texts(
        _ child: ChildProcess,
        _ suite: String,
        in folder: TemporaryFolder,
        server: LoopbackServer? = nil,
        host: String = ""
    ) -> [String] {
        child.issues.map { issue in
            var text = issue.text.replacingOccurrences(of: "DocumentationTests\\.\(suite)/", with: "ClientTests\\.")
            text = text.replacingOccurrences(of: folder.url.path, with: package)
            let names = suite.replacingOccurrences(of: "/", with: ".")
            for file in ["FirstStubbedTestSnippets", "RecordingSnippets"] {
                text = text.replacingOccurrences(of: "\(file)/\(names).", with: "UserTests/")
            }
            guard let server else { return text }
            text = text.replacingOccurrences(of: "http://127.0.0.1:\(server.port)/", with: "https://\(host)/")
            return text.replacingOccurrences(of: "127.0.0.1_\(server.port)", with: host)
        }
    }

    @Test("Without an entry, the tutorial's test fails with the issue that the tutorial shows")
    func red() async throws {
        let folder = try TemporaryFolder()
        let child = try await Self.run("Tutorial/WithoutEntries", in: folder)
        let texts = Self.texts(child, "Tutorial/WithoutEntries", in: folder)
        // One is the error that the test throws.
        #expect(texts.count == 2, "\(child.output)")
        let quoted = try Quotation.block("No entry matches", in: Self.tutorial)
        #expect(texts.contains { $0.contains(quoted) }, "\(texts)")
    }

    @Test("The tutorial's test records what the tutorial shows, and then passes without the server")
    func record() async throws {
        let folder = try TemporaryFolder()
        let origin = try LoopbackServer(routes: [
            "/users/octocat": .text(
                #"{"login": "octocat", "id": 583231, "name": "The Octocat"}"#,
                type: "application/json"
            )
        ])
        let suite = "Tutorial/WithoutEntries"
        let recording = try await Self.run(suite, in: folder, server: origin, records: true)
        let texts = Self.texts(recording, suite, in: folder, server: origin, host: "api.github.com")
        #expect(texts.count == 1, "\(recording.output)")
        // The article breaks the long line.
        let words = { (text: String) in text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        let quoted = words(try Quotation.block("Recorded 1 response", in: Self.tutorial))
        #expect(texts.first.map(words)?.contains(quoted) == true, "\(texts)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).map {
            $0.replacingOccurrences(of: "FirstStubbedTestSnippets/Tutorial.WithoutEntries.", with: "UserTests/")
                .replacingOccurrences(of: "127.0.0.1_\(origin.port)", with: "api.github.com")
        }
        let files = try Quotation.block("Tests/ClientTests/Fixtures", in: Self.tutorial).split(separator: "\n")
        #expect(names.filter { $0.hasSuffix(".json") }.sorted() == files.map(String.init).sorted())
        origin.stop()
        let replay = try await Self.run(suite, in: folder, server: origin)
        #expect(replay.issues.map(\.description) == [])
    }

    @Test("A login is recorded as the article shows, without token and password, and passes without the server")
    func login() async throws {
        let folder = try TemporaryFolder()
        let token = "s3cr3t-token"
        let origin = try LoopbackServer { request in
            switch (request.method, request.path) {
            case ("POST", "/login"): .text(#"{"user": "ada", "token": "\#(token)"}"#, type: "application/json")
            case ("GET", "/orders") where request.header("Authorization") == "Bearer \(token)":
                .text(#"["socks"]"#, type: "application/json")
            default: .status(401)
            }
        }
        let suite = "LoginSteps"
        let recording = try await Self.run(suite, in: folder, server: origin, records: true)
        let texts = Self.texts(recording, suite, in: folder, server: origin, host: "shop.example.com")
        #expect(texts.count == 1 && texts[0].contains("Recorded 2 responses"), "\(texts)")
        #expect(texts.first?.contains("redacting:") == false, "\(texts)")
        origin.stop()
        let replay = try await Self.run(suite, in: folder, server: origin)
        #expect(replay.issues.map(\.description) == [])
        // What is written is what the article shows.
        let recorded = folder.file("Tests/ClientTests/Fixtures/recorded")
        let beginning = "{\n  \"https://shop.example.com/login\""
        let article = try Quotation.block(beginning, language: "json", in: Self.recording)
        var maps: [String] = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: recorded.path) {
            guard let text = try? String(contentsOf: recorded.appendingPathComponent(name), encoding: .utf8) else {
                continue
            }
            for secret in [token, "correct horse"] { #expect(!text.contains(secret), "\(name): \(text)") }
            if text.contains("http://127.0.0.1") { maps.append(text) }
        }
        // The rest of the login's body stays.
        let login = try FileManager.default.subpathsOfDirectory(atPath: recorded.path).first { $0.contains("/login-") }
        let body = try String(contentsOf: recorded.appendingPathComponent(#require(login)), encoding: .utf8)
        #expect(body == #"{"user": "ada", "token": "redacted"}"#)
        let shown = maps.map { text in
            text.replacingOccurrences(of: "http://127.0.0.1:\(origin.port)/", with: "https://shop.example.com/")
                .replacingOccurrences(of: "127.0.0.1_\(origin.port)", with: "shop.example.com")
                .trimmingCharacters(in: .newlines)
        }
        #expect(shown == [article])
    }
}
#endif
