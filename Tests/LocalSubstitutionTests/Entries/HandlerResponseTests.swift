import Foundation
import Guarded
import HTTPSyntax
import LocalSubstitutionRecording
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A handler that asks the server", .sessions, .timeLimit(.minutes(2)))
struct HandlerResponseTests {
    /// An origin, and a session whose entry for all of the origin's URLs is a handler.
    private final class Asking: Sendable {
        let origin: LoopbackServer
        let cache: LocalSubstitutionCache
        let session: URLSession
        var base: String { String(origin.baseURL.absoluteString.dropLast()) }

        init(
            unmatched: LocalSubstitutionCache.Unmatched = .load,
            origin answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer = { _ in
                .text("network")
            },
            _ handler: @escaping SubstitutionMap.Handler
        ) throws {
            origin = try LoopbackServer(handler: answer)
            let key = "\(origin.baseURL.absoluteString)*"
            cache = LocalSubstitutionCache(map: try SubstitutionMap([key: .handler(handler)]))
            let configuration = URLSessionConfiguration.ephemeral
            session = try cache.makeSession(configuration, unmatched: unmatched)
        }

        deinit {
            session.finishTasksAndInvalidate()
            origin.stop()
        }

        func load(
            _ path: String = "a",
            _ method: String = "GET",
            body: Data? = nil,
            change: (inout URLRequest) -> Void = { _ in }
        ) async throws -> (text: String, head: HTTPURLResponse) {
            var request = URLRequest(url: origin.url(path))
            request.httpMethod = method
            request.httpBody = body
            change(&request)
            let (data, response) = try await session.data(for: request)
            return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
        }
    }

    @Test("The handler changes what the server sent")
    func change() async throws {
        let asking = try Asking { request in
            var answer = try await request.response()
            #expect(answer.status == 200)
            #expect(answer.mimeType == "text/plain")
            answer.status = 203
            answer.headers["X-Feature"] = "on"
            answer.body = Data("changed \(String(decoding: answer.body ?? Data(), as: UTF8.self))".utf8)
            answer.mimeType = "text/html"
            return answer
        }
        let (text, head) = try await asking.load()
        #expect(text == "changed network")
        #expect(head.statusCode == 203)
        #expect(head.value(forHTTPHeaderField: "X-Feature") == "on")
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/html; charset=utf-8")
        #expect(head.url == asking.origin.url("a"))
        #expect(asking.origin.requests.count == 1)
    }

    @Test(
        "An unchanged response is the server's, and the server gets the request as it is",
        arguments: [("GET", 200), ("POST", 201), ("DELETE", 204), ("PUT", 404), ("GET", 206), ("GET", 503)]
    )
    func unchanged(method: String, status: Int) async throws {
        let asking = try Asking(origin: { request in
            let text = "\(request.method) \(request.target) \(String(decoding: request.body, as: UTF8.self))"
            let type = ("Content-Type", "text/plain; charset=ISO-8859-1")
            let range = ("Content-Range", "bytes 0-1/9")
            return LoopbackServer.Answer(status: status, headers: [type, range, ("X-Own", "1")], body: Data(text.utf8))
        }) { try await $0.response() }
        let body = method == "GET" || method == "DELETE" ? nil : Data("sent".utf8)
        let (text, head) = try await asking.load("a?b=1", method, body: body) {
            $0.setValue("Bearer x", forHTTPHeaderField: "Authorization")
            $0.setValue("2", forHTTPHeaderField: "X-Number")
        }
        #expect(text == (status == 204 ? "" : "\(method) /a?b=1 \(body == nil ? "" : "sent")"))
        #expect(head.statusCode == status)
        #expect(head.value(forHTTPHeaderField: "X-Own") == "1")
        #expect(head.value(forHTTPHeaderField: "Content-Range") == "bytes 0-1/9")
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/plain; charset=ISO-8859-1")
        let sent = try #require(asking.origin.requests.first)
        #expect(sent.header("Authorization") == "Bearer x")
        #expect(sent.header("X-Number") == "2")
    }

    @Test("A body that was read from a stream is sent, however long it is", arguments: [10, 9 << 20])
    func streamedBody(count: Int) async throws {
        let asking = try Asking(origin: { .text("\($0.body.count)") }) { try await $0.response() }
        let body = Data(repeating: 7, count: count)
        let (text, _) = try await asking.load("a", "POST") { $0.httpBodyStream = InputStream(data: body) }
        #expect(text == "\(count)")
    }

    @Test("A status that allows no body has none", arguments: [(204, nil), (200, "")] as [(Int, String?)])
    func noBody(status: Int, body: String?) async throws {
        let seen = Guarded<Data?>(Data("unseen".utf8))
        let asking = try Asking(origin: { _ in LoopbackServer.Answer(status: status) }) { request in
            let answer = try await request.response()
            seen.withLock { $0 = answer.body }
            return answer
        }
        #expect(try await asking.load().head.statusCode == status)
        #expect(seen.withLock { $0 } == body.map { Data($0.utf8) })
    }

    @Test("A response without a type stays without one, unless one is set", arguments: [200, 404, 204])
    func withoutType(status: Int) async throws {
        let asking = try Asking(origin: { _ in
            LoopbackServer.Answer(status: status, body: Data("text".utf8))
        }) { request in
            var answer = try await request.response()
            #expect(answer.mimeType == nil)
            answer.headers["X-Own"] = "1"
            if request.url.query != nil { answer.mimeType = "text/html" }
            return answer
        }
        let (_, head) = try await asking.load("a.css")
        #expect(head.statusCode == status)
        #expect(head.value(forHTTPHeaderField: "Content-Type") == nil)
        // An empty body has no type.
        guard HTTPSyntax.hasBody(status: status) else { return }
        let (_, typed) = try await asking.load("a.css?typed")
        #expect(typed.value(forHTTPHeaderField: "Content-Type") == "text/html; charset=utf-8")
    }

    @Test("A header that the server sent in two spellings has both values")
    func twoSpellings() async throws {
        let sent = [("X-Own", "1"), ("x-own", "2"), ("Content-Type", "text/plain")]
        let answer = LoopbackServer.Answer(headers: sent, body: Data("text".utf8))
        let asking = try Asking(origin: { _ in answer }) { try await $0.response() }
        let (text, head) = try await asking.load()
        #expect(text == "text")
        #expect(head.value(forHTTPHeaderField: "X-Own") == "1, 2")
    }

    @Test("Credentials and headers of the transfer are left out; other names stay as they were sent")
    func headers() async throws {
        let seen = Guarded<[String: String]>([:])
        let sent = [
            ("Set-Cookie", "id=1"), ("X-Auth-Token", "0a1b"), ("Location", "https://h/?access_token=0a1b"),
            ("Access-Control-Allow-Credentials", "true"), ("ETag", "\"1\""), ("x-lower", "v"),
            ("Content-Type", "text/plain; access_token=0a1b"),
        ]
        let asking = try Asking(origin: { _ in
            LoopbackServer.Answer(headers: sent, body: Data("text".utf8))
        }) { request in
            let answer = try await request.response()
            seen.withLock { $0 = answer.headers }
            return answer
        }
        #expect(try await asking.load().text == "text")
        let headers = seen.withLock { $0 }
        for name in ["Set-Cookie", "X-Auth-Token", "Location", "Content-Length"] {
            #expect(headers[header: name] == nil, "\(name)")
        }
        #expect(headers[header: "Content-Type"] == "text/plain")
        #expect(headers["Access-Control-Allow-Credentials"] == "true")
        #expect(headers[header: "ETag"] == "\"1\"")
        #expect(headers[header: "X-Lower"] == "v")
    }

    @Test(
        "Redirects are followed where the session may use the network, and never call the handler again",
        arguments: [false, true]
    )
    func redirect(isStrict: Bool) async throws {
        let calls = Guarded(0)
        let asking = try Asking(
            unmatched: isStrict ? .fail(allowing: ["http://127.0.0.1:*/*"]) : .load,
            origin: { $0.path == "/a" ? .redirect(to: "/b") : .text($0.path) }
        ) { request in
            calls.withLock { $0 += 1 }
            return try await request.response()
        }
        let (text, head) = try await asking.load()
        #expect(text == "/b")
        #expect(head.statusCode == 200)
        #expect(calls.withLock { $0 } == 1)
    }

    @Test(
        "A strict session asks only allowed URLs, also after redirects",
        arguments: [([], "a"), (["http://127.0.0.1:*/a"], "b"), (["http://127.0.0.1:*/a"], "a")]
    )
    func strict(allowed: [String], path: String) async throws {
        let asking = try Asking(
            unmatched: .fail(allowing: allowed),
            origin: { $0.path == "/a" ? .redirect(to: "/b") : .text("network") }
        ) { try await $0.response() }
        let error = try await #require(throws: URLError.self) { try await asking.load(path) }
        #expect(error.code == .resourceUnavailable)
        let refused = allowed.isEmpty ? "a" : "b"
        #expect(
            error.localizedDescription
                == "The handler of the entry “\(asking.origin.baseURL.absoluteString)*” called response() for GET "
                + "\(asking.origin.url(refused)), but the request can't use the network. Allow the URL with “unmatched:”."
        )
        #expect(asking.origin.requests.count == (allowed.isEmpty || path == "b" ? 0 : 1))
    }

    @Test("An error of the network is thrown")
    func networkError() async throws {
        let thrown = Guarded<URLError?>(nil)
        let asking = try Asking(origin: { _ in .text("a").failing(.dropBeforeHead) }) { request in
            do {
                return try await request.response()
            } catch let error as URLError {
                thrown.withLock { $0 = error }
                return .text("offline")
            }
        }
        #expect(try await asking.load().text == "offline")
        #expect(thrown.withLock { $0 } != nil)
    }

    @Test("A second call throws an error that says so")
    func secondCall() async throws {
        let asking = try Asking { request in
            _ = try await request.response()
            return try await request.response()
        }
        let error = try await #require(throws: URLError.self) { try await asking.load() }
        #expect(error.code == .badServerResponse)
        let text = "The handler has called response() before. Call it once, and keep what it returns."
        #expect(error.localizedDescription.contains(text))
        #expect(asking.origin.requests.count == 1)
    }

    @Test("A body over 64 MiB throws, whether it's the server's or another layer's", arguments: [false, true])
    func longBody(isOfLayer: Bool) async throws {
        let body = Data(count: 64 << 20 + 1)
        let asking = try Asking(origin: { _ in .ok(body) }) { try await $0.response() }
        if isOfLayer {
            let recording = try SubstitutionMap([
                asking.origin.url("a").absoluteString: .data(body, mimeType: "application/octet-stream")
            ])
            asking.cache.change { $0.recording = MapLayer(recording) }
        }
        let error = try await #require(throws: URLError.self) { try await asking.load() }
        #expect(error.code == .dataLengthExceedsMaximum)
        #expect(error.localizedDescription.contains("The response is longer than 67,108,864 bytes"))
    }

    @Test("Once the client has cancelled its request, the call throws cancelled", arguments: [false, true])
    func cancelled(isUnderWay: Bool) async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (codes, code) = AsyncStream.makeStream(of: URLError.Code?.self)
        let asking = try Asking(origin: { _ in LoopbackServer.Answer(delay: 600) }) { request in
            begin.yield()
            if !isUnderWay { while !Task.isCancelled { await Task.yield() } }
            do {
                return try await request.response()
            } catch {
                code.yield((error as? URLError)?.code)
                throw error
            }
        }
        let task = asking.session.dataTask(with: asking.origin.url("a"))
        task.resume()
        for await _ in begun { break }
        if isUnderWay { while asking.origin.requests.isEmpty { await Task.yield() } }
        task.cancel()
        for await code in codes {
            #expect(code == .cancelled)
            break
        }
    }

    @Test("A call after the handler has returned throws cancelled")
    func late() async throws {
        let kept = Guarded<SubstitutionMap.Request?>(nil)
        let asking = try Asking { request in
            kept.withLock { $0 = request }
            return .text("a")
        }
        #expect(try await asking.load().text == "a")
        let request = try #require(kept.withLock { $0 })
        let error = await #expect(throws: URLError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
        #expect(asking.origin.requests.isEmpty)
    }

    @Test("A call that's under way when the handler returns is cancelled")
    func left() async throws {
        let (codes, code) = AsyncStream.makeStream(of: URLError.Code?.self)
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let asking = try Asking(origin: { _ in
            arrival.yield()
            return LoopbackServer.Answer(delay: 600)
        }) { request in
            Task {
                do { _ = try await request.response() } catch { code.yield((error as? URLError)?.code) }
            }
            for await _ in arrivals { break }
            return .text("a")
        }
        #expect(try await asking.load().text == "a")
        for await code in codes {
            #expect(code == .cancelled)
            break
        }
    }

    @Test("It isn't a request of its own in statistics and events")
    func counts() async throws {
        let asking = try Asking { try await $0.response() }
        for _ in 0..<2 { _ = try await asking.load() }
        #expect(asking.cache.statistics.requests == 2)
        #expect(asking.cache.statistics.matched == 2)
        #expect(asking.cache.statistics.forwarded == 0)
    }

    @Test("A session's recorder doesn't get it, as with forwardTo")
    func recorder() async throws {
        let (folder, origin) = (try TemporaryFolder(), try LoopbackServer { _ in .text("network") })
        defer { origin.stop() }
        let map = try SubstitutionMap([origin.url("a").absoluteString: .handler { try await $0.response() }])
        let recorder = try SubstitutionRecorder(folder: folder.url)
        let session = try LocalSubstitutionCache(map: map).makeSession(recorder: recorder)
        defer { session.finishTasksAndInvalidate() }
        for path in ["a", "b"] { _ = try await session.data(from: origin.url(path)) }
        recorder.flush()
        let recorded = try SubstitutionMap(contentsOf: folder.file("substitutions.json"))
        #expect(recorded.entries.map(\.key) == [origin.url("b").absoluteString])
    }

    @Test("The layers after the handler's respond first, count no times, and pass on what they skip")
    func layers() async throws {
        let asking = try Asking(origin: { .text("network \($0.header("X-Set") ?? "")") }) { request in
            var answer = try await request.response()
            answer.headers["X-Handled"] = "1"
            return answer
        }
        let base = asking.base
        let recording = try SubstitutionMap([
            "\(base)/a": [.text("first").times(1), .text("second")],
            "\(base)/c": .requestHeaders(["X-Set": "s"]),
            "\(base)/d": .error(.cannotFindHost),
        ])
        asking.cache.change { $0.recording = MapLayer(recording) }
        for _ in 0..<2 {
            let (text, head) = try await asking.load("a")
            #expect(text == "first")
            #expect(head.value(forHTTPHeaderField: "X-Handled") == "1")
        }
        #expect(try await asking.load("b").text == "network ")
        #expect(try await asking.load("c").text == "network s")
        let error = await #expect(throws: URLError.self) { try await asking.load("d") }
        #expect(error?.code == .cannotFindHost)
        // A handler that a test has added asks the map, whose handler asks the recording.
        let added = try SubstitutionMap([
            "\(base)/a": .handler { request in
                var answer = try await request.response()
                answer.body = Data("added \(String(decoding: answer.body ?? Data(), as: UTF8.self))".utf8)
                return answer
            }
        ])
        asking.cache.change { $0.add(added) }
        let (text, head) = try await asking.load("a")
        #expect(text == "added first")
        #expect(head.value(forHTTPHeaderField: "X-Handled") == "1")
        // What the test has added before comes first.
        let before = try SubstitutionMap(["\(base)/a": .text("before")])
        asking.cache.change { layers in
            layers = MapLayers(.empty)
            for map in [before, added] { layers.add(map) }
        }
        #expect(try await asking.load("a").text == "added before")
    }

    @Test("Another client's handler gets the server's response, too")
    func answerTo() async throws {
        let asking = try Asking(origin: { $0.path == "/a" ? .redirect(to: "/b") : .text("network") }) { request in
            var answer = try await request.response()
            answer.status = 203
            return answer
        }
        let (data, head) = try #require(try await asking.cache.answer(to: URLRequest(url: asking.origin.url("a"))))
        #expect(String(decoding: data, as: UTF8.self) == "network")
        #expect(head.statusCode == 203)
    }

    typealias Answer = SubstitutionMap.Answer

    @Test(
        "An answer's parts can be read",
        arguments: [
            (Answer.json(["a": 1]), 200, #"{ "a": 1 }"#, nil),
            (.text("é\"").status(404), 404, "é\"", nil),
            (.data(Data("d".utf8), mimeType: "a/b"), 200, "d", "a/b"), (.status(204), 204, nil, nil),
            (.file("a.txt").mimeType("text/css"), 200, nil, "text/css"),
            (.handler { _ in .status(200) }, 200, nil, nil),
            (.stream([.text("a")]), 200, nil, nil), (.error(.timedOut), 200, nil, nil),
            (.notSubstituted, 200, nil, nil),
            (.text("a").headers(["content-type": "a/c; charset=x"]), 200, "a", "a/c"),
        ] as [(Answer, Int, String?, String?)]
    )
    func parts(answer: Answer, status: Int, body: String?, type: String?) {
        #expect(answer.status == status)
        #expect(answer.body.map { String(decoding: $0, as: UTF8.self) } == body)
        #expect(answer.mimeType == type)
    }

    @Test("An answer's parts can be set: a new body replaces what was there, and keeps its type")
    func settingParts() {
        func changed(_ answer: Answer, _ change: (inout Answer) -> Void) -> String {
            var answer = answer
            change(&answer)
            return answer.json()
        }
        let data = Data("new".utf8)
        #expect(changed(.json([])) { $0.body = data } == #"{ "data": 0, "mimeType": "application/json" }"#)
        #expect(changed(.text("a")) { $0.body = data } == #"{ "data": 0, "mimeType": "text/plain" }"#)
        #expect(changed("a.txt") { $0.body = data } == #"{ "data": 0 }"#)
        #expect(changed(.json([]).status(201)) { $0.body = nil } == #"{ "status": 201 }"#)
        #expect(changed(.text("a").headers(["etag": "1", "A": "b"])) { $0.body = nil }.contains("etag") == false)
        let headers = changed(.text("a").headers(["A": "b", "C": "d"])) {
            $0.headers["A"] = nil
            $0.headers["E"] = "f"
        }
        #expect(headers == #"{ "text": "a", "headers": { "C": "d", "E": "f" } }"#)
        #expect(changed(.text("a").headers(["A": "b"])) { $0.headers = [:] } == #"{ "text": "a" }"#)
        #expect(changed(.text("a")) { $0.mimeType = "a/b" } == #"{ "text": "a", "mimeType": "a/b" }"#)
        #expect(changed(.text("a").mimeType("a/b")) { $0.mimeType = nil } == #"{ "text": "a" }"#)
        let typed = changed(.text("a").headers(["Content-Type": "a/b; charset=x"])) { $0.mimeType = "c/d" }
        #expect(typed == #"{ "text": "a", "headers": { "Content-Type": "c/d; charset=x" } }"#)
        var never = Answer.notSubstituted
        never.status = 201
        #expect(never.problems.count == 1)
        for change: (inout Answer) -> Void in [{ $0.body = data }, { $0.headers["A"] = "b" }, { $0.mimeType = "a/b" }] {
            var never = Answer.notSubstituted
            change(&never)
            #expect(!never.problems.isEmpty)
        }
    }
}
