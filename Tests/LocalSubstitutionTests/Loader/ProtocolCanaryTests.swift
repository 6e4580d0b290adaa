#if os(Linux)
import Foundation
import FoundationNetworking
import Guarded
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@testable import LocalSubstitution

/// The facts about protocols and Linux's loader that the code relies on.
@Suite("Canary: Linux's loader and protocols", .threads, .timeLimit(.minutes(5)))
struct ProtocolCanaryTests {
    /// Answers everything, and notes what it sees.
    final class Probe: URLProtocol {
        struct Seen: Sendable {
            var urls: [String] = []
            var body: Data?
            var hasBodyStream = false
            var cookies: String?
            var stops = 0
        }

        static let seen = Guarded(Seen())
        static let pieces = Guarded(["whole"])
        /// A task of a session without a delegate. If it's set, another protocol loads the whole body for it, and then finishes for
        /// the real task.
        static let silentTask = Guarded<URLSessionTask?>(nil)
        /// Whether a thread is inside `startLoading`.
        static let isStarting = Atomic(false)

        override class func canInit(with request: URLRequest) -> Bool {
            guard request.url?.path != "/target", request.url?.path != "/redirect" else {
                seen.withLock { $0.urls.append(request.url?.path ?? "") }
                return false
            }
            return true
        }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func stopLoading() {
            if request.url?.path == "/ended" { Self.seen.withLock { $0.stops += 1 } }
        }

        override func startLoading() {
            Self.isStarting.store(true, ordering: .sequentiallyConsistent)
            defer { Self.isStarting.store(false, ordering: .sequentiallyConsistent) }
            let request = request
            Self.seen.withLock { seen in
                seen.body = request.httpBody
                seen.hasBodyStream = request.httpBodyStream != nil
                seen.cookies = request.value(forHTTPHeaderField: "Cookie")
            }
            let isChallenge = request.url?.path == "/challenge"
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url,
                    statusCode: isChallenge ? 401 : 200,
                    httpVersion: nil,
                    headerFields: isChallenge ? ["WWW-Authenticate": "Basic realm=\"a\""] : nil
                )
            else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            for piece in Self.pieces.withLock({ $0 }) { client?.urlProtocol(self, didLoad: Data(piece.utf8)) }
            guard let silent = Self.silentTask.withLock({ $0 }), let client else {
                client?.urlProtocolDidFinishLoading(self)
                return
            }
            let whole = Probe(task: silent, cachedResponse: nil, client: client)
            client.urlProtocol(whole, didLoad: Data(Self.pieces.withLock { $0 }.joined().utf8))
            whole.task = task
            client.urlProtocolDidFinishLoading(whole)
        }
    }

    /// Takes nothing, and notes the task that it's asked in.
    final class Bystander: URLProtocol {
        static let ofTask = TaskLocal(wrappedValue: "none")
        static let tasks = Guarded<[String]>([])

        override class func canInit(with request: URLRequest) -> Bool {
            tasks.withLock { $0.append(ofTask.get()) }
            return false
        }
    }

    private let session: URLSession
    private let url: URL

    init() throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Probe.self] + (configuration.protocolClasses ?? [])
        session = URLSession(configuration: configuration)
        url = try #require(URL(string: "http://nowhere.invalid/a"))
    }

    @Test("A completion handler gets only the last piece of a body")
    func lastPiece() async throws {
        Probe.pieces.withLock { $0 = ["first", "last"] }
        defer { Probe.pieces.withLock { $0 = ["whole"] } }
        #expect(try await session.data(from: url).0 == Data("last".utf8))
    }

    @Test(
        "If another protocol has loaded the whole body and finishes, every kind of task gets it once",
        arguments: [false, true],
        ["async", "async with a delegate", "completion", "delegate"]
    )
    func wholeBody(isUpload: Bool, kind: String) async throws {
        Probe.pieces.withLock { $0 = ["first", "last"] }
        let silent = URLSession(configuration: .ephemeral).dataTask(with: url)
        Probe.silentTask.withLock { $0 = silent }
        defer {
            Probe.pieces.withLock { $0 = ["whole"] }
            Probe.silentTask.withLock { $0 = nil }
        }
        var request = URLRequest(url: url)
        request.httpMethod = isUpload ? "POST" : "GET"
        let (session, body) = (session, Data("body".utf8))
        let data: Data
        switch kind {
        case "async", "async with a delegate":
            let delegate = kind == "async" ? nil : TaskRecorder()
            data =
                isUpload
                ? try await session.upload(for: request, from: body, delegate: delegate).0
                : try await session.data(for: request, delegate: delegate).0
        case "completion":
            data = await withCheckedContinuation { [request] continuation in
                let done: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { data, _, _ in
                    continuation.resume(returning: data ?? Data())
                }
                let task =
                    isUpload
                    ? session.uploadTask(with: request, from: body, completionHandler: done)
                    : session.dataTask(with: request, completionHandler: done)
                task.resume()
            }
        default:
            let recorder = TaskRecorder()
            let own = URLSession(
                configuration: session.configuration,
                delegate: recorder,
                delegateQueue: nil
            )
            let task: URLSessionTask =
                isUpload ? own.uploadTask(with: request, from: body) : own.dataTask(with: request)
            task.resume()
            data = await recorder.outcome().data
            own.finishTasksAndInvalidate()
        }
        #expect(data == Data("firstlast".utf8))
    }

    @Test("An upload's body is hidden, and a request's httpBody isn't")
    func bodies() async throws {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        _ = try await session.upload(for: request, from: Data("body".utf8))
        #expect(Probe.seen.withLock { $0.body == nil && !$0.hasBodyStream })
        request.httpBody = Data("body".utf8)
        _ = try await session.data(for: request)
        #expect(Probe.seen.withLock { $0.body } == Data("body".utf8))
    }

    @Test("A protocol's request has the cookies that the session adds")
    func cookies() async throws {
        let configuration = session.configuration
        let cookie = try #require(
            HTTPCookie(properties: [.name: "a", .value: "1", .domain: "nowhere.invalid", .path: "/"])
        )
        configuration.httpCookieStorage?.setCookie(cookie)
        _ = try await URLSession(configuration: configuration).data(from: url)
        #expect(Probe.seen.withLock { $0.cookies } == "a=1")
    }

    @Test("A protocol that has ended isn't stopped")
    func ended() async throws {
        let ended = try #require(URL(string: "http://nowhere.invalid/ended"))
        for _ in 0..<3 { _ = try await session.data(from: ended) }
        #expect(Probe.seen.withLock { $0.stops } == 0)
    }

    @Test("If a protocol finishes a 401 with a challenge, its task waits for a credential")
    func challenge() async throws {
        let task = session.dataTask(with: try #require(URL(string: "http://nowhere.invalid/challenge")))
        task.resume()
        // These begin after the challenge, on the queue that all share, and end.
        for _ in 0..<3 { _ = try await session.data(from: url) }
        #expect(task.state == .running)
        task.cancel()
    }

    @Test("The target of a redirect isn't shown to any protocol")
    func redirect() async throws {
        let origin = try LoopbackServer { $0.path == "/redirect" ? .redirect(to: "/target") : .text("target") }
        defer { origin.stop() }
        #expect(try await session.data(from: origin.url("redirect")).0 == Data("target".utf8))
        #expect(Probe.seen.withLock { $0.urls }.allSatisfy { $0 == "/redirect" })
    }

    @Test("Without a queue of its own, a session's callbacks and a protocol's start never overlap")
    func oneQueue() async throws {
        let overlaps = Atomic(0)
        let left = Atomic(200)
        await withCheckedContinuation { continuation in
            for _ in 0..<200 {
                session.dataTask(with: url) { _, _, _ in }.resume()
                LoaderThread.runAsDelegate(.current) {
                    for _ in 0..<1_000 where Probe.isStarting.load(ordering: .sequentiallyConsistent) {
                        overlaps.add(1, ordering: .relaxed)
                    }
                    if left.subtract(1, ordering: .relaxed).newValue == 0 { continuation.resume() }
                }
            }
        }
        #expect(overlaps.load(ordering: .relaxed) == 0)
    }

    @Test("A property set on a request isn't found in it")
    func property() throws {
        let request = try #require((URLRequest(url: url) as NSURLRequest).mutableCopy() as? NSMutableURLRequest)
        URLProtocol.setProperty(true, forKey: "key", in: request)
        #expect(URLProtocol.property(forKey: "key", in: request as URLRequest) == nil)
    }

    /// Returns whether a registered protocol answers: in the shared session, in one without protocol classes, and in one with the
    /// default ones.
    private static func reached() async throws -> [Bool] {
        let url = try #require(URL(string: "http://nowhere.invalid/a"))
        let bare = URLSessionConfiguration.ephemeral
        bare.protocolClasses = nil
        var reached: [Bool] = []
        for session in [.shared, URLSession(configuration: bare), URLSession(configuration: .ephemeral)] {
            reached.append((try? await session.data(from: url).0) == Data("whole".utf8))
        }
        return reached
    }

    @Test("A class registered before any session is asked first, unless the configuration has Foundation's own")
    func registeredFirst() async {
        await #expect(processExitsWith: .success) {
            #expect(URLProtocol.registerClass(Probe.self))
            let reached = try await ProtocolCanaryTests.reached()
            #expect(reached == [true, true, false])
        }
    }

    @Test("Registered classes are asked in the order of their registration, in the task that resumes")
    func order() async {
        await #expect(processExitsWith: .success) {
            for one in [Bystander.self, Probe.self] { #expect(URLProtocol.registerClass(one)) }
            let url = try #require(URL(string: "http://nowhere.invalid/a"))
            let load: @Sendable () async throws -> Void = { _ = try await URLSession.shared.data(from: url) }
            try await Bystander.ofTask.withValue("async", operation: load)
            try await Bystander.ofTask.withValue("child") { try await Task { try await load() }.value }
            try await Bystander.ofTask.withValue("detached") { try await Task.detached { try await load() }.value }
            await withCheckedContinuation { continuation in
                Bystander.ofTask.withValue("closure") {
                    URLSession.shared.dataTask(with: url) { _, _, _ in continuation.resume() }.resume()
                }
            }
            #expect(Bystander.tasks.withLock { $0 } == ["async", "child", "none", "closure"])
        }
    }

    @Test("A class registered after a session was made isn't asked for http")
    func registeredLate() async {
        await #expect(processExitsWith: .success) {
            _ = URLSession(configuration: .ephemeral)
            #expect(URLProtocol.registerClass(Probe.self))
            let reached = try await ProtocolCanaryTests.reached()
            #expect(reached == [false, false, false])
        }
    }

    @Test("Finishing a download task traps")
    func download() async {
        await #expect(processExitsWith: .signal(SIGILL)) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Probe.self]
            let url = try #require(URL(string: "http://nowhere.invalid/a"))
            _ = try await URLSession(configuration: configuration).download(from: url)
        }
    }
}
#endif
