import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A request that was sent to the network", .sessions)
struct ForwardedRequestTests {
    private final class Pieces: Sendable {
        private let counted = Guarded(0)
        var count: Int { counted.withLock { $0 } }
        func add() { counted.withLock { $0 += 1 } }
    }

    private let pieces = Pieces()
    private let request: ForwardedRequest

    init() throws {
        let pieces = pieces
        let map = try SubstitutionMap(json: Data("{}".utf8))
        // The request isn't sent, so the test alone decides what arrives.
        request = ForwardedRequest(
            Plan(try LocalSubstitutionTests.request("http://nowhere.invalid/a"), in: map),
            nil,
            in: Attachment(of: Responder(map, reloadsChanges: false, defaultCacheIn: nil), to: .ephemeral),
            for: RequestLoad.Client(receive: { _ in pieces.add() }),
            body: nil,
            isConditional: false
        )
    }

    private func failure() async throws -> (error: URLError, isPartial: Bool) {
        var events = request.events.makeAsyncIterator()
        let failure =
            if case .failed(let error, let isPartial) = await events.next() { (error, isPartial) } else {
                nil as (URLError, Bool)?
            }
        return try #require(failure)
    }

    @Test("A piece that arrives after a timeout isn't delivered, since the file may already answer")
    func late() async throws {
        request.collectorOwner.complete(.failure(URLError(.timedOut)))
        request.collectorOwner.body.pass?(.data(Data("late".utf8)))
        let failure = try await failure()
        #expect(failure.error.code == .timedOut)
        #expect(!failure.isPartial)
        #expect(pieces.count == 0)
    }

    @Test("A request that fails after a piece was delivered is partial, so nothing else answers")
    func partial() async throws {
        request.collectorOwner.body.pass?(.data(Data("piece".utf8)))
        request.collectorOwner.complete(.failure(URLError(.timedOut)))
        let failure = try await failure()
        #expect(failure.error.code == .timedOut)
        #expect(failure.isPartial)
        #expect(pieces.count == 1)
    }
}
