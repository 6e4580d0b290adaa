import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The problems of answers", .values)
struct AnswerProblemTests {
    typealias Row = MapProblemTests.Row

    static let rows = [
        // WhatGoesTogetherTests also tests what can't go together.
        Row(#"{"file": "a", "json": 1}"#, .conflict, "“file” and “json” can't go together", "Keep one of them."),
        Row(
            #"{"error": "timedOut", "status": 500}"#,
            .conflict,
            "“status” can't go with “error”",
            "Remove “status” or “error”."
        ),
        Row(#"{"text": "a", "charset": "utf-16"}"#, .conflict, "the body is UTF-8", "Remove “charset”"),
        Row(#"{"json": 1, "use": "untilUpdated"}"#, .conflict, "“untilUpdated” without a “file”", "“always”"),
        Row(
            #"{"text": "a", "setRequestHeaders": {"A": "1"}}"#,
            .conflict,
            "isn't forwarded",
            #""use": "whenOffline""#
        ),
        Row(#"{"status": 200, "times": 2}"#, .conflict, "“times” is only for alternatives", "Write the entry as [{"),
        Row(key: "$defaults", #"{"file": "a"}"#, .conflict, "“file” can't be a default", "in each entry", "headers, "),
        Row(key: "$defaults", #"{"status": 404}"#, .conflict, "“status” can't be a default"),
        Row(key: "$defaults", #"{"when": {"text": "a"}}"#, .conflict, "“when” can't be a default"),
        // Redirects.
        Row(#"{"text": "a", "follow": false}"#, .conflict, "“follow” is only for redirects", "the header “Location”"),
        Row(
            #"{"status": 304, "headers": {"Location": "/"}, "follow": false}"#,
            .conflict,
            "Add the header “Location” and the status 301, 302, 303, 307 or 308, or remove “follow”."
        ),
        Row(#"{"status": 200, "headers": {"Location": "/"}, "follow": true}"#, .conflict, "“follow” is only for"),
        Row(#"[{"text": "a", "follow": true}]"#, .conflict, "Alternative 1: “follow” is only for redirects"),
        Row(#"{"error": "timedOut", "follow": false}"#, .conflict, "“follow” can't go with “error”", "Remove “follow”"),
        Row(#"{"forwardTo": "http://l/", "follow": false}"#, .conflict, "“follow” can't go with “forwardTo”"),
        Row(#"{"alternatives": ["a"], "follow": false}"#, .conflict, "Write “follow” in an alternative."),
        Row(
            #"{"status": 302, "headers": {"Location": "/"}, "follow": "no"}"#,
            .wrongType,
            "“follow” must be true or false."
        ),
        Row(key: "$defaults", #"{"follow": false}"#, .conflict, "“follow” can't be a default"),
        // Alternatives.
        Row(#"{"alternatives": []}"#, .wrongType, "is empty", "Add a file name or an object"),
        Row(#"{"alternatives": "a"}"#, .wrongType, "“alternatives” must be a list"),
        Row(#"[{"status": 500, "times": 2}, []]"#, .wrongType, "Alternative 2 must be a file name or an object"),
        Row(
            #"[{"status": 500, "times": 2}, null]"#,
            .wrongType,
            "Alternative 2 can't be null",
            "Remove this alternative"
        ),
        Row(#"[{"comment": "x"}]"#, .noFile, "Alternative 1:", "“json”"),
        Row(#"[{"status": 600}]"#, .invalidValue, "Alternative 1: “status” can't be 600"),
        Row(#"[{"status": 404, "enabled": false}]"#, .conflict, "Alternative 1:", "is for all alternatives together"),
        Row(#"[{"status": 404, "ignoreQuery": true}]"#, .conflict, "is for all alternatives together"),
        Row(#"[{"status": 404, "use": "whenOffline"}]"#, .conflict, "“use” isn't allowed in an alternative"),
        Row(#"[{"alternatives": [{"status": 404}]}]"#, .conflict, "in one list"),
        Row(#"[{"json": 1, "setRequestHeaders": {"A": "1"}}]"#, .conflict, "Alternative 1:", "isn't forwarded"),
        Row(#"{"alternatives": [{"status": 404}], "status": 200}"#, .conflict, "“status” can't go with “alternatives”"),
        // Other tools' words.
        Row(#"{"body": {}}"#, .unknownField, "“body” is unknown", "Use “json”, “text” or “file”"),
        Row(#"{"status": 200, "data": 0}"#, .unknownField, "Use “json”, “text” or “file”"),
        Row(#"{"response": "a"}"#, .unknownField, "Use “json”, “text” or “file”"),
        Row(#"{"statusCode": 404}"#, .unknownField, "Use “status”"),
        Row(#"{"code": 404}"#, .unknownField, "Use “status”"),
        Row(#"{"json": 1, "method": "POST"}"#, .unknownField, "Use “methods”"),
        Row(#"{"json": 1, "contentType": "a/b"}"#, .unknownField, "Use “mimeType”"),
        Row(#"{"json": 1, "latency": 1}"#, .unknownField, "Use “delay”"),
        Row(#"{"json": 1, "wait": 1}"#, .unknownField, "Use “delay”"),
        Row(#"{"to": "http://l"}"#, .unknownField, "Use “forwardTo”"),
        Row(#"{"redirect": "http://l"}"#, .unknownField, "Use “forwardTo”"),
        Row(#"{"proxy": "http://l"}"#, .unknownField, "Use “forwardTo”"),
        Row(#"{"url": "http://l"}"#, .unknownField, "Use “forwardTo”"),
        Row(#"{"json": 1, "match": {}}"#, .unknownField, "Use “when”"),
        Row(#"{"json": 1, "if": {}}"#, .unknownField, "Use “when”"),
        Row(#"{"json": 1, "request": {}}"#, .unknownField, "Use “when”"),
        Row(#"{"json": 1, "requestHeaders": {}}"#, .unknownField, "“setRequestHeaders”"),
        Row(#"{"json": 1, "repeat": 2}"#, .unknownField, "Use “times”"),
        Row(#"{"json": 1, "count": 2}"#, .unknownField, "Use “times”"),
        Row(#"{"error": "timeout"}"#, .invalidValue, "“error” can't be “timeout”", "Did you mean “timedOut”"),
        Row(#"{"error": "offline"}"#, .invalidValue, "Did you mean “notConnectedToInternet”"),
        Row(#"{"error": "zzzzzzzzzzzzzz"}"#, .invalidValue, "Use the name of a URLError.Code"),
        Row(#"{"error": -1004}"#, .wrongType, "“error” must be a string. Write \"cannotConnectToHost\"."),
        Row(#"{"error": -1}"#, .wrongType, "“error” must be a string. Write \"unknown\"."),
        Row(#"{"error": 7}"#, .wrongType, "“error” must be a string, such as “timedOut”."),
        Row(#"{"json": 1, "when": "offline"}"#, .wrongType, #"Write "use": "whenOffline"."#),
        Row(#""https://example.com/a.png""#, .invalidFileName, "is a URL", "use “forwardTo”"),
        Row(#"{"file": "HTTP://example.com"}"#, .invalidFileName, "is a URL", "use “forwardTo”"),
        // Ranges.
        Row(#"{"json": 1, "delay": -1}"#, .invalidValue, "“delay”", "from 0 to 3600"),
        Row(#"{"json": 1, "delay": 1e9}"#, .invalidValue, "“delay”", "from 0 to 3600"),
        Row(#"{"json": 1, "delay": "2"}"#, .wrongType, "“delay”", "from 0 to 3600"),
        Row(#"[{"json": 1, "times": 0}]"#, .invalidValue, "“times”", "from 1 to 1,000,000,000"),
        Row(#"[{"json": 1, "times": -1}]"#, .invalidValue, "“times”", "from 1 to 1,000,000,000"),
        Row(#"[{"json": 1, "times": 1.5}]"#, .wrongType, "“times”", "from 1 to 1,000,000,000"),
        Row(#"[{"json": 1, "times": 1000000001}]"#, .invalidValue, "“times”", "from 1 to 1,000,000,000"),
        Row(#"[{"json": 1, "times": 9223372036854775807}]"#, .invalidValue, "“times”", "from 1 to 1,000,000,000"),
        Row(#"[{"json": 1, "times": 9223372036854775808}]"#, .wrongType, "“times”", "from 1 to 1,000,000,000"),
        Row(#"[{"json": 1, "times": 1e300}]"#, .wrongType, "“times”", "from 1 to 1,000,000,000"),
        Row(#"{"json": 1, "methods": ["*", "GET"]}"#, .invalidValue, #"Write ["*"]"#),
        Row(#"{"text": 1}"#, .wrongType, "“text” must be a string"),
        // Conditions.
        Row(#"{"json": 1, "when": {}}"#, .invalidValue, "“when” is empty", "“headers”"),
        Row(#"{"json": 1, "when": {"headers": {}}}"#, .invalidValue, "“headers” in “when” is empty"),
        Row(#"{"json": 1, "when": {"query": []}}"#, .wrongType, "“query” must be an object"),
        Row(#"{"json": 1, "when": {"query": {"a": 1}}}"#, .wrongType, "“a” in “when” must be a string"),
        Row(#"{"json": 1, "when": {"text": {}}}"#, .wrongType, "“text” in “when” must be a string"),
        Row(#"{"json": 1, "when": {"header": {}}}"#, .unknownField, "Did you mean “headers”"),
        Row(#"{"json": 1, "when": []}"#, .wrongType, "“when” must be an object"),
        // Targets.
        Row(#"{"forwardTo": 1}"#, .wrongType, "“forwardTo” must be a string"),
        Row(#"{"forwardTo": "localhost/a"}"#, .invalidValue, "“forwardTo” has no scheme", "https://"),
        Row(#"{"forwardTo": "localhost:8080"}"#, .invalidValue, "“forwardTo” has no scheme", "https://"),
        Row(#"{"forwardTo": "file:///a"}"#, .invalidValue, "no host"),
        Row(#"{"forwardTo": "ftp://l/a"}"#, .invalidValue, "the scheme “ftp”", "http or https"),
        Row(#"{"forwardTo": "http://u:p@l/"}"#, .invalidValue, "user info", "Remove it"),
        Row(#"{"forwardTo": "http://l/#a"}"#, .invalidValue, "a fragment", "Remove #"),
        Row(#"{"forwardTo": "http://*/"}"#, .invalidValue, "* in its host or port"),
        Row(#"{"forwardTo": "http://*.l/"}"#, .invalidValue, "* in its host or port"),
        Row(
            #"{"forwardTo": "http://localhost:8080*"}"#,
            .invalidValue,
            "* in its host or port",
            "Use * only after the host and port"
        ),
        Row(#"{"forwardTo": "http://localhost*"}"#, .invalidValue, "* in its host or port"),
        Row(#"{"forwardTo": "*://l/"}"#, .invalidValue, "the scheme “*”"),
        Row(#"{"forwardTo": "http://l/?a=b*"}"#, .invalidValue, "“a=b*”", "a whole value there, as in “q=*”"),
        Row(#"{"forwardTo": "http://l/?*=b"}"#, .invalidValue, "a whole value there"),
        Row(#"{"setRequestHeaders": {}}"#, .invalidValue, "“setRequestHeaders” is empty"),
        Row(#"{"setRequestHeaders": {"Host": "a"}}"#, .invalidHeader, "“Host” can't be set on a request"),
        Row(#"{"setRequestHeaders": {"content-length": null}}"#, .invalidHeader, "“content-length” can't be set"),
        Row(#"{"setRequestHeaders": {"Transfer-Encoding": "a"}}"#, .invalidHeader, "“Transfer-Encoding” can't be set"),
        Row(#"{"setRequestHeaders": {"A": "a\rb"}}"#, .invalidHeader, "“A”", "control character"),
        Row(#"{"setRequestHeaders": {"A": "a\nb"}}"#, .invalidHeader, "“A”", "control character"),
        Row(#"{"setRequestHeaders": {"A": 1}}"#, .wrongType, "“A” must be a string, or null"),
    ]

    /// Problems that a schema can't see.
    private static let others = [
        // The header could come from the defaults.
        Row(#"{"status": 302, "follow": false}"#, .conflict, "“follow” is only for redirects", "the header “Location”"),
        Row(#"[{"status": 302, "follow": true}]"#, .conflict, "Alternative 1: “follow” is only for redirects"),
        Row(#"{"forwardTo": "http://l/*"}"#, .invalidValue, "“forwardTo” has 1 *", "the key has none after its host"),
        Row(key: "https://h/*", #"{"forwardTo": "http://l/*?q=*"}"#, .invalidValue, "has 2 *", "only 1"),
        Row(key: "https://*.h/*", #"[{"forwardTo": "http://l/*/*"}]"#, .invalidValue, "has 2 *", "only 1"),
        Row(#"{"json": 1, "when": {"text": "a", "text": "b"}}"#, .duplicate, "“text” twice"),
        Row(#"{"json": 1, "when": {"headers": {"A": "1", "a": "2"}}}"#, .duplicate, "“a”", "“A”"),
        Row(#"{"json": 1, "when": {"query": {"a": "1", "%61": "2"}}}"#, .duplicate, "“%61” is given twice"),
        Row("{\"json\": \(nested(65))}", .invalidValue, "“json” is nested more than 64 levels deep"),
        Row(
            "{\"json\": 1, \"when\": {\"json\": \(nested(65))}}",
            .invalidValue,
            "“json” is nested more than 64 levels deep"
        ),
    ]

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
    }

    @Test(arguments: rows + others)
    func problem(_ row: Row) throws {
        let folder = try TemporaryFolder(files: ["a"])
        let problems = folder.problems(row.json)
        try #require(problems.count == 1, "\(problems)")
        #expect(problems[0].kind == row.kind)
        #expect(problems[0].key == row.key)
        #expect(problems[0].line == row.line)
        for message in row.messages { #expect(problems[0].message.contains(message), "\(problems[0].message)") }
    }

    @Test("A body may be nested 64 levels deep anywhere, and hostile nesting doesn't crash", arguments: [64, 10_000])
    func nesting(_ depth: Int) throws {
        let value = Self.nested(depth)
        let json =
            #"{"https://h/a": {"alternatives": [{"status": 200, "when": {"json": \#(value)}}, {"json": \#(value)}]}}"#
        let folder = try TemporaryFolder()
        let problems = folder.problems(json)
        #expect(problems.isEmpty == (depth == 64))
        #expect(problems.allSatisfy { $0.kind == .syntax && $0.message.contains("nested more than 72 levels deep") })
    }
}
