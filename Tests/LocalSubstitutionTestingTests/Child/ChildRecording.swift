#if os(Linux) || os(macOS)
import Foundation
import LocalSubstitution
import LocalSubstitutionServer
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `RecordingTests` runs these in a separate process, with a map and an origin that the environment names.
@Suite(.enabled(if: ChildProcess.isThis))
struct ChildRecording {
    static let mapVariable = "LOCAL_SUBSTITUTION_TESTING_MAP"
    static let originVariable = "LOCAL_SUBSTITUTION_TESTING_ORIGIN"

    static let map = ProcessInfo.processInfo.environment[mapVariable] ?? "none.json"
    static let origin = ProcessInfo.processInfo.environment[originVariable] ?? "none"

    static func send(
        _ method: String,
        _ path: String,
        body: String? = nil,
        type: String? = nil
    ) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: origin + path)))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        if let type { request.setValue(type, forHTTPHeaderField: "Content-Type") }
        request.setValue("Bearer s3cr3t-header", forHTTPHeaderField: "Authorization")
        request.setValue("session=s3cr3t-cookie", forHTTPHeaderField: "Cookie")
        let (data, response) = try await URLSession.substituted.data(for: request)
        return "\((response as? HTTPURLResponse)?.statusCode ?? 0) " + String(decoding: data, as: UTF8.self)
    }

    static let plainLine = #line + 2
    @Test(.substituting(map))
    func plain() async throws {
        #expect(try await Self.send("GET", "user") == #"200 {"name": "Ada"}"#)
        #expect(try await Self.send("GET", "user") == #"200 {"name": "Ada"}"#)
        #expect(try await Self.send("GET", "nothing") == "404 no such thing")
        #expect(try await Self.send("DELETE", "user/7") == "204 ")
        #expect(try await Self.send("POST", "upload", body: "text") == "201 thanks")
    }

    /// Requests that need arrays of alternatives.
    @Test(.substituting(map))
    func alternatives() async throws {
        let login = #"{"user": "ada", "password": "s3cr3t-password"}"#
        #expect(try await Self.send("POST", "login", body: login) == "200 welcome")
        #expect(try await Self.send("GET", "list") == "200 []")
        #expect(try await Self.send("POST", "list", body: #"{"id": 7}"#) == #"201 {"id": 7}"#)
        #expect(try await Self.send("POST", "list", body: #"{"id": 8}"#) == #"201 {"id": 8}"#)
        #expect(try await Self.send("GET", "list") == "200 [7,8]")
    }

    @Test(.substituting(map), arguments: 1...4)
    func manyBodies(_ number: Int) async throws {
        #expect(try await Self.send("POST", "upload", body: #"{"number": \#(number)}"#) == "201 thanks")
    }

    @Test(.substituting(map, redacting: hideToken))
    func redacted() async throws {
        #expect(try await Self.send("GET", "token").hasPrefix("200 {"))
    }

    /// The folder of the map's path is that of the test's file.
    @Test(.substituting([:], redacting: hideToken, filePath: map))
    func redactedInEntries() async throws {
        #expect(try await Self.send("GET", "token").hasPrefix("200 {"))
    }

    @Test func redactedInScope() async throws {
        try await withSubstitutions([:], redacting: Self.hideToken, filePath: Self.map) {
            _ = try await Self.send("GET", "token")
        }
    }

    @Test func redactedInSynchronousScope() throws {
        let url = try #require(URL(string: Self.origin + "token"))
        try withSubstitutions([:], redacting: Self.hideToken, filePath: Self.map) {
            let ended = DispatchSemaphore(value: 0)
            URLSession.substituted.dataTask(with: url) { _, _, _ in ended.signal() }.resume()
            ended.wait()
        }
    }

    /// A function that several tests share.
    @Sendable static func hideToken(_ response: inout RecordedResponse) {
        let text = String(decoding: response.body, as: UTF8.self)
        response.body = Data(text.replacingOccurrences(of: "s3cr3t-token", with: "redacted").utf8)
    }

    @Test(.substituting(map))
    func token() async throws {
        #expect(try await Self.send("GET", "token").hasPrefix("200 {"))
    }

    /// Arguments whose requests differ only in a credential.
    @Test(.substituting(map), arguments: ["right", "wrong"])
    func signIn(_ password: String) async throws {
        let body = #"{"user":"ada","password":"s3cr3t-\#(password)"}"#
        #expect(try await Self.send("POST", "signin", body: body).prefix(3) == (password == "right" ? "200" : "401"))
    }

    /// The map has entries for the URLs, but they don't answer all of these requests.
    @Test(.substituting(map))
    func skipped() async throws {
        #expect(try await Self.send("GET", "user").hasPrefix("200 "))
        #expect(try await Self.send("GET", "user").hasPrefix("200 "))
        #expect(try await Self.send("POST", "list", body: #"{"id": 7}"#) == #"201 {"id": 7}"#)
        await #expect(throws: URLError.self) { try await Self.send("GET", "nothing") }
        #expect(try await Self.send("GET", "nothing") == "404 no such thing")
    }

    /// The map has an entry for the URL.
    @Test(.substituting(map))
    func sentOn() async throws {
        for _ in 0..<2 { _ = try? await Self.send("GET", "user") }
    }

    /// The map's entry for the URL has this handler.
    @Test(
        .substituting(
            map,
            handlers: [
                "ask": { request in
                    var answer = try await request.response()
                    answer.status = 203
                    return answer
                }
            ]
        )
    )
    func asking() async throws {
        #expect(try await Self.send("GET", "user") == #"203 {"name": "Ada"}"#)
        #expect(try await Self.send("POST", "echo", body: #"{"id": 7}"#) == #"203 {"id": 7}"#)
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.matched, .matched])
    }

    /// On Linux, a protocol can't tell this from an upload task.
    @Test(.substituting(map))
    func emptyPost() async throws {
        #expect(try await Self.send("POST", "upload") == "201 thanks")
    }

    @Test(.substituting(map))
    func upload() async throws {
        var request = URLRequest(url: try #require(URL(string: Self.origin + "upload")))
        request.httpMethod = "POST"
        _ = try? await URLSession.substituted.upload(for: request, from: Data("text".utf8))
    }

    @Test(.substituting(map))
    func underWay() async throws {
        let url = try #require(URL(string: Self.origin + "held"))
        URLSession.substituted.dataTask(with: url).resume()
        while TestSubstitutions.current.requests.isEmpty { await Task.yield() }
    }

    @Test(.substituting(map))
    func otherClients() async throws {
        let cache = TestSubstitutions.current.cache
        let user = URLRequest(url: try #require(URL(string: Self.origin + "user")))
        #expect(try await cache.answer(to: user)?.0 == Data(#"{"name": "Ada"}"#.utf8))
        let server = try SubstitutionServer(cache: cache)
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let local = try server.url(for: #require(URL(string: Self.origin + "nothing"))).absoluteString
        #expect(try await text(local, in: session) == "no such thing")
    }

    /// Without a recording, a server would stream this body.
    static let longBody = 17 << 20

    @Test(.substituting(map))
    func longFromServer() async throws {
        let server = try SubstitutionServer(cache: TestSubstitutions.current.cache)
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: Self.origin + "long"))
        #expect(try await session.data(from: server.url(for: url)).0.count == Self.longBody)
    }

    @Test(.substituting(map, redacting: { $0.isExcluded = true }))
    func refused() async throws {
        #expect(try await Self.send("GET", "user") == #"200 {"name": "Ada"}"#)
    }

    @Test(.substituting(map))
    func secretInURL() async throws {
        #expect(try await Self.send("GET", "user?access_token=s3cr3t-query") == #"200 {"name": "Ada"}"#)
    }

    @Test(.substituting(map, unmatched: .fail))
    func failing() async throws {
        await #expect(throws: URLError.self) { try await Self.send("GET", "user") }
    }

    @Test(.substituting(map, unmatched: .issue(allowing: ["http://127.0.0.1:*/user"])))
    func exception() async throws {
        #expect(try await Self.send("GET", "user") == #"200 {"name": "Ada"}"#)
    }

    @Test(.substituting(map, unmatched: .load))
    func loading() async throws {
        #expect(try await Self.send("GET", "user") == #"200 {"name": "Ada"}"#)
    }

    @Test(.substituting(map, unmatched: .issue(allowing: ["*://*:*/*"])))
    func allURLsAllowed() async throws {
        #expect(try await Self.send("GET", "user") == #"200 {"name": "Ada"}"#)
    }

    @Test func scope() async throws {
        try await withSubstitutions(Self.map) {
            let user = try await Self.send("GET", "user")
            #expect(user == #"200 {"name": "Ada"}"#)
        }
    }

    @Test(.substituting(map), arguments: 0..<8)
    func manyAtOnce(_ number: Int) async throws {
        #expect(try await Self.send("GET", "user") == #"200 {"name": "Ada"}"#)
        #expect(try await Self.send("GET", "item\(number)") == "404 no such thing")
    }

    @Test(.substituting(map))
    func headers() async throws {
        let url = try #require(URL(string: Self.origin + "headers"))
        let response = try await URLSession.substituted.data(from: url).1 as? HTTPURLResponse
        #expect(response?.value(forHTTPHeaderField: "X-Total-Count") == "40")
        #expect(response?.value(forHTTPHeaderField: "Retry-After") == "5")
    }

    /// Tests that share a map and send different bodies to one URL, in the order of their lines.
    @Suite(.enabled(if: ChildProcess.isThis), .substituting(ChildRecording.map))
    struct Shared {
        /// Waits until the origin says so, to end after tests that come later in the file.
        private static func check(_ body: String, type: String? = nil, waits: Bool = false) async throws {
            if waits { _ = try await ChildRecording.send("POST", "wait", body: "{}") }
            #expect(try await ChildRecording.send("POST", "echo", body: body, type: type) == "200 \(body)")
        }

        @Test(arguments: [true, false])
        func narrow(_ waits: Bool) async throws { try await Self.check(#"{"q":"a"}"#, waits: waits) }

        @Test func wide() async throws { try await Self.check(#"{"q":"a","page":2}"#) }

        @Test func form() async throws {
            try await Self.check("q=a&page=2", type: "application/x-www-form-urlencoded", waits: true)
        }

        @Test func narrowForm() async throws { try await Self.check("q=a", type: "application/x-www-form-urlencoded") }

        @Test func empty() async throws { try await Self.check("{}") }
    }

    /// Tests whose requests differ only in a credential. The one in the middle ends first.
    @Suite(.enabled(if: ChildProcess.isThis), .substituting(ChildRecording.map))
    struct SignIn {
        private static func status(_ password: String, waits: Bool = false) async throws -> Substring {
            if waits { _ = try await ChildRecording.send("POST", "wait", body: "{}") }
            return try await ChildRecording.send(
                "POST",
                "signin",
                body: #"{"user":"ada","password":"s3cr3t-\#(password)"}"#
            )
            .prefix(3)
        }

        @Test func right() async throws { #expect(try await Self.status("right", waits: true) == "200") }

        @Test func wrong() async throws { #expect(try await Self.status("wrong") == "401") }

        @Test func alsoRight() async throws { #expect(try await Self.status("right", waits: true) == "200") }
    }
}
#endif
