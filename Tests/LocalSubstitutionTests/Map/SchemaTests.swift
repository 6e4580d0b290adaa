import Foundation
import SchemaValidator
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The JSON Schema of maps", .sessions, .enabled(if: SchemaValidator.isAvailable, "\(SchemaValidator.advice)"))
struct SchemaTests {
    /// Returns whether no schema can see a problem: a JSON parser uses the last of two equal names, and a port is a number up to
    /// 65535.
    private static func isBeyondSchemas(_ row: MapProblemTests.Row) -> Bool {
        row.kind == .duplicate || row.key == "https://h:99999/"
    }

    @Test("It rejects mistakes in a key or a field")
    func rejects() throws {
        let all =
            MapProblemTests.keyRows + MapProblemTests.fieldRows + AnswerProblemTests.rows + StreamProblemTests.rows
        let rows = all.filter { !Self.isBeyondSchemas($0) }
        #expect(all.count - rows.count == 5)
        for (row, problem) in zip(rows, try SchemaValidator.problems(of: rows.map(\.json))) {
            #expect(problem != nil, "\(row.name)")
        }
    }

    @Test("It rejects a file name that leads out of the folder, and anything but an object")
    func rejectsNames() throws {
        let names = ["", "/etc/passwd", "..", "../x", "a/../x", "a/..", #"a\u0000b"#]
        let maps =
            names.map { #"{ "https://h/a": "\#($0)" }"# } + names.map { #"{ "https://h/a": {"file": "\#($0)"} }"# }
        let documents = maps + ["[]", "null", "\"x\"", #"{ "$defaults": null }"#]
        for (document, problem) in zip(documents, try SchemaValidator.problems(of: documents)) {
            #expect(problem != nil, "\(document)")
        }
    }

    /// Maps that load, with everything that a map may have.
    private static let right = [
        "{}", #"{ "$schema": 5 }"#, #"{ "https://h/a": null, "$version": "1.0" }"#,
        #"{ "HTTPS://H:443/%61?b=1&a=2": "a.txt", "*://*.h.example:*/a/*?q=*": "*/..a/a..b/*", "https://*": null }"#,
        #"{ "http://[::1]:8080/": "a.txt", "https://bücher.example/ü|": "ü", "https://h": "a b", "https://h:/?x": "a" }"#,
        #"{ "$defaults": { "delay": 0.5, "comment": "x" }, "https://h/a": { "json": null, "charset": "UTF-8" } }"#,
        #"{ "$defaults": { "charset": null }, "https://h/a": "a", "https://h/b": { "file": "b", "charset": null } }"#,
        #"{ "https://h/a": { "stream": ["a"], "charset": null }, "https://h/b": { "text": "b", "charset": null } }"#,
        #"{ "https://h/*/*": { "forwardTo": "http://[::1]:80/*?q=*", "setRequestHeaders": { "Cookie": null } } }"#,
        #"{ "https://h/a": { "text": "x", "when": { "query": { "a": null }, "json": 5, "text": "*", "headers": { "A": "*" } } } }"#,
        #"{ "https://h/a": { "alternatives": [{ "status": 503, "times": 2 }, "b"], "ignoreQuery": true, "headers": {} } }"#,
        #"{ "$defaults": { "use": "whenOffline" }, "https://h/a": { "text": "", "setRequestHeaders": { "A": "1" } } }"#,
        #"{ "https://h/a": { "status": 200, "headers": { "X-A": "ä\t", "content-lengths": "" }, "ignoreQuery": false } }"#,
        #"{ "https://h/a": { "status": 302, "headers": { "location": "/" }, "follow": false } }"#,
        #"{ "$defaults": { "headers": { "Location": "/" } }, "https://h/a": { "file": "a", "status": 308, "follow": true } }"#,
        #"{ "https://h/a": { "headers": { "Location": "/" }, "alternatives": [{ "status": 303, "follow": false }] } }"#,
        #"{ "https://h/a": { "status": 599, "ignoreQuery": ["a", "utm_*", "*"], "timeout": 0.5, "use": "whenOffline" } }"#,
        #"{ "https://h/a": { "file": "a", "methods": ["GET", "M-SEARCH"], "enabled": false, "mimeType": "a/b+c" } }"#,
        #"{ "https://h/*": { "stream": ["", { "delay": 0, "text": "" }, { "json": null }, { "file": "*" }, { "error": "timedOut", "delay": 3600 }] } }"#,
        #"{ "https://h/a": { "stream": [{ "base64": "" }, { "base64": "AA==" }, { "base64": "+/8=", "delay": 1 }, { "base64": "AAEC" }] } }"#,
        #"{ "https://h/a": { "stream": [{ "error": "timedOut" }], "status": 599, "mimeType": "a/b", "headers": { "A": "1" } } }"#,
        #"{ "https://h/a": { "stream": ["a"], "when": { "query": { "a": "1" } }, "ignoreQuery": true, "enabled": false, "comment": "x" } }"#,
        #"{ "https://h/a": { "text": "a", "secondsPerLine": 3600 }, "https://h/b": { "text": "a", "secondsPerEvent": 0 } }"#,
        #"{ "$defaults": { "bytesPerSecond": 1 }, "https://h/a": { "text": "", "secondsPerLine": 0 }, "https://h/b": { "stream": ["a"] } }"#,
        #"{ "https://h/a": { "bytesPerSecond": 1e9, "alternatives": [{ "json": 1, "times": 1, "secondsPerEvent": 0.5 }, "b"] } }"#,
        #"{ "https://h/a": [{ "status": 503, "times": 1e9 }, { "status": 503, "times": 1000000000 }, "b"] }"#,
        #"{ "https://h/a": { "handler": "h", "delay": 1, "methods": ["PUT"], "when": { "text": "a" }, "ignoreQuery": true } }"#,
        #"{ "https://h/a": [{ "handler": "h", "times": 1 }, { "stream": ["a"], "methods": ["POST"] }], "https://h/b": { "handler": " " } }"#,
        #"{ "https://h/a": { "stream": [\#(Array(repeating: "\"\"", count: 10_000).joined(separator: ","))] } }"#,
    ]

    @Test("It accepts every map that loads")
    func accepts() throws {
        let folder = try TemporaryFolder()
        let handler: SubstitutionMap.Handler = { _ in .notSubstituted }
        for (map, problem) in zip(Self.right, try SchemaValidator.problems(of: Self.right)) {
            #expect(problem == nil, "\(map)")
            let problems = folder.problems(map, handlers: ["h": handler, " ": handler]).filter {
                ![.missingFile, .noResources].contains($0.kind)
            }
            #expect(problems.isEmpty, "\(map)")
        }
    }
}
