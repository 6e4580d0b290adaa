import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Refreshed files from the network", .sessions, .timeLimit(.minutes(5)))
struct UpdatingTests {
    @Test("The file answers immediately, and the origin's copy from then on")
    func originChanges() async throws {
        let fixture = try UpdatingFixture(.text("newer", type: "text/css"))
        let cache = try fixture.cache()
        let file = Guarded<CachedURLResponse?>(nil)
        let event = try await cache.refreshing {
            let response = try cache.lookUp(fixture.url)
            file.withLock { $0 = response }
        }
        let old = try #require(file.withLock { $0 })
        #expect(old.text == "local")
        #expect(
            event?.description
                == "refreshed \(fixture.url): the network had another file (5 bytes; entry “\(fixture.url)”)"
        )
        let new = try #require(try cache.lookUp(fixture.url))
        #expect(new.text == "newer")
        #expect(new.http?.statusCode == 200)
        #expect(new.header("Content-Length") == "5")
        #expect(new.header("Content-Type") == "text/css")
        #expect(new.header("Cache-Status") == #"LocalSubstitutionCache; hit; detail="refreshed file of a.txt""#)
        #expect(new.header("ETag") != nil && new.header("ETag") != old.header("ETag"))
        let names = [old, new].map { Set($0.http?.allHeaderFields.keys.compactMap { $0 as? String } ?? []) }
        #expect(names[0] == names[1])
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        #expect(cache.statistics.requests == 3 && cache.statistics.matched == 3)
        #expect(fixture.origin.requests.map(\.method) == ["GET"])
    }

    @Test("A session gets the file, and then the refreshed file")
    func throughASession() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try fixture.cache()
        let session = session(with: cache)
        defer { session.finishTasksAndInvalidate() }
        let log = EventLog(cache)
        let heard = Guarded<[String]>([])
        cache.hear { event in
            if event.kind == .matched { heard.withLock { $0.append(event.description) } }
        }
        let url = try #require(URL(string: fixture.url))
        #expect(try await String(decoding: session.data(from: url).0, as: UTF8.self) == "local")
        _ = await log.all(until: \.isOfRefresh)
        #expect(try await String(decoding: session.data(from: url).0, as: UTF8.self) == "newer")
        #expect(fixture.origin.requests.count == 1)
        // Events say which of the two answered.
        let events = heard.withLock { $0 }
        #expect(events.map { $0.contains("← refreshed file of ") } == [false, true], "\(events)")
        #expect(events.allSatisfy { $0.contains("a.txt (5 bytes; entry") }, "\(events)")
    }

    @Test(
        "The event of a refreshed file names it as such, and the file's event doesn't",
        arguments: [
            ("", "GET", [:]), (#", "mimeType": "text/html""#, "GET", [:]), (#", "charset": null"#, "GET", [:]),
            (#", "headers": { "A": "b" }"#, "GET", [:]), (#", "headers": { "Cache-Status": "b" }"#, "GET", [:]),
            ("", "HEAD", [:]), (#", "charset": "utf-16""#, "HEAD", [:]),
            ("", "GET", ["Range": "bytes=1-2"]),
        ] as [(String, String, [String: String])]
    )
    func eventOfCopy(entry: String, method: String, headers: [String: String]) async throws {
        let fixture = try UpdatingFixture(.text("newer"), entry: entry)
        let cache = try fixture.cache()
        let heard = Guarded<[String]>([])
        cache.hear { event in
            if event.kind == .matched { heard.withLock { $0.append(event.description) } }
        }
        let asked = try request(fixture.url, method: method, headers: headers)
        _ = try await cache.refreshing { #expect(cache.cachedResponse(for: asked) != nil) }
        #expect(cache.cachedResponse(for: asked) != nil)
        let events = heard.withLock { $0 }
        #expect(events.map { $0.contains("← refreshed file of ") } == [false, true], "\(events)")
    }

    @Test("If the origin is gone, the file or the last known copy answers")
    func originGone() async throws {
        let fixture = try UpdatingFixture(.text("newer"))
        let cache = try await fixture.updatedCache()
        fixture.origin.stop()
        guard try await cache.refreshAgain(fixture.url)?.kind == .refreshFailed else {
            Issue.record("it did not fail")
            return
        }
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        let other = try UpdatingFixture(.text("newer"))
        other.origin.stop()
        let untouched = try other.cache()
        guard try await untouched.refreshing({ _ = try untouched.lookUp(other.url) })?.kind == .refreshFailed else {
            Issue.record("it did not fail")
            return
        }
        #expect(try untouched.lookUp(other.url)?.text == "local")
    }

    @Test("The network is asked conditionally, and a 304 transfers and changes nothing")
    func notModified() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        var answer = LoopbackServer.Answer.text("newer")
        answer.headers += [("ETag", "\"1\""), ("Last-Modified", date)]
        let fixture = try UpdatingFixture(answer)
        let cache = try await fixture.updatedCache()
        let bytes = fixture.origin.bytesSent
        guard try await cache.refreshAgain(fixture.url)?.kind == .upToDate else {
            Issue.record("it is not up to date")
            return
        }
        #expect(fixture.origin.requests.map { $0.header("If-None-Match") } == [nil, "\"1\""])
        #expect(fixture.origin.requests.map { $0.header("If-Modified-Since") } == [nil, date])
        #expect(fixture.origin.bytesSent == bytes)
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
    }

    @Test("The same bytes with another validator aren't news, and the new validator is used from then on")
    func otherValidator() async throws {
        var answer = LoopbackServer.Answer.text("newer")
        answer.headers += [("ETag", "\"1\"")]
        let fixture = try UpdatingFixture(answer)
        let cache = try await fixture.updatedCache()
        answer.headers = [("Content-Type", "text/plain"), ("ETag", "\"2\"")]
        fixture.answer(answer)
        for _ in 0..<2 {
            guard try await cache.refreshAgain(fixture.url)?.kind == .upToDate else {
                Issue.record("it is not up to date")
                return
            }
        }
        #expect(fixture.origin.requests.map { $0.header("If-None-Match") } == [nil, "\"1\"", "\"2\""])
    }

    @Test("If the origin serves the file's bytes, the file answers and an older copy goes")
    func sameBytes() async throws {
        let fixture = try UpdatingFixture(.text("local"))
        let cache = try await fixture.updatedCache()
        #expect(try cache.lookUp(fixture.url)?.header("Cache-Status")?.contains("refreshed file") == false)
        fixture.answer(.text("newer"))
        _ = try await cache.refreshAgain(fixture.url)
        #expect(try cache.lookUp(fixture.url)?.text == "newer")
        fixture.answer(.text("local"))
        _ = try await cache.refreshAgain(fixture.url)
        #expect(try cache.lookUp(fixture.url)?.text == "local")
        #expect(try fixture.cache().lookUp(fixture.url)?.text == "local")
    }

    @Test("HEAD and ranges get the refreshed file, and also cause a request", arguments: ["HEAD", "GET"])
    func headAndRange(_ method: String) async throws {
        let fixture = try UpdatingFixture(.text("0123456789"))
        let cache = try fixture.cache()
        let asked = try request(
            fixture.url,
            method: method,
            headers: method == "GET" ? ["Range": "bytes=2-4"] : [:]
        )
        _ = try await cache.refreshing { #expect(cache.cachedResponse(for: asked) != nil) }
        let new = try #require(cache.cachedResponse(for: asked))
        #expect(new.text == (method == "GET" ? "234" : ""))
        #expect(new.http?.statusCode == (method == "GET" ? 206 : 200))
        #expect(new.header("Content-Length") == (method == "GET" ? "3" : "10"))
        #expect(new.header("ETag") == (try cache.lookUp(fixture.url)?.header("ETag")))
        #expect(fixture.origin.requests.map(\.method) == ["GET"])
        #expect(fixture.origin.requests.first?.header("Range") == nil)
    }

    static let types: [(entry: String, type: String?, expected: String)] = [
        ("", "text/css; charset=latin1", "text/css; charset=latin1"),
        ("", nil, "text/plain; charset=utf-8"),
        (#", "mimeType": "text/html""#, "text/css", "text/html; charset=utf-8"),
        (#", "headers": { "content-type": "a/b" }"#, "text/css", "a/b"),
        (#", "charset": "utf-16""#, "text/css; charset=latin1", "text/css; charset=utf-16"),
    ]

    @Test("The type is the entry's, or else the server's, or else the file's", arguments: types)
    func contentType(_ entry: String, _ type: String?, _ expected: String) async throws {
        let answer = LoopbackServer.Answer(
            headers: type.map { [("Content-Type", $0)] } ?? [],
            body: Data("newer".utf8)
        )
        let fixture = try UpdatingFixture(answer, entry: entry)
        let cache = try await fixture.updatedCache()
        #expect(try cache.lookUp(fixture.url)?.header("Content-Type") == expected)
        #expect(cache.explain(try request(fixture.url)).contentType == expected)
    }

    @Test("Explaining says what answers, and requests nothing")
    func explanation() async throws {
        let fixture = try UpdatingFixture(.text("newer"), map: #""ORIGIN/b": "a.txt""#)
        let cache = try fixture.cache()
        let before = cache.explain(try request(fixture.url))
        #expect(before.isRefreshed == false)
        #expect(before.description.contains("response:     the file, which hasn't been refreshed"))
        #expect(cache.schedule.isIdle && cache.schedule.count == 0)
        _ = try await cache.refreshing { _ = try cache.lookUp(fixture.url) }
        for cache in [cache, try fixture.cache()] {
            let after = cache.explain(try request(fixture.url))
            #expect(after.isRefreshed == true)
            #expect(after.cacheOnly.outcome == .matched)
            #expect(after.contentTypeSource == "set by the server")
            #expect(after.description.contains("response:     the refreshed file"))
        }
        #expect(cache.explain(try request(fixture.origin.url("b").absoluteString)).isRefreshed == nil)
        #expect(fixture.origin.requests.count == 1)
    }
}
