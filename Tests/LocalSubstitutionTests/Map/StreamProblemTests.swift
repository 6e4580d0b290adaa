import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The problems of streams, rates and handlers", .values)
struct StreamProblemTests {
    typealias Answer = SubstitutionMap.Answer
    typealias Kind = SubstitutionMap.Problem.Kind
    typealias Row = MapProblemTests.Row

    static let handlers: [String: SubstitutionMap.Handler] = [
        "saveOrder": { _ in .notSubstituted }, "h": { _ in .notSubstituted },
    ]

    @Test(
        "A problem has its own line, even if the value around it begins below its key",
        arguments: [
            ("https://h/a", "{\n\"text\": \"a\",\n\"bytesPerSecond\":\n0\n}", 4),
            ("https://h/a", "{\n\"stream\":\n[\n\"a\",\n5\n]\n}", 6),
            ("https://h/a", "{\n\"stream\": [\n{\n\"text\": \"a\",\n\"delay\":\n-1\n}\n]\n}", 6),
            ("https://h/a", "[\n\"a.txt\",\n{\n\"when\":\n{\n\"body\": 1\n},\n\"text\": \"a\"\n}\n]", 7),
            ("https://h/a", "{\n\"alternatives\":\n[\n{\n\"text\": 1\n}\n]\n}", 6),
            ("https://h/a", "{\n\"text\": \"a\",\n\"headers\":\n{\n\"A\": \"b\",\n\"a\": \"c\"\n}\n}", 7),
            ("$defaults", "{\n\"bytesPerSecond\": 0\n}", 3),
        ]
    )
    func lines(key: String, value: String, line: Int) throws {
        let problems = try TemporaryFolder(files: ["a.txt"]).problems("{\"\(key)\":\n\(value)}")
        #expect(problems.map(\.line) == [line], "\(problems)")
    }

    private static let pieces = [
        Row(#"{"stream": []}"#, .invalidValue, "“stream” is empty", "Add a piece"),
        Row(#"{"stream": "a"}"#, .wrongType, "“stream” must be a list of pieces"),
        Row(#"{"stream": {}}"#, .wrongType, "“stream” must be a list of pieces"),
        Row(
            "10,001 pieces",
            "{\"https://h/a\": {\n\"comment\": \"x\",\n\"stream\": [\"a\"\(String(repeating: ", \"a\"", count: 10_000))]}}",
            .invalidValue,
            "https://h/a",
            line: 3,
            "“stream” has more than 10,000 pieces",
            "Join some"
        ),
        Row(#"{"stream": ["a", 5]}"#, .wrongType, "Piece 2 must be a string, or an object"),
        Row(#"{"stream": [null]}"#, .wrongType, "Piece 1 must be a string, or an object"),
        Row(#"{"stream": [true]}"#, .wrongType, "Piece 1 must be a string, or an object"),
        Row(#"{"stream": [["a"]]}"#, .wrongType, "Piece 1 must be a string, or an object"),
        Row(#"{"stream": ["a", {}]}"#, .noFile, "Piece 2: The content is missing", "“base64”, “json”, “file” or"),
        Row(#"{"stream": [{"delay": 1}]}"#, .noFile, "Piece 1: The content is missing"),
        Row(
            #"{"stream": [{"text": "a", "json": 1}]}"#,
            .conflict,
            "Piece 1: “text” and “json” can't go together",
            "Make them two pieces"
        ),
        Row(
            #"{"stream": [{"text": "a", "base64": "YQ=="}]}"#,
            .conflict,
            "Piece 1: “text” and “base64” can't go together",
            "Make them two pieces"
        ),
        Row(#"{"stream": ["a", {"base64": "YQ="}]}"#, .invalidValue, "Piece 2: “base64” isn't valid", "add = until"),
        Row(#"{"stream": [{"base64": "Y Q=="}]}"#, .invalidValue, "Piece 1: “base64” isn't valid"),
        Row(#"{"stream": [{"base64": "_-8="}]}"#, .invalidValue, "Piece 1: “base64” isn't valid", "+ and /"),
        Row(#"{"stream": [{"base64": [0]}]}"#, .wrongType, "Piece 1: “base64” must be a string with bytes in base64"),
        Row(#"{"stream": [{"text": "a", "bas64": ""}]}"#, .unknownField, "Piece 1: The field “bas64”", "mean “base64”"),
        Row(#"{"base64": "YQ=="}"#, .unknownField, "The field “base64” is unknown"),
        Row(#"{"stream": [{"error": "timedOut", "file": "a"}]}"#, .conflict, "“error” and “file” can't go together"),
        Row(#"{"stream": [{"text": "a", "txt": 1}]}"#, .unknownField, "Piece 1: The field “txt”", "mean “text”"),
        Row(#"{"stream": [{"text": "a", "status": 1}]}"#, .unknownField, "Use “text”, “base64”, “json”, “file”,"),
        Row(#"{"stream": [{"text": "a", "text": "b"}]}"#, .duplicate, "Piece 1: The field “text” is given twice"),
        Row(
            #"{"stream": [{"error": "timedOut"}, "a"]}"#,
            .conflict,
            "Piece 1: “error” ends the stream",
            "Make it the last piece"
        ),
        Row(#"{"stream": ["a", {"error": "timedOut"}, {"error": "timedOut"}]}"#, .conflict, "Piece 2: “error” ends"),
        Row(#"{"stream": [{"error": "offline"}]}"#, .invalidValue, "Piece 1:", "Did you mean “notConnectedToInternet”"),
        Row(#"{"stream": [{"text": 1}]}"#, .wrongType, "Piece 1: “text” must be a string"),
        Row(#"{"stream": [{"file": null}]}"#, .wrongType, "Piece 1: “file” must be a string"),
        Row(#"{"stream": [{"text": "a", "delay": -0.1}]}"#, .invalidValue, "Piece 1: “delay”", "from 0 to 3600"),
        Row(#"{"stream": [{"text": "a", "delay": 3600.5}]}"#, .invalidValue, "Piece 1: “delay”", "from 0 to 3600"),
        Row(#"{"stream": [{"text": "a", "delay": null}]}"#, .wrongType, "Piece 1: “delay”", "from 0 to 3600"),
        Row(#"{"stream": [{"file": ""}]}"#, .invalidFileName, "Piece 1: The file “”"),
        Row(#"{"stream": [{"file": "../a"}]}"#, .invalidFileName, "Piece 1: The file “../a”"),
        Row(#"{"stream": [{"file": "https://h/a"}]}"#, .invalidFileName, "Piece 1:", "is a URL"),
        Row(#"[{"stream": ["a", 5]}]"#, .wrongType, "Alternative 1: Piece 2 must be a string"),
        Row(
            #"{"stream": ["a"], "file": "a"}"#,
            .conflict,
            "“file” and “stream” can't go together",
            "Keep one of them."
        ),
    ]

    /// An error that isn't the last piece, in each place where the schema sees it, and two errors after these places.
    private static let earlyErrors = (1...9).map { number in
        let error = #"{"error": "timedOut"}"#
        let pieces = Array(repeating: "\"a\"", count: number - 1) + [error, number < 9 ? "\"z\"" : error]
        return Row(
            "{\"stream\": [\(pieces.joined(separator: ", "))]}",
            .conflict,
            "Piece \(number): “error” ends the stream",
            "Make it the last piece"
        )
    }

    private static let statuses = [204, 205, 304].map { status in
        Row(
            #"{"stream": ["a"], "status": \#(status)}"#,
            .conflict,
            "“stream” can't go with status \(status), which allows no body",
            "such as 200"
        )
    }

    private static let rates = [
        Row(#"{"text": "a", "bytesPerSecond": 0}"#, .invalidValue, "“bytesPerSecond” must be a whole number from 1 to"),
        Row(#"{"text": "a", "bytesPerSecond": 1.5}"#, .wrongType, "“bytesPerSecond” must be a whole number from 1 to"),
        Row(#"{"text": "a", "bytesPerSecond": 1000000001}"#, .invalidValue, "from 1 to 1,000,000,000"),
        Row(#"{"text": "a", "bytesPerSecond": "1"}"#, .wrongType, "“bytesPerSecond” must be a whole number from 1 to"),
        Row(key: "$defaults", #"{"bytesPerSecond": 0}"#, .invalidValue, "“bytesPerSecond”"),
        Row(#"{"text": "a", "secondsPerLine": -1}"#, .invalidValue, "“secondsPerLine”", "from 0 to 3600"),
        Row(#"{"text": "a", "secondsPerLine": 3601}"#, .invalidValue, "“secondsPerLine”", "from 0 to 3600"),
        Row(#"{"text": "a", "secondsPerEvent": -0.1}"#, .invalidValue, "“secondsPerEvent”", "from 0 to 3600"),
        Row(#"{"text": "a", "secondsPerEvent": 3601}"#, .invalidValue, "“secondsPerEvent”", "from 0 to 3600"),
        Row(#"{"text": "a", "secondsPerEvent": "1"}"#, .wrongType, "“secondsPerEvent”", "from 0 to 3600"),
        Row(#"{"bytesPerSecond": 1}"#, .noFile, "The answer is missing"),
        Row(
            #"{"text": "a", "secondsPerLine": 1, "secondsPerEvent": 1}"#,
            .conflict,
            "“secondsPerEvent” can't go with another rate",
            "Keep only one of"
        ),
        Row(
            #"{"text": "a", "bytesPerSecond": 1, "secondsPerLine": 1}"#,
            .conflict,
            "“secondsPerLine” can't go with another rate"
        ),
        Row(
            #"{"text": "a", "secondsPerEvent": 1, "bytesPerSecond": 1}"#,
            .conflict,
            "“bytesPerSecond” can't go with another rate"
        ),
        Row(#"{"stream": ["a"], "bytesPerSecond": 1}"#, .conflict, "with “stream”: each piece", "Remove"),
        Row(#"{"error": "timedOut", "secondsPerLine": 1}"#, .conflict, "with “error”: a request that fails", "Remove"),
        Row(#"{"forwardTo": "http://l", "secondsPerEvent": 1}"#, .conflict, "with “forwardTo”: the response", "Remove"),
        Row(#"{"handler": "h", "bytesPerSecond": 1}"#, .conflict, "with “handler”: the handler makes", "Remove"),
        Row(
            #"{"status": 404, "bytesPerSecond": 1}"#,
            .conflict,
            "with “status”: an empty body has no rate",
            "add “json”"
        ),
        Row(
            #"{"alternatives": ["a"], "secondsPerLine": 1}"#,
            .conflict,
            "with “alternatives”: each alternative has its own",
            "Write “secondsPerLine” in an alternative"
        ),
        Row(#"{"alternatives": ["a"], "secondsPerEvent": 1}"#, .conflict, "Write “secondsPerEvent” in an alternative"),
        Row(key: "$defaults", #"{"secondsPerLine": 1}"#, .conflict, "“secondsPerLine” can't be a default"),
        Row(key: "$defaults", #"{"secondsPerEvent": 1}"#, .conflict, "“secondsPerEvent” can't be a default"),
        Row(key: "$defaults", #"{"stream": ["a"]}"#, .conflict, "“stream” can't be a default"),
        Row(key: "$defaults", #"{"handler": "h"}"#, .conflict, "“handler” can't be a default"),
    ]

    private static let handlerRows =
        [
            Row(
                #"{"handler": ""}"#,
                .invalidValue,
                "“handler” is empty",
                "Use one of your handlers (“h”, “saveOrder”)"
            ),
            Row(#"{"handler": "h", "status": 201}"#, .conflict, "with “handler”: the handler makes the whole response"),
            Row(#"{"handler": "h", "timeout": 1}"#, .conflict, "with “handler”: the handler makes the whole response"),
            Row(
                #"{"handler": "h", "setRequestHeaders": {"A": "b"}}"#,
                .conflict,
                "with “handler”: the handler makes the whole response"
            ),
        ]
        + ["0", "-1", "1.5", "null", "true", "{}", "[]"].map {
            Row("{\"handler\": \($0)}", .wrongType, "“handler” must be a string with the name of a handler")
        }

    /// Fields and values that a stream can't have, because it never uses the network and is always UTF-8.
    private static let besideStreams = [
        Row(#"{"stream": ["a"], "charset": "utf-16"}"#, .conflict, "the body is UTF-8", "Remove “charset”"),
        Row(#"{"stream": ["a"], "use": "always"}"#, .conflict, "“use” can't go with “stream”", "never uses"),
        Row(#"{"stream": ["a"], "timeout": 1}"#, .conflict, "“timeout” can't go with “stream”", "never uses"),
        Row(
            #"{"stream": ["a"], "setRequestHeaders": {"A": "1"}}"#,
            .conflict,
            "“setRequestHeaders” can't go with “stream”: a stream never uses the network"
        ),
    ]

    static let rows = pieces + earlyErrors + statuses + rates + handlerRows + besideStreams

    /// Problems that a schema can't see.
    private static let others = [
        Row(
            #"{"handler": "saveOrders"}"#,
            .invalidValue,
            "There's no handler “saveOrders”.",
            "Use one of your handlers (“h”, “saveOrder”), or add another to `handlers:`."
        ),
        Row(
            #"[{"status": 503, "times": 1}, {"handler": "x"}]"#,
            .invalidValue,
            "Alternative 2: There's no handler “x”"
        ),
        Row(#"{"stream": ["a", {"file": "b"}]}"#, .missingFile, "Piece 2: The file “b” doesn't exist"),
        Row(
            #"{"stream": [{"file": "*"}]}"#,
            .invalidFileName,
            "Piece 1: The file “*” has 1 *",
            "the key has none after its host"
        ),
        Row(key: "https://h/*", #"{"stream": [{"file": "*/*"}]}"#, .invalidFileName, "has 2 *", "only 1"),
        Row(#"{"stream": [{"file": "out"}]}"#, .outsideFolder, "Piece 1: The file “out” "),
        Row(#"[{"stream": [{"file": "b"}]}]"#, .missingFile, "The file “b” doesn't exist"),
        Row(
            "{\"stream\": [{\"json\": \(String(repeating: "[", count: 65) + String(repeating: "]", count: 65))}]}",
            .invalidValue,
            "Piece 1: “json” is nested more than 64 levels deep"
        ),
    ]

    private static func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder(files: ["in/a", "b"])
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("in/out").path,
            withDestinationPath: folder.file("b").path
        )
        return folder
    }

    @Test("Each is one problem with its key, its line and the fix", arguments: rows + others)
    func problem(_ row: Row) throws {
        let folder = try Self.folder()
        let (json, resources) = (Data(row.json.utf8), folder.url.appendingPathComponent("in"))
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(json: json, resources: resources, handlers: Self.handlers)
        }
        let problem = try #require(error.problems.first)
        #expect(error.problems.count == 1, "\(error)")
        #expect(problem.kind == row.kind)
        #expect(problem.key == row.key)
        #expect(problem.line == row.line)
        for message in row.messages { #expect(problem.message.contains(message), "\(problem.message)") }
        let rest = try SubstitutionMap(
            json: json,
            resources: resources,
            invalidEntries: .skip,
            handlers: Self.handlers
        )
        // Missing files are looked for when they're requested.
        let isOfFile = [.missingFile, .outsideFolder].contains(row.kind)
        #expect(rest.count == (isOfFile ? 1 : 0))
        #expect((isOfFile ? rest.fileProblems() : rest.problems) == error.problems)
    }

    @Test("A wrong piece has its own line, and the others keep their numbers")
    func lines() throws {
        let json = """
            {
              "https://h/a": {
                "stream": [
                  5,
                  { "text": "a",
                    "json": 1 },
                  { "error": "timedOut" },
                  {
                    "file": "missing",
                    "delay": -1
                  },
                  {}
                ],
                "bytesPerSecond": 0
              }
            }
            """
        let problems = try Self.folder().problems(json)
        #expect(problems.map(\.line) == [4, 6, 7, 8, 10, 12, 14])
        #expect(
            problems.map(\.kind) == [
                .wrongType, .conflict, .conflict, .missingFile, .invalidValue, .noFile, .invalidValue,
            ]
        )
        #expect(problems.allSatisfy { $0.key == "https://h/a" })
        let numbers = problems.map { $0.message.split(whereSeparator: { " :".contains($0) }).prefix(2).joined() }
        #expect(numbers.dropLast() == ["Piece1", "Piece2", "Piece3", "Piece4", "Piece4", "Piece5"])
    }

    struct Coded: Sendable, CustomTestStringConvertible {
        let answer: Answer
        let kind: Kind
        let message: String

        init(_ answer: Answer, _ kind: Kind, _ message: String) {
            (self.answer, self.kind, self.message) = (answer, kind, message)
        }

        var testDescription: String { message }
    }

    private static let coded = [
        Coded(.stream([]), .invalidValue, "“stream” is empty. Add a piece"),
        Coded(.stream(Array(repeating: "a", count: 10_001)), .invalidValue, "“stream” has more than 10,000 pieces"),
        Coded(
            .stream([.error(.timedOut), "a"]),
            .conflict,
            "Piece 1: “error” ends the stream. Make it the last piece."
        ),
        Coded(
            .stream(["a", .text("b").delay(-1)]),
            .invalidValue,
            "Piece 2: “delay” must be a number of seconds from 0"
        ),
        Coded(.stream([.text("b").delay(3601)]), .invalidValue, "Piece 1: “delay” must be a number of seconds from 0"),
        Coded(.stream([.text("b").delay(.nan)]), .wrongType, "Piece 1: “delay” must be a number of seconds from 0"),
        Coded(.stream([.file("none")]), .missingFile, "Piece 1: The file “none” doesn't exist"),
        Coded(.stream([.file("out")]), .outsideFolder, "Piece 1: The file “out” "),
        Coded(.stream([.file("*")]), .invalidFileName, "Piece 1: The file “*” has 1 *"),
        Coded(.stream([.json(.value(Double.infinity))]), .invalidValue, "A value of the type Double can't be encoded"),
        Coded(.stream(["a"]).status(204), .conflict, "“stream” can't go with status 204"),
        Coded(.stream(["a"]).bytesPerSecond(1), .conflict, "“bytesPerSecond” can't go with “stream”"),
        Coded(.stream(["a"]).secondsPerLine(1), .conflict, "“secondsPerLine” can't go with “stream”"),
        Coded(.stream(["a"]).charset("koi8-r"), .conflict, "“charset” can't be “koi8-r”, because the body is UTF-8"),
        Coded(.text("a").bytesPerSecond(0), .invalidValue, "“bytesPerSecond” must be a whole number from 1 to"),
        Coded(.text("a").bytesPerSecond(1_000_000_001), .invalidValue, "“bytesPerSecond” must be a whole number"),
        Coded(.text("a").secondsPerLine(-1), .invalidValue, "“secondsPerLine” must be a number of seconds from 0"),
        Coded(.text("a").secondsPerLine(3601), .invalidValue, "“secondsPerLine” must be a number of seconds from 0"),
        Coded(.text("a").secondsPerEvent(-1), .invalidValue, "“secondsPerEvent” must be a number of seconds from 0"),
        Coded(.text("a").secondsPerEvent(3601), .invalidValue, "“secondsPerEvent” must be a number of seconds from 0"),
        Coded(.text("a").bytesPerSecond(1).secondsPerLine(1), .conflict, "“secondsPerLine” can't go with another rate"),
        Coded(
            .text("a").secondsPerEvent(1).bytesPerSecond(1),
            .conflict,
            "“bytesPerSecond” can't go with another rate"
        ),
        Coded(.status(404).bytesPerSecond(1), .conflict, "“bytesPerSecond” can't go with “status”: an empty body"),
        Coded(.error(.timedOut).bytesPerSecond(1), .conflict, "“bytesPerSecond” can't go with “error”"),
        Coded(.forward(to: "http://l").secondsPerLine(1), .conflict, "“secondsPerLine” can't go with “forwardTo”"),
        Coded(
            .handler { _ in .notSubstituted }.secondsPerEvent(1),
            .conflict,
            "“secondsPerEvent” can't go with “handler”"
        ),
        Coded(.handler { _ in .notSubstituted }.status(201), .conflict, "“status” can't go with “handler”"),
        Coded([.stream(["a", .error(.timedOut), "b"])], .conflict, "Alternative 1: Piece 2: “error” ends the stream"),
    ]

    @Test("Maps in code have the same problems, without lines", arguments: coded)
    func inCode(_ row: Coded) throws {
        let folder = try Self.folder()
        let resources = folder.url.appendingPathComponent("in")
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(["https://h/a": row.answer], resources: resources)
        }
        #expect(error.problems.map(\.kind) == [row.kind], "\(error)")
        #expect(error.problems.map(\.key) == ["https://h/a"])
        #expect(error.problems.map(\.line) == [nil])
        #expect(error.problems.first?.message.contains(row.message) == true, "\(error)")
    }

    @Test("Without handlers, the fix says where to give one; one that no entry names isn't a problem")
    func names() throws {
        let folder = try Self.folder()
        let messages = folder.problems(#"{"https://h/a": {"handler": "h"}, "https://h/b": {"handler": ""}}"#).map(
            \.message
        )
        #expect(
            messages == [
                "There's no handler “h”. Pass it in `handlers:` where you load the map.",
                "“handler” is empty. Pass a handler in `handlers:` where you load the map, and write its name here.",
            ]
        )
        #expect(folder.problems(#"{"https://h/a": {"handler": "h"}}"#, handlers: Self.handlers).isEmpty)
    }
}
