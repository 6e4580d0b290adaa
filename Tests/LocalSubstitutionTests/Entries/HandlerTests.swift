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

@Suite("Entries that a handler answers", .threads, .timeLimit(.minutes(2)))
struct HandlerTests {
    /// A session with a map in code, which fails what no entry answers.
    private struct Handled {
        let cache: LocalSubstitutionCache
        let session: URLSession

        init(
            _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
            files: [String: String] = ["a.txt": "local"],
            unmatched: LocalSubstitutionCache.Unmatched = .fail,
            configuration: URLSessionConfiguration = .ephemeral
        ) throws {
            let folder = try CacheFixture("", files: files).resources
            cache = LocalSubstitutionCache(map: try SubstitutionMap(entries, resources: folder))
            session = try cache.makeSession(configuration, unmatched: unmatched)
        }

        func load(
            _ url: String,
            _ method: String = "GET",
            headers: [String: String] = [:],
            body: Data? = nil,
            timeout: Double = 60
        ) async throws -> (text: String, head: HTTPURLResponse) {
            var request = try LocalSubstitutionTests.request(url, method: method, headers: headers)
            request.httpBody = body
            request.timeoutInterval = timeout
            let (data, response) = try await session.data(for: request)
            return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
        }

        func error(_ url: String, timeout: Double = 60) async -> URLError? {
            do {
                _ = try await load(url, timeout: timeout)
                return nil
            } catch {
                return error as? URLError
            }
        }
    }

    @Test("A handler sees the request")
    func seenRequest() async throws {
        let seen = Guarded<SubstitutionMap.Request?>(nil)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "s"]
        let cookie = HTTPCookie(properties: [.name: "sid", .value: "1", .domain: "h", .path: "/"])
        configuration.httpCookieStorage?.setCookie(try #require(cookie))
        let handled = try Handled(
            [
                "https://h/items/*/x?q=*": .handler { request in
                    seen.withLock { $0 = request }
                    return .json(["id": .value(request.captures[0])])
                }
            ],
            configuration: configuration
        )
        let body = Data(#"{"name": "Ada"}"#.utf8)
        let answer = try await handled.load(
            "https://h/items/a%20b%2Fc/x?q=1%3F&p=2",
            "PUT",
            headers: ["X-Name": "v"],
            body: body
        )
        #expect(answer.text == #"{ "id": "a b/c" }"#)
        #expect(answer.head.value(forHTTPHeaderField: "Content-Type") == "application/json; charset=utf-8")
        let request = try #require(seen.withLock { $0 })
        #expect(request.method == "PUT")
        #expect(request.url.absoluteString == "https://h/items/a%20b%2Fc/x?q=1%3F&p=2")
        #expect(request.captures == ["a b/c", "1?&p=2"])
        #expect(request.header("x-NAME") == "v")
        #expect(request.header("X-Session") == nil)
        #expect(request.header("Cookie") == nil)
        #expect(request.query("p") == "2")
        #expect(request.query("none") == nil)
        #expect(request.body == body)
        #expect(request.text == #"{"name": "Ada"}"#)
        #expect(try request.json([String: String].self) == ["name": "Ada"])
        #expect(throws: DecodingError.self) { try request.json(Int.self) }
    }

    @Test("Decoding a body that isn't there says what to do, and the request's error quotes it")
    func withoutBody() async throws {
        let handled = try Handled(["https://h/a": .handler { .text("\(try $0.json(Int.self))") }])
        let error = try await #require(throws: URLError.self) { try await handled.load("https://h/a", "POST") }
        #expect(error.localizedDescription.contains("Set the request's httpBody, and use a data task."))
    }

    @Test(
        "Captures have the query, but not scheme and host, and stay encoded where they aren't UTF-8",
        arguments: ["%FF", "a?b=1"],
        ["https://h/*", "*://*/*"]
    )
    func captures(text: String, key: String) async throws {
        let handled = try Handled([key: .handler { .text($0.captures.joined(separator: "|")) }])
        #expect(try await handled.load("https://h/\(text)").text == text)
    }

    @Test(
        "A query parameter is the first with its name, decoded except for +",
        arguments: [
            ("q=a%20b&q=c", "a b"), ("%71=%3D", "="), ("q=1+2", "1+2"), ("q=", ""), ("q", nil), ("Q=a", nil),
        ] as [(String, String?)]
    )
    func query(_ query: String, _ value: String?) async throws {
        let handled = try Handled(["https://h/*": .handler { .text($0.query("q") ?? "none") }])
        #expect(try await handled.load("https://h/a?\(query)").text == value ?? "none")
    }

    @Test(
        "An entry's other fields decide whether its handler is called",
        arguments: [
            (#""methods": ["PUT"]"#, "PUT", true), (#""methods": ["PUT"]"#, "GET", false),
            (#""ignoreQuery": true"#, "GET", true), (#""ignoreQuery": false"#, "GET", false),
            (#""ignoreQuery": true, "enabled": true"#, "GET", true),
            (#""ignoreQuery": true, "enabled": false"#, "GET", false),
            (#""ignoreQuery": true, "comment": "c""#, "DELETE", true),
        ]
    )
    func otherFields(_ fields: String, _ method: String, _ isCalled: Bool) async throws {
        let key = fields.contains("ignoreQuery") ? "https://h/a" : "https://h/a?q=1"
        let map = try SubstitutionMap(
            json: Data(#"{ "\#(key)": { "handler": "h", \#(fields) } }"#.utf8),
            handlers: ["h": { _ in .text("called") }]
        )
        let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
        let data = try? await session.data(for: request("https://h/a?q=1", method: method)).0
        #expect(data == (isCalled ? Data("called".utf8) : nil))
    }

    @Test("A handler sees long bodies and streams, up to 8 MiB", arguments: [false, true])
    func bodies(isStream: Bool) async throws {
        let handled = try Handled(["https://h/a": .handler { .text("\($0.body?.count ?? -1)") }])
        for (length, seen) in [(0, 0), (70_000, 70_000), (8 << 20, 8 << 20), (8 << 20 + 1, -1)] {
            var request = try request("https://h/a", method: "POST")
            let body = Data(repeating: 1, count: length)
            if isStream { request.httpBodyStream = InputStream(data: body) } else { request.httpBody = body }
            let (data, _) = try await handled.session.data(for: request)
            let text = String(decoding: data, as: UTF8.self)
            #expect(text == "\(seen)", "\(length)")
        }
        #if os(Linux)
        // Foundation hides an upload task's body.
        let hidden = try await handled.session.upload(for: request("https://h/a", method: "POST"), from: Data([1])).0
        #expect(hidden == Data("-1".utf8))
        #endif
    }

    @Test(
        "A request without a body has none, and an empty body is empty",
        arguments: ["GET", "DELETE", "POST", "PATCH"]
    )
    func noBody(method: String) async throws {
        let handled = try Handled(["https://h/a": .handler { .text("\($0.body.map { "\($0.count)" } ?? "none")") }])
        for (body, seen) in [(nil, "none"), (Data(), "0")] {
            #expect(try await handled.load("https://h/a", method, body: body).text == seen)
            var direct = try request("https://h/a", method: method)
            direct.httpBody = body
            #expect(try await handled.cache.answer(to: direct)?.0 == Data(seen.utf8))
        }
    }

    @Test("A handler is called only if the body meets its condition", arguments: [1, 70_000])
    func conditions(length: Int) async throws {
        let handled = try Handled([
            "https://h/a": [
                Answer.handler { .text("\($0.body?.count ?? -1)") }.when(text: "a*"), .file("a.txt").methods("*"),
            ]
        ])
        for (letter, text) in [("a", "\(length)"), ("b", "local")] {
            let body = Data(String(repeating: letter, count: length).utf8)
            #expect(try await handled.load("https://h/a", "POST", body: body).text == text)
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let answer: SubstitutionMap.Answer
        var status = 200
        var text = ""
        var type: String?

        static let all = [
            Row(testDescription: "file", answer: "a.txt", text: "local", type: "text/plain; charset=utf-8"),
            Row(
                testDescription: "charset",
                answer: .file("a.txt").charset("koi8-r"),
                text: "local",
                type: "text/plain; charset=koi8-r"
            ),
            Row(testDescription: "text", answer: .text("a").status(201), status: 201, text: "a"),
            Row(testDescription: "data", answer: .data(Data("d".utf8), mimeType: "x/y"), text: "d", type: "x/y"),
            Row(testDescription: "status", answer: .status(204), status: 204),
            Row(testDescription: "headers", answer: .text("h").mimeType("text/css").headers(["A": "b"]), text: "h"),
            Row(
                testDescription: "stream",
                answer: .stream(["a", .text("b").delay(0.01), .file("a.txt")]),
                text: "ablocal"
            ),
            Row(testDescription: "rate", answer: .text("abcd").bytesPerSecond(100), text: "abcd"),
            Row(testDescription: "lines", answer: .text("a\nb").secondsPerLine(0.01), text: "a\nb"),
            Row(testDescription: "events", answer: .text("a\n\nb").secondsPerEvent(0.01), text: "a\n\nb"),
            Row(testDescription: "delay", answer: .text("late").delay(0.02), text: "late"),
        ]
    }

    @Test("Every kind of answer", arguments: Row.all)
    func answers(_ row: Row) async throws {
        let handled = try Handled(["https://h/a": .handler { _ in row.answer }])
        for _ in 0..<2 {
            let got = try await handled.load("https://h/a")
            #expect(got.text == row.text)
            #expect(got.head.statusCode == row.status)
            if let type = row.type { #expect(got.head.value(forHTTPHeaderField: "Content-Type") == type) }
        }
        // Ranges aren't applied.
        let part = try await handled.load("https://h/a", headers: ["Range": "bytes=0-0"])
        #expect(part.text == row.text)
        #expect(part.head.statusCode == row.status)
        let head = try await handled.load("https://h/a", "HEAD")
        #expect(head.text.isEmpty)
        #expect(head.head.statusCode == row.status)
        #expect(handled.cache.statistics.matched == 4)
        #expect(handled.cache.responder.inMemory.peek("https://h/a") == nil)
    }

    @Test("Nothing of an answer is held in memory, and each request calls the handler")
    func calls() async throws {
        let count = Guarded(0)
        let handled = try Handled([
            "https://h/a": [
                Answer.handler { _ in
                    .text("\(count.withLock { count in count += 1; return count })")
                }.times(2),
                "a.txt",
            ]
        ])
        var texts: [String] = []
        for _ in 0..<3 { texts.append(try await handled.load("https://h/a").text) }
        #expect(texts == ["1", "2", "local"])
    }

    private typealias Answer = SubstitutionMap.Answer

    @Test("Errors and redirects of an answer")
    func errors() async throws {
        struct Odd: Error {}
        let handled = try Handled([
            "https://h/error": .handler { _ in .error(.timedOut) },
            "https://h/throws": .handler { _ in
                throw URLError(.notConnectedToInternet, userInfo: [NSLocalizedDescriptionKey: "own words"])
            },
            "https://h/bridged": .handler { _ in
                let info = [NSLocalizedDescriptionKey: "bridged words"]
                throw NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut, userInfo: info)
            },
            "https://h/old": .handler(for: URLRequest.self) { _ -> (URLResponse, Data) in
                throw NSError(domain: NSURLErrorDomain, code: NSURLErrorCannotFindHost)
            },
            "https://h/domain": .handler { _ in throw NSError(domain: "own", code: NSURLErrorTimedOut) },
            "https://h/code": .handler { _ in throw NSError(domain: NSURLErrorDomain, code: 7) },
            "https://h/odd": .handler { _ in throw Odd() },
            "https://h/to": .handler { _ in .status(302).headers(["Location": "/end"]) },
            "https://h/end": .text("end"),
            "https://h/stream": .handler { _ in .stream(["a", .error(.networkConnectionLost)]) },
        ])
        #expect(await handled.error("https://h/error")?.code == .timedOut)
        let thrown = await handled.error("https://h/throws")
        #expect(thrown?.code == .notConnectedToInternet)
        #expect(thrown?.localizedDescription == "own words")
        let bridged = await handled.error("https://h/bridged")
        #expect(bridged?.code == .timedOut)
        #expect(bridged?.localizedDescription == "bridged words")
        #expect(await handled.error("https://h/old")?.code == .cannotFindHost)
        #expect(handled.cache.statistics.failures == 0, "it's the entry's error, not a mistake")
        #expect(await handled.error("https://h/domain")?.code == .badServerResponse)
        #if !canImport(Darwin)
        // On Linux, `URLError` has only the codes that have a name.
        #expect(await handled.error("https://h/code")?.code == .badServerResponse)
        #endif
        let odd = await handled.error("https://h/odd")
        #expect(odd?.code == .badServerResponse)
        #expect(odd?.localizedDescription.contains("Odd()") == true)
        #expect(try await handled.load("https://h/to").text == "end")
        #expect(await handled.error("https://h/stream")?.code == .networkConnectionLost)
    }

    struct Wrong: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let answer: SubstitutionMap.Answer
        let message: String

        static let all = [
            Wrong(testDescription: "list", answer: ["a.txt", "a.txt"], message: "can't be a list"),
            Wrong(
                testDescription: "handler",
                answer: .handler { _ in .notSubstituted },
                message: "“handler” isn't allowed"
            ),
            Wrong(testDescription: "use", answer: .file("a.txt").use(.whenOffline), message: "“use” isn't allowed"),
            Wrong(testDescription: "timeout", answer: .file("a.txt").timeout(1), message: "“timeout” isn't allowed"),
            Wrong(
                testDescription: "ignoreQuery",
                answer: .file("a.txt").ignoreQuery(),
                message: "“ignoreQuery” isn't allowed"
            ),
            Wrong(
                testDescription: "methods",
                answer: .file("a.txt").methods("PUT"),
                message: "“methods” isn't allowed"
            ),
            Wrong(testDescription: "when", answer: .file("a.txt").when(text: "a"), message: "“when” isn't allowed"),
            Wrong(testDescription: "times", answer: .file("a.txt").times(1), message: "“times” isn't allowed"),
            Wrong(
                testDescription: "enabled",
                answer: .file("a.txt").setting("enabled", "true"),
                message: "“enabled” isn't allowed"
            ),
            Wrong(testDescription: "status", answer: .file("a.txt").status(1000), message: "“status” can't be 1000"),
            Wrong(testDescription: "early", answer: .text("early").status(103), message: "“status” can't be 103"),
            Wrong(testDescription: "continue", answer: .status(100), message: "“status” can't be 100"),
            Wrong(testDescription: "199", answer: .json(["a": 1]).status(199), message: "“status” can't be 199"),
            Wrong(testDescription: "upgrade", answer: .stream(["a"]).status(101), message: "“status” can't be 101"),
            Wrong(testDescription: "missing", answer: "none.txt", message: "“none.txt” doesn't exist. Add it to “/"),
            Wrong(testDescription: "outside", answer: "../a.txt", message: "“../a.txt” contains “..”, which could"),
            Wrong(testDescription: "link", answer: "link", message: "“link” leads outside the resources folder"),
            Wrong(testDescription: "wildcard", answer: "*.txt", message: "“*.txt” has a *"),
            Wrong(testDescription: "target", answer: .forward(to: "https://o/*"), message: "“https://o/*” has a *"),
            Wrong(testDescription: "piece", answer: .stream([.file("none")]), message: "“none” doesn't exist"),
            Wrong(
                testDescription: "header",
                answer: .text("a").headers(["Content-Length": "1"]),
                message: "Content-Length"
            ),
            Wrong(testDescription: "type", answer: .text("a").mimeType("css"), message: "“css” isn't a MIME type"),
            Wrong(
                testDescription: "follow",
                answer: .text("a").headers(["Location": "/"]).follow(false),
                message: "“follow” is only for redirects"
            ),
            Wrong(
                testDescription: "no location",
                answer: .status(302).follow(false),
                message: "“follow” is only for redirects"
            ),
            Wrong(
                testDescription: "two rates",
                answer: .text("").bytesPerSecond(0),
                message: "“bytesPerSecond” must be"
            ),
        ]
    }

    @Test("A wrong answer fails the request and says what's wrong", arguments: Wrong.all)
    func wrong(_ row: Wrong) async throws {
        let handled = try Handled(["https://h/a": .handler { _ in row.answer }])
        let link = try #require(handled.cache.map.storage.folder).path(of: "link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../substitutions.json")
        let error = await handled.error("https://h/a")
        #expect(error?.code == .badServerResponse)
        #expect(error?.localizedDescription.contains(row.message) == true, "\(error?.localizedDescription ?? "")")
        #expect(error?.localizedDescription.hasPrefix("The handler of the entry “https://h/a”") == true)
    }

    @Test("An answer's missing file that's beside the map is said to be there")
    func misplacedFile() async throws {
        let folder = try TemporaryFolder(files: ["Substitutes/b.txt", "a.txt"])
        try folder.write("map.json", #"{"https://h/a": {"handler": "own"}}"#)
        let map = try SubstitutionMap(contentsOf: folder.file("map.json"), handlers: ["own": { _ in "a.txt" }])
        let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
        let error = await #expect(throws: URLError.self) { try await session.data(for: request("https://h/a")) }
        #expect(error?.code == .badServerResponse)
        #expect(
            error?.localizedDescription.contains("“a.txt” is beside the map, but a folder Substitutes exists") == true
        )
    }

    @Test("A file without a resources folder is a wrong answer that may be meant as a body")
    func withoutFolder() async throws {
        let map = try SubstitutionMap(["https://h/a": .handler { _ in "a.txt" }])
        let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
        let error = await #expect(throws: URLError.self) { try await session.data(for: request("https://h/a")) }
        #expect(error?.code == .badServerResponse)
        #expect(error?.localizedDescription.contains("the map has no resources folder") == true)
        #expect(error?.localizedDescription.contains("If you mean a body, write .text(…).") == true)
    }

    @Test("The entry's delay passes before the call, and the answer's after it")
    func delays() async throws {
        let called = Guarded<DispatchTime?>(nil)
        let handled = try Handled([
            "https://h/a": .handler { _ in
                called.withLock { $0 = .now() }
                return Answer.text("a").delay(0.1)
            }.delay(0.1)
        ])
        let began = DispatchTime.now()
        _ = try await handled.load("https://h/a")
        let ended = DispatchTime.now()
        let call = try #require(called.withLock { $0 })
        #expect(call >= began + 0.1)
        #expect(ended >= call + 0.1)
    }

    @Test("An answer doesn't inherit the entry's delay, which has passed", arguments: [nil, 2])
    func ownDelay(_ delay: Double?) throws {
        let map = try SubstitutionMap(["https://h/a": Answer.handler { _ in .notSubstituted }.delay(1)])
        let match = map.match(try NormalizedURL("https://h/a"))
        let called = try #require(match.substitution)
        let answer = delay.map { Answer.text("a").delay($0) } ?? .text("a")
        let handled = try Substitution.handled(answer, by: called, in: nil, url: match.url)
        #expect(handled?.options.fields.delay == delay)
    }

    @Test("Each alternative calls its own handler")
    func alternatives() async throws {
        let handled = try Handled([
            "https://h/a": [Answer.handler { _ in .text("1") }.times(1), .handler { _ in .text("2") }]
        ])
        for text in ["1", "2"] { #expect(try await handled.load("https://h/a").text == text) }
    }

    @Test("times counts the call, whatever the handler answers")
    func times() async throws {
        let handled = try Handled([
            "https://h/a": [Answer.handler { _ in .notSubstituted }.times(1), "a.txt"],
            "https://h/b": [Answer.handler { _ in throw CancellationError() }.times(1), "a.txt"],
        ])
        for (url, code) in [("https://h/a", URLError.Code.resourceUnavailable), ("https://h/b", .badServerResponse)] {
            #expect(await handled.error(url)?.code == code)
            #expect(try await handled.load(url).text == "local")
        }
    }

    @Test("An answer's file isn't held in memory either", arguments: [Answer.file("a.txt"), .stream([.file("a.txt")])])
    func answeredFile(_ answer: SubstitutionMap.Answer) async throws {
        let handled = try Handled(["https://h/a": .handler { _ in answer }])
        #expect(try await handled.load("https://h/a").text == "local")
        let folder = try #require(handled.cache.map.storage.folder)
        #expect(handled.cache.responder.inMemory.heldFile(at: folder.path(of: "a.txt")) == nil)
    }

    @Test("A redirect that a handler answers is followed as any other", arguments: [(303, "GET"), (307, "PUT")])
    func redirects(status: Int, method: String) async throws {
        let handled = try Handled([
            "https://h/from": .handler { _ in .status(status).headers(["Location": "/to"]) },
            "https://h/to": .handler { .text($0.method) },
        ])
        #expect(try await handled.load("https://h/from", "PUT").text == method)
    }

    @Test("explain says that a closure answers, and what it won't see of the body")
    func explained() throws {
        let handled = try Handled(["https://h/a": .handler { _ in .notSubstituted }])
        func explanation(_ body: Data?, isStream: Bool = false) throws -> String? {
            var request = try request("https://h/a", method: "POST")
            if isStream { request.httpBodyStream = body.map { InputStream(data: $0) } } else { request.httpBody = body }
            return handled.cache.explain(request).attached.servedBy
        }
        #expect(try explanation(nil) == "handler")
        #expect(try explanation(Data(count: 8 << 20)) == "handler")
        #expect(try explanation(Data(count: 8 << 20 + 1))?.hasSuffix(", which is longer than 8 MiB") == true)
        #expect(try explanation(Data([1]), isStream: true) == "handler, with the request's body once it's read")
    }

    @Test(".notSubstituted leaves the request to the network, where the session allows it")
    func notSubstituted() async throws {
        let entries: KeyValuePairs<String, Answer> = [
            "http://127.0.0.1:*/*": .handler { _ in .notSubstituted }, "*://*:*/*": "a.txt",
        ]
        let origin = try EntrySession("")
        let url = origin.origin.url("x").absoluteString
        let loading = try Handled(entries, unmatched: .load)
        #expect(try await loading.load(url).text == "network GET")
        #expect(try await loading.cache.answer(to: request(url)) == nil)
        #expect(loading.cache.explain(try request(url)).shadowed.map(\.key) == ["*://*:*/*"])
        let strict = try Handled(entries)
        let error = await strict.error(url)
        #expect(error?.code == .resourceUnavailable)
        #expect(error?.localizedDescription.contains(".notSubstituted") == true)
    }

    @Test("A handler may send the request on")
    func forward() async throws {
        let origin = try EntrySession("")
        let target = origin.origin.url("x").absoluteString
        let handled = try Handled(["https://h/a": .handler { _ in .forward(to: target) }])
        let got = try await handled.load("https://h/a", "PUT", body: Data("b".utf8))
        #expect(got.text == "network PUT")
        #expect(got.head.url?.absoluteString == "https://h/a")
    }

    @Test("Each of several handlers that take too long has its own timeout")
    func timeouts() async throws {
        let handled = try Handled([
            "https://h/*": .handler { _ in
                try await Task.sleep(nanoseconds: 60_000_000_000)
                return .notSubstituted
            }
        ])
        // Neither the order of the timeouts nor an earlier one may delay another.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for timeout in [0.7, 0.1, 0.4] {
                group.addTask {
                    let start = ContinuousClock.now
                    #expect(await handled.error("https://h/\(timeout)", timeout: timeout)?.code == .timedOut)
                    #expect(.seconds(timeout)..<(.seconds(timeout) + .seconds(20)) ~= start.duration(to: .now))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A handler that takes too long is cancelled, and the request fails on time", arguments: [false, true])
    func timeout(ignoresCancellation: Bool) async throws {
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        let release = DispatchSemaphore(value: 0)
        let handled = try Handled([
            "https://h/a": .handler { _ in
                if ignoresCancellation {
                    await withCheckedContinuation { continuation in
                        DispatchQueue.global().async {
                            release.wait()
                            continuation.resume()
                        }
                    }
                } else {
                    try? await Task.sleep(nanoseconds: 60_000_000_000)
                }
                ended.yield(Task.isCancelled)
                return .notSubstituted
            }
        ])
        #expect(await handled.error("https://h/a", timeout: 0.2)?.code == .timedOut)
        #expect(handled.cache.statistics.requests == 1)
        #expect(handled.cache.statistics.failures == 1)
        release.signal()
        for await isCancelled in ends {
            #expect(isCancelled)
            break
        }
    }

    @Test("Cancelling the request cancels its handler", arguments: ["session", "answer(to:)"])
    func cancelled(by way: String) async throws {
        let (steps, step) = AsyncStream.makeStream(of: Bool.self)
        let handled = try Handled([
            "https://h/a": .handler { _ in
                step.yield(false)
                try? await Task.sleep(nanoseconds: 60_000_000_000)
                step.yield(Task.isCancelled)
                return .notSubstituted
            }
        ])
        var request = try request("https://h/a")
        // A timeout would cancel the handler, too.
        request.timeoutInterval = 3600
        let task = Task { [request] () -> Data? in
            if way == "session" { return try await handled.session.data(for: request).0 }
            return try await handled.cache.answer(to: request)?.0
        }
        var seen: [Bool] = []
        for await value in steps {
            seen.append(value)
            if seen.count == 2 { break }
            task.cancel()
        }
        #expect(seen == [false, true])
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
    }

    @Test(
        "If a handler calls itself without end, its calls end with the request",
        arguments: ["session", "answer(to:)"],
        ["timeout", "cancel"]
    )
    func endlessCalls(by way: String, end: String) async throws {
        /// The calls that were made in all and until the request's end, and those that run.
        let counts = Guarded((made: 0, madeInTime: 0, running: 0))
        let own = Guarded<LocalSubstitutionCache?>(nil)
        let (depths, reached) = AsyncStream.makeStream(of: Void.self)
        let (returns, returned) = AsyncStream.makeStream(of: Void.self)
        let handled = try Handled([
            "https://h/*": .handler { asked in
                let made = counts.withLock { counts in
                    counts = (counts.made + 1, counts.madeInTime, counts.running + 1)
                    return counts.made
                }
                defer {
                    let isLast = counts.withLock { counts in
                        counts.running -= 1
                        return counts.running == 0
                    }
                    if isLast { returned.yield() }
                }
                if made == 1_000 { reached.yield() }
                var inner = URLRequest(url: asked.url)
                inner.timeoutInterval = 3600
                let cache = own.withLock { $0 }
                return try await withTaskCancellationHandler { [inner] in
                    .data(try await cache?.answer(to: inner)?.0 ?? Data(), mimeType: "text/plain")
                } onCancel: {
                    // The outermost call is cancelled first.
                    counts.withLock { if $0.madeInTime == 0 { $0.madeInTime = $0.made } }
                }
            }
        ])
        own.withLock { $0 = handled.cache }
        var outer = try request("https://h/a")
        outer.timeoutInterval = end == "timeout" ? 0.5 : 3600
        let task = Task { [outer] () -> Data? in
            if way == "session" { return try await handled.session.data(for: outer).0 }
            return try await handled.cache.answer(to: outer)?.0
        }
        if end == "cancel" {
            for await _ in depths { break }
            task.cancel()
        }
        let code: URLError.Code = end == "timeout" ? .timedOut : .cancelled
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == code }
        for await _ in returns { break }
        // Cancelling one call after the other would take as long as making them. On a busy machine, some hundred calls may be made
        // before the first one knows.
        let (made, madeInTime, _) = counts.withLock { $0 }
        #expect(made < madeInTime + madeInTime / 2 + 500, "\(made), \(madeInTime) of them in time")
        own.withLock { $0 = nil }
    }

    #if os(Linux)
    @Test("A resumed task doesn't call its handler again, and suspending doesn't cancel it")
    func suspended() async throws {
        let calls = Guarded(0)
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let (goes, go) = AsyncStream.makeStream(of: Void.self)
        let handled = try Handled([
            "https://h/a": .handler { _ in
                calls.withLock { $0 += 1 }
                begun.yield()
                for await _ in goes { break }
                return .text("\(Task.isCancelled)")
            }
        ])
        let recorder = TaskRecorder()
        let own = try handled.cache.makeSession(delegate: recorder)
        let task = own.dataTask(with: try request("https://h/a"))
        task.resume()
        for await _ in begins { break }
        task.suspend()
        await withCheckedContinuation { continuation in own.getAllTasks { _ in continuation.resume() } }
        go.yield()
        task.resume()
        #expect(String(decoding: await recorder.outcome().data, as: UTF8.self) == "false")
        #expect(calls.withLock { $0 } == 1)
    }
    #endif

    @Test("A handler that blocks its thread doesn't hold up the session's other requests")
    func blocking() async throws {
        let arrived = DispatchSemaphore(value: 0)
        @Sendable func hasArrived() -> Bool { arrived.wait(timeout: .now() + 10) == .success }
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let handled = try Handled([
            "https://h/a": .handler { _ in
                begun.yield()
                return .text("\(hasArrived())")
            },
            "https://h/b": .text("b"),
        ])
        async let text = handled.load("https://h/a").text
        for await _ in begins { break }
        _ = try await handled.load("https://h/b")
        arrived.signal()
        #expect(try await text == "true")
    }

    @Test("Requests fail on time even if their handlers block more threads than there are processors")
    func blockingMany() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount + 16
        let release = DispatchSemaphore(value: 0)
        @Sendable func isReleased() -> Bool { release.wait(timeout: .now() + 5) == .success }
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        let handled = try Handled([
            "https://h/*": .handler { _ in
                ended.yield(isReleased())
                return .notSubstituted
            }
        ])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    #expect(await handled.error("https://h/\(number)", timeout: 0.2)?.code == .timedOut)
                }
            }
        }
        for _ in 0..<count { release.signal() }
        var released: [Bool] = []
        for await isReleased in ends {
            released.append(isReleased)
            if released.count == count { break }
        }
        #expect(released == Array(repeating: true, count: count))
    }

    #if os(Linux) || os(macOS)
    @Test("Hundreds of handlers that never return let their requests time out, and hold up no other session")
    func blockedForever() async {
        await #expect(processExitsWith: .success) {
            let map = try SubstitutionMap([
                "https://h/blocked/*": .handler { _ in
                    block()
                    return .notSubstituted
                },
                "https://h/a": .text("a").delay(0.1),
            ])
            let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
            let codes = try await withThrowingTaskGroup(of: URLError.Code?.self) { group in
                for number in 0..<300 {
                    var blocked = try request("https://h/blocked/\(number)")
                    blocked.timeoutInterval = 1
                    group.addTask { [blocked] in
                        do {
                            _ = try await session.data(for: blocked)
                            return nil
                        } catch {
                            return (error as? URLError)?.code
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes == Array(repeating: .timedOut, count: 300))
            let other = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
            let body = try await other.data(for: request("https://h/a")).0
            #expect(body == Data("a".utf8))
        }
    }
    #endif

    @Test("64 handlers that suspend don't wait for each other")
    func many() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let waiting = Guarded<[CheckedContinuation<Void, Never>]>([])
        let handled = try Handled([
            "https://h/*": .handler { request in
                await withCheckedContinuation { continuation in
                    waiting.withLock { $0.append(continuation) }
                    arrived.yield()
                }
                return .text(request.captures[0])
            }
        ])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let text = try await handled.load("https://h/\(number)").text
                    #expect(text == "\(number)")
                }
            }
            var count = 0
            for await _ in arrivals {
                count += 1
                if count == 64 { break }
            }
            for continuation in waiting.withLock({ $0 }) { continuation.resume() }
            try await group.waitForAll()
        }
    }

    @Test("JSON names handlers that code gives; a reloaded map keeps them")
    func named() async throws {
        let fixture = try CacheFixture(#""https://h/a": { "handler": "one" }"#)
        let cache = try LocalSubstitutionCache(
            contentsOf: fixture.mapFile,
            handlers: ["one": { _ in .text("1") }, "two": { _ in .text("2") }]
        )
        let session = try cache.makeSession(unmatched: .fail)
        let url = try request("https://h/a")
        #expect(try await session.data(for: url).0 == Data("1".utf8))
        #expect(cache.explain(url).attached.servedBy == "handler “one”")
        try fixture.writeMap(#""https://h/a": { "handler": "two" }"#)
        #expect(try await session.data(for: url).0 == Data("2".utf8))
    }

    @Test("Defaults apply to a handler's answers, and an entry's delay isn't waited for twice")
    func defaults() async throws {
        let map = try SubstitutionMap(
            json: Data(
                """
                { "$defaults": { "headers": { "A": "b" }, "delay": 0.05, "bytesPerSecond": 20 },
                  "https://h/a": { "handler": "one" } }
                """.utf8
            ),
            handlers: ["one": { _ in .text("1234").headers(["C": "d"]) }]
        )
        let began = DispatchTime.now()
        let session = try LocalSubstitutionCache(map: map).makeSession()
        let (_, response) = try await session.data(for: request("https://h/a"))
        let head = try #require(response as? HTTPURLResponse)
        #expect(head.value(forHTTPHeaderField: "A") == "b")
        #expect(head.value(forHTTPHeaderField: "C") == "d")
        // The delay, and four bytes at 20 a second.
        #expect(DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds >= 250_000_000)
    }
}

/// Blocks the thread until the process ends.
private func block() { DispatchSemaphore(value: 0).wait() }
