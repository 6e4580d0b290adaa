import Foundation
import LocalSubstitution
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Files that fail after the map was loaded", .sessions)
struct FaultTests {
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case deleted, unreadable, folder, pipe, linkOutside, linkToNothing
        var testDescription: String { rawValue }

        func inflict(on file: URL) throws {
            let manager = FileManager.default
            if self == .unreadable { return try manager.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path) }
            try manager.removeItem(at: file)
            switch self {
            case .deleted, .unreadable: break
            case .folder: try manager.createDirectory(at: file, withIntermediateDirectories: false)
            case .pipe: #expect(mkfifo(file.path, 0o600) == 0)
            case .linkOutside:
                let outside = file.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
                    "outside"
                )
                try Data("secret".utf8).write(to: outside)
                try manager.createSymbolicLink(at: file, withDestinationURL: outside)
            case .linkToNothing:
                try manager.createSymbolicLink(atPath: file.path, withDestinationPath: "/nowhere/at/all")
            }
        }

        /// Root can read every file.
        static var possible: [Fault] { allCases.filter { $0 != .unreadable || geteuid() != 0 } }
    }

    @Test("A lookup's event says that a fault kept the file from answering")
    func reasonOfBypass() async throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.cache()
        let log = EventLog(cache)
        try Fault.pipe.inflict(on: fixture.file("a.txt"))
        _ = try cache.lookUp("https://h/a")
        let told = await log.all { $0.kind == .bypassed }
        let reason = told.last?.reason
        #expect(reason == cache.explain(try request("https://h/a")).cacheOnly.reason)
        #expect(reason == "the file is a named pipe, not a regular file")
    }

    @Test(
        "The default cache responds immediately, and the fault is reported",
        .timeLimit(.minutes(5)),
        arguments: Fault.possible
    )
    func beforeFirstLookup(_ fault: Fault) async throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.cache()
        try fault.inflict(on: fixture.file("a.txt"))
        let events = EventLog(cache)
        #expect(try cache.lookUp("https://h/a") == nil)
        #expect(cache.statistics.requests == 1)
        #expect(cache.statistics.unmatched == 1)
        let judgement = cache.explain(try request("https://h/a")).cacheOnly
        #expect(judgement.outcome == .unmatched)
        #expect(judgement.reason.hasPrefix("the file "))
        let told = await events.all { $0.kind == .fault }
        #expect(told.last?.url?.absoluteString == "https://h/a")
        #expect(told.last?.key == "https://h/a")
        #expect(told.last?.file?.lastPathComponent == "a.txt")
        #expect(told.last?.reason?.isEmpty == false)
    }

    @Test(
        "With live reload the same happens, even if a response was in memory",
        .timeLimit(.minutes(5)),
        arguments: Fault.possible
    )
    func whileInMemory(_ fault: Fault) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        #expect(try cache.lookUp("https://h/a")?.text == "local")
        try fault.inflict(on: fixture.file("a.txt"))
        let events = HeardEvents(of: cache)
        #expect(try cache.lookUp("https://h/a") == nil)
        #expect(events.kinds == ["fault", "bypassed"])
    }

    @Test("A file that returns is served again")
    func comesBack() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        let moved = fixture.file("moved.txt")
        try FileManager.default.moveItem(at: fixture.file("a.txt"), to: moved)
        #expect(try cache.lookUp("https://h/a") == nil)
        try FileManager.default.moveItem(at: moved, to: fixture.file("a.txt"))
        #expect(try cache.lookUp("https://h/a")?.text == "local")
    }

    @Test("A shortened file never crashes, and its new content or a response in memory is served")
    func shortened() throws {
        let fixture = try CacheFixture(
            #""https://h/a": "a.txt""#,
            files: ["a.txt": String(repeating: "x", count: 300_000)]
        )
        let cache = try fixture.cache()
        let inMemory = try #require(try cache.lookUp("https://h/a"))
        #expect(truncate(fixture.file("a.txt").path, 10) == 0)
        #expect(inMemory.data.count == 300_000)
        #expect(inMemory.data.allSatisfy { $0 == UInt8(ascii: "x") })
        cache.removeAllCachedResponses()
        #expect(try cache.lookUp("https://h/a")?.data.count == 10)
    }

    @Test("An unreadable file isn't a fault if a pattern made its name")
    func filled() throws {
        let fixture = try CacheFixture(#""https://h/*": "*""#)
        let cache = try fixture.cache()
        let events = HeardEvents(of: cache)
        #expect(try cache.lookUp("https://h/nothing") == nil)
        #expect(events.kinds == ["missed"])
    }

    @Test("A request whose file is gone is left to the next matching entry")
    func nextEntry() throws {
        let fixture = try CacheFixture(
            #""https://h/a": "a.txt", "https://h/*": "b.txt""#,
            files: ["a.txt": "a", "b.txt": "b"]
        )
        let cache = try fixture.cache()
        try FileManager.default.removeItem(at: fixture.file("a.txt"))
        let events = HeardEvents(of: cache)
        #expect(try cache.lookUp("https://h/a")?.text == "b")
        #expect(events.kinds == ["fault", "matched"])
    }
}
