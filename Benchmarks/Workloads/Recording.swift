import Foundation
import LocalSubstitution
import LocalSubstitutionRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Subject {
    fileprivate static let unrecorded = Subject("fetch, loopback HTTP, not recorded", operations: 1_000) {
        let server = try TinyServer(body: [UInt8](repeating: 0, count: size), numbersAnswers: true)
        let fixture = try Fixture()
        return fetches(urls(server), try configuration(fixture)) { withExtendedLifetime((fixture, server)) {} }
    }

    fileprivate static let recorded = Subject("fetch, loopback HTTP, recorded beside 10", operations: 1_000) {
        try recording(beside: 10)
    }

    fileprivate static let recordedBesideMany = Subject(
        "fetch, loopback HTTP, recorded beside 5,000",
        operations: 1_000
    ) {
        try recording(beside: 5_000)
    }

    /// Records responses. Each has other bytes than the one before, and no URL is fetched twice in a row, so all are written. The
    /// time includes writing the last ones.
    private static func recording(beside count: Int) throws -> @Sendable (Int) async throws -> Void {
        let server = try TinyServer(body: [UInt8](repeating: 0, count: size), numbersAnswers: true)
        let fixture = try Fixture()
        try keep(count, in: fixture)
        let recorder = try SubstitutionRecorder(folder: fixture.folder, limit: 1 << 30)
        return fetches(urls(server), try configuration(fixture, recorder)) {
            recorder.flush()
            withExtendedLifetime((fixture, server)) {}
        }
    }

    /// Returns a configuration that an empty map is attached to.
    private static func configuration(
        _ fixture: Fixture,
        _ recorder: SubstitutionRecorder? = nil
    ) throws -> URLSessionConfiguration {
        let cache = LocalSubstitutionCache(map: try SubstitutionMap([:], resources: fixture.folder))
        let configuration = URLSessionConfiguration.default
        try cache.attach(to: configuration, recorder: recorder)
        return configuration
    }

    /// Puts responses into a folder, in the form an earlier recorder would have left them.
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
        (0..<200).map { "http://127.0.0.1:\(server.port)/\($0)" }
    }
}

extension Topic {
    /// `URLSession.data(from:)` for 10 kB from a server on loopback, with and without a recorder.
    static let recording = Topic(
        name: "recording",
        subjects: [.unrecorded, .recorded, .recordedBesideMany],
        rows: [
            Row("fetch from loopback, recorded", .time(.recorded), per: .time(.unrecorded), .atMost(1.5)),
            Row("the same, beside 5,000 kept", .time(.recordedBesideMany), per: .time(.recorded), .atMost(1.1)),
        ]
    )
}
