import Foundation
import Guarded
import LocalSubstitutionRecording
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Faults and secrets during recording", .threads, .timeLimit(.minutes(5)))
struct RecordingFaultTests {
    private let folder: TemporaryFolder
    private var recorded: URL { folder.url.appendingPathComponent("recorded", isDirectory: true) }

    init() throws { folder = try TemporaryFolder() }

    @Test("Only whole responses are recorded, even if many tasks are cancelled or lose their connection")
    func many() async throws {
        let site = RecordedSite(count: 60)
        let generator = Guarded(SeededGenerator(seed: 7))
        let origin = try LoopbackServer { request in
            let answer = site.answer(request)
            switch generator.withLock({ $0.below(8) }) {
            case 0: return answer.failing(.dropBeforeHead)
            case 1: return answer.failing(.dropAfter(bodyBytes: 100))
            default: return answer
            }
        }
        defer { origin.stop() }
        let visit = try Visit(recorded)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                let part = site.parts[number * 7 % site.parts.count]
                let url = origin.url(part.path)
                group.addTask {
                    let result = await visit.session.load(url, cancelledAfter: number % 3 == 0 ? number % 50 : nil)
                    let data = try? result.get()
                    #expect(data == nil || data == part.body)
                }
            }
        }
        visit.end()
        let map = try SubstitutionMap(contentsOf: recorded.appendingPathComponent("substitutions.json"))
        #expect(map.count > 30)
        for part in site.parts {
            guard let file = map.substitution(for: origin.url(part.path))?.fileURL else { continue }
            #expect(try Data(contentsOf: file) == part.body)
        }
        #expect(FileManager.default.enumerator(atPath: recorded.path)?.contains { "\($0)".hasSuffix(".tmp") } == false)
    }

    /// A request and a response with a secret somewhere.
    struct Secret: CustomTestStringConvertible, Sendable {
        let what: String
        var path = "/page"
        var requestHeaders: [String: String] = [:]
        var sessionHeaders: [String: String] = [:]
        var answer = LoopbackServer.Answer.text("public")
        var isRecorded = false
        var testDescription: String { what }
    }

    static let secrets = [
        Secret(what: "Authorization", requestHeaders: ["Authorization": "Bearer s3cr3t"]),
        Secret(what: "Proxy-Authorization", requestHeaders: ["Proxy-Authorization": "Basic s3cr3t"]),
        Secret(what: "Cookie", requestHeaders: ["Cookie": "sid=s3cr3t"]),
        Secret(what: "a header of the session", sessionHeaders: ["Authorization": "Bearer s3cr3t"]),
        Secret(what: "a token", path: "/page?access_token=s3cr3t"),
        Secret(what: "an encoded token", path: "/page?api%5Fkey=s3cr3t"),
        Secret(what: "a signature", path: "/page?X-Amz-Signature=s3cr3t"),
        Secret(what: "Set-Cookie", answer: LoopbackServer.Answer(headers: [("Set-Cookie", "sid=s3cr3t")])),
        Secret(
            what: "no-store",
            answer: LoopbackServer.Answer(headers: [("Cache-Control", "no-store")], body: Data("s3cr3t".utf8))
        ),
        Secret(
            what: "private",
            answer: LoopbackServer.Answer(headers: [("Cache-Control", "max-age=1, Private")], body: Data("s3cr3t".utf8))
        ),
        Secret(
            what: "Vary: *",
            answer: LoopbackServer.Answer(headers: [("Vary", "Accept, *")], body: Data("s3cr3t".utf8))
        ),
        Secret(
            what: "a header of no use",
            answer: LoopbackServer.Answer(headers: [("X-Auth-Token", "s3cr3t")]),
            isRecorded: true
        ),
        Secret(what: "a redirect", answer: .redirect(to: "/other?token=s3cr3t")),
        Secret(what: "an error", answer: LoopbackServer.Answer(status: 403, body: Data("s3cr3t".utf8))),
    ]

    @Test("No secret is in any byte of the folder", arguments: secrets)
    func secret(_ secret: Secret) async throws {
        let origin = try LoopbackServer { $0.path == "/page" ? secret.answer : .text("target") }
        defer { origin.stop() }
        let visit = try Visit(recorded, headers: secret.sessionHeaders)
        let request = try request(origin.url(secret.path).absoluteString, headers: secret.requestHeaders)
        _ = try await visit.session.data(for: request)
        visit.end()
        #expect(!origin.requests.isEmpty)
        #expect(visit.cache.statistics.recorded == (secret.isRecorded ? 1 : 0))
        for case let name as String in FileManager.default.enumerator(atPath: recorded.path) ?? .init() {
            #expect(!name.contains("s3cr3t"))
            let contents = try? Data(contentsOf: recorded.appendingPathComponent(name))
            #expect(contents.map { $0.range(of: Data("s3cr3t".utf8)) == nil } ?? true, "\(name)")
        }
    }

    /// The targets of a chain of redirects. `HOST` is the origin's.
    struct Chain: CustomTestStringConvertible, Sendable {
        let what: String
        let targets: [String]
        var headers: [(String, String)] = []
        let reason: String
        var testDescription: String { what }
    }

    static let chains = [
        Chain(what: "user info", targets: ["http://user:s3cr3t@HOST/2"], reason: "the URL has user info"),
        Chain(
            what: "user info on the way",
            targets: ["http://user:s3cr3t@HOST/2", "http://HOST/3"],
            reason: "user info"
        ),
        Chain(what: "a token", targets: ["/2?access_token=s3cr3t"], reason: "the URL's parameter “access_token”"),
        Chain(
            what: "a token on the way",
            targets: ["/2?code=s3cr3t", "/3", "/4"],
            reason: "the URL's parameter “code”"
        ),
        Chain(
            what: "a cookie on the way",
            targets: ["/2", "/3"],
            headers: [("Set-Cookie", "sid=s3cr3t; Path=/")],
            reason: "the header “Cookie”"
        ),
    ]

    @Test("A response after a redirect with a credential isn't recorded, and the reason is reported", arguments: chains)
    func redirects(_ chain: Chain) async throws {
        let origin = try LoopbackServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            guard number <= chain.targets.count else { return .text("for \(request.header("Authorization") ?? "all")") }
            let target = chain.targets[number - 1].replacing("HOST", with: request.header("Host") ?? "")
            return LoopbackServer.Answer(status: 302, headers: [("Location", target)] + chain.headers)
        }
        defer { origin.stop() }
        let visit = try Visit(recorded)
        let events = HeardEvents(of: visit.cache)
        let (_, response) = try await visit.session.data(from: origin.url("/1"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        visit.end()
        #expect(visit.cache.statistics.recorded == 0)
        let told = events.all.filter { $0.kind == .notRecorded }.compactMap(\.reason)
        #expect(told.count == 1)
        let reason = told.first ?? ""
        #expect(reason.hasPrefix("after a redirect, ") && reason.contains(chain.reason) && !reason.contains("s3cr3t"))
    }

    @Test("A response after a redirect without a credential is recorded")
    func harmlessRedirect() async throws {
        let origin = try LoopbackServer(routes: [
            "/1": .redirect(to: "/2"), "/2": .redirect(to: "/3"), "/3": .text("a"),
        ])
        defer { origin.stop() }
        let visit = try Visit(recorded)
        _ = try await visit.session.data(from: origin.url("/1"))
        visit.end()
        #expect(visit.cache.statistics.recorded == 1)
    }

    @Test("A response to a session's cookie isn't recorded")
    func sessionCookie() async throws {
        let origin = try LoopbackServer { request in
            request.path == "/login"
                ? LoopbackServer.Answer(headers: [("Set-Cookie", "sid=s3cr3t; Path=/")])
                : .text("for \(request.header("Cookie") ?? "anybody")")
        }
        defer { origin.stop() }
        let visit = try Visit(recorded)
        _ = try await visit.session.data(from: origin.url("login"))
        let (data, _) = try await visit.session.data(from: origin.url("page"))
        #expect(String(decoding: data, as: UTF8.self) == "for sid=s3cr3t")
        visit.end()
        #expect(visit.cache.statistics.recorded == 0)
    }

    @Test("A cookie doesn't keep a copy from answering, and is reported as the reason for not keeping")
    func cookieAndCopy() async throws {
        let origin = try LoopbackServer { request in
            request.path == "/login"
                ? LoopbackServer.Answer(headers: [("Set-Cookie", "sid=1; Path=/")]) : .text("public")
        }
        let visit = try Visit(recorded)
        defer { visit.end() }
        let events = HeardEvents(of: visit.cache)
        for path in ["page", "login", "other"] {
            _ = try await visit.session.data(from: origin.url(path))
            visit.recorder.flush()
        }
        #expect(
            events.all.filter { $0.kind == .notRecorded }.map(\.reason) == [
                "the response has the header “Set-Cookie”", "the request has the header “Cookie”",
            ]
        )
        let url = origin.url("page")
        origin.stop()
        let (data, _) = try await visit.session.data(from: url)
        #expect(data == Data("public".utf8))
    }

    @Test(
        "What the origin no longer has, or no longer allows to be recorded, isn't served any more",
        arguments: [404, 410, 200]
    )
    func gone(_ status: Int) async throws {
        let isGone = Guarded(false)
        let origin = try LoopbackServer { _ in
            isGone.withLock { $0 }
                ? LoopbackServer.Answer(status: status, headers: [("Cache-Control", "no-store")]) : .text("kept")
        }
        let visit = try Visit(recorded)
        defer { visit.end() }
        _ = try await visit.session.data(from: origin.url("a"))
        isGone.withLock { $0 = true }
        _ = try await visit.session.data(from: origin.url("a"))
        visit.recorder.flush()
        let url = origin.url("a")
        origin.stop()
        await #expect(throws: URLError.self) { try await visit.session.data(from: url) }
    }
}
