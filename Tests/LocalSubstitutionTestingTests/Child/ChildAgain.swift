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

    /// Makes the requests of a test one by one: each is a method, a path and perhaps a body.
    private static func send(_ test: String) async {
        let requests = ProcessInfo.processInfo.environment["\(requestsVariable)_\(test)"] ?? ""
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

    @Test(.substituting(ChildRecording.map, redacting: { $0.isRefused = true }))
    func refused() async { await Self.send("first") }

    @Test(.substituting(ChildRecording.map, unmatched: .issue(except: ["http://127.0.0.1:*/*"])))
    func exception() async { await Self.send("first") }

    @Test(.substituting(ChildRecording.map, unmatched: .fail))
    func failing() async throws { #expect(try await ChildRecording.send("GET", "a") == "200 old") }

    @Test func scope() async throws {
        try await withSubstitutions(ChildRecording.map) { await Self.send("first") }
    }
}
#endif
