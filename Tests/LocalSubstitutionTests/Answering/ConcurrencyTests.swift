import Dispatch
import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Concurrency", .threads, .timeLimit(.minutes(5)))
struct ConcurrencyTests {
    @Test("Concurrent requests for a cold file read it once and get the same response")
    func coldRead() throws {
        for _ in 0..<20 {
            let fixture = try CacheFixture(
                #""https://h/a": "a.txt""#,
                files: ["a.txt": String(repeating: "x", count: 100_000)]
            )
            let cache = try fixture.cache()
            let request = try request("https://h/a")
            let seen = Guarded<Set<ObjectIdentifier>>([])
            let addresses = Guarded<Set<UInt>>([])
            DispatchQueue.concurrentPerform(iterations: 64) { _ in
                guard let response = cache.cachedResponse(for: request) else { return }
                seen.withLock { _ = $0.insert(ObjectIdentifier(response)) }
                let address = response.data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
                addresses.withLock { _ = $0.insert(address) }
            }
            #expect(seen.withLock { $0.count } == 1)
            #expect(addresses.withLock { $0.count } == 1)
            #expect(cache.statistics.matched == 64)
        }
    }

    @Test("Lookups never return a wrong byte, whatever else happens at the same time")
    func everythingAtOnce() throws {
        // Each file repeats its own letter, and is only ever replaced as a whole.
        let letters = Array("abcdefgh")
        @Sendable func contents(_ letter: Character, _ round: Int) -> String {
            String(repeating: letter, count: 1_000 + round % 50)
        }
        var files: [String: String] = [:]
        for letter in letters { files["\(letter).txt"] = contents(letter, 0) }
        let fixture = try CacheFixture(#""https://h/*": "*""#, files: files)
        let cache = try fixture.reloadingCache()
        let maps = [#""https://h/*": "*""#, #""https://h/*": "*", "https://h/a.txt": "a.txt""#]
        let events = Guarded(0)
        cache.responder.inMemory.observe()
        let lookups = Guarded(0)
        cache.responder.observers.add(Observers.Listener { _ in events.withLock { $0 += 1 } })

        let wrong = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            for round in 0..<150 {
                let letter = letters[(worker + round) % letters.count]
                switch (worker, round % 10) {
                case (0, 0...4): try? fixture.write(contents(letter, round), to: "\(letter).txt")
                case (1, 0): try? fixture.writeMap(maps[round / 10 % 2])
                case (2, 0): cache.removeAllCachedResponses()
                case (2, 1): _ = cache.statistics
                case (3, 0): cache.map = cache.map
                default:
                    let range: [String: String] = round % 3 == 0 ? ["Range": "bytes=100-899"] : [:]
                    guard let request = try? request("https://h/\(letter).txt", headers: range) else { continue }
                    lookups.withLock { $0 += 1 }
                    guard let response = cache.cachedResponse(for: request) else { continue }
                    if !response.data.allSatisfy({ $0 == letter.asciiValue }) || response.data.isEmpty {
                        wrong.withLock { $0.append("\(letter): \(response.text.prefix(20))") }
                    }
                }
            }
        }
        #expect(wrong.withLock { $0 } == [])
        #expect(cache.statistics.requests == lookups.withLock { $0 })
    }

    @Test("A changed map is served from the next request on, even if another thread is loading it")
    func changedMap() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": "a", "b.txt": "b"])
        let cache = try fixture.reloadingCache()
        let isDone = Guarded(false)
        // Uses threads, since there are more of them than cores. A failure needs a thread that's suspended at a bad moment.
        for _ in 0..<3 {
            Thread.detachNewThread {
                while !isDone.withLock({ $0 }) { _ = try? cache.lookUp("https://h/a") }
            }
        }
        defer { isDone.withLock { $0 = true } }
        var stale = 0
        for round in 0..<1_500 {
            let name = round % 2 == 0 ? "b" : "a"
            try fixture.writeMap(#""https://h/a": "\#(name).txt""#)
            if try cache.lookUp("https://h/a")?.text != name { stale += 1 }
        }
        #expect(stale == 0)
    }

    @Test("Threads that share the default cache neither mix up URLs nor trap")
    func defaultCache() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let cache = LocalSubstitutionCache(
            map: try SubstitutionMap(contentsOf: fixture.mapFile),
            memoryCapacity: 2_000,
            diskCapacity: 0,
            directory: fixture.folder.appendingPathComponent("cache")
        )
        let wrong = Guarded(0)
        DispatchQueue.concurrentPerform(iterations: 400) { number in
            let text = "https://x/a?v=\(number % 7)"
            guard let request = try? request(text), let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
            else { return }
            let data = Data((text + String(repeating: " ", count: 300)).utf8)
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: data, userInfo: nil, storagePolicy: .allowedInMemoryOnly),
                for: request
            )
            if let found = cache.cachedResponse(for: request), !found.text.hasPrefix(text) {
                wrong.withLock { $0 += 1 }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test("Sessions load from many tasks while the map changes")
    func sessions() async throws {
        let fixture = try CacheFixture(#""https://h.invalid/*": "*""#, files: ["a.txt": "a", "b.txt": "b"])
        let cache = try fixture.cache()
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        let map = cache.map
        let loaded = try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                let name = number % 2 == 0 ? "a" : "b"
                let request = try request("https://h.invalid/\(name).txt?n=\(number)")
                if number % 10 == 0 { cache.map = map }
                group.addTask {
                    String(decoding: try await session.data(for: request).0, as: UTF8.self) == name
                }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
        #expect(loaded)
    }

    @Test("Each thread's events arrive in order")
    func eventOrder() async throws {
        let fixture = try CacheFixture(#""https://h/*": "a.txt""#)
        let cache = try fixture.cache()
        let log = EventLog(cache)
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            for round in 0..<100 { _ = try? cache.lookUp("https://h/\(worker)/\(round)") }
        }
        _ = try cache.lookUp("https://x/end")
        let told = await log.all { $0.kind == .missed }
        for worker in 0..<4 {
            let rounds = told.compactMap { event -> Int? in
                guard event.kind == .matched, let url = event.url,
                    url.pathComponents.dropFirst().first == "\(worker)"
                else { return nil }
                return Int(url.lastPathComponent)
            }
            #expect(rounds == Array(0..<100))
        }
    }
}
