import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Answers in code", .values)
struct AnswerTests {
    typealias Answer = SubstitutionMap.Answer

    struct Row: Sendable, CustomTestStringConvertible {
        let answer: Answer
        let json: String

        init(_ answer: Answer, _ json: String) { (self.answer, self.json) = (answer, json) }

        var testDescription: String { json }
    }

    private struct User: Encodable, Sendable {
        let name: String
        let age: Int?
    }

    private static let name = "Ada"
    private static let ids = [1, 2]
    private static let counts = ["b": 1, "a": 2]

    private static let rows = [
        Row("a", #""a""#), Row(.file("a"), #"{"file": "a"}"#), Row(.notSubstituted, "null"),
        Row(.json(["id": 7, "tags": ["a", nil]]), #"{"json": {"id": 7, "tags": ["a", null]}}"#),
        Row(.json([1, 2.5, true, "é\n", [:]]), #"{"json": [1, 2.5, true, "é\n", {}]}"#),
        Row(.json("a"), #"{"json": "a"}"#), Row(.json(nil), #"{"json": null}"#), Row(.json(-1), #"{"json": -1}"#),
        Row(.json(["name": name]), #"{"json": { "name": "Ada" }}"#),
        Row(.json(["ids": ids]), #"{"json": { "ids": [1,2] }}"#),
        Row(.json(["b": .value(name), "a": ["n": .value(ids)]]), #"{"json": { "b": "Ada", "a": { "n": [1,2] } }}"#),
        Row(.json(["a": "\(name)!"]), #"{"json": { "a": "Ada!" }}"#),
        Row(.json([name, name]), #"{"json": ["Ada", "Ada"]}"#),
        Row(.json(["user": User(name: name, age: 3)]), #"{"json": { "user": {"age":3,"name":"Ada"} }}"#),
        Row(.json(["name": name, "age": nil]), #"{"json": { "age": null, "name": "Ada" }}"#),
        Row(.json(User(name: "/", age: nil)), #"{"json": {"name":"/"}}"#),
        Row(.json(ids), #"{"json": [1,2]}"#), Row(.json(name), #"{"json": "Ada"}"#),
        Row(.json(counts), #"{"json": {"a":2,"b":1}}"#), Row(.json([1, 2]), #"{"json": [1, 2]}"#),
        Row(.json(["b": 1, "a": [true, nil]]), #"{"json": {"b": 1, "a": [true, null]}}"#),
        Row(.json(text: " {\"a\":\n1e5} "), "{\"json\": {\"a\":\n1e5}}"), Row(.text("a\"b"), #"{"text": "a\"b"}"#),
        Row(.status(404), #"{"status": 404}"#), Row(.error(.timedOut), #"{"error": "timedOut"}"#),
        Row(.forward(to: "http://l/?q=*"), #"{"forwardTo": "http://l/?q=*"}"#),
        Row(.requestHeaders(["A": "1", "B": nil]), #"{"setRequestHeaders": {"A": "1", "B": null}}"#),
        Row(.json([:]).status(409).status(201), #"{"json": {}, "status": 201}"#),
        Row(
            .file("a").headers(["A": "1"]).mimeType("a/b"),
            #"{"file": "a", "headers": {"A": "1"}, "mimeType": "a/b"}"#
        ),
        Row(
            .status(302).headers(["Location": "/"]).follow(true).follow(false),
            #"{"status": 302, "headers": {"Location": "/"}, "follow": false}"#
        ),
        Row(.file("a").charset(nil), #"{"file": "a", "charset": null}"#),
        Row(.file("a").charset("utf-16").delay(0.2), #"{"file": "a", "charset": "utf-16", "delay": 0.2}"#),
        Row(.file("a").methods("POST", "PUT"), #"{"file": "a", "methods": ["POST", "PUT"]}"#),
        Row(.file("a").use(.whenOffline).timeout(2), #"{"file": "a", "use": "whenOffline", "timeout": 2}"#),
        Row(.file("a").ignoreQuery(), #"{"file": "a", "ignoreQuery": true}"#),
        Row(.file("a").ignoreQuery("x", "y*"), #"{"file": "a", "ignoreQuery": ["x", "y*"]}"#),
        Row(
            .text("").when(headers: ["A": nil, "B": "*"], query: ["q": "1"], json: ["a": [1, nil]], text: "*"),
            #"{"text": "", "when": {"headers": {"A": null, "B": "*"}, "query": {"q": "1"}, "json": {"a": [1, null]}, "text": "*"}}"#
        ),
        Row(
            .stream([
                "data: a\n\n", .text("b").delay(0.2), .json(["c": 1]), .file("a").delay(1),
                .data(Data([0, 255])).delay(0.5), .error(.networkConnectionLost),
            ]).status(201).mimeType("text/plain"),
            """
            {"stream": ["data: a\\n\\n", {"text": "b", "delay": 0.2}, {"json": { "c": 1 }}, {"file": "a", "delay": 1},
                {"base64": "AP8=", "delay": 0.5}, {"error": "networkConnectionLost"}], "status": 201, "mimeType": "text/plain"}
            """
        ),
        // Modifiers add up.
        Row(.text("").methods("POST").methods("PUT"), #"{"text": "", "methods": ["POST", "PUT"]}"#),
        Row(.text("").methods("POST", "PUT").methods("POST"), #"{"text": "", "methods": ["PUT", "POST"]}"#),
        Row(
            .text("").headers(["A": "1", "X-b": "2"]).headers(["x-B": "3", "C": "4"]),
            #"{"text": "", "headers": {"A": "1", "x-B": "3", "C": "4"}}"#
        ),
        Row(
            .requestHeaders(["A": "1", "B": "2"]).requestHeaders(["b": nil]),
            #"{"setRequestHeaders": {"A": "1", "b": null}}"#
        ),
        Row(.text("").ignoreQuery("a").ignoreQuery("b"), #"{"text": "", "ignoreQuery": ["a", "b"]}"#),
        Row(.text("").ignoreQuery("a").ignoreQuery(), #"{"text": "", "ignoreQuery": true}"#),
        Row(.text("").ignoreQuery().ignoreQuery("a"), #"{"text": "", "ignoreQuery": true}"#),
        Row(
            .text("").when(headers: ["A": "1"]).when(json: ["b": 1]).when(query: ["q": "1"], text: "*"),
            #"{"text": "", "when": {"headers": {"A": "1"}, "query": {"q": "1"}, "json": {"b": 1}, "text": "*"}}"#
        ),
        Row(
            .text("").when(headers: ["A": "1"], query: ["q": "1"]).when(headers: ["B": nil], query: ["r": nil]),
            #"{"text": "", "when": {"headers": {"A": "1", "B": null}, "query": {"q": "1", "r": null}}}"#
        ),
        Row(.text("").when().when(text: "a"), #"{"text": "", "when": {"text": "a"}}"#),
        Row(.text("").when(text: "a").when(), #"{"text": "", "when": {"text": "a"}}"#),
        Row(
            .text("").when(query: ["r": "2*"]).when(query: ["q": nil]).when(text: "a"),
            #"{"text": "", "when": {"query": {"q": null, "r": "2*"}, "text": "a"}}"#
        ),
        Row(
            .text("").when(text: "*").when(headers: ["B": "1"]).when(json: ["a": [1, nil]]).when(headers: ["A": nil]),
            #"{"text": "", "when": {"headers": {"A": null, "B": "1"}, "json": {"a": [1, null]}, "text": "*"}}"#
        ),
        Row(
            [.text("").when(headers: ["A": "1"]).times(2).when(query: ["q": "1"]), "a"],
            #"[{"text": "", "times": 2, "when": {"headers": {"A": "1"}, "query": {"q": "1"}}}, "a"]"#
        ),
        Row(
            .text("").methods("GET").methods("POST").methods("DELETE", "GET"),
            #"{"text": "", "methods": ["POST", "DELETE", "GET"]}"#
        ),
        Row(.text("").ignoreQuery("a", "b").ignoreQuery("b", "c*"), #"{"text": "", "ignoreQuery": ["a", "b", "c*"]}"#),
        Row(
            .file("a").headers(["A": "1"]).headers([:]).headers(["A": "2", "B": "3"]).headers(["a": "4"]),
            #"{"file": "a", "headers": {"B": "3", "a": "4"}}"#
        ),
        Row(
            .requestHeaders(["A": nil, "C": "1"]).requestHeaders(["a": "1"]).requestHeaders(["B": nil]),
            #"{"setRequestHeaders": {"C": "1", "a": "1", "B": null}}"#
        ),
        Row(.text("").status(404).status(500).delay(1).delay(2), #"{"text": "", "status": 500, "delay": 2}"#),
        Row(Answer.file("a").bytesPerSecond(10), #"{"file": "a", "bytesPerSecond": 10}"#),
        Row(.text("a").secondsPerLine(0.5), #"{"text": "a", "secondsPerLine": 0.5}"#),
        Row(.text("a").secondsPerEvent(0), #"{"text": "a", "secondsPerEvent": 0}"#),
        Row([.status(503).times(2), "a"], #"[{"status": 503, "times": 2}, "a"]"#),
        Row(
            Answer(alternatives: [.status(503).times(2), "a"]).ignoreQuery(),
            #"{"alternatives": [{"status": 503, "times": 2}, "a"], "ignoreQuery": true}"#
        ),
    ]

    /// Returns everything that a map says except lines and bodies.
    private func description(_ map: SubstitutionMap) -> String {
        map.entries.flatMap { [$0] + $0.options.alternatives }.map { entry in
            let options = entry.options
            let answer =
                switch options.answer {
                case .inline(let body): "\(body.kind)"
                case .network(let target): "network \(target?.text ?? "")"
                case .error(let code): "error \(code.rawValue)"
                case .never: "never"
                case .file: "file"
                case .stream(let pieces): "stream \(pieces.map { ($0.content, $0.delay) })"
                case .handler(let handler): handler.description
                }
            let headers = options.fields.headers.sorted { $0.key < $1.key }
            let requestHeaders = options.fields.requestHeaders.sorted { $0.name < $1.name }
            let fields: [Any?] = [
                entry.key, entry.file?.text, answer, options.fields.mimeType, options.fields.charset as Any,
                options.status,
                headers,
                options.ignoreQuery, options.use, options.fields.timeout, options.methods, options.isEnabled,
                options.fields.delay, options.fields.rate,
                requestHeaders, options.fields.times, options.place, options.fields.when?.headers,
                options.fields.when?.query,
                options.fields.when?.json.map { "\($0)" }, options.fields.when?.text,
            ]
            return "\(fields)"
        }.joined(separator: "\n")
    }

    private func body(_ map: SubstitutionMap) -> String? {
        guard case .inline(let body)? = map.entries.first?.options.answer else { return nil }
        return String(decoding: body.data, as: UTF8.self)
    }

    @Test("Answers in code equal the same JSON", arguments: rows)
    func same(_ row: Row) throws {
        let folder = try TemporaryFolder(files: ["a"])
        let inCode = try SubstitutionMap(["https://h/*": row.answer], resources: folder.url)
        let written = try folder.map("{\"https://h/*\": \(row.json)}")
        #expect(body(inCode)?.filter { $0 != " " } == body(written)?.filter { $0 != " " })
        #expect(description(inCode) == description(written))
        #expect(inCode.entries.first?.line == 0)
        #expect(inCode.entries.first?.options.alternatives.allSatisfy { $0.line == 0 } == true)
    }

    @Test("Data is a body, also in alternatives")
    func data() throws {
        let (first, second) = (Data([0, 1]), Data([2]))
        let map = try SubstitutionMap([
            "https://h/a": .data(first, mimeType: "a/b").status(201).bytesPerSecond(9),
            "https://h/b": [.data(first, mimeType: "a/b").times(1), .data(second, mimeType: "c/d").charset("utf-16")],
        ])
        let options = map.entries.flatMap(\.responding).map(\.options)
        let bodies = options.map { options -> Data? in
            guard case .inline(let body) = options.answer, body.kind == .data else { return nil }
            return body.data
        }
        #expect(bodies == [first, first, second])
        #expect(options.map(\.fields.mimeType) == ["a/b", "a/b", "c/d"])
        #expect(options.map(\.status) == [201, 200, 200])
        #expect(options.map(\.fields.rate) == [.bytesPerSecond(9), nil, nil])
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        let answer: Answer
        let kind: SubstitutionMap.Problem.Kind
        let message: String

        init(_ answer: Answer, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
            (self.answer, self.kind, self.message) = (answer, kind, message)
        }

        var testDescription: String { message }
    }

    @Test(
        "A mistake is a problem of its key, without a line",
        arguments: [
            Mistake(.json(Double.nan), .invalidValue, "A value of the type Double can't be encoded as JSON"),
            Mistake(.json(["a": .value([Double.infinity])]), .invalidValue, "can't be encoded as JSON"),
            Mistake(.json(["a": Double.infinity]), .invalidValue, "can't be encoded as JSON"),
            Mistake(.json(text: "{"), .invalidValue, "At byte 2, the JSON text ends inside an object"),
            Mistake(.json(text: "1, \"status\": 404"), .invalidValue, "At byte 2, the JSON text has text after"),
            Mistake(.text("").when(json: .value(Double.nan)), .invalidValue, "can't be encoded as JSON"),
            Mistake(.notSubstituted.status(404), .invalidValue, "“status” can't be set on .notSubstituted"),
            Mistake(.status(404).delay(.infinity), .wrongType, "“delay” must be a number of seconds from 0 to 3600"),
            Mistake(.error(.timedOut).status(5), .invalidValue, "from 200 to 599"),
            Mistake(.status(404).times(2), .conflict, "Write the entry as [.status(503).times(2), .json(…)]."),
            Mistake(.text("").when(json: 1).when(json: 1), .duplicate, "“when” has “json” twice"),
            Mistake(.text("").when(text: "a").when(text: "b"), .duplicate, "“when” has “text” twice"),
            Mistake(.text("").when(headers: ["A": "1"]).when(headers: ["a": "1"]), .duplicate, "“a”"),
            Mistake(.text("").when(query: ["q": "1"]).when(query: ["q": nil]), .duplicate, "“q”"),
            Mistake(.text("").when(json: 1, text: "a").when().when(text: "a"), .duplicate, "“text” twice"),
            Mistake(.text("").when(headers: ["A": nil, "X-B": "1"]).when(headers: ["x-b": nil]), .duplicate, "“x-b”"),
            Mistake(.text("").when(query: ["q": "1"]).when(json: 1).when(query: ["q": "1"]), .duplicate, "“q”"),
            Mistake([.text("").when(json: 1).when(json: 2).times(1), "a"], .duplicate, "“when” has “json” twice"),
            Mistake(.text("").when(), .invalidValue, "“when” is empty"),
            Mistake(.text("").use(.untilUpdated), .conflict, "“untilUpdated” without a “file”"),
            Mistake([], .wrongType, "is empty"), Mistake([.notSubstituted], .wrongType, "Alternative 1 can't be null"),
            Mistake([[.status(404)]], .conflict, "Alternative 1: “alternatives” isn't allowed in an alternative"),
            Mistake(
                [.status(404), .status(500)],
                .neverReached,
                "alternative 1 matches every request that this one would"
            ),
            Mistake("missing", .missingFile, "“missing”"),
            Mistake("https://h/b", .invalidFileName, "use “forwardTo”"),
        ]
    )
    func mistakes(_ mistake: Mistake) throws {
        let folder = try TemporaryFolder(files: ["a"])
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(["https://h/a": mistake.answer], resources: folder.url)
        }
        #expect(error.problems.contains { $0.kind == mistake.kind && $0.message.contains(mistake.message) }, "\(error)")
        #expect(error.problems.allSatisfy { $0.key == "https://h/a" && $0.line == nil })
    }

    @Test("A key that's given twice is a problem, also in another spelling")
    func twice() throws {
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap([
                "https://h/a": .notSubstituted, "https://h/a": .status(404), "https://h/b": .notSubstituted,
                "https://H/b": .notSubstituted,
            ])
        }
        #expect(error.problems.map(\.kind) == [.duplicate, .duplicate])
        #expect(error.problems.map(\.key) == ["https://h/a", "https://H/b"])
        #expect(error.problems.map(\.message).first == "The key is given twice. Keep one.")
    }

    @Test("Plain files share their options")
    func plain() throws {
        let folder = try TemporaryFolder(files: ["a"])
        let map = try SubstitutionMap(["https://h/a": "a", "https://h/b": .file("a")], resources: folder.url)
        #expect(map.entries[0].options === map.entries[1].options)
    }

    @Test("Every code of URLError has a name, and each name means its code")
    func errors() throws {
        #expect(Set(URLErrors.all.map(\.code.rawValue)).count == URLErrors.all.count)
        for (name, code) in URLErrors.all {
            let map = try SubstitutionMap(["https://h/a": .error(code)])
            guard case .error(code)? = map.entries.first?.options.answer else {
                Issue.record("\(name)")
                continue
            }
        }
    }
}
