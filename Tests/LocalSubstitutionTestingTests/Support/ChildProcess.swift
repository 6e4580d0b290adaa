#if os(Linux) || os(macOS)
import Foundation
import TestSupport

/// Tests that run in a separate process. Their suites are enabled only there, so that expected failures can be shown.
struct ChildProcess {
    /// Whether this process is the one that runs such tests.
    static var isThis: Bool { ProcessInfo.processInfo.environment[variable] != nil }

    private static let variable = "LOCAL_SUBSTITUTION_TESTING_CHILD"

    /// An issue, as the test runner reports it.
    struct Issue: CustomStringConvertible {
        let test: String
        let text: String
        let line: Int
        let isWarning: Bool

        var description: String { "\(isWarning ? "warning" : "issue") of \(test), line \(line): \(text)" }
    }

    let issues: [Issue]
    /// The tests that ran to their end.
    let ended: Set<String>
    /// The printed output.
    let output: String

    /// The version of the event stream. The first one has no warnings.
    private static var version: String {
        #if compiler(>=6.3)
        "6.3"
        #else
        "0"
        #endif
    }

    /// How tests are selected.
    enum Selection {
        /// By the option `--filter`.
        case filter
        /// By a file, so that the tests can't know that not all are run.
        case configuration
        /// By a file, with an option `--skip` that no test has.
        case configurationAndSkip
    }

    /// Runs tests of Swift Testing.
    ///
    /// - Parameter descriptors: How many descriptors the process may have; by default, as many as this process.
    static func run(
        _ filter: String,
        selection: Selection = .filter,
        environment: [String: String] = [:],
        descriptors: Int? = nil
    ) async throws -> ChildProcess {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("child-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let events = folder.appendingPathComponent("events.jsonl")
        let configuration = folder.appendingPathComponent("configuration.json")
        try JSONEncoder().encode(["filter": [filter]]).write(to: configuration)
        let selecting =
            switch selection {
            case .filter: ["--filter", filter]
            case .configuration: ["--configuration-path", configuration.path]
            case .configurationAndSkip: ["--configuration-path", configuration.path, "--skip", "no such test"]
            }
        let words = [
            "--testing-library", "swift-testing", "--event-stream-output-path", events.path, "--event-stream-version",
            version,
        ]
        let output = try await start(words + selecting, environment, descriptors, in: folder)
        return try ChildProcess(try Data(contentsOf: events), output: output)
    }

    /// Runs a test of XCTest. Returns the printed output.
    static func runXCTest(_ test: String, environment: [String: String]) async throws -> String {
        let words = ["--testing-library", "xctest", "LocalSubstitutionTestingTests.\(test)"]
        return try await start(words, environment, nil, in: FileManager.default.temporaryDirectory)
    }

    private static func start(
        _ words: [String],
        _ environment: [String: String],
        _ descriptors: Int?,
        in folder: URL
    ) async throws -> String {
        let log = folder.appendingPathComponent("log-\(UUID().uuidString)")
        try Data().write(to: log)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        let process = Process()
        let executable = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        if let descriptors {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", #"ulimit -n "$0" && exec "$@""#, "\(descriptors)", executable.path] + words
        } else {
            process.executableURL = executable
            process.arguments = words
        }
        process.environment = ProcessInfo.processInfo.environment
            .merging([variable: "1", "NO_COLOR": "1"]) { $1 }.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try await process.runToEnd()
        try handle.close()
        return String(decoding: try Data(contentsOf: log), as: UTF8.self)
    }

    func issues(of test: String) -> [Issue] { issues.filter { $0.test == test } }
}

extension ChildProcess {
    private struct Record: Decodable {
        let kind: String
        let payload: Payload

        struct Payload: Decodable {
            let kind: String?
            let testID: String?
            let issue: Details?
            let messages: [Message]?
        }

        struct Details: Decodable {
            let sourceLocation: Place?
            let severity: String?
        }

        struct Place: Decodable {
            let line: Int
        }

        struct Message: Decodable {
            let symbol: String
            let text: String
        }
    }

    private init(_ events: Data, output: String) throws {
        var issues: [Issue] = []
        var ended: Set<String> = []
        for line in events.split(separator: UInt8(ascii: "\n")) {
            let record = try JSONDecoder().decode(Record.self, from: line)
            guard record.kind == "event" else { continue }
            let test = record.payload.testID.map(Self.name) ?? ""
            switch record.payload.kind {
            case "testEnded": ended.insert(test)
            case "issueRecorded":
                let messages = record.payload.messages ?? []
                issues.append(
                    Issue(
                        test: test,
                        text: messages.map(\.text).joined(separator: "\n"),
                        line: record.payload.issue?.sourceLocation?.line ?? 0,
                        isWarning: record.payload.issue?.severity == "warning"
                    )
                )
            default: break
            }
        }
        (self.issues, self.ended, self.output) = (issues, ended, output)
    }

    /// Returns `Suite/test` for `Module.Suite/test(_:)/File.swift:1:2`.
    private static func name(_ id: String) -> String {
        let parts = id.split(separator: "/").filter { !$0.contains(".swift:") }
        return parts.map { part in
            String((part.split(separator: ".").last ?? part).prefix { $0 != "(" })
        }.joined(separator: "/")
    }
}
#endif
