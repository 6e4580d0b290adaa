import Foundation
import Guarded
import LoopbackOrigin

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An origin, a folder with a map of its URLs, and caches made from that.
final class UpdatingFixture: Sendable {
    let origin: LoopbackServer
    let files: CacheFixture
    private let answers: Answers

    private final class Answers: Sendable {
        let byPath = Guarded<[String: LoopbackServer.Answer]>([:])
    }

    /// - Parameters:
    ///   - entry: The fields of the entry for `/a`, besides `file` and `use`.
    ///   - answer: The origin's answer for `/a`.
    ///   - map: Further entries; `ORIGIN` stands for the origin.
    init(_ answer: LoopbackServer.Answer, entry: String = "", map: String = "") throws {
        let answers = Answers()
        answers.byPath.withLock { $0["/a"] = answer }
        self.answers = answers
        let origin = try LoopbackServer { request in
            let answer = answers.byPath.withLock { $0[request.path] } ?? .status(404)
            let tags = answer.headers.filter { $0.0 == "ETag" }.map(\.1)
            guard let asked = request.header("If-None-Match"), tags.contains(asked) else { return answer }
            return .status(304)
        }
        self.origin = origin
        let more = map.isEmpty ? "" : ", " + map.replacing("ORIGIN/", with: origin.baseURL.absoluteString)
        files = try CacheFixture(
            #""\#(origin.url("a"))": { "file": "a.txt", "use": "untilUpdated"\#(entry) }\#(more)"#
        )
    }

    var url: String { origin.url("a").absoluteString }

    func answer(_ answer: LoopbackServer.Answer, for path: String = "/a") {
        answers.byPath.withLock { $0[path] = answer }
    }

    /// Returns a cache as after a restart, with what the last one kept on disk.
    func cache(reloads: Bool = false, memoryCapacity: Int = 4 << 20, diskCapacity: Int = 20 << 20) throws
        -> LocalSubstitutionCache
    {
        let map = try SubstitutionMap(contentsOf: files.mapFile)
        return LocalSubstitutionCache(
            map: map,
            reloadsChanges: reloads,
            memoryCapacity: memoryCapacity,
            diskCapacity: diskCapacity,
            directory: files.folder.appendingPathComponent("cache")
        )
    }

    /// Returns a cache that has the origin's newer file.
    func updatedCache(reloads: Bool = false) async throws -> LocalSubstitutionCache {
        let cache = try cache(reloads: reloads)
        _ = try await cache.refreshing { _ = try cache.lookUp(url) }
        return cache
    }
}

extension LocalSubstitutionCache.Event {
    var isOfRefresh: Bool {
        [.refreshed, .upToDate, .refreshFailed].contains(kind)
    }
}

extension LocalSubstitutionCache {
    var schedule: RefreshSchedule { responder.refreshedFiles.schedule }

    /// Runs code that makes the cache ask the network, and waits for the outcome.
    func refreshing(_ body: () throws -> Void) async throws -> Event? {
        let log = EventLog(self)
        try body()
        return await log.all(until: \.isOfRefresh).last
    }

    /// Asks again, no matter when the network was last asked.
    func refreshAgain(_ url: String) async throws -> Event? {
        schedule.removeAll()
        responder.inMemory.removeAll()
        return try await refreshing { _ = try lookUp(url) }
    }
}
