import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Subject {
    fileprivate static let firstLookup = Subject("map loaded, first lookup of 1 GiB", operations: 1) {
        let bundle = try BundleWithLargeFile()
        return { count in
            for _ in 0..<count { consume(try bundle.lookUp()) }
        }
    }

    fileprivate static let residentGrowth = Subject(bytesOf: "resident memory, first lookup of 1 GiB") {
        let bundle = try BundleWithLargeFile()
        return {
            let before = Memory.resident
            let response = try bundle.lookUp()
            return withExtendedLifetime(response) { Memory.resident - before }
        }
    }
}

/// A bundle with a sparse file of 1 GiB.
private final class BundleWithLargeFile: Sendable {
    private let fixture: Fixture
    private let url = "https://cdn.example.com/large.bin"

    init() throws {
        fixture = try Fixture(json: "{ \"\(url)\": \"large.bin\" }")
        let file = fixture.resources.appendingPathComponent("large.bin")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 1 << 30)
        try handle.close()
    }

    /// Looks the file up in a new cache. Loading the cache's map is part of what's measured.
    func lookUp() throws -> (LocalSubstitutionCache, CachedURLResponse) {
        guard let bundle = Bundle(path: fixture.folder.path), let url = URL(string: url) else {
            throw NotAnswered(url: nil)
        }
        let cache = try LocalSubstitutionCache(bundle: bundle)
        guard let response = cache.cachedResponse(for: URLRequest(url: url)), response.data.count == 1 << 30 else {
            throw NotAnswered(url: url)
        }
        return (cache, response)
    }
}

extension Topic {
    /// A sparse file of 1 GiB in a bundle.
    static let largeFile = Topic(
        name: "large file",
        subjects: [.firstLookup, .residentGrowth],
        rows: [
            Row("1 GiB from a bundle: first lookup", .time(.firstLookup), per: .limit(5e-3, .seconds), .atMost(1)),
            Row(
                "1 GiB from a bundle: resident memory",
                .bytes(.residentGrowth),
                per: .limit(Double(16 << 20), .bytes),
                .atMost(1)
            ),
        ]
    )
}
