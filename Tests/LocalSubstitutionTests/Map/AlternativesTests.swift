import Foundation
import MapTools
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Alternatives", .values)
struct AlternativesTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(files: ["a", "b", "f/x"])
    }

    @Test("Each alternative has its own line, place, file and fields")
    func places() throws {
        let map = try folder.map(
            """
            {
              "https://h/a": [
                { "methods": ["POST"],
                  "text": "x" },
                "b",

                { "error": "timedOut" }
              ]
            }
            """
        )
        let alternatives = try #require(map.entries.first).options.alternatives
        #expect(alternatives.map(\.line) == [3, 5, 7])
        #expect(alternatives.map(\.key) == ["https://h/a", "https://h/a", "https://h/a"])
        #expect(alternatives.map { $0.options.place?.number } == [1, 2, 3])
        #expect(alternatives.map { $0.options.place?.count } == [3, 3, 3])
        #expect(alternatives.map { $0.file?.text } == [nil, "b", nil])
        #expect(alternatives.map(\.options.methods) == [["POST"], ["GET"], ["*"]])
        #expect(map.entries.first?.options.place == nil)
        #expect(map.entries.first?.file == nil)
    }

    @Test("Fields come from $defaults, then from the entry, then from the alternative")
    func defaults() throws {
        let map = try folder.map(
            """
            {
              "$defaults": { "headers": { "A": "1", "B": "1" }, "delay": 1, "use": "untilUpdated", "methods": ["PUT"] },
              "https://h/a": {
                "headers": { "b": "2", "C": "2" }, "mimeType": "a/b", "charset": "utf-16", "ignoreQuery": true,
                "alternatives": [
                  { "file": "a", "times": 1, "headers": { "c": "3" } },
                  { "text": "x", "times": 1, "delay": 0, "methods": ["*"] },
                  { "error": "timedOut" }
                ]
              }
            }
            """
        )
        let options = try #require(map.entries.first).options.alternatives.map(\.options)
        #expect(
            options.map(\.fields.headers) == [["A": "1", "b": "2", "c": "3"], ["A": "1", "b": "2", "C": "2"], [:]]
        )
        #expect(options.map(\.fields.mimeType) == ["a/b", "a/b", nil])
        #expect(options.map(\.fields.charset) == ["utf-16", nil, nil])
        #expect(options.map(\.fields.delay) == [1, 0, 1])
        #expect(options.map(\.methods) == [["PUT"], ["*"], ["PUT"]])
        #expect(options.allSatisfy { $0.use == .always && $0.ignoreQuery == nil && $0.isEnabled })
        #expect(map.entries.first?.options.ignoreQuery == Query.Ignored(names: nil))
        #expect(try map.match(NormalizedURL("https://h/a?x=1")).winner?.key == "https://h/a")
    }

    struct Reach: Sendable, CustomTestStringConvertible {
        let alternatives: [String]
        /// The number of the alternative that's never reached, and of the one that answers instead.
        let never: (Int, Int)?

        init(_ alternatives: String..., never: (Int, Int)? = nil) {
            (self.alternatives, self.never) = (alternatives, never)
        }

        var testDescription: String { alternatives.joined(separator: ", ") }
    }

    @Test(
        "An alternative that's never reached is a problem",
        arguments: [
            Reach(#""a""#, #""b""#, never: (2, 1)),
            Reach(#"{"status": 404}"#, #"{"json": 1, "times": 1}"#, never: (2, 1)),
            Reach(#""a""#, #"{"text": "", "when": {"text": "a"}}"#, never: (2, 1)),
            Reach(#""a""#, #"{"text": "", "methods": ["HEAD"]}"#, never: (2, 1)),
            Reach(#"{"error": "timedOut"}"#, #"{"text": "", "methods": ["POST"]}"#, never: (2, 1)),
            Reach(
                #"{"text": "", "methods": ["PUT"]}"#,
                #""a""#,
                #"{"text": "", "methods": ["PUT", "GET"]}"#,
                never: (3, 2)
            ),
            Reach(
                #"{"text": "", "when": {"json": {"a": 1, "b": 2}}}"#,
                #"{"status": 404, "when": {"json": {"b": 2.0, "a": 1}}}"#,
                never: (2, 1)
            ),
            Reach(#"{"text": "", "when": {"query": {"a": "1"}}}"#, #"{"text": "", "when": {"query": {"a": "2"}}}"#),
            Reach(#"{"text": "", "when": {"text": "a"}, "times": 1}"#, #"{"text": "", "when": {"text": "a"}}"#),
            Reach(#"{"text": "", "methods": ["HEAD"]}"#, #""a""#),
            Reach(#""a""#, #"{"text": "", "methods": ["GET", "POST"]}"#),
            Reach(#""a""#, #"{"text": "", "methods": ["*"]}"#),
            Reach(#""a""#, #"{"text": "", "methods": ["get"]}"#),
            Reach(#""f/*""#, #""a""#),
            Reach(#"{"forwardTo": "http://l/*"}"#, #""a""#),
            Reach(#"{"forwardTo": "http://l/"}"#, #""a""#, never: (2, 1)),
            Reach(#"{"setRequestHeaders": {"A": null}}"#, #""a""#, never: (2, 1)),
            Reach(#"{"file": "a", "times": 1}"#, #"{"file": "a", "when": {"text": ""}}"#, #""a""#),
        ]
    )
    func reach(_ reach: Reach) {
        let problems = folder.problems("{\"https://h/*\": [\n\(reach.alternatives.joined(separator: ",\n"))]}")
        #expect(problems.map(\.kind) == (reach.never == nil ? [] : [.neverReached]), "\(problems)")
        guard let (number, first) = reach.never, let problem = problems.first else { return }
        #expect(problem.line == number + 1)
        #expect(problem.message.contains("Alternative \(number) is never reached"))
        #expect(problem.message.contains("alternative \(first) on line \(first + 1) matches"))
        #expect(problem.message.contains("Move this one before alternative \(first), or give alternative \(first) an"))
    }

    @Test("A wrong file is a problem on its own line, and doesn't hide later entries")
    func files() throws {
        let json = "{\"https://h/*\": [\n{\"file\": \"aa\", \"times\": 1},\n\"f/*/*\"], \"https://h/b\": \"b\"}"
        let problems = folder.problems(json)
        #expect(problems.map(\.kind) == [.missingFile, .invalidFileName])
        #expect(problems.map(\.line) == [2, 3])
        let map = try folder.map(json, invalidEntries: .skip)
        #expect(map.problems.map(\.kind) == [.invalidFileName])
        #expect(map.entries.map(\.key) == ["https://h/b"])
    }

    @Test("Files of alternatives are also found later, and aren't unused")
    func laterFiles() throws {
        let map = try folder.map(#"{"https://h/*": [{"file": "gone", "times": 1}, "f/*"]}"#, invalidEntries: .skip)
        #expect(map.fileProblems().map(\.kind) == [.missingFile])
        let unused = MapReview(map).warnings.filter { $0.kind == .unusedFile }.map(\.message)
        #expect(unused.count == 2)
        #expect(!unused.contains { $0.contains("f/x") })
    }

    @Test(
        "The files of a stream are checked even if the entry also has another answer that's wrong",
        arguments: [("text", "3"), ("handler", "3"), ("handler", #""""#), ("handler", #""none""#)]
    )
    func streamBesideWrongAnswer(field: String, value: String) {
        let problems = folder.problems(#"{"https://h/a": {"stream": [{"file": "none"}], "\#(field)": \#(value)}}"#)
        #expect(problems.map(\.kind) == [value == "3" ? .wrongType : .invalidValue, .missingFile])
    }

    @Test("10,000 alternatives take linear time, and more are a problem")
    func many() throws {
        let json = { (count: Int) in Self.json(count) { #"{"status": 200, "methods": ["M\#($0)"], "times": 1}"# } }
        #expect(try takesLinearTime(from: 500, of: json) { _ = try folder.map($0) })
        #expect(try folder.map(json(10_000)).entries.first?.options.alternatives.count == 10_000)
        #expect(folder.problems(json(10_001)).map(\.kind) == [.invalidValue])
    }

    @Test(
        "Many conditions take linear time",
        arguments: [
            (#"{"json": {"number": "#, "}}"), (#"{"json": {"list": [{"page": {"number": "#, #"}}], "size": 1}}"#),
            (#"{"query": {"number": ""#, #""}}"#), (#"{"text": ""#, #""}"#),
        ]
    )
    func conditions(_ start: String, _ end: String) throws {
        let json = { (count: Int) in Self.json(count) { #"{"status": 200, "when": \#(start)\#($0)\#(end)}"# } }
        #expect(try takesLinearTime(from: 200, of: json) { _ = try folder.map($0) })
    }

    private static func json(_ count: Int, _ alternative: (Int) -> String) -> String {
        "{\"https://h/a\": [\(((1..<count).map(alternative) + [#""a""#]).joined(separator: ","))]}"
    }

    @Test("2 MB of JSON take linear time and stay as they're written")
    func large() throws {
        func json(_ count: Int) -> String { "[" + String(repeating: #"{"a" : [1e5, "b"]},"#, count: count) + "null]" }
        #expect(
            try takesLinearTime(from: 10_000, of: { #"{"https://h/a": {"json": \#(json($0))}}"# }) {
                _ = try folder.map($0)
            }
        )
        let large = json(100_000)
        let options = try folder.map(#"{"https://h/a": {"json":  \#(large) }}"#).entries.first?.options
        guard case .inline(let body)? = options?.answer else { return #expect(Bool(false)) }
        #expect(body.data == Data(large.utf8))
    }
}
