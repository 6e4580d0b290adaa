package import Foundation
import LocalSubstitution
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A folder with a map and its files, for one subject. It's removed once nothing uses it.
package final class Fixture: Sendable {
    /// How many files the entries name, unless a subject says otherwise.
    package static let files = 100

    let folder: URL

    package init(json: String = "{}", files: Int = files, bytesPerFile: Int = 1_000) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("benchmarks-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        for number in 0..<files {
            try Data(repeating: UInt8(truncatingIfNeeded: number), count: bytesPerFile)
                .write(to: resources.appendingPathComponent(Self.file(number, of: files)))
        }
        try Data(json.utf8).write(to: map)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    package var map: URL { folder.appendingPathComponent("substitutions.json") }
    var resources: URL { folder.appendingPathComponent("Resources", isDirectory: true) }
    /// For default caches.
    var disk: URL { folder.appendingPathComponent("disk") }

    /// Returns a cache without live reload, whose default cache is empty.
    func cache() throws -> LocalSubstitutionCache {
        LocalSubstitutionCache(map: try SubstitutionMap(contentsOf: map), directory: disk)
    }

    /// Returns the default cache alone, with the same capacities.
    func stockCache(memoryCapacity: Int = 4 << 20) -> URLCache {
        URLCache(memoryCapacity: memoryCapacity, diskCapacity: 20 << 20, diskPath: disk.path)
    }
}

// MARK: The contents of maps

extension Fixture {
    /// Returns a key of 59 bytes.
    static func key(_ number: Int) -> String {
        "https://cdn-\(padded(number % 100, 2)).example.com/assets/images/picture-\(padded(number, 6)).png"
    }

    /// Returns a pattern. Its URLs are those of ``url(ofPattern:_:)``.
    static func pattern(_ number: Int) -> String {
        "https://cdn-\(padded(number % 100, 2)).example.com/folder-\(padded(number, 6))/*"
    }

    static func url(ofPattern number: Int, _ name: Int) -> String {
        "https://cdn-\(padded(number % 100, 2)).example.com/folder-\(padded(number, 6))/picture-\(padded(name, 6)).png"
    }

    static func file(_ number: Int, of files: Int = files) -> String { "f\(padded(number % files, 4)).png" }

    /// Returns a map with this many exact keys and this many patterns, one on each line.
    package static func json(entries: Int, patterns: Int = 0, files: Int = files) -> String {
        let keys =
            (0..<entries).map { (key($0), file($0, of: files)) }
            + (0..<patterns).map { (pattern($0), file($0, of: files)) }
        return "{\n" + keys.map { "    \"\($0)\": \"\($1)\"" }.joined(separator: ",\n") + "\n}\n"
    }

    static func dictionary(entries: Int) -> [String: String] {
        Dictionary(uniqueKeysWithValues: (0..<entries).map { (key($0), file($0)) })
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

// MARK: Requests

/// Requests that are used in turn. They are made in advance, and there are so many that they don't stay in the processor's cache.
final class Requests: Sendable {
    private let requests: [URLRequest]
    /// Where the next cycle continues. Only one thread uses it at a time.
    private let next = Atomic(0)

    init(_ urls: some Sequence<String>) {
        requests = urls.compactMap { URL(string: $0).map { URLRequest(url: $0) } }
    }

    /// Makes requests for entries with exact keys.
    convenience init(entries: some Sequence<Int>) {
        self.init(entries.map(Fixture.key))
    }

    @inline(__always)
    func cycle(_ count: Int, _ body: (URLRequest) -> Void) {
        let requests = requests
        var index = next.load(ordering: .relaxed)
        for _ in 0..<count {
            body(requests[index])
            index += 1
            if index == requests.count { index = 0 }
        }
        next.store(index, ordering: .relaxed)
    }

    /// Looks each request up once, so that a cache has the response in memory.
    func load(into cache: URLCache) throws {
        for request in requests {
            guard cache.cachedResponse(for: request) != nil else { throw NotAnswered(url: request.url) }
        }
    }

    /// Stores a response with a type and a length for each request in a default cache, in memory.
    func store(in cache: URLCache, bytes: Int = 1_000) throws {
        try store(in: cache) { request in
            let response = request.url.flatMap { url in
                HTTPURLResponse(
                    url: url,
                    statusCode: 200,
                    httpVersion: "HTTP/1.1",
                    headerFields: ["Content-Type": "image/png", "Content-Length": String(bytes)]
                )
            }
            return response.map { CachedURLResponse(response: $0, data: Data(repeating: 0, count: bytes)) }
        }
    }

    /// Stores the responses of one cache in a default cache, in memory.
    func store(in cache: URLCache, from other: URLCache) throws {
        try store(in: cache) { other.cachedResponse(for: $0) }
    }

    private func store(in cache: URLCache, _ response: (URLRequest) -> CachedURLResponse?) throws {
        for request in requests {
            guard let response = response(request) else { throw NotAnswered(url: request.url) }
            let stored = CachedURLResponse(
                response: response.response,
                data: response.data,
                userInfo: nil,
                storagePolicy: .allowedInMemoryOnly
            )
            cache.storeCachedResponse(stored, for: request)
        }
        try load(into: cache)
    }
}

/// The error if a request isn't answered: a benchmark of hits would then measure misses.
struct NotAnswered: Error {
    let url: URL?
}
