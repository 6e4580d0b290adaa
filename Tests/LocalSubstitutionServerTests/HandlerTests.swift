import Foundation
import LocalSubstitution
import LocalSubstitutionServer
import LoopbackOrigin
import TestSupport
import Testing

@Suite("Handlers through a server", .sessions, .timeLimit(.minutes(5)))
struct HandlerTests {
    private struct NoOrder: Error {}

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("a.txt", "local")
    }

    private func served() throws -> ServedMap {
        let map = try SubstitutionMap(
            [
                "https://h.example/items/*": .handler { request in
                    .json([
                        "method": .value(request.method), "id": .value(request.captures[0]),
                        "body": .value(request.body.map(\.count) ?? 0),
                    ])
                    .status(201)
                },
                "https://h.example/file": .handler { _ in .file("a.txt") },
                "https://h.example/throttled": .handler { _ in .text("a\nb").secondsPerLine(0.05) },
                "https://h.example/stream": .handler { _ in .stream(["a", .text("b").delay(0.05)]) },
                "https://h.example/cut": .handler { _ in .stream(["a", .error(.networkConnectionLost)]) },
                "https://h.example/lost": .handler { _ in .error(.timedOut) },
                "https://h.example/thrown": .handler { _ in throw URLError(.cannotFindHost) },
                "https://h.example/order": .handler { _ in throw NoOrder() },
                "https://h.example/list": .handler { _ in [.status(404)] },
                "https://h.example/none": .handler { _ in .notSubstituted },
            ],
            resources: folder.url
        )
        return try ServedMap("{}", cache: LocalSubstitutionCache(map: map))
    }

    @Test(
        "A client gets what a handler answers",
        arguments: [
            ("GET", "/items/7", nil, 201, #"{ "method": "GET", "id": "7", "body": 0 }"#),
            ("PUT", "/items/a%20b", "xyz", 201, #"{ "method": "PUT", "id": "a b", "body": 3 }"#),
            ("HEAD", "/items/7", nil, 201, ""),
            ("GET", "/file", nil, 200, "local"),
            ("POST", "/throttled", "", 200, "a\nb"),
            ("GET", "/stream", nil, 200, "ab"),
        ] as [(String, String, String?, Int, String)]
    )
    func answers(_ method: String, _ path: String, _ body: String?, _ status: Int, _ expected: String) throws {
        let response = try served().exchange("https://h.example" + path, method: method, body: body)
        #expect(response.status == status)
        #expect(response.body == expected)
        #expect(response.isComplete)
    }

    @Test(
        "A handler that fails is a 502 that says why",
        arguments: [
            ("/order", "/order” threw an error: NoOrder"),
            ("/list", "A handler's answer can't be a list."), ("/none", "returned .notSubstituted"),
        ]
    )
    func failures(path: String, part: String) throws {
        let response = try served().exchange("https://h.example" + path)
        #expect(response.status == 502)
        #expect(response.body.hasPrefix("https://h.example\(path): "))
        #expect(response.body.contains(part), "\(response.body)")
    }

    @Test(
        "A handler's error is a line that isn't HTTP",
        arguments: [("/lost", "timedOut"), ("/thrown", "cannotFindHost")]
    )
    func errors(path: String, name: String) throws {
        let (served, url) = (try served(), "https://h.example\(path)")
        #expect(try RawClient.exchange(served.request(url), with: served.port(url)) == "error: \(name)\r\n")
    }

    @Test("What a handler asks has a client's credentials only if the server sends them", arguments: [false, true])
    func credentials(sendsCredentials: Bool) throws {
        let origin = try LoopbackServer { .text($0.header("Authorization") ?? "none") }
        defer { origin.stop() }
        let url = origin.url("a").absoluteString
        let map = try SubstitutionMap([url: .handler { try await $0.response() }])
        let cache = LocalSubstitutionCache(map: map)
        let served = try ServedMap("{}", unmatched: .load, sendsCredentials: sendsCredentials, cache: cache)
        let response = try served.exchange(url, fields: ["Authorization: Bearer x"])
        #expect(response.body == (sendsCredentials ? "Bearer x" : "none"))
    }

    @Test("A handler's stream that ends with an error is cut")
    func cut() throws {
        let response = try served().exchange("https://h.example/cut")
        #expect(response.body == "a")
        #expect(!response.isComplete)
    }

    @Test("Without the code, an entry with a handler is a 502 that names it", arguments: ["GET", "PUT"])
    func named(method: String) throws {
        try folder.write("substitutions.json", #"{ "https://h.example/orders/*": { "handler": "saveOrder" } }"#)
        let map = try SubstitutionMap(inTool: folder.file("substitutions.json"), resources: nil)
        let served = try ServedMap("{}", cache: LocalSubstitutionCache(map: map))
        let response = try served.exchange("https://h.example/orders/7", method: method)
        #expect(response.status == 502)
        #expect(
            response.body
                == "https://h.example/orders/7: The handler “saveOrder” exists only in code. Use this entry in the app or its tests.\n"
        )
    }
}
