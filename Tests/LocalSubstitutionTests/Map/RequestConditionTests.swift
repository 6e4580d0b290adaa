import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Conditions for a request", .values)
struct RequestConditionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        var query = ""
        var headers: [String: String] = [:]
        var body = RequestFacts.Body.none
        /// `nil` if the condition holds.
        let failure: String?

        init(
            _ when: String,
            query: String = "",
            headers: [String: String] = [:],
            body: RequestFacts.Body = .none,
            _ failure: String? = nil
        ) {
            self.when = when
            self.query = query
            self.headers = headers
            self.body = body
            self.failure = failure
        }

        var testDescription: String { "\(when) \(query) \(headers) \(body)" }
    }

    private static func data(_ text: String) -> RequestFacts.Body { .data(Data(text.utf8)) }
    private static let plan = #"{"headers": {"X-Plan": "pro*"}}"#
    private static let me = #"{"json": {"operationName": "Me"}}"#

    private static let heads = [
        Row(plan, headers: ["x-plan": "professional"]),
        Row(plan, headers: ["X-Plan": "free"], "the header “X-Plan” is “free”, not “pro*”"),
        Row(plan, "the request has no header “X-Plan”"),
        Row(#"{"headers": {"X-Plan": null}}"#),
        Row(
            #"{"headers": {"X-Plan": null}}"#,
            headers: ["X-PLAN": ""],
            "the request has the header “X-Plan”, but must not have it"
        ),
        Row(
            #"{"headers": {"authorization": "Bearer a"}}"#,
            headers: ["Authorization": "Bearer b"],
            "the header “authorization” has another value"
        ),
        Row(#"{"headers": {"A": "1", "B": "2"}}"#, headers: ["A": "1", "B": "3"], "the header “B” is “3”, not “2”"),
        Row(#"{"query": {"page": "2"}}"#, query: "?page=2&x=1"),
        Row(#"{"query": {"page": "2"}}"#, query: "?page=3", "the query's parameter “page” is “3”, not “2”"),
        Row(#"{"query": {"page": "2"}}"#, query: "?page=1&page=2"),
        Row(
            #"{"query": {"page": "2"}}"#,
            query: "?page=1&page=3",
            "the query's parameter “page” is “1” and “3”, not “2”"
        ),
        Row(#"{"query": {"page": "2"}}"#, "the query has no parameter “page”"),
        Row(#"{"query": {"page": "2"}}"#, query: "?Page=2", "the query has no parameter “page”"),
        Row(#"{"query": {"page": null}}"#, query: "?pages=1"),
        Row(#"{"query": {"page": null}}"#, query: "?page", "the query has the parameter “page”, but must not have it"),
        Row(#"{"query": {"page": ""}}"#, query: "?page"),
        Row(#"{"query": {"a b": "c d&e=f*"}}"#, query: "?a%20b=%63%20d%26e=fg"),
        Row(#"{"query": {"q": "ü"}}"#, query: "?q=%c3%bc"),
        Row(#"{"query": {"q": "a%2Ab"}}"#, query: "?q=a*b"),
    ]

    private static let bodies = [
        Row(me, body: data(#"{"operationName": "Me", "variables": {}}"#)),
        Row(me, body: data(#"{"operationName": "You"}"#), #"the body's “operationName” is "You", not "Me""#),
        Row(me, body: data("{}"), "the body has no “operationName”"),
        Row(me, body: data("[]"), "the body is an array, not an object"),
        Row(me, body: data("operationName=Me"), "the body isn't JSON"),
        Row(me, body: data(""), "the request has no body"),
        Row(
            me,
            body: data(#"{"operationName": "Me", "n": 1e10000}"#),
            "the body has a number with an exponent of more than 4 digits"
        ),
        Row(me, "the request has no body"),
        Row(me, body: .unread, "the request's body hasn't been read yet"),
        Row(me, body: .tooLong, "the request's body is longer than 8 MiB"),
        Row(me, body: .hidden, "Foundation hides an upload task's body on Linux; use a data task with httpBody"),
        Row(#"{"json": {"ids": [1, 2]}}"#, body: data(#"{"ids": [1]}"#), "the body's “ids” has the length 1, not 2"),
        Row(#"{"json": null}"#, body: data("null")),
        Row(#"{"text": "*operation=Me*"}"#, body: data("a&operation=Me&b")),
        Row(#"{"text": "a*"}"#, body: data("b"), "the body's text doesn't match “a*”"),
        Row(#"{"text": "*"}"#, body: .data(Data([0xFF])), "the body isn't UTF-8"),
        Row(#"{"text": ""}"#),
        Row(#"{"text": "*"}"#),
        Row(#"{"text": "*"}"#, body: data("")),
        Row(#"{"text": "?*"}"#, "the body's text doesn't match “?*”"),
        Row(#"{"text": "*x*", "json": {"a": 1}}"#, body: data(#"{"a": 1.0}"#), "the body's text doesn't match “*x*”"),
    ]

    @Test(arguments: heads + bodies)
    func failure(_ row: Row) throws {
        let map = try SubstitutionMap(json: Data(#"{"https://h/a": {"status": 200, "when": \#(row.when)}}"#.utf8))
        let condition = try #require(map.entries.first?.options.fields.when)
        let facts = RequestFacts(headers: row.headers, body: row.body)
        let url = try NormalizedURL("https://h/a" + row.query)
        #expect((condition.failureOfHead(facts, url) ?? condition.failureOfBody(facts)) == row.failure)
    }

    @Test("Only “json” and “text” need a body")
    func needsBody() throws {
        for row in Self.heads + Self.bodies {
            let map = try SubstitutionMap(json: Data(#"{"https://h/a": {"status": 200, "when": \#(row.when)}}"#.utf8))
            let isOfBody = row.when.contains("json") || row.when.contains("text")
            #expect(map.entries.first?.options.fields.when?.needsBody == isOfBody)
        }
    }

    @Test("A body of 8 MiB, and one that's nested too deeply")
    func largeBodies() throws {
        let list = "[" + String(repeating: "1,", count: 4 << 20 - 2) + "1]"
        let json = #"{"https://h/a": {"status": 200, "when": {"json": {"a": 1}}}}"#
        let condition = try #require(try SubstitutionMap(json: Data(json.utf8)).entries.first?.options.fields.when)
        let large = RequestFacts(body: .data(Data(#"{"b": \#(list), "a": 1}"#.utf8)))
        #expect(condition.failureOfBody(large) == nil)
        let deep = String(repeating: "[", count: 10_000)
        let failure = condition.failureOfBody(RequestFacts(body: .data(Data(deep.utf8))))
        #expect(failure == "the body's JSON is nested more than 64 levels deep")
    }
}
