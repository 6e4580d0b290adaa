#if os(Linux)
import Foundation
import FoundationNetworking
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

extension LoaderTraits {
    /// Apple's traits, but for those of the sessions that forward, which are Linux's own.
    fileprivate static let modelled: LoaderTraits = {
        let ofForwarding: LoaderTraits = [
            .sessionsShareQueue, .proposesWrongRedirects, .reportsBrokenConnectionsVaguely,
            .asksRegisteredProtocolsFirst,
        ]
        return apple.subtracting(ofForwarding).union(linux.intersection(ofForwarding))
    }()
}

/// The cache and the protocol as a model of Apple's loader calls them. Each test names the rule of ``AppleLoader`` that it depends on.
@Suite("Apple's loader, modelled", .threads, .timeLimit(.minutes(1)))
struct AppleLoaderTests {
    private typealias Call = AppleLoad.Call

    private func cache(_ entries: KeyValuePairs<String, SubstitutionMap.Answer>) throws -> LocalSubstitutionCache {
        LocalSubstitutionCache(map: try SubstitutionMap(entries), traits: .modelled)
    }

    private func loader(
        _ cache: LocalSubstitutionCache,
        _ unmatched: LocalSubstitutionCache.Unmatched = .load,
        order: AppleLoader.Order = .cache,
        listener: SessionRules.Listener? = nil
    ) throws -> AppleLoader {
        let configuration = URLSessionConfiguration.ephemeral
        let slot = try #require(
            try cache.attach(to: configuration, unmatched: unmatched, responseRecorder: nil, listener: listener)
        )
        return AppleLoader(cache, slot, order: order)
    }

    private static let policies: [URLRequest.CachePolicy] = [
        .useProtocolCachePolicy, .returnCacheDataElseLoad, .reloadIgnoringLocalCacheData,
    ]

    // MARK: Cache

    @Test(
        "Cache: what the cache has answered isn't decided about again, and counts once",
        arguments: AppleLoader.Order.allCases,
        policies
    )
    func once(_ order: AppleLoader.Order, _ policy: URLRequest.CachePolicy) async throws {
        let cache = try cache([
            "https://h/plain": .text("plain"),
            "https://h/times": [.text("a").times(1), .text("b").times(1), .text("c")],
            "https://h/header": [.text("x").when(headers: ["A": "x"]), .text("other")],
        ])
        let loader = try loader(cache, order: order)
        func load(_ path: String, _ headers: [String: String] = [:]) async throws -> String {
            let outcome = await loader.outcome(try request("https://h/\(path)", headers: headers, policy: policy))
            #expect(outcome.isProper, "\(outcome.calls)")
            // A cache never returns an entry with `times`, since it can't know whether the session uses its response.
            #expect(outcome.wasCached == (path != "times" && !policy.ignoresLocalData), "\(path)")
            return outcome.text
        }
        var texts: [String] = []
        for _ in 0..<3 { texts.append(try await load("plain")) }
        for _ in 0..<4 { texts.append(try await load("times")) }
        for value in ["x", "y", "x"] { texts.append(try await load("header", ["A": value])) }
        #expect(texts == ["plain", "plain", "plain", "a", "b", "c", "c", "x", "other", "x"])
        #expect(cache.statistics.matched == texts.count && cache.statistics.requests == texts.count)
    }

    @Test("Cache: preconditions count even if the cache has answered", arguments: AppleLoader.Order.allCases)
    func preconditions(_ order: AppleLoader.Order) async throws {
        let cache = try cache(["https://h/a": .text("a").headers(["ETag": "\"1\""])])
        let loader = try loader(cache, order: order)
        for (tag, text) in [(nil, "a"), ("\"1\"", ""), ("\"2\"", "a"), ("*", "")] {
            let headers = tag.map { ["If-None-Match": $0] } ?? [:]
            let outcome = await loader.outcome(try request("https://h/a", headers: headers))
            #expect(outcome.isProper && outcome.wasCached, "\(outcome.calls)")
            #expect(outcome.status == (text.isEmpty ? 304 : 200))
            #expect(outcome.text == text)
        }
        #expect(cache.statistics.matched == 4 && cache.statistics.requests == 4)
    }

    @Test("Cache: a strict session delivers the last response that may be used", arguments: AppleLoader.Order.allCases)
    func lastOne(_ order: AppleLoader.Order) async throws {
        let cache = try cache(["https://h/a": [.text("a").times(1)]])
        let loader = try loader(cache, .fail, order: order)
        let request = try request("https://h/a", policy: .returnCacheDataElseLoad)
        #expect(await loader.outcome(request).text == "a")
        #expect(await loader.outcome(request).error == .resourceUnavailable)
        #expect(cache.statistics.matched == 1 && cache.statistics.unmatched == 1)
        #expect(cache.statistics.requests == 2)
    }

    @Test("Cache: another cache's response is decided about", arguments: AppleLoader.Order.allCases)
    func otherCache(_ order: AppleLoader.Order) async throws {
        let (cache, other) = (try cache(["https://h/a": .text("own")]), try cache(["https://h/a": .text("other")]))
        let configuration = URLSessionConfiguration.ephemeral
        try cache.attach(to: configuration)
        let slot = try #require(configuration.protocolClasses?.first as? SubstitutionURLProtocol.Type)
        let outcome = await AppleLoader(other, slot, order: order).outcome(try request("https://h/a"))
        #expect(outcome.text == "own" && outcome.wasCached)
    }

    @Test("Cache: a response of a map that was replaced meanwhile is decided about")
    func replacedMap() async throws {
        let alternatives: SubstitutionMap.Answer = [.text("old").when(headers: ["A": "x"]), .text("other")]
        let cache = try cache(["https://h/a": alternatives])
        let request = try request("https://h/a", headers: ["A": "x"])
        let response = try #require(cache.cachedResponse(for: request))
        cache.map = try SubstitutionMap(["https://h/a": .text("new")])
        #expect(cache.responder.responseInMemory(for: request, response, nil) !== response)
        cache.map = try SubstitutionMap(["https://h/a": alternatives])
        let again = try #require(cache.cachedResponse(for: request))
        #expect(cache.responder.responseInMemory(for: request, again, nil) === again)
        // A note is used once.
        #expect(cache.responder.responseInMemory(for: request, again, nil) == nil)
    }

    @Test("Cache: a response has a date, and may be used although it's never stored")
    func headers() throws {
        let cache = try cache(["https://h/a": .text("a")])
        let response = try #require(try cache.lookUp("https://h/a"))
        #expect(response.header("Date") != nil)
        #expect(response.storagePolicy == .allowedInMemoryOnly)
        let authorized = try request("https://h/a", headers: ["Authorization": "x"])
        #expect(cache.cachedResponse(for: authorized)?.text == "a")
    }

    @Test("Cache: the default cache's key is the request, and its folder is its own")
    func defaultCache() throws {
        let cache = try cache(["https://h/a": .text("a")])
        #expect(DefaultCache.standardFolder(.apple) == nil)
        let other = try request("https://h/other?x=1")
        #expect(cache.responder.defaultCache.key(for: other, "normal") == other)
        let url = try #require(other.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:]))
        for text in ["old", "new"] {
            cache.storeCachedResponse(CachedURLResponse(response: response, data: Data(text.utf8)), for: other)
        }
        #expect(cache.cachedResponse(for: other)?.text == "new")
        cache.removeCachedResponse(for: other)
        #expect(cache.cachedResponse(for: other) == nil)
    }

    // MARK: Body

    @Test("Body: a stream meets conditions, and reaches handlers and servers", arguments: [false, true])
    func body(isForwarded: Bool) async throws {
        let origin = try LoopbackServer { .text(String(decoding: $0.body, as: UTF8.self)) }
        defer { origin.stop() }
        let answer: SubstitutionMap.Answer =
            isForwarded
            ? .forward(to: origin.url("a").absoluteString)
            : .handler { .text(String(decoding: $0.body ?? Data(), as: UTF8.self)) }
        let cache = try cache([
            "https://h/a": [answer.when(json: ["a": 1]).methods("POST"), .text("other").methods("POST")]
        ])
        let loader = try loader(cache)
        for (body, expected) in [(#"{"a": 1}"#, #"{"a": 1}"#), (#"{"a": 2}"#, "other")] {
            var request = try request("https://h/a", method: "POST")
            request.httpBody = Data(body.utf8)
            let outcome = await loader.outcome(request)
            #expect(outcome.text == expected && outcome.isProper, "\(outcome.calls)")
        }
        // No body at all isn't hidden.
        #expect(await loader.outcome(try request("https://h/a", method: "POST")).text == "other")
    }

    // MARK: A protocol's calls

    @Test("Thread: a stream's pieces arrive once and in order")
    func pieces() async throws {
        let texts = (0..<20).map { "\($0) " }
        let cache = try cache(["https://h/a": .stream(texts.map { .text($0).delay(0.001) })])
        let outcome = await (try loader(cache)).outcome(try request("https://h/a"))
        #expect(outcome.pieces == texts && outcome.isProper)
    }

    @Test(
        "Stop: a task that's suspended gets nothing until it's resumed, and then all in order",
        arguments: [("stream", "abc"), ("handler", "handled"), ("file", "at once")],
        [false, true]
    )
    func suspended(_ row: (path: String, text: String), hasStarted: Bool) async throws {
        let gate = Gate()
        let cache = try cache([
            "https://h/stream": .stream([.text("a"), .text("b").delay(0.05), .text("c").delay(0.05)]),
            "https://h/handler": .handler { _ in
                gate.open()
                return .text("handled")
            },
            "https://h/file": .text("at once"),
            "https://h/later": .text("later").delay(0.2),
        ])
        let loader = try loader(cache)
        let load = loader.load(try request("https://h/\(row.path)"))
        if hasStarted, row.path == "stream" { await load.calls(contain: .data("a")) }
        if hasStarted, row.path == "handler" { await gate.passed() }
        load.suspend()
        await load.settle()
        let before = load.calls.withLock { $0 }
        // By then, the suspended load has everything to deliver.
        #expect(await loader.outcome(try request("https://h/later")).text == "later")
        #expect(load.calls.withLock { $0 } == before)
        load.resume()
        let outcome = await load.outcome()
        #expect(outcome.text == row.text && outcome.isProper, "\(outcome.calls)")
    }

    enum Moment: CaseIterable {
        case beginning, delay, handler, forwarding, stream, end
    }

    @Test("Stop: nothing is called after a task was cancelled or has ended", arguments: Moment.allCases)
    func cancelled(_ moment: Moment) async throws {
        let (gate, release, isReleased) = (Gate(), Gate(), DispatchSemaphore(value: 0))
        let origin = try LoopbackServer { _ in
            gate.open()
            isReleased.wait()
            return .text("late")
        }
        defer { origin.stop() }
        let cache = try cache([
            "https://h/beginning": .text("a"),
            "https://h/delay": .text("a").delay(0.05),
            "https://h/handler": .handler { _ in
                gate.open()
                await release.passed()
                return .text("late")
            },
            "https://h/forwarding": .forward(to: origin.url("a").absoluteString),
            "https://h/stream": .stream([.text("a"), .text("b").delay(0.05)]),
            "https://h/end": .text("a"),
            "https://h/later": .text("later").delay(0.2),
        ])
        let loader = try loader(cache)
        let load = loader.load(try request("https://h/\(moment)"))
        switch moment {
        case .beginning: break
        case .delay: await load.settle()
        case .handler, .forwarding: await gate.passed()
        case .stream: await load.calls(contain: .data("a"))
        case .end: _ = await load.outcome()
        }
        let wasEarly = Guarded(false)
        load.cancel { isEarly in wasEarly.withLock { $0 = isEarly } }
        let outcome = await load.outcome()
        release.open()
        isReleased.signal()
        // On a busy machine, a delay may have passed before.
        #expect((outcome.calls.last == .cancelled) == wasEarly.withLock { $0 })
        // By then, the cancelled load would have delivered the rest.
        #expect(await loader.outcome(try request("https://h/later")).text == "later")
        #expect(load.calls.withLock { $0 } == outcome.calls)
        #expect(!outcome.calls.contains(.afterTheEnd) && !outcome.calls.contains(.onWrongThread))
        #expect(cache.statistics.requests == 2)
    }

    @Test("Stop: a task that's cancelled once it has its outcome isn't heard to be cancelled")
    func cancelledAtTheEnd() async throws {
        let heard = Guarded<[Bool]>([])
        let listener = SessionRules.Listener { _ in
            { progress in
                let hasEnded = if case .ended = progress { true } else { false }
                heard.withLock { $0.append(hasEnded) }
            }
        }
        let loader = try loader(try cache(["https://h/a": .text("a").delay(0.01)]), listener: listener)
        let load = loader.load(try request("https://h/a"))
        load.cancelAtTheEnd()
        _ = await load.outcome()
        await load.settle()
        #expect(heard.withLock { $0 } == [true])
    }

    @Test("Stop: a task that the loader ends after its timeout has failed, and wasn't cancelled")
    func timedOut() async throws {
        let (heard, continuation) = AsyncStream<URLError.Code?>.makeStream()
        let listener = SessionRules.Listener { _ in
            { progress in
                let error = if case .ended(let outcome, _) = progress { outcome.error } else { URLError?.none }
                continuation.yield(error?.code)
            }
        }
        let loader = try loader(try cache(["https://h/a": .stream(["a", .text("b").delay(3600)])]), listener: listener)
        let load = loader.load(try request("https://h/a"))
        await load.calls(contain: .data("a"))
        load.timeOut()
        _ = await load.outcome()
        // The listener hears of the end on another thread, perhaps later.
        var first = heard.makeAsyncIterator()
        #expect(await first.next() == .timedOut)
    }

    struct Counted: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let path: String
        let count: @Sendable (LocalSubstitutionCache.Statistics) -> Int

        static let all = [
            Counted(testDescription: "a redirect", path: "redirect") { $0.matched },
            Counted(testDescription: "what a cache can't return", path: "vary") { $0.matched },
            Counted(testDescription: "a handler", path: "handler") { $0.matched },
            Counted(testDescription: "what an entry forwards", path: "sent") { $0.forwarded },
            Counted(testDescription: "an unmatched URL", path: "other") { $0.unmatched },
        ]
    }

    @Test(
        "Cache: a request counts once, though it was looked up before",
        arguments: Counted.all,
        AppleLoader.Order.allCases
    )
    func countedOnce(_ row: Counted, _ order: AppleLoader.Order) async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        defer { origin.stop() }
        let cache = try cache([
            "https://h/redirect": .status(301).headers(["Location": "/plain"]), "https://h/plain": .text("plain"),
            "https://h/vary": .text("text").headers(["Vary": "Accept"]),
            "https://h/handler": .handler { _ in .text("handled") },
            "https://h/sent": .forward(to: origin.url("a").absoluteString),
        ])
        let loader = try loader(cache, .fail, order: order)
        for number in 1...3 {
            _ = await loader.outcome(try request("https://h/\(row.path)"))
            #expect(row.count(cache.statistics) == number)
            #expect(cache.statistics.requests == number)
        }
    }

    @Test("Redirects: an entry's is followed inside, so nothing is announced", arguments: [301, 302])
    func redirect(_ status: Int) async throws {
        let cache = try cache([
            "https://h/a": .status(status).headers(["Location": "/b"]), "https://h/b": .text("b"),
        ])
        let outcome = await (try loader(cache)).outcome(try request("https://h/a"))
        #expect(outcome.calls == [.response(status: 200, url: "https://h/b"), .data("b"), .finished])
    }

    @Test("Redirects: one that isn't followed is a response like any other", arguments: [301, 302])
    func unfollowedRedirect(_ status: Int) async throws {
        let cache = try cache([
            "https://h/a": .text("moved").status(status).headers(["Location": "/b"]).follow(false),
            "https://h/b": .text("b"),
        ])
        let outcome = await (try loader(cache)).outcome(try request("https://h/a"))
        #expect(outcome.calls == [.response(status: status, url: "https://h/a"), .data("moved"), .finished])
    }

    @Test("Challenges: a client answers a server's, and gets an entry's 401 with its challenge")
    func challenge() async throws {
        let origin = try LoopbackServer { request in
            request.header("Authorization") == nil
                ? .init(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"a\"")], body: Data("who?".utf8))
                : .text("welcome")
        }
        defer { origin.stop() }
        let cache = try cache([
            "https://h/sent": .forward(to: origin.url("a").absoluteString),
            "https://h/own": .text("no").status(401).headers(["WWW-Authenticate": "Basic realm=\"a\""]),
        ])
        let loader = try loader(cache)
        let credential = URLCredential(user: "u", password: "p", persistence: .none)
        let answered = await loader.load(try request("https://h/sent"), credential: credential).outcome()
        // Linux's session, which forwards here, asks only after the first response.
        #expect(answered.calls.contains(.challenged))
        #expect(answered.calls.suffix(2) == [.data("welcome"), .finished], "\(answered.calls)")
        let own = await loader.outcome(try request("https://h/own"))
        #expect(own.status == 401 && own.text == "no" && own.isProper)
    }

    @Test("A download task is answered, too")
    func download() async throws {
        let cache = try cache(["https://h/a": .text("a"), "https://h/b": .text("b").delay(0.001)])
        let loader = try loader(cache)
        for name in ["a", "b"] {
            let outcome = await loader.outcome(try request("https://h/\(name)"), isDownload: true)
            #expect(outcome.text == name && outcome.isProper, "\(outcome.calls)")
        }
    }

    @Test("A request that no entry matches is left to the loader, or refused", arguments: AppleLoader.Order.allCases)
    func unmatched(_ order: AppleLoader.Order) async throws {
        let cache = try cache(["https://h/a": .text("a")])
        let left = await (try loader(cache, order: order)).outcome(try request("https://h/b"))
        #expect(left.calls == [.left(cached: nil)])
        let refused = await (try loader(cache, .fail, order: order)).outcome(try request("https://h/b"))
        #expect(refused.error == .resourceUnavailable && refused.isProper)
    }

    @Test("64 tasks at once each get their own response")
    func many() async throws {
        let origin = try LoopbackServer { .text("network \($0.path)") }
        defer { origin.stop() }
        let cache = try cache([
            "https://h/plain/*": .handler { .text($0.captures.joined()) },
            "https://h/stream/*": .stream([.text("a"), .text("b").delay(0.001)]),
            "https://h/sent/*": .forward(to: origin.url("*").absoluteString),
            "https://h/kept": .text("kept"),
        ])
        let loader = try loader(cache)
        let outcomes = try await withThrowingTaskGroup(of: (String, AppleLoad.Outcome).self) { group in
            for index in 0..<64 {
                let path = ["plain/\(index)", "stream/\(index)", "sent/\(index)", "kept"][index % 4]
                let request = try request("https://h/\(path)")
                group.addTask { (path, await loader.outcome(request)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 64)
        for (path, outcome) in outcomes {
            let name = path.split(separator: "/").last ?? ""
            let expected = [
                "plain": "\(name)", "stream": "ab", "sent": "network /\(name)", "kept": "kept",
            ][path.split(separator: "/").first.map(String.init) ?? ""]
            #expect(outcome.text == expected && outcome.isProper, "\(path): \(outcome.calls)")
        }
    }
}

/// A place that a test knows to be reached.
private final class Gate: Sendable {
    private let stream = AsyncStream<Void>.makeStream()

    func open() { stream.continuation.finish() }

    /// Returns once it's reached.
    func passed() async { for await _ in stream.stream {} }
}
#endif
