#if os(Linux) || os(macOS)
import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionTesting
import LoopbackOrigin
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `SharedSessionTests` runs these in a separate process, where nothing keeps them from running at once.
@Suite(.enabled(if: ChildProcess.isThis))
struct ChildSharedSession {
    private static let key = "http://127.0.0.1:*/name"
    private static let origin = try? LoopbackServer { _ in .text("network") }
    private static let running = Guarded(0)

    private static func answer(_ path: String = "name") async throws -> String {
        try await text(#require(origin).url(path).absoluteString, in: .shared)
    }

    /// Checks that no other test of the shared session runs meanwhile.
    private static func check(_ expected: String) async throws {
        #expect(count(1) == 1)
        for _ in 0..<3 { #expect(try await answer() == expected) }
        #expect(try await Task.detached { try await answer() }.value == expected)
        // Requests in detached tasks, too, are the running test's.
        #expect(TestSubstitutions.current.requests.count == 4)
        #expect(count(-1) == 0)
    }

    private static func count(_ change: Int) -> Int {
        running.withLock { running in
            running += change
            return running
        }
    }

    @Test(.substituting([key: .text("first")], sharedSession: ChildProcess.isThis), arguments: 0..<10)
    func first(_ number: Int) async throws { try await Self.check("first") }

    @Test(.substituting([key: .text("second")], sharedSession: ChildProcess.isThis), arguments: 0..<10)
    func second(_ number: Int) async throws { try await Self.check("second") }

    @Suite(.substituting([key: .text("third")], sharedSession: ChildProcess.isThis))
    struct OfSuite {
        @Test func third() async throws { try await ChildSharedSession.check("third") }
        @Test func alsoThird() async throws { try await ChildSharedSession.check("third") }
    }

    /// When the second test begins, a session has been used. So it can be answered only since its trait was made before.
    @Suite(.enabled(if: ChildProcess.isThis), .serialized)
    struct AfterUse {
        @Test func network() async throws { #expect(try await ChildSharedSession.answer() == "network") }

        @Test(.substituting([ChildSharedSession.key: .text("late")], sharedSession: ChildProcess.isThis))
        func substituted() async throws { #expect(try await ChildSharedSession.answer() == "late") }
    }

    private static let hasBegun = Gate()
    private static let hasLoaded = Gate()
    private static let hasAnswered = Gate()

    @Test(.substituting([key: .text("overlapping")], sharedSession: ChildProcess.isThis))
    func overlapping() async throws {
        await Self.hasBegun.open()
        await Self.hasLoaded.wait()
        await Self.hasAnswered.wait()
        #expect(try await Self.answer() == "overlapping")
    }

    /// Uses the shared session while another test's map answers it.
    @Test func beside() async throws {
        await Self.hasBegun.wait()
        for _ in 0..<3 { #expect(try await Self.answer() == "network") }
        await Self.hasLoaded.open()
    }

    /// Has its own map while another test's map answers the shared session.
    @Test(.substituting([key: .text("beside")]))
    func besideWithMap() async throws {
        await Self.hasBegun.wait()
        let name = try? await text(#require(Self.origin).url("name").absoluteString)
        let shared = try? await Self.answer()
        await Self.hasAnswered.open()
        #expect(name == "beside")
        #expect(shared == "network")
    }

    @Test(
        .substituting(
            ["https://shop.example.com/handled": .handler { _ in throw Mistake() }],
            sharedSession: ChildProcess.isThis
        )
    )
    func unanswered() async throws {
        _ = try? await text("https://shop.example.com/own", in: .shared)
        for path in ["detached", "handled"] {
            _ = try? await Task.detached { try await text("https://shop.example.com/\(path)", in: .shared) }.value
        }
    }

    @Test(
        .substituting(
            ProcessInfo.processInfo.environment[ChildRecording.mapVariable] ?? "none.json",
            sharedSession: ChildProcess.isThis
        ),
        .enabled(if: ProcessInfo.processInfo.environment[ChildRecording.mapVariable] != nil)
    )
    func recorded() async throws {
        #expect(try await Self.answer() == "network")
        let detached = try await Task.detached { try await Self.answer("detached") }.value
        #expect(detached == "network")
    }

    @Test(.substituting([key: .text("own")], sharedSession: ChildProcess.isThis))
    func otherSession() async throws {
        let session = URLSession(configuration: .ephemeral)
        #expect(try await text(#require(Self.origin).url("name").absoluteString, in: session) == "network")
    }

    @Test(.substituting([:], sharedSession: ChildProcess.isThis))
    func offline() {}

    private struct Mistake: Error, CustomStringConvertible {
        var description: String { "the order needs a name" }
    }
}

/// Something that tests wait for.
private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for one in waiting { one.resume() }
        waiting = []
    }

    func wait() async {
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }
}
#endif
