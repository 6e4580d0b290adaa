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
        request = try Self.request { pieces.add() }
    }

    /// Returns a request that isn't sent, so the test alone decides what arrives.
    private static func request(receive: @escaping @Sendable () -> Void = {}) throws -> ForwardedRequest {
        let json = #"{ "http://nowhere.invalid/a": { "text": "a", "use": "whenOffline" } }"#
        let map = try SubstitutionMap(json: Data(json.utf8))
        let plan = Plan(try LocalSubstitutionTests.request("http://nowhere.invalid/a"), in: map, traits: .current)
        return ForwardedRequest(
            plan,
            .entry(try #require(plan.substitution)),
            in: Attachment(
                of: Responder(MapInUse(map, reloadsChanges: false), defaultCacheIn: nil, traits: .current),
                to: .ephemeral
            ),
            for: RequestLoad.Client(receive: { _ in receive() }),
            body: nil,
            isConditional: false
        )
    }

    private func failure() async throws -> (error: URLError, fallsBack: Bool) {
        var events = request.events.makeAsyncIterator()
        let failure =
            if case .failed(let error, let fallback) = await events.next() { (error, fallback != nil) } else {
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
        #expect(failure.fallsBack)
        #expect(pieces.count == 0)
    }

    @Test("Nothing else answers if the network didn't fail", arguments: [URLError.Code.cancelled, .badURL])
    func otherError(code: URLError.Code) async throws {
        request.collectorOwner.complete(.failure(URLError(code)))
        let failure = try await failure()
        #expect(failure.error.code == code)
        #expect(!failure.fallsBack)
    }

    @Test("A request that fails after a piece was delivered is partial, so nothing else answers")
    func partial() async throws {
        request.collectorOwner.body.pass?(.data(Data("piece".utf8)))
        request.collectorOwner.complete(.failure(URLError(.timedOut)))
        let failure = try await failure()
        #expect(failure.error.code == .timedOut)
        #expect(!failure.fallsBack)
        #expect(pieces.count == 1)
    }

    @Test("A redirect that arrives after the end doesn't keep the request alive", arguments: [true, false])
    func redirectedLate(isStopped: Bool) throws {
        weak var released: ForwardedRequest?
        do {
            let request = try Self.request()
            released = request
            let owner = request.collectorOwner
            if isStopped { request.stop() } else { owner.complete(.failure(URLError(.timedOut))) }
            owner.redirect?(try LocalSubstitutionTests.request("http://nowhere.invalid/b")) { _ in }
        }
        #expect(released == nil)
    }
}
