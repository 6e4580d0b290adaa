import Foundation
import Guarded
import LoopbackOrigin
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Every test sets the cache of its protocol, so they run one after another.
@Suite("A forwarded response that is longer than the limit", .serialized, .timeLimit(.minutes(1)))
struct LongResponseTests {
    /// Passes pieces on as it does on Apple platforms.
    private class StreamingProtocol: SubstitutionURLProtocol {
        static let parts = Guarded<(LocalSubstitutionCache, SubstitutionRecorder?)?>(nil)
        override class var cache: LocalSubstitutionCache? { parts.withLock { $0?.0 } }
        override class var recorder: SubstitutionRecorder? { parts.withLock { $0?.1 } }
        override class var passesPieces: Bool { true }
    }

    private final class WholeProtocol: StreamingProtocol {
        override class var passesPieces: Bool { false }
    }

    private static let limit = 100_000
    private static let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    private let cache: LocalSubstitutionCache

    init() throws {
        cache = try CacheFixture(#""http://127.0.0.1:*/offline": { "file": "a.txt", "use": "whenOffline" }"#).cache()
    }

    private func load(
        _ answer: LoopbackServer.Answer,
        _ path: String = "offline",
        as type: SubstitutionURLProtocol.Type = StreamingProtocol.self,
        limit: Int? = limit,
        recorder: SubstitutionRecorder? = nil
    ) async throws -> TaskRecorder.Outcome {
        let origin = try LoopbackServer { _ in answer }
        defer { origin.stop() }
        let parts = (cache, recorder)
        StreamingProtocol.parts.withLock { $0 = parts }
        let configuration = URLSessionConfiguration.ephemeral
        cache.attach(to: configuration, as: type, unmatched: .load, responseLimit: limit)
        let delegate = TaskRecorder()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: origin.url(path)).resume()
        return await delegate.outcome()
    }

    @Test("reaches the app whole, in pieces")
    func whole() async throws {
        let outcome = try await load(.ok(Self.body))
        #expect(outcome.error == nil)
        #expect(outcome.status == 200)
        #expect(outcome.data == Self.body)
        #expect(cache.statistics.forwarded == 1)
    }

    @Test("is held whole if it can't be passed on in pieces")
    func held() async throws {
        #expect(try await load(.ok(Self.body), as: WholeProtocol.self, limit: nil).data == Self.body)
        let error = try await load(.ok(Self.body), as: WholeProtocol.self).error as? URLError
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(cache.statistics.fellBack == 0)
    }

    @Test("isn't replaced by the file when the network fails, unlike a shorter one")
    func fails() async throws {
        let short = try await load(.ok(Self.body).failing(.dropAfter(bodyBytes: 50_000)))
        #expect(short.error == nil)
        #expect(short.data == Data("local".utf8))
        let long = try await load(.ok(Self.body).failing(.dropAfter(bodyBytes: 200_000)))
        #expect(long.error is URLError)
        #expect(Self.body.starts(with: long.data))
        #expect(cache.statistics.fellBack == 1)
    }

    @Test("isn't recorded, which is reported, and an older copy is dropped")
    func recorded() async throws {
        let folder = try TemporaryFolder()
        let recorder = try SubstitutionRecorder(folder: folder.url, limit: .max)
        defer { recorder.close() }
        let told = Guarded<[String]>([])
        cache.onEvent = { event in told.withLock { $0.append(event.description) } }
        let outcome = try await load(.ok(Self.body), "kept", recorder: recorder)
        #expect(outcome.data == Self.body)
        cache.flushEvents()
        #expect(told.withLock { $0 }.contains { $0.hasSuffix("100000 bytes, the most that is held in memory") })
        recorder.flush()
        #expect(try String(contentsOf: recorder.mapFile, encoding: .utf8).contains("kept") == false)
    }
}
