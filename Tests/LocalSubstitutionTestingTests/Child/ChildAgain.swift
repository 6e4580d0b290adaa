#if os(Linux) || os(macOS)
import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `RecordingAgainTests` runs these in a separate process. The environment says what they request.
@Suite(.enabled(if: ChildProcess.isThis))
struct ChildAgain {
    static let requestsVariable = "LOCAL_SUBSTITUTION_TESTING_REQUESTS"
    /// Names another map, or another spelling of the same one's path.
    static let otherMapVariable = "LOCAL_SUBSTITUTION_TESTING_OTHER_MAP"
    /// Names a folder that's used as a bundle.
    static let bundleVariable = "LOCAL_SUBSTITUTION_TESTING_BUNDLE"
    /// The text that a test writes into its map before it ends.
    static let changeVariable = "LOCAL_SUBSTITUTION_TESTING_CHANGE"

    private static let environment = ProcessInfo.processInfo.environment
    private static let otherMap = environment[otherMapVariable] ?? "none.json"
    private static let bundle = environment[bundleVariable].flatMap { Bundle(path: $0) }

    /// Makes the requests of a test one by one: each is a method, a path and perhaps a body.
    static func send(_ test: String) async {
        let requests = environment["\(requestsVariable)_\(test)"] ?? ""
        for line in requests.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            _ = try? await ChildRecording.send(words[0], words[1], body: words.dropFirst(2).first)
        }
    }

    private static let saveOrder: [String: SubstitutionMap.Handler] = ["saveOrder": { _ in .status(201) }]

    @Test(.substituting(ChildRecording.map, handlers: saveOrder))
    func first() async { await Self.send("first") }

    @Test(.substituting(ChildRecording.map, handlers: saveOrder))
    func second() async { await Self.send("second") }

    @Test(.substituting(ChildRecording.map, redacting: { $0.isExcluded = true }))
    func refused() async { await Self.send("first") }

    @Test(.substituting(ChildRecording.map, unmatched: .issue(allowing: ["http://127.0.0.1:*/*"])))
    func exception() async { await Self.send("first") }

    @Test(.substituting(ChildRecording.map, unmatched: .fail))
    func failing() async throws { #expect(try await ChildRecording.send("GET", "a") == "200 old") }

    @Test(.substituting(otherMap))
    func other() async { await Self.send("second") }

    @Test(.substituting(ChildRecording.map, in: bundle))
    func bundled() async { await Self.send("first") }

    @Test(.substituting(named: "map", in: bundle ?? .main), .enabled(if: bundle != nil))
    func named() async { await Self.send("first") }

    @Test(.substituting(ChildRecording.map, redacting: { $0.body = Data("same".utf8) }), arguments: 1...2)
    func redacted(_ number: Int) async { await Self.send("first") }

    /// Somebody changes the map while the test runs.
    @Test(.substituting(ChildRecording.map))
    func changing() async throws {
        await Self.send("first")
        let text = Self.environment[Self.changeVariable] ?? ""
        try text.write(toFile: ChildRecording.map, atomically: true, encoding: .utf8)
    }

    /// A detached task doesn't tell its test.
    @Test(
        .substituting(ChildRecording.map, sharedSession: ChildProcess.isThis),
        .enabled(if: environment[ChildRecording.mapVariable] != nil)
    )
    func shared() async throws {
        _ = try await text(ChildRecording.origin + "a", in: .shared)
        for path in ["b", "c"] {
            _ = try await Task.detached { try await text(ChildRecording.origin + path, in: .shared) }.value
        }
    }

    /// Between two of these tests, no other one is under way.
    @Suite(.enabled(if: ChildProcess.isThis), .serialized)
    struct OneByOne {
        @Test(.substituting(ChildRecording.map)) func one() async { await ChildAgain.send("first") }
        @Test(.substituting(ChildRecording.map)) func two() async { await ChildAgain.send("first") }
        @Test(.substituting(ChildRecording.map)) func three() async { await ChildAgain.send("first") }
    }

    /// The process is killed while the second test is under way.
    @Suite(.enabled(if: ChildProcess.isThis), .serialized)
    struct Killed {
        @Test(.substituting(ChildRecording.map)) func one() async { await ChildAgain.send("first") }
        @Test(.substituting(ChildRecording.map)) func two() async {
            await ChildAgain.send("second")
            kill(getpid(), SIGKILL)
        }
    }

    @Test func scope() async throws {
        try await withSubstitutions(ChildRecording.map) { await Self.send("first") }
    }
}
#endif
