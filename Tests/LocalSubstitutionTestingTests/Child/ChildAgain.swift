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
    /// Names a folder that's used as a bundle.
    static let bundleVariable = "LOCAL_SUBSTITUTION_TESTING_BUNDLE"

    private static let environment = ProcessInfo.processInfo.environment
    private static let bundle = environment[bundleVariable].flatMap { Bundle(path: $0) }

    /// Makes the requests of the environment one by one: each is a method, a path and perhaps a body.
    static func send(_ variable: String = "first") async {
        let requests = environment["\(requestsVariable)_\(variable)"] ?? ""
        for line in requests.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            _ = try? await ChildRecording.send(words[0], words[1], body: words.dropFirst(2).first)
        }
    }

    private struct Mistake: Error {}

    @Test(.substituting(ChildRecording.map))
    func first() async { await Self.send() }

    @Test(.substituting(ChildRecording.map))
    func throwing() async throws {
        await Self.send()
        throw Mistake()
    }

    @Test(.substituting(ChildRecording.map), arguments: 1...2)
    func throwingOnce(_ number: Int) async throws {
        await Self.send()
        if number == 2 { throw Mistake() }
    }

    /// It doesn't begin, since the allowed URL is invalid.
    @Test(.substituting(ChildRecording.map, unmatched: .issue(allowing: ["h/a"])))
    func notBegun() async { await Self.send() }

    @Test(.substituting(ChildRecording.map))
    func underWay() async throws {
        URLSession.substituted.dataTask(with: try #require(URL(string: ChildRecording.origin + "held"))).resume()
        while TestSubstitutions.current.requests.isEmpty { await Task.yield() }
    }

    @Test(.substituting(ChildRecording.map, redacting: { $0.body = Data("same".utf8) }))
    func redacted() async { await Self.send() }

    @Test(.substituting("Maps/map.json", in: bundle), .enabled(if: bundle != nil))
    func bundled() async throws {
        #expect(try await ChildRecording.send("GET", "a") == "200 recorded")
    }

    /// Each part has its own map, and all share the recording.
    @Test(.substituting(ChildRecording.map))
    func nested() async throws {
        await Self.send()
        for _ in 0..<2 { try await withSubstitutions(["https://h/a": .status(204)]) { await Self.send() } }
        await Self.send()
    }

    @Test func parts() async throws {
        try await withSubstitutions(ChildRecording.map) { await Self.send() }
        try await withSubstitutions(["https://h/a": .status(204)]) { await Self.send("second") }
    }

    @Test(.substituting(ChildRecording.map)) func same() async { await Self.send() }
    @Test(.substituting(ChildRecording.map)) func Same() async { await Self.send() }

    /// The process is killed while the test is under way.
    @Test(.substituting(ChildRecording.map))
    func killed() async {
        await Self.send()
        kill(getpid(), SIGKILL)
    }
}
#endif
