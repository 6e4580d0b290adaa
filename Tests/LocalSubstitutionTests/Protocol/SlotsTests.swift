import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Protocol classes of attachments", .sessions)
struct SlotsTests {
    /// Runs in a separate process, since a class stays as long as the process.
    @Test("Each class is distinct, with its own name and attachment, even the 20,000th", .timeLimit(.minutes(5)))
    func distinct() async {
        await #expect(processExitsWith: .success) {
            let map = try SubstitutionMap(json: Data("{}".utf8))
            let rules = try SessionRules(.load)
            let attachments = (0..<2).map { _ in
                Attachment(
                    of: Responder(MapInUse(map, reloadsChanges: false), defaultCacheIn: nil, traits: .current),
                    to: .ephemeral,
                    rules: rules
                )
            }
            let slots = (0..<20_000).map { Slots.add(attachments[$0 % 2]) }
            #expect(Set(slots.map { ObjectIdentifier($0) }).count == 20_000)
            // Objective-C registers a class under this name.
            #expect(Set(slots.compactMap { _mangledTypeName($0) }).count == 20_000)
            for (number, slot) in slots.enumerated() {
                #expect(slot.attachment === attachments[number % 2])
            }
        }
    }

    #if os(Linux)
    /// Runs in a separate process, whose memory no other test uses.
    @Test(
        "Once session and cache are gone, an attachment keeps at most 2,500 bytes besides its map",
        .timeLimit(.minutes(5))
    )
    func memory() async {
        await #expect(processExitsWith: .success) {
            let map = try SubstitutionMap(["http://nowhere.invalid/a": .text("a")])
            let request = try request("http://nowhere.invalid/a")
            var rounds: [Int] = []
            for count in [500, 1_000, 1_000, 1_000] {
                let before = try ProcessMemory.bytes("VmRSS")
                for _ in 0..<count {
                    let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
                    #expect(try await session.data(for: request).0 == Data("a".utf8))
                    session.finishTasksAndInvalidate()
                }
                rounds.append((try ProcessMemory.bytes("VmRSS") - before) / count)
            }
            // The first round also has what all sessions share, and the heap may grow by some megabytes in any other.
            #expect(rounds.dropFirst().contains { $0 <= 2_500 }, "\(rounds) bytes for each")
        }
    }
    #endif

    @Test("Once emptied, a class fails every request that would reach the network, and says so")
    func emptied() async throws {
        let cache = try CacheFixture(#""http://nowhere.invalid/a": "a.txt""#).cache()
        let configuration = URLSessionConfiguration.ephemeral
        let slot = try cache.slot(in: configuration)
        #expect(try slot.canInit(with: request("http://nowhere.invalid/a")))
        #expect(try !slot.canInit(with: request("http://nowhere.invalid/b")))
        Slots.empty(slot)
        for url in ["http://nowhere.invalid/a", "https://nowhere.invalid/b", "ws://nowhere.invalid/"] {
            #expect(try slot.canInit(with: request(url)))
        }
        for url in ["data:,a", "file:///a"] { #expect(try !slot.canInit(with: request(url))) }
        #expect(try !SubstitutionURLProtocol.canInit(with: request("http://nowhere.invalid/a")))

        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        for path in ["a", "b"] {
            let request = try request("http://nowhere.invalid/\(path)")
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            #expect(error?.code == .resourceUnavailable)
            #expect(error?.localizedDescription.contains("detached") == true)
        }
    }
}
