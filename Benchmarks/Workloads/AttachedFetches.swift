import Foundation
import LocalSubstitution
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A protocol whose cache and recorder a subject sets; each subject has a subclass.
private class SubjectProtocol: SubstitutionURLProtocol {
    static let parts = Mutex<[ObjectIdentifier: (LocalSubstitutionCache, SubstitutionRecorder?)]>([:])

    override class var cache: LocalSubstitutionCache? { parts.withLock { $0[ObjectIdentifier(self)]?.0 } }
    override class var recorder: SubstitutionRecorder? { parts.withLock { $0[ObjectIdentifier(self)]?.1 } }

    /// A configuration with this protocol attached.
    static func configuration(
        _ cache: LocalSubstitutionCache,
        _ recorder: SubstitutionRecorder? = nil
    ) -> URLSessionConfiguration {
        let parts = (cache, recorder)
        Self.parts.withLock { $0[ObjectIdentifier(self)] = parts }
        let configuration = URLSessionConfiguration.default
        cache.attach(to: configuration, as: self)
        return configuration
    }
}

private final class FewEntriesProtocol: SubjectProtocol {}
private final class ManyEntriesProtocol: SubjectProtocol {}
private final class SmallFolderProtocol: SubjectProtocol {}
private final class LargeFolderProtocol: SubjectProtocol {}

// MARK: Answering

extension Subject {
    fileprivate static let byCache = Subject("fetch, by the cache, 10 entries", operations: 200) {
        let (fixture, cache) = try cacheAndFiles(entries: 10)
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        return fetches((0..<10).map(Fixture.key), configuration) { withExtendedLifetime(fixture) {} }
    }

    fileprivate static let byProtocol = Subject("fetch, by the protocol, 10 entries", operations: 200) {
        let (fixture, cache) = try cacheAndFiles(entries: 10)
        let configuration = FewEntriesProtocol.configuration(cache)
        return fetches((0..<10).map(Fixture.key), configuration) { withExtendedLifetime(fixture) {} }
    }

    fileprivate static let byProtocolOfMany = Subject("fetch, by the protocol, 10,000 entries", operations: 200) {
        let (fixture, cache) = try cacheAndFiles(entries: 10_000)
        let configuration = ManyEntriesProtocol.configuration(cache)
        return fetches((0..<10).map { Fixture.key($0 * 1_000) }, configuration) { withExtendedLifetime(fixture) {} }
    }

    private static func cacheAndFiles(entries: Int) throws -> (Fixture, LocalSubstitutionCache) {
        let fixture = try Fixture(json: Fixture.json(entries: entries), bytesPerFile: size)
        return (fixture, try fixture.cache())
    }
}

extension Topic {
    /// `URLSession.data(from:)` for 10 kB, with and without the protocol.
    static let attached = Topic(
        name: "attached",
        subjects: [.byCache, .byProtocol, .byProtocolOfMany],
        rows: [
            Row("fetch answered by the protocol", .time(.byProtocol), per: .time(.byCache), .atMost(1.3)),
            Row("the same, of 10,000 entries", .time(.byProtocolOfMany), per: .time(.byProtocol), .atMost(1.1)),
        ]
    )
}

// MARK: Recording

extension Subject {
    fileprivate static let unrecorded = Subject("fetch, loopback HTTP, not recorded", operations: 200) {
        let server = try TinyServer(body: [UInt8](repeating: 0, count: size), numbersAnswers: true)
        return fetches(urls(server), .default) { withExtendedLifetime(server) {} }
    }

    fileprivate static let recorded = Subject("fetch, loopback HTTP, recorded beside 10", operations: 200) {
        try recording(beside: 10, as: SmallFolderProtocol.self)
    }

    fileprivate static let recordedBesideMany = Subject("fetch, loopback HTTP, recorded beside 5,000", operations: 200)
    {
        try recording(beside: 5_000, as: LargeFolderProtocol.self)
    }

    /// Each response has other bytes than the one before, so each is written.
    private static func recording(
        beside count: Int,
        as type: SubjectProtocol.Type
    ) throws -> @Sendable (Int) async throws -> Void {
        let server = try TinyServer(body: [UInt8](repeating: 0, count: size), numbersAnswers: true)
        let fixture = try Fixture()
        try keep(count, in: fixture)
        let cache = LocalSubstitutionCache(map: try SubstitutionMap([:], resources: fixture.folder))
        let configuration = type.configuration(cache, try SubstitutionRecorder(folder: fixture.folder, limit: 1 << 30))
        return fetches(urls(server), configuration) { withExtendedLifetime((fixture, server)) {} }
    }

    /// Puts kept responses into a folder, as an earlier recorder has left them.
    private static func keep(_ count: Int, in fixture: Fixture) throws {
        let host = fixture.resources.appendingPathComponent("kept.example.com", isDirectory: true)
        try FileManager.default.createDirectory(at: host, withIntermediateDirectories: true)
        var map: [String: String] = [:]
        for number in 0..<count {
            try Data("\(number)".utf8).write(to: host.appendingPathComponent("\(number).txt"))
            map["https://kept.example.com/\(number).txt"] = "kept.example.com/\(number).txt"
        }
        try JSONEncoder().encode(map).write(to: fixture.map)
    }

    private static func urls(_ server: TinyServer) -> [String] {
        (0..<10).map { "http://127.0.0.1:\(server.port)/\($0)" }
    }
}

extension Topic {
    /// `URLSession.data(from:)` for 10 kB from a server on loopback, with and without a recorder.
    static let recording = Topic(
        name: "recording",
        subjects: [.unrecorded, .recorded, .recordedBesideMany],
        rows: [
            Row("fetch from loopback, recorded", .time(.recorded), per: .time(.unrecorded), .atMost(1.3)),
            Row("the same, beside 5,000 kept", .time(.recordedBesideMany), per: .time(.recorded), .atMost(1.1)),
        ]
    )
}
