#if os(Linux)
import Foundation
import FoundationNetworking
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

/// What Apple's traits decide outside a loader's calls: about attaching, installing and forwarding. The
/// sessions here are Linux's own, so a test calls a delegate itself where Apple's would call it otherwise.
@Suite("A loader's traits", .sessions, .timeLimit(.minutes(1)))
struct LoaderTraitsTests {
    private static func cache(
        _ entries: KeyValuePairs<String, SubstitutionMap.Answer> = ["https://h/a": .text("a")],
        _ traits: LoaderTraits = .apple
    ) throws -> LocalSubstitutionCache {
        LocalSubstitutionCache(map: try SubstitutionMap(entries), traits: traits)
    }

    @Test("Linux's traits are this platform's, and a cache has them unless it's told otherwise")
    func current() throws {
        #expect(LoaderTraits.current.contains(.asksProtocolThenCache) && LoaderTraits.current.contains(.hasProtocols))
        #expect(LocalSubstitutionCache(map: try SubstitutionMap([:])).responder.traits.contains(.asksProtocolThenCache))
        #expect(!LoaderTraits.apple.contains(.asksProtocolThenCache) && LoaderTraits.apple.contains(.hasProtocols))
    }

    // MARK: Protocols

    @Test("Where there are no custom protocols, a cache is attached without one, and refuses what needs one")
    func withoutProtocols() throws {
        let cache = try Self.cache(["https://h/a": .text("a")], .watch)
        let configuration = URLSessionConfiguration.ephemeral
        let before = configuration.protocolClasses?.count
        try cache.attach(to: configuration)
        #expect(configuration.urlCache === cache && configuration.protocolClasses?.count == before)
        let attaching = try #require(throws: AttachmentError.self) {
            try cache.attach(to: .ephemeral, unmatched: .fail)
        }
        let installing = try #require(throws: AttachmentError.self) { try cache.install(unmatched: .fail) }
        #expect(attaching.kind == .unsupportedPlatform && installing.kind == .unsupportedPlatform)
    }

    @Test("The protocol of a test is asked before the one of an installed cache")
    func order() {
        let last = LocalSubstitutionCache.protocolsToRegister(.apple).last
        let first = LocalSubstitutionCache.protocolsToRegister(.linux).first
        #expect(last is SharedSessionProtocol.Type && first is SharedSessionProtocol.Type)
    }

    @Test("Registered protocols are enough for a shared session that doesn't keep its cache")
    func sharedSession() async {
        await #expect(processExitsWith: .success) {
            // With Linux's traits, this would be too late.
            _ = URLSession(configuration: .ephemeral)
            _ = URLSession.shared.configuration
            #expect(LocalSubstitutionCache.prepareSharedSession(.apple))
        }
    }

    @Test("Installing says if the shared session uses the newer loader, and so does verify")
    func newerLoader() async {
        await #expect(processExitsWith: .success) {
            let traits = LoaderTraits.apple.union(.usesNewerLoader)
            let map = try SubstitutionMap(["http://127.0.0.1:9/a": .text("a")])
            let cache = LocalSubstitutionCache(map: map, traits: traits)
            let heard = Guarded<[LocalSubstitutionCache.Event]>([])
            cache.hear { event in heard.withLock { $0.append(event) } }
            try cache.install()
            let event = heard.withLock { $0 }.first
            #expect(event?.kind == .newerLoader)
            #expect(event?.description.contains("URLSession.shared uses Apple's newer loader") == true)
            // As if the loader asked neither protocols nor the cache.
            InstalledProtocol.use(nil)
            SharedSessionCache.only.use(nil)
            URLCache.shared = URLCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
            let verification = await cache.verify(.shared)
            #expect(verification == .notSubstituted(.newerLoader))
            #expect(verification.description.contains("use this session instead."))
        }
    }

    /// Fails every request, as a loader does that asks neither the cache nor the package's protocols.
    private final class Deaf: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() { client?.urlProtocol(self, didFailWithError: URLError(.cannotConnectToHost)) }
        override func stopLoading() {}
    }

    @Test(
        "verify names the newer loader for a session of its own, and only where there are protocols to ask",
        arguments: [
            (LoaderTraits.apple.union(.usesNewerLoader), .newerLoader), (.apple, .failed),
            (.watch.union(.usesNewerLoader), .failed),
        ] as [(LoaderTraits, LocalSubstitutionCache.Verification.Reason)]
    )
    func newerLoaderOfOwnSession(traits: LoaderTraits, reason: LocalSubstitutionCache.Verification.Reason) async throws
    {
        let cache = try Self.cache(["http://127.0.0.1:9/a": .text("a")], traits)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = cache
        configuration.protocolClasses = [Deaf.self]
        #expect(await cache.verify(URLSession(configuration: configuration)) == .notSubstituted(reason))
    }

    @Test("Installing says nothing of the newer loader where there are no protocols")
    func newerLoaderWithoutProtocols() async {
        await #expect(processExitsWith: .success) {
            let traits = LoaderTraits.watch.union(.usesNewerLoader)
            let cache = LocalSubstitutionCache(map: try SubstitutionMap(["https://h/a": .text("a")]), traits: traits)
            let heard = Guarded<[LocalSubstitutionCache.Event.Kind]>([])
            cache.hear { event in heard.withLock { $0.append(event.kind) } }
            try cache.install()
            #expect(!heard.withLock { $0 }.contains(.newerLoader))
        }
    }

    @Test("A protocol that can't be registered is named where sessions don't keep their cache")
    func unreachable() {
        #expect(LocalSubstitutionCache.unreachable(.apple).description.contains("URLProtocol.registerClass failed"))
        #expect(LocalSubstitutionCache.unreachable(.linux).description.contains("A session was used before"))
    }

    // MARK: Forwarding

    @Test("A request is forwarded, and cancelled, by a session that shares no queue")
    func forwarding() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let origin = try LoopbackServer { request in
            guard request.path == "/late" else { return .text("network") }
            arrived.finish()
            return .text("late").after(seconds: 30)
        }
        defer { origin.stop() }
        let cache = try Self.cache([
            "https://h/a": .forward(to: origin.url("a").absoluteString),
            "https://h/late": .forward(to: origin.url("late").absoluteString),
        ])
        let answer = try await cache.answer(to: request("https://h/a"))
        #expect(answer.map { String(decoding: $0.0, as: UTF8.self) } == "network")
        let late = try request("https://h/late")
        let waiting = Task { try await cache.answer(to: late) }
        for await _ in arrivals {}
        waiting.cancel()
        await #expect(throws: URLError.self) { try await waiting.value }
    }

    @Test("Only a loader that reports broken connections vaguely has them fall back", arguments: [false, true])
    func brokenConnection(isVague: Bool) async throws {
        let origin = try LoopbackServer { _ in LoopbackServer.Answer(fault: .dropBeforeHead) }
        defer { origin.stop() }
        let traits: LoaderTraits = isVague ? .apple.union(.reportsBrokenConnectionsVaguely) : .apple
        let cache = try Self.cache([origin.url("a").absoluteString: .text("local").use(.whenOffline)], traits)
        let answer = try? await cache.answer(to: URLRequest(url: origin.url("a")))
        #expect((answer ?? nil).map { String(decoding: $0.0, as: UTF8.self) } == (isVague ? "local" : nil))
    }

    @Test("Cookies that a request doesn't show aren't removed from it", arguments: [false, true])
    func cookies(areShown: Bool) throws {
        let configuration = URLSessionConfiguration.ephemeral
        let url = try #require(URL(string: "https://h/a"))
        let cookie = try #require(HTTPCookie(properties: [.name: "a", .value: "1", .domain: "h", .path: "/"]))
        configuration.httpCookieStorage?.setCookie(cookie)
        var request = URLRequest(url: url)
        request.setValue("a=1", forHTTPHeaderField: "Cookie")
        let responder = try Self.cache([:], areShown ? .linux : .apple).responder
        let plan = Attachment(of: responder, to: configuration).lookUp(request)
        #expect(plan.request.value(forHTTPHeaderField: "Cookie") == (areShown ? nil : "a=1"))
    }

    // MARK: The sessions that forward

    @Test("A challenge goes to the task's owner, or else to the system")
    func challenges() throws {
        let collector = ResponseCollector(.apple)
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "https://h/a"))
        let space = URLProtectionSpace(host: "h", port: 443, protocol: "https", realm: nil, authenticationMethod: nil)
        let relayed = Guarded<[String]>([])
        func relay(_ name: String) -> ForwardedRequest.ChallengeRelay {
            ForwardedRequest.ChallengeRelay { disposition, credential in
                relayed.withLock { $0.append("\(name) \(disposition.rawValue) \(credential?.user ?? "")") }
            }
        }
        func challenge(_ sender: any URLAuthenticationChallengeSender) -> URLAuthenticationChallenge {
            URLAuthenticationChallenge(
                protectionSpace: space,
                proposedCredential: nil,
                previousFailureCount: 0,
                failureResponse: nil,
                error: nil,
                sender: sender
            )
        }
        let any = challenge(relay("any"))
        let owned = session.dataTask(with: url)
        let owner = ResponseCollector.Owner(limit: { _ in 0 }, answerChallenge: { $1(.useCredential, nil) }) { _ in }
        collector.collect(owned, of: session, for: owner)
        for task in [owned, session.dataTask(with: url)] {
            collector.urlSession(session, task: task, didReceive: any) { disposition, _ in
                relayed.withLock { $0.append("\(task === owned) \(disposition.rawValue)") }
            }
        }
        let use = URLSession.AuthChallengeDisposition.useCredential.rawValue
        let system = URLSession.AuthChallengeDisposition.performDefaultHandling.rawValue
        #expect(relayed.withLock { $0 } == ["true \(use)", "false \(system)"])
        relayed.withLock { $0 = [] }

        let credential = URLCredential(user: "u", password: "p", persistence: .none)
        for (name, answer) in [
            ("use", { $0.use(credential, for: any) }), ("without", { $0.continueWithoutCredential(for: any) }),
            ("cancel", { $0.cancel(any) }), ("system", { $0.performDefaultHandling(for: any) }),
            ("reject", { $0.rejectProtectionSpaceAndContinue(with: any) }),
        ] as [(String, (ForwardedRequest.ChallengeRelay) -> Void)] {
            let sender = relay(name)
            answer(sender)
            // Only the first answer counts.
            sender.cancel(any)
        }
        let cancel = URLSession.AuthChallengeDisposition.cancelAuthenticationChallenge.rawValue
        let reject = URLSession.AuthChallengeDisposition.rejectProtectionSpace.rawValue
        #expect(
            relayed.withLock { $0 } == [
                "use \(use) u", "without \(use) ", "cancel \(cancel) ", "system \(system) ", "reject \(reject) ",
            ]
        )
    }

    @Test("A redirect's request is taken as it's proposed, or resolved again", arguments: [false, true])
    func redirects(isWrong: Bool) throws {
        let collector = ResponseCollector(isWrong ? .linux : .apple)
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "https://h/a/b"))
        let task = session.dataTask(with: url)
        collector.collect(task, of: session, for: ResponseCollector.Owner(limit: { _ in 0 }) { _ in })
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: ["Location": "next"])
        )
        var proposed = try request("https://h/next")
        proposed.setValue("a=1", forHTTPHeaderField: "Cookie")
        let sent = Guarded<URLRequest?>(nil)
        collector.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: proposed) { next in
            sent.withLock { $0 = next }
        }
        let next = sent.withLock { $0 }
        #expect(next?.url?.absoluteString == (isWrong ? "https://h/a/next" : "https://h/next"))
        #expect(next?.value(forHTTPHeaderField: "Cookie") == (isWrong ? nil : "a=1"))
    }
}
#endif
