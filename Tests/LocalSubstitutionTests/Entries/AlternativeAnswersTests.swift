import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An entry with alternatives", .sessions, .timeLimit(.minutes(5)))
struct AlternativeAnswersTests {
    private static let map = """
        "http://h/orders": ["a.txt", { "methods": ["POST"], "status": 201, "json": { "id": 7 } }],
        "http://h/one": { "text": "one", "methods": ["PUT"] },
        "http://h/*": { "text": "pattern", "methods": ["DELETE"] },
        "http://h/waits": [
          { "when": { "headers": { "X-Slow": "1" } }, "delay": 0.01, "text": "slow" },
          { "when": { "query": { "v": "2" } }, "text": "two" },
          { "text": "rest" }
        ],
        "http://h/file/*": ["missing-*", { "text": "no file" }]
        """

    struct Row: CustomTestStringConvertible, Sendable {
        let path: String
        var method = "GET"
        var headers: [String: String] = [:]
        /// `nil` if nothing answers.
        let text: String?
        /// The answer of the cache alone.
        let alone: String?
        var testDescription: String { "\(method) \(path) \(headers)" }
    }

    static let rows = [
        Row(path: "orders", text: "local", alone: "local"),
        Row(path: "orders", method: "POST", text: #"{ "id": 7 }"#, alone: nil),
        // The key is skipped, and the next one that matches is asked.
        Row(path: "orders", method: "DELETE", text: "pattern", alone: nil),
        Row(path: "orders", method: "PATCH", text: nil, alone: nil),
        Row(path: "one", text: nil, alone: nil),
        Row(path: "one", method: "DELETE", text: "pattern", alone: nil),
        Row(path: "waits", text: "rest", alone: "rest"),
        Row(path: "waits", headers: ["X-Slow": "1"], text: "slow", alone: nil),
        Row(path: "file/a.txt", text: "no file", alone: "no file"),
    ]

    @Test("Alternatives are tried from top to bottom, and a key without a matching one is skipped", arguments: rows)
    func tried(_ row: Row) async throws {
        let session = try EntrySession(Self.map, unmatched: .fail)
        // Twice, since a response in memory must not answer another request.
        for _ in 0..<2 {
            let request = try session.request("http://h/\(row.path)", row.method, headers: row.headers)
            #expect((try? await session.load(request).text) == row.text)
            #expect(session.cache.cachedResponse(for: request)?.text == row.alone)
            let other = try session.request("http://h/\(row.path)")
            #expect(
                session.cache.cachedResponse(for: other)?.text
                    == Self.rows.first { $0.path == row.path && $0.method == "GET" && $0.headers.isEmpty }?.alone
            )
        }
    }

    @Test("Explanations name the alternatives, with the reasons those before were skipped")
    func explained() throws {
        let session = try EntrySession(Self.map)
        let explanation = session.cache.explain(try session.request("http://h/orders", "POST"))
        #expect(explanation.winner?.description.contains("alternative 2 of 2") == true)
        #expect(explanation.skipped.map(\.reason) == ["it doesn't match POST"])
        #expect(explanation.skipped.first?.entry.description.contains("alternative 1 of 2") == true)
    }

    @Test(
        "A method that no entry lists is the first near miss",
        arguments: [
            (
                #""a.txt""#,
                "GET",
                #"To match POST, write { "file": "a.txt", "methods": ["POST"] } as the key's value; to keep GET too, "#
                    + #""methods": ["GET", "POST"]."#
            ),
            (
                #"{ "status": 404 }"#,
                "GET",
                #"To match POST, add "methods": ["POST"]; to keep GET too, "methods": ["GET", "POST"]."#
            ),
            (
                #"["a.txt", { "status": 404, "methods": ["PUT"] }]"#,
                "GET and PUT",
                "To match POST too, add it to “methods”, beside the others."
            ),
        ]
    )
    func nearMiss(entry: String, methods: String, fix: String) throws {
        let session = try EntrySession(#""http://h/orders": \#(entry)"#)
        let explanation = session.cache.explain(try session.request("http://h/orders", "POST"))
        #expect(explanation.attached.reason == "the entry doesn't list the method POST")
        #expect(
            explanation.nearMisses.first?.description == "“http://h/orders” matches only \(methods). \(fix)"
        )
    }

    @Test(
        "If an alternative matches the method, and is skipped for another reason, the method is no near miss",
        arguments: [#""methods": ["POST"], "status": 404"#, #""error": "timedOut""#]
    )
    func nearMissOfAnotherReason(fields: String) throws {
        let conditional = #"{ "when": { "headers": { "A": "b" } }, \#(fields) }"#
        let session = try EntrySession(#""http://h/orders": ["a.txt", \#(conditional)]"#)
        let explanation = session.cache.explain(try session.request("http://h/orders", "POST"))
        #expect(explanation.nearMisses.isEmpty)
        #expect(explanation.attached.reason == "every entry that matches its URL is skipped")
    }

    @Test("A near miss says if a method differs only in letter case")
    func nearMissInLowercase() throws {
        let session = try EntrySession(#""http://h/orders": { "file": "a.txt", "methods": ["PUT", "post"] }"#)
        let misses = session.cache.explain(try session.request("http://h/orders", "POST")).nearMisses
        let beginning = "“http://h/orders” matches only PUT and post, but letter case matters."
        #expect(misses.map(\.description) == ["\(beginning) Write “POST” in “methods”."])
    }
}
