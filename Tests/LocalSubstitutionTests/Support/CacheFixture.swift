import Foundation
import LocalSubstitution
import LoopbackOrigin
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A folder with a map and files, and caches made from it. The folder is removed when the process ends, since a cache may outlive
/// its fixture.
final class CacheFixture: Sendable {
    let folder: URL

    /// - Parameters:
    ///   - map: The map's JSON, entries only: without the outer braces.
    ///   - files: Names and contents of the files in `Resources`.
    init(_ map: String, files: [String: String] = ["a.txt": "local"]) throws {
        folder = Self.root.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        for (name, contents) in files { try write(contents, to: name) }
        try writeMap(map)
    }

    private static let root: URL = {
        atexit { try? FileManager.default.removeItem(at: CacheFixture.root) }
        return FileManager.default.temporaryDirectory.appendingPathComponent("substitution-tests-\(UUID().uuidString)")
    }()

    var resources: URL { folder.appendingPathComponent("Resources", isDirectory: true) }
    var mapFile: URL { folder.appendingPathComponent("substitutions.json") }

    func file(_ name: String) -> URL { resources.appendingPathComponent(name) }

    func write(_ contents: String, to name: String, atomically: Bool = true) throws {
        try write(Data(contents.utf8), to: name, atomically: atomically)
    }

    func write(_ contents: Data, to name: String, atomically: Bool = true) throws {
        let file = file(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try contents.write(to: file, options: atomically ? .atomic : [])
    }

    func writeMap(_ map: String) throws {
        try Data("{\(map)}".utf8).write(to: mapFile, options: .atomic)
    }

    /// Returns a cache with its own default cache, without live reload.
    func cache() throws -> LocalSubstitutionCache {
        LocalSubstitutionCache(
            map: try SubstitutionMap(contentsOf: mapFile),
            directory: folder.appendingPathComponent("cache")
        )
    }

    func reloadingCache() throws -> LocalSubstitutionCache {
        try LocalSubstitutionCache(contentsOf: mapFile)
    }

    /// Returns a cache made from a bundle, as in an app.
    func bundleCache() throws -> LocalSubstitutionCache {
        guard let bundle = Bundle(path: folder.path) else { throw CocoaError(.fileNoSuchFile) }
        return try LocalSubstitutionCache(bundle: bundle)
    }
}

/// Returns a session with its own cache, which behaves like `URLCache.shared`.
func session(with cache: URLCache?) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = cache
    configuration.timeoutIntervalForRequest = 20
    return URLSession(configuration: configuration)
}

func request(
    _ url: String,
    method: String = "GET",
    headers: [String: String] = [:],
    policy: URLRequest.CachePolicy = .useProtocolCachePolicy
) throws -> URLRequest {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    var request = URLRequest(url: url, cachePolicy: policy)
    request.httpMethod = method
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    return request
}

extension URLSession {
    /// Loads a URL with a task that is cancelled halfway, after this many turns of other tasks.
    ///
    /// It doesn't cancel a Swift task: on Linux that may wait forever (`URLSessionTask.swift`, `cancel`).
    func load(_ url: URL, cancelledAfter turns: Int?) async -> Result<Data, any Error> {
        let (results, continuation) = AsyncStream.makeStream(of: Result<Data, any Error>.self)
        let task = dataTask(with: url) { data, _, error in
            continuation.yield(error.map { .failure($0) } ?? .success(data ?? Data()))
            continuation.finish()
        }
        task.resume()
        if let turns {
            for _ in 0..<turns { await Task.yield() }
            task.cancel()
        }
        for await result in results { return result }
        return .failure(URLError(.unknown))
    }
}

extension CachedURLResponse {
    var text: String { String(decoding: data, as: UTF8.self) }
    var http: HTTPURLResponse? { response as? HTTPURLResponse }
    func header(_ name: String) -> String? { http?.value(forHTTPHeaderField: name) }
}

extension LocalSubstitutionCache {
    func lookUp(_ url: String) throws -> CachedURLResponse? {
        cachedResponse(for: try request(url))
    }

    /// Looks a URL up until its file is no longer new. A file that was just written may have changed since without showing it.
    func lookUpUntilOld(_ url: String) throws {
        let end = ContinuousClock.now + .milliseconds(60)
        while ContinuousClock.now < end { _ = try lookUp(url) }
        // On a busy machine, all lookups so far may have been while it was new.
        _ = try lookUp(url)
    }

    /// Attaches the cache to a configuration, and returns the protocol class that this adds.
    func slot(in configuration: URLSessionConfiguration = .ephemeral) throws -> SubstitutionURLProtocol.Type {
        try attach(to: configuration)
        return try #require(configuration.protocolClasses?.first as? SubstitutionURLProtocol.Type)
    }
}
