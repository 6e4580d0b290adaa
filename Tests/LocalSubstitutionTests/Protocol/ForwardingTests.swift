import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Forwarding a request", .sessions)
struct ForwardingTests {
    private enum Told: Equatable {
        case piece
        case failed(URLError.Code, isPartial: Bool)
        case other
    }

    private final class Log: Sendable {
        private let told = Guarded<[Told]>([])
        var all: [Told] { told.withLock { $0 } }
        func append(_ last: Told) { told.withLock { $0.append(last) } }
    }

    private let log = Log()
    private let collectorOwner: ResponseCollector.Owner

    init() throws {
        let log = log
        let url = try #require(URL(string: "http://nowhere.invalid/a"))
        let owner = Forwarding.Owner(
            answerHop: { _ in .follow },
            askOuterSession: { _ in },
            pass: { _ in log.append(.piece) },
            passesAtOnce: true,
            complete: { outcome in
                let last: Told =
                    if case .failed(let error, let isPartial) = outcome {
                        .failed(error.code, isPartial: isPartial)
                    } else {
                        .other
                    }
                log.append(last)
            }
        )
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        // The task isn't resumed, so the test alone decides what arrives.
        let forwarding = Forwarding(
            session.dataTask(with: url),
            from: Forwarder(.ephemeral),
            timeout: nil,
            for: owner
        )
        collectorOwner = forwarding.collectorOwner(nil)
    }

    @Test("A piece that arrives after a timeout isn't delivered, since the file may already answer")
    func late() {
        collectorOwner.complete(.failure(URLError(.timedOut)))
        collectorOwner.pass?(.data(Data("late".utf8)))
        #expect(log.all == [.failed(.timedOut, isPartial: false)])
    }

    @Test("A request that fails after a piece was delivered is partial, so nothing else answers")
    func partial() {
        collectorOwner.pass?(.data(Data("piece".utf8)))
        collectorOwner.complete(.failure(URLError(.timedOut)))
        #expect(log.all == [.piece, .failed(.timedOut, isPartial: true)])
    }
}
