import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Byte ranges", .sessions)
struct RangeTests {
    /// 200 bytes, each with its index as the value.
    private static let bytes = Data((0..<200).map { UInt8($0) })

    struct Row: CustomTestStringConvertible, Sendable {
        let header: String
        /// `nil` for the whole response.
        let part: Range<Int>?
        var testDescription: String { "\(header) → \(part.map(String.init(describing:)) ?? "whole")" }
    }

    static let rows = [
        Row(header: "bytes=0-0", part: 0..<1),
        Row(header: "bytes=0-99", part: 0..<100),
        Row(header: "bytes=50-149", part: 50..<150),
        Row(header: "Bytes=50-", part: 50..<200),
        Row(header: "bytes=199-", part: 199..<200),
        Row(header: "bytes=100-100000", part: 100..<200),
        Row(header: "bytes=100-99999999999999999999999999", part: 100..<200),
        Row(header: "bytes=-1", part: 199..<200),
        Row(header: "bytes=-500", part: 0..<200),
        Row(header: "bytes= 3-4 ", part: 3..<5),
        Row(header: "bytes=200-", part: nil),
        Row(header: "bytes=99999999999999999999999999-", part: nil),
        Row(header: "bytes=-0", part: nil),
        Row(header: "bytes=4-3", part: nil),
        Row(header: "bytes=-", part: nil),
        Row(header: "bytes=0-1,4-5", part: nil),
        Row(header: "bytes=a-b", part: nil),
        Row(header: "bytes=+1-2", part: nil),
        Row(header: "bytes=1-2-3", part: nil),
        Row(header: "items=0-1", part: nil),
        Row(header: "bytes", part: nil),
        Row(header: "", part: nil),
    ]

    @Test("A satisfiable range gets that part, and any other gets the whole", arguments: rows)
    func part(_ row: Row) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.bin""#, files: ["a.bin": ""])
        try fixture.write(Self.bytes, to: "a.bin")
        let cache = try fixture.cache()
        let response = try #require(cache.cachedResponse(for: request("https://h/a", headers: ["Range": row.header])))
        guard let part = row.part else {
            #expect(response.http?.statusCode == 200)
            #expect(response.data == Self.bytes)
            return
        }
        #expect(response.http?.statusCode == 206)
        #expect(response.header("Content-Range") == "bytes \(part.lowerBound)-\(part.upperBound - 1)/200")
        #expect(response.header("Content-Length") == String(part.count))
        #expect(response.data.startIndex == 0)
        #expect(response.data == Data(Self.bytes[part]))
        #expect(response.data.first == UInt8(part.lowerBound))
    }

    @Test(
        "A part shares the whole's memory, whether it's read from a folder or mapped from a bundle",
        arguments: [false, true]
    )
    func sharesMemory(isBundle: Bool) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.bin""#, files: ["a.bin": ""])
        try fixture.write(Self.bytes + Data(count: 100_000), to: "a.bin")
        let cache = isBundle ? try fixture.bundleCache() : try fixture.cache()
        let whole = try #require(try cache.lookUp("https://h/a"))
        let part = try #require(cache.cachedResponse(for: request("https://h/a", headers: ["Range": "bytes=50-149"])))
        let addresses = (
            whole.data.withUnsafeBytes { $0.baseAddress.map { $0 + 50 } }, part.data.withUnsafeBytes { $0.baseAddress }
        )
        #expect(addresses.0 == addresses.1)
        #expect(part.data == Data(Self.bytes[50..<150]))
    }

    @Test("A part outlives the cache that returned it")
    func outlives() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.bin""#, files: ["a.bin": ""])
        try fixture.write(Self.bytes, to: "a.bin")
        var cache: LocalSubstitutionCache? = try fixture.cache()
        let part = cache?.cachedResponse(for: try request("https://h/a", headers: ["Range": "bytes=50-149"]))?.data
        cache?.removeAllCachedResponses()
        cache = nil
        #expect(part == Data(Self.bytes[50..<150]))
    }

    @Test("Range is ignored with If-Range, for HEAD, and with a status other than 200")
    func ignored() throws {
        let fixture = try CacheFixture(
            #""https://h/a": "a.txt", "https://h/gone": { "file": "a.txt", "status": 404 }"#
        )
        let cache = try fixture.cache()
        let conditional = cache.cachedResponse(
            for: try request("https://h/a", headers: ["Range": "bytes=0-1", "If-Range": "\"x\""])
        )
        #expect(conditional?.http?.statusCode == 200)
        #expect(conditional?.text == "local")
        let head = cache.cachedResponse(
            for: try request("https://h/a", method: "HEAD", headers: ["Range": "bytes=0-1"])
        )
        #expect(head?.http?.statusCode == 200)
        let gone = cache.cachedResponse(for: try request("https://h/gone", headers: ["Range": "bytes=0-1"]))
        #expect(gone?.http?.statusCode == 404)
        #expect(gone?.text == "local")
    }

    @Test("Changing a part changes neither the whole nor the next part", arguments: [false, true])
    func isolated(isBundle: Bool) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.bin""#, files: ["a.bin": ""])
        let bytes = Self.bytes + Data(count: 100_000)
        try fixture.write(bytes, to: "a.bin")
        let cache = isBundle ? try fixture.bundleCache() : try fixture.cache()
        let ranged = try request("https://h/a", headers: ["Range": "bytes=0-99"])
        for _ in 0..<3 {
            var part = try #require(cache.cachedResponse(for: ranged)?.data)
            #expect(part == Data(Self.bytes[0..<100]))
            for index in part.indices { part[index] = 0xFF }
        }
        #expect(try cache.lookUp("https://h/a")?.data == bytes)
        // More ranges than are kept.
        for start in 0..<1_100 {
            let many = try request("https://h/a", headers: ["Range": "bytes=\(start)-\(start + 99)"])
            var part = try #require(cache.cachedResponse(for: many)?.data)
            #expect(part == bytes[start..<start + 100])
            part[0] ^= 0xFF
        }
        #expect(try cache.lookUp("https://h/a")?.data == bytes)
    }

    @Test("Several parts share one read of the file")
    func readOnce() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.bin""#, files: ["a.bin": ""])
        try fixture.write(Self.bytes, to: "a.bin")
        let cache = try fixture.cache()
        let addresses = try (0..<3).map { _ in
            let part = cache.cachedResponse(for: try request("https://h/a", headers: ["Range": "bytes=0-99"]))
            return part?.data.withUnsafeBytes { $0.baseAddress }
        }
        #expect(Set(addresses).count == 1)
    }

    @Test("A part is never held in memory, and never mistaken for the whole")
    func notInMemory() throws {
        let cache = try CacheFixture(#""https://h/a": "a.txt""#).cache()
        let ranged = try request("https://h/a", headers: ["Range": "bytes=0-1"])
        #expect(cache.cachedResponse(for: ranged) !== cache.cachedResponse(for: ranged))
        #expect(try cache.lookUp("https://h/a")?.text == "local")
        #expect(cache.cachedResponse(for: ranged)?.text == "lo")
    }
}
