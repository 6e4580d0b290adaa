import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A request that was sent to the network", .sessions)
struct ForwardedTaskTests {
    private final class Pieces: Sendable {
        private let counted = Guarded(0)
        var count: Int { counted.withLock { $0 } }
        func add() { counted.withLock { $0 += 1 } }
    }

    private let pieces = Pieces()
    private let task: ForwardedTask

    init() throws {
        let url = try #require(URL(string: "http://nowhere.invalid/a"))
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let pieces = pieces
        // The task isn't resumed, so the test alone decides what arrives.
        task = ForwardedTask(
            session.dataTask(with: url),
            limit: nil,
            to: Forwarder.Receiver(
                answerRedirect: { _ in .follow },
                answerChallenge: { _ in },
                pass: { _ in pieces.add() },
                passesAtOnce: true,
                keepsBody: true
            )
        )
    }

    private func failure() async throws -> (error: URLError, isPartial: Bool) {
        let outcome = await task.outcome.wait(onCancel: {})
        let failure =
            if case .failed(let error, let isPartial) = outcome { (error, isPartial) } else { nil as (URLError, Bool)? }
        return try #require(failure)
    }

    @Test("A piece that arrives after a timeout isn't delivered, since the file may already answer")
    func late() async throws {
        task.collectorOwner.complete(.failure(URLError(.timedOut)))
        task.collectorOwner.body.pass?(.data(Data("late".utf8)))
        let failure = try await failure()
        #expect(failure.error.code == .timedOut)
        #expect(!failure.isPartial)
        #expect(pieces.count == 0)
    }

    @Test("A request that fails after a piece was delivered is partial, so nothing else answers")
    func partial() async throws {
        task.collectorOwner.body.pass?(.data(Data("piece".utf8)))
        task.collectorOwner.complete(.failure(URLError(.timedOut)))
        let failure = try await failure()
        #expect(failure.error.code == .timedOut)
        #expect(failure.isPartial)
        #expect(pieces.count == 1)
    }
}
