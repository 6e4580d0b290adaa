import Dispatch
import Foundation
import Guarded
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Live reload")
struct LiveReloadTests {
    @Test(
        "a changed file is served from the next request on, also with the same size, however it is written",
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

    @Test("what has not changed is the same response, just after it was written and later")
    func unchanged() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        let first = try #require(try cache.lookUp("https://h/a"))
        let end = ContinuousClock.now + .milliseconds(60)
        while ContinuousClock.now < end { #expect(try cache.lookUp("https://h/a") === first) }
    }

    @Test("a data task is answered at once where neither the map nor a file has to be read")
    func atOnce() throws {
        let fixture = try CacheFixture(#""https://h/s": { "status": 404 }, "https://h/*": "a.txt""#)
        let session = session(with: nil)
        defer { session.invalidateAndCancel() }
        let cache = try fixture.reloadingCache()
        // What was just written may have changed since without showing it.
        let end = ContinuousClock.now + .milliseconds(60)
        while ContinuousClock.now < end { _ = try cache.lookUp("https://h/a") }
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

    @Test("a changed map is served from the next request on")
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

    @Test("a map that does not load leaves the last good one in place, and says so once")
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
        let told = await events.all { $0.kind == .substituted && $0.url?.path == "/b" }
        #expect(told.filter { $0.kind == .mapNotReloaded }.map(\.reason) == errors.map(\.description))
        #expect(errors.map { $0.problems.first?.kind } == [.syntax, .missingFile])
        #expect(told.contains { $0.kind == .mapReloaded && $0.reason == "1 entry" })
    }

    @Test("a map whose missing file comes later is loaded then, though the map itself stays as it is")
    func lateFile() async throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        let log = EventLog(cache)
        try fixture.writeMap(#""https://h/b": "b.txt""#)
        // Long enough for the map to be tried again in vain, which is not to be told again.
        let first = ContinuousClock.now + .milliseconds(800)
        while ContinuousClock.now < first {
            #expect(try cache.lookUp("https://h/b") == nil)
            await Task.yield()
        }
        try fixture.write("b", to: "b.txt")
        try #require(try cache.lookUp("https://h/b")?.text == "b")
        let told = await log.all { $0.kind == .substituted }
        #expect(told.count { $0.kind == .mapNotReloaded } == 1)
        #expect(told.count { $0.kind == .mapReloaded } == 1)
    }

    @Test("a map that disappears leaves the last good one in place")
    func missingMap() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.reloadingCache()
        try FileManager.default.removeItem(at: fixture.mapFile)
        #expect(try cache.lookUp("https://h/a")?.text == "local")
    }

    @Test("a map set in code is not replaced by the file's")
    func setMap() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": "a", "b.txt": "b"])
        let cache = try fixture.reloadingCache()
        cache.map = try SubstitutionMap(files: ["https://h/a": "b.txt"], resources: fixture.resources)
        try fixture.writeMap(#""https://h/x": "a.txt""#)
        #expect(try cache.lookUp("https://h/a")?.text == "b")
        try fixture.write("c", to: "b.txt")
        #expect(try cache.lookUp("https://h/a")?.text == "c", "files are watched all the same")
    }

    @Test("off, neither map nor files are looked at again")
    func off() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try LocalSubstitutionCache(map: SubstitutionMap(contentsOf: fixture.mapFile))
        #expect(try cache.lookUp("https://h/a")?.text == "local")
        try fixture.write("changed", to: "a.txt")
        try fixture.writeMap(#""https://h/b": "a.txt""#)
        #expect(try cache.lookUp("https://h/a")?.text == "local")
        #expect(try cache.lookUp("https://h/b") == nil)
    }

    @Test("files aren't mapped while they are watched, since they may be cut short in place")
    func watchedBundle() async {
        await #expect(processExitsWith: .success) {
            let large = String(repeating: "a", count: FileBytes.smallestMapped * 2)
            let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": large])
            let bundle = try #require(Bundle(path: fixture.folder.path))
            let cache = LocalSubstitutionCache(map: try SubstitutionMap(bundle: bundle), reloadsChanges: true)
            let response = try #require(try cache.lookUp("https://h/a"))
            try #require(truncate(fixture.file("a.txt").path, 0) == 0)
            #expect(response.text == large)
            #expect(try cache.lookUp("https://h/a")?.text == "")
        }
    }

    @Test("a bundle is never watched")
    func bundle() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = try fixture.bundleCache()
        #expect(try cache.lookUp("https://h/a")?.text == "local")
        try fixture.write("changed", to: "a.txt")
        #expect(try cache.lookUp("https://h/a")?.text == "local")
    }

    @Test("a status says nothing for sure until the file system's clock has ticked")
    func tooFresh() throws {
        let fixture = try CacheFixture("")
        let status = try #require(FileStatus(path: fixture.file("a.txt").path))
        let written = max(status.modified, status.changed)
        #expect(status.isTooFresh(at: written))
        #expect(status.isTooFresh(at: written + 19_999_999))
        #expect(!status.isTooFresh(at: written + 20_000_000))
    }

    @Test("a status says nothing for sure for longer where the file system counts only seconds")
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

    @Test("a file whose modification time is to come is not read at every lookup")
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
        "what somebody began to read before a file changed is not taken for the changed file",
        .timeLimit(.minutes(5))
    )
    func staleRead() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": "old"])
        let folder = ResourcesFolder(fixture.resources)
        let path = folder.path(of: "a.txt")
        let reads = FileReads()
        @Sendable func file(_ read: @Sendable () -> FileReads.Outcome) -> FileBytes? {
            try? reads.file(
                at: path,
                isCurrent: { FileStatus(path: path).map($0.isCurrent) ?? false },
                read: read
            )
        }
        @Sendable func read() -> FileReads.Outcome {
            Result { () throws(FileProblem) in try FileBytes(opening: "a.txt", in: folder) }
        }

        let (hasRead, mayEnd, isAsking) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let isAnswered = DispatchGroup()
        DispatchQueue.global().async(group: isAnswered) {
            let former = file {
                let outcome = read()
                hasRead.signal()
                mayEnd.wait()
                return outcome
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
        // Long enough for the other thread to join the read that is under way; it must pass it over, however long that takes.
        _ = isAnswered.wait(timeout: .now() + .milliseconds(50))
        mayEnd.signal()
        isAnswered.wait()
    }
}
