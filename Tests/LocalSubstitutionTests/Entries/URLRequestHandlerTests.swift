import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Handlers that were closures of other mocks", .sessions, .timeLimit(.minutes(2)))
struct URLRequestHandlerTests {
    private typealias Answer = SubstitutionMap.Answer

    private static let url = "https://h/a.css"

    /// Returns what another mock's closure would.
    private static func response(
        to request: URLRequest,
        status: Int = 200,
        headers: [String: String] = [:]
    ) throws -> HTTPURLResponse {
        let url = try #require(request.url)
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        )
    }

    /// Returns an answer with a status and headers, and with the request's body.
    private static func echo(_ status: Int = 200, _ headers: [String: String] = [:]) -> Answer {
        .handler(for: URLRequest.self) { request in
            (try response(to: request, status: status, headers: headers), request.httpBody ?? Data("none".utf8))
        }
    }

    private static func load(
        _ answer: Answer,
        body: String? = nil,
        method: String = "POST"
    ) async throws -> (text: String, head: HTTPURLResponse) {
        let cache = LocalSubstitutionCache(map: try SubstitutionMap([url: answer, "https://h/local": .text("local")]))
        let session = try cache.makeSession(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        var request = try request(url, method: method, headers: ["X-Own": "1"])
        request.httpBody = body.map { Data($0.utf8) }
        let (data, head) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(head as? HTTPURLResponse))
    }

    @Test("The closure gets the whole request, and the client its response")
    func wholeRequest() async throws {
        let seen = Guarded<URLRequest?>(nil)
        let answer: Answer = .handler(for: URLRequest.self) { request in
            seen.withLock { $0 = request }
            return (try Self.response(to: request, status: 201, headers: ["X-Name": "v"]), Data("made".utf8))
        }
        let (text, head) = try await Self.load(answer, body: "asked")
        #expect(text == "made")
        #expect(head.statusCode == 201)
        #expect(head.value(forHTTPHeaderField: "X-Name") == "v")
        #expect(head.url?.absoluteString == Self.url)
        let request = try #require(seen.withLock { $0 })
        #expect(request.url?.absoluteString == Self.url)
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "X-Own") == "1")
        #expect(request.httpBody == Data("asked".utf8))
        #expect(request.httpBodyStream == nil)
    }

    @Test("A body that was a stream is the request's body, and one of more than 8 MiB isn't there")
    func bodies() async throws {
        let map = try SubstitutionMap([Self.url: Self.echo()])
        let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        for (count, isSeen) in [(3, true), (RequestFacts.Body.limit, true), (RequestFacts.Body.limit + 1, false)] {
            let body = Data(repeating: 7, count: count)
            for isStream in [true, false] {
                var request = try LocalSubstitutionTests.request(Self.url, method: "POST")
                if isStream { request.httpBodyStream = InputStream(data: body) } else { request.httpBody = body }
                let (data, _) = try await session.data(for: request)
                #expect(data == (isSeen ? body : Data("none".utf8)), "\(count) \(isStream)")
            }
        }
    }

    @Test(
        "Headers that don't describe the data are dropped, and no type is guessed",
        arguments: [
            ([:], nil), (["content-type": "text/plain"], "text/plain"),
            (["Content-Type": "a/b; charset=x", "Content-Length": "99", "Content-Encoding": "gzip"], "a/b; charset=x"),
            (["Transfer-Encoding": "chunked", "CONTENT-LENGTH": "1"], nil),
        ] as [([String: String], String?)]
    )
    func headers(_ headers: [String: String], type: String?) async throws {
        let (text, head) = try await Self.load(Self.echo(200, headers), body: "12345")
        #expect(text == "12345")
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "5")
        #expect(head.value(forHTTPHeaderField: "Content-Type") == type)
        for name in ["Content-Encoding", "Transfer-Encoding"] { #expect(head.value(forHTTPHeaderField: name) == nil) }
    }

    @Test("No header is made up that promises what isn't done, and the closure's own stay")
    func promises() async throws {
        let names = ["ETag", "Cache-Control", "Accept-Ranges"]
        let (_, head) = try await Self.load(Self.echo(), method: "GET")
        for name in names { #expect(head.value(forHTTPHeaderField: name) == nil) }
        let (_, own) = try await Self.load(
            Self.echo(200, ["ETag": "\"1\"", "Cache-Control": "no-store"]),
            method: "GET"
        )
        #expect(names.map { own.value(forHTTPHeaderField: $0) } == ["\"1\"", "no-store", nil])
    }

    @Test("Any status from 200 to 599 is the client's, even a redirect's", arguments: [200, 302, 404, 500, 599])
    func status(_ status: Int) async throws {
        let (text, head) = try await Self.load(Self.echo(status, ["Location": "/local"]), body: "b")
        #expect(text == "b")
        #expect(head.statusCode == status)
        #expect(head.value(forHTTPHeaderField: "Location") == "/local")
    }

    @Test(
        "A wrong answer fails the request and says what's wrong",
        arguments: [
            (echo(199), "“status” can't be 199. Use a number from 200 to 599."), (echo(600), "“status” can't be 600"),
            (echo(0), "“status” can't be 0"),
            (
                .handler(for: URLRequest.self) { request in
                    let url = try #require(request.url)
                    let head = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
                    return (head, Data())
                },
                "The response isn't an HTTPURLResponse. Return one."
            ),
        ] as [(SubstitutionMap.Answer, String)]
    )
    func wrong(_ answer: SubstitutionMap.Answer, message: String) async throws {
        let error = try await #require(throws: URLError.self) { try await Self.load(answer) }
        #expect(error.code == .badServerResponse)
        #expect(error.localizedDescription.contains("returned a wrong answer: \(message)"), "\(error)")
    }

    @Test("It throws like any handler, has its entry's fields, and may be async or not, a closure or a function")
    func others() async throws {
        let failing: Answer = .handler(for: URLRequest.self) { request in
            if request.httpMethod == "POST" { throw URLError(.timedOut) }
            return (try Self.response(to: request), Data())
        }
        await #expect { try await Self.load(failing) } throws: { ($0 as? URLError)?.code == .timedOut }
        #expect(try await Self.load([Self.echo(503).times(1), .text("next").methods("POST")]).head.statusCode == 503)
        let blocking: Answer = .handler(for: URLRequest.self) { request in
            // Isn't available in an async closure.
            Thread.sleep(forTimeInterval: 0)
            return (try Self.response(to: request), Data("blocking".utf8))
        }
        #expect(try await Self.load(blocking).text == "blocking")
        let waiting: Answer = .handler(for: URLRequest.self) { request in
            await Task.yield()
            return (try Self.response(to: request), Data("waiting".utf8))
        }
        #expect(try await Self.load(waiting).text == "waiting")
        // The type of many mocks' closures.
        let function: @Sendable (URLRequest) throws -> (HTTPURLResponse, Data) = { request in
            (try Self.response(to: request), Data("function".utf8))
        }
        #expect(try await Self.load(.handler(for: URLRequest.self, function)).text == "function")
        let base: @Sendable (URLRequest) async throws -> (URLResponse, Data) = { request in
            (try Self.response(to: request), Data("base".utf8))
        }
        #expect(try await Self.load(.handler(for: URLRequest.self, base)).text == "base")
    }
}
