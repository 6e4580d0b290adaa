import Dispatch
import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Live reload", .sessions)
struct LiveReloadTests {
    @Test(
        "A changed file is served from the next request on, even with the same size, however it's written",
        arguments: [false, true]
    )
    func changedFile(atomically: Bool) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": "v000"])
        let cache = try fixture.reloadingCache()
        for number in 0..<300 {
            let text = "v\(100 + number)"
            try fixture.write(text, to: "a.txt", atomically: atomically)
            #expect(try cache.lookUp("https://h/a")?.text == text)
        }
    }

    @Test("Unchanged files keep the same response, both immediately after writing and later")
    func unchanged() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        let first = try #require(try cache.lookUp("https://h/a"))
        let end = ContinuousClock.now + .milliseconds(60)
        while ContinuousClock.now < end { #expect(try cache.lookUp("https://h/a") === first) }
    }

    @Test("A data task is answered immediately if nothing has to be read")
    func atOnce() throws {
        let fixture = try CacheFixture(#""https://h/s": { "status": 404 }, "https://h/*": "a.txt""#)
        let session = session(with: nil)
        defer { session.finishTasksAndInvalidate() }
        let cache = try fixture.reloadingCache()
        try cache.lookUpUntilOld("https://h/a")
        for request in [
            try request("https://h/s"), try request("https://h/b"), try request("https://h/a", method: "HEAD"),
            try request("https://h/a", headers: ["Range": "bytes=0-1"]),
        ] {
            let isAnswered = Guarded(false)
            cache.getCachedResponse(for: session.dataTask(with: request)) { response in
                isAnswered.withLock { $0 = response != nil }
            }
            #expect(isAnswered.withLock { $0 }, "\(request)")
        }
    }

    @Test("A changed map is served from the next request on")
    func changedMap() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": "a", "b.txt": "b"])
        let cache = try fixture.reloadingCache()
        #expect(try cache.lookUp("https://h/a")?.text == "a")
        try fixture.writeMap(#""https://h/a": "b.txt""#)
        #expect(try cache.lookUp("https://h/a")?.text == "b")
        try fixture.writeMap(#""https://h/c": "b.txt""#)
        #expect(try cache.lookUp("https://h/a") == nil)
        #expect(try cache.lookUp("https://h/c")?.text == "b")
    }

    @Test("A map that's loaded again keeps its handlers")
    func handlers() async throws {
        let fixture = try CacheFixture(#""https://h/a": { "handler": "first" }"#)
        let cache = try LocalSubstitutionCache(
            contentsOf: fixture.mapFile,
            handlers: ["first": { _ in .text("1") }, "second": { _ in .text("2") }]
        )
        func answer() async throws -> String? {
            try await cache.answer(to: request("https://h/a")).map { String(decoding: $0.0, as: UTF8.self) }
        }
        #expect(try await answer() == "1")
        try fixture.writeMap(#""https://h/a": { "handler": "second" }"#)
        #expect(try await answer() == "2")
    }

    @Test("A map that doesn't load leaves the last good one in place and is reported once")
    func brokenMap() async throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        let events = EventLog(cache)
        var errors: [SubstitutionMapError] = []
        for map in [#""https://h/a": "#, #""https://h/a": "missing.txt""#] {
            try fixture.writeMap(map)
            errors.append(
                try #require(throws: SubstitutionMapError.self) { try SubstitutionMap(contentsOf: fixture.mapFile) }
            )
            for _ in 0..<3 { #expect(try cache.lookUp("https://h/a")?.text == "local") }
        }
        try fixture.writeMap(#""https://h/b": "a.txt""#)
        #expect(try cache.lookUp("https://h/b")?.text == "local")
        let told = await events.all { $0.kind == .matched && $0.url?.path == "/b" }
        #expect(told.filter { $0.kind == .mapNotReloaded }.map(\.reason) == errors.map(\.description))
        #expect(errors.map { $0.problems.first?.kind } == [.syntax, .missingFile])
        #expect(told.contains { $0.kind == .mapReloaded && $0.reason == "1 entry" })
    }

    @Test("A map is loaded once its missing file exists, even if the map itself hasn't changed")
    func lateFile() async throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        // Not a stream, which drops the oldest of so many events.
        let heard = HeardEvents(of: cache)
        try fixture.writeMap(#""https://h/b": "b.txt""#)
        // Long enough for the map to be tried again, which must not be reported again.
        let first = ContinuousClock.now + .milliseconds(800)
        while ContinuousClock.now < first {
            #expect(try cache.lookUp("https://h/b") == nil)
            await Task.yield()
        }
        try fixture.write("b", to: "b.txt")
        try #require(try cache.lookUp("https://h/b")?.text == "b")
        #expect(heard.all.count { $0.kind == .mapNotReloaded } == 1)
        #expect(heard.all.count { $0.kind == .mapReloaded } == 1)
    }

    @Test("A map that disappears leaves the last good one in place")
    func missingMap() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        try FileManager.default.removeItem(at: fixture.mapFile)
        #expect(try cache.lookUp("https://h/a")?.text == "local")
    }

    @Test("A map set in code isn't replaced by the file's")
    func setMap() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": "a", "b.txt": "b"])
        let cache = try fixture.reloadingCache()
        cache.map = try SubstitutionMap(["https://h/a": "b.txt"], resources: fixture.resources)
        try fixture.writeMap(#""https://h/x": "a.txt""#)
        #expect(try cache.lookUp("https://h/a")?.text == "b")
        try fixture.write("c", to: "b.txt")
        #expect(try cache.lookUp("https://h/a")?.text == "c", "files are watched all the same")
    }

    /// A way to make a cache, and whether it reloads changes by default.
    struct Initializer: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let reloadsByDefault: Bool
        /// Makes a cache. Leaves the argument out for `nil`.
        let cache: @Sendable (CacheFixture, _ reloadsChanges: Bool?) throws -> LocalSubstitutionCache

        static let all = [
            Initializer(testDescription: "contentsOf:", reloadsByDefault: true) { fixture, reloads in
                guard let reloads else { return try LocalSubstitutionCache(contentsOf: fixture.mapFile) }
                return try LocalSubstitutionCache(contentsOf: fixture.mapFile, reloadsChanges: reloads)
            },
            Initializer(testDescription: "map:", reloadsByDefault: false) { fixture, reloads in
                let map = try SubstitutionMap(contentsOf: fixture.mapFile)
                guard let reloads else { return LocalSubstitutionCache(map: map) }
                return LocalSubstitutionCache(map: map, reloadsChanges: reloads)
            },
            Initializer(testDescription: "bundle:", reloadsByDefault: false) { fixture, reloads in
                let bundle = try #require(Bundle(path: fixture.folder.path))
                guard let reloads else { return try LocalSubstitutionCache(bundle: bundle) }
                return try LocalSubstitutionCache(bundle: bundle, reloadsChanges: reloads)
            },
        ]
    }

    @Test(
        "Changes to the map and its files take effect if the initializer says so",
        arguments: Initializer.all,
        [nil, true, false]
    )
    func initializers(_ initializer: Initializer, reloadsChanges: Bool?) throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try initializer.cache(fixture, reloadsChanges)
        let reloads = reloadsChanges ?? initializer.reloadsByDefault
        #expect(try cache.lookUp("https://h/a")?.text == "local")
        try fixture.write("changed", to: "a.txt")
        #expect(try cache.lookUp("https://h/a")?.text == (reloads ? "changed" : "local"))
        for name in ["b", "c"] {
            try fixture.writeMap("\"https://h/\(name)\": \"a.txt\"")
            #expect(try cache.lookUp("https://h/\(name)")?.text == (reloads ? "changed" : nil))
        }
    }

    @Test("A bundle's map that was loaded again is still a bundle's map")
    func reloadedBundle() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let bundle = try #require(Bundle(path: fixture.folder.path))
        let cache = try LocalSubstitutionCache(bundle: bundle, reloadsChanges: true)
        try fixture.writeMap(#""https://h/b": "a.txt""#)
        #expect(try cache.lookUp("https://h/b")?.text == "local")
        #expect(cache.map.resources?.isInBundle == true)
    }

    @Test("Watched files aren't memory-mapped, since they may be truncated in place")
    func watchedBundle() async {
        await #expect(processExitsWith: .success) {
            let large = String(repeating: "a", count: FileBytes.smallestMapped * 2)
            let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": large])
            let bundle = try #require(Bundle(path: fixture.folder.path))
            let cache = try LocalSubstitutionCache(bundle: bundle, reloadsChanges: true)
            let response = try #require(try cache.lookUp("https://h/a"))
            try #require(truncate(fixture.file("a.txt").path, 0) == 0)
            #expect(response.text == large)
            #expect(try cache.lookUp("https://h/a")?.text == "")
        }
    }

    @Test("A file's status isn't reliable until the file system's clock has ticked")
    func tooFresh() throws {
        let fixture = try CacheFixture("")
        let status = try #require(FileStatus(path: fixture.file("a.txt").path))
        let written = max(status.modified, status.changed)
        #expect(status.isTooFresh(at: written))
        #expect(status.isTooFresh(at: written + 19_999_999))
        #expect(!status.isTooFresh(at: written + 20_000_000))
    }

    @Test("A file's status stays unreliable longer if the file system counts only seconds")
    func wholeSeconds() throws {
        let fixture = try CacheFixture("")
        let path = fixture.file("a.txt").path
        let second = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.up) + 1)
        try FileManager.default.setAttributes([.modificationDate: second], ofItemAtPath: path)
        let status = try #require(FileStatus(path: path))
        #expect(status.modified % 1_000_000_000 == 0)
        #expect(status.modified > status.changed)
        #expect(status.isTooFresh(at: status.modified + 2_019_999_999))
        #expect(!status.isTooFresh(at: status.modified + 2_020_000_000))
    }

    @Test("A file with a modification time in the future isn't read on every lookup")
    func fileOfTomorrow() throws {
        let fixture = try CacheFixture("")
        let path = fixture.file("a.txt").path
        let tomorrow = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: 86_400)]
        try FileManager.default.setAttributes(tomorrow, ofItemAtPath: path)
        let status = try #require(FileStatus(path: path))
        #expect(status.modified > status.changed)
        #expect(status.isTooFresh(at: status.changed + 19_999_999))
        #expect(!status.isTooFresh(at: status.changed + 20_000_000))
    }

    @Test(
        "A read that began before a file changed isn't used for the changed file",
        .timeLimit(.minutes(5))
    )
    func staleRead() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": "old"])
        let folder = ResourcesFolder(fixture.resources)
        let path = folder.path(of: "a.txt")
        let inMemory = ResponsesInMemory(checksFiles: true)
        @Sendable func file(_ read: @Sendable () throws(Complaint) -> FileBytes) -> FileBytes? {
            try? inMemory.file(at: path, read: read)
        }
        @Sendable func read() throws(Complaint) -> FileBytes { try FileBytes(opening: "a.txt", in: folder) }

        let (hasRead, mayEnd, isAsking) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let isAnswered = DispatchGroup()
        DispatchQueue.global().async(group: isAnswered) {
            let former = file { () throws(Complaint) in
                let file = try read()
                hasRead.signal()
                mayEnd.wait()
                return file
            }
            #expect(former?.data == Data("old".utf8))
        }
        hasRead.wait()
        try fixture.write("new", to: "a.txt")
        DispatchQueue.global().async(group: isAnswered) {
            isAsking.signal()
            #expect(file(read)?.data == Data("new".utf8))
        }
        isAsking.wait()
        // Long enough for the other thread to join the read in progress. It must not use that, however long it takes.
        _ = isAnswered.wait(timeout: .now() + .milliseconds(50))
        mayEnd.signal()
        isAnswered.wait()
    }

    @Test("A slow read of a file doesn't hold up another's")
    func slowRead() throws {
        let fixture = try CacheFixture("", files: ["a.txt": "a", "b.txt": "b"])
        let folder = ResourcesFolder(fixture.resources)
        let inMemory = ResponsesInMemory(checksFiles: true)
        let isRead = DispatchSemaphore(value: 0)
        _ = try inMemory.file(at: folder.path(of: "a.txt")) { () throws(Complaint) in
            DispatchQueue.global().async {
                #expect((try? inMemory.file("b.txt", in: folder))?.data == Data("b".utf8))
                isRead.signal()
            }
            #expect(isRead.wait(timeout: .now() + 10) == .success)
            return try FileBytes(opening: "a.txt", in: folder)
        }
    }

    @Test("A file that changes during each read is an error, so bytes of two versions never mix")
    func changingFile() throws {
        let fixture = try CacheFixture("", files: ["a.bin": ""])
        let file = try FileHandle(forWritingTo: fixture.file("a.bin"))
        // Large enough that the system's clock ticks during each read.
        try file.truncate(atOffset: 32 << 20)
        let isWritten = Guarded(true)
        let hasEnded = DispatchGroup()
        DispatchQueue.global().async(group: hasEnded) {
            while isWritten.withLock({ $0 }) { _ = pwrite(file.fileDescriptor, "a", 1, 0) }
        }
        defer {
            isWritten.withLock { $0 = false }
            hasEnded.wait()
        }
        // If other tests keep the writing thread waiting, a read may succeed.
        let hasFailed = (0..<100).contains { _ in
            do throws(Complaint) {
                _ = try FileBytes(opening: "a.bin", in: ResourcesFolder(fixture.resources))
                return false
            } catch {
                return error == .writtenFile
            }
        }
        #expect(hasFailed)
    }
}
