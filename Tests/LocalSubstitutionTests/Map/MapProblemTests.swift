import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The problems of a map's entries", .values)
struct MapProblemTests {
    typealias Kind = SubstitutionMap.Problem.Kind

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let json: String
        let kind: Kind
        let key: String
        let line: Int
        let messages: [String]

        /// A map whose only entry, on line 2, has a problem there.
        init(key: String = "https://h/a", _ value: String, _ kind: Kind, _ messages: String...) {
            name = "\(key): \(value)"
            json = "{\n\"\(key)\": \(value)\n}"
            self.kind = kind
            self.key = key
            line = 2
            self.messages = messages
        }

        init(_ name: String, _ json: String, _ kind: Kind, _ key: String, line: Int, _ messages: String...) {
            self.name = name
            self.json = json
            self.kind = kind
            self.key = key
            self.line = line
            self.messages = messages
        }

        var testDescription: String { name }
    }

    private func expect(_ row: Row, in folder: TemporaryFolder) throws {
        let problems = folder.problems(row.json)
        try #require(problems.count == 1, "\(problems)")
        #expect(problems[0].kind == row.kind)
        #expect(problems[0].key == row.key)
        #expect(problems[0].line == row.line)
        for message in row.messages {
            #expect(problems[0].message.contains(message), "\(problems[0].message)")
        }
        let left = try folder.map(row.json, invalidEntries: .skip)
        #expect(left.problems == problems)
    }

    static let keyRows = [
        Row(key: "", "null", .invalidKey, "is empty"),
        Row(key: "htp://x", "null", .invalidKey, "scheme “htp”", "http or https"),
        Row(key: "ftp://h/x", "null", .invalidKey, "scheme “ftp”"),
        Row(key: "//x/y", "null", .invalidKey, "no scheme", "https://"),
        Row(key: "x.png", "null", .invalidKey, "no scheme"),
        Row(key: "https://", "null", .invalidKey, "no host"),
        Row(
            key: "log",
            #"{ "version": "1.2", "creator": {}, "entries": [] }"#,
            .invalidKey,
            "The map is an HTTP archive. Import it into a map with `substitute import FILE`."
        ),
        Row(key: "log", #"{ "status": 404 }"#, .invalidKey, "no scheme"),
        Row(key: "https:/h/a", "null", .invalidKey, "no host"),
        Row(key: "https://u:p@h/", "null", .invalidKey, "user info"),
        Row(key: "https://u@h/*", "null", .invalidKey, "user info"),
        Row(key: "https://h/#f", "null", .invalidKey, "fragment"),
        Row(key: "https://h/*#f", "null", .invalidKey, "fragment"),
        Row(key: "https://a*b.com/", "null", .invalidKey, "host “a*b.com”", "*"),
        Row(key: "https://a b/", "null", .invalidKey, "host “a b”"),
        Row(key: "https://h:99999/", "null", .invalidKey, "port “99999”"),
        Row(key: "https://h:8*/", "null", .invalidKey, "port “8*”"),
        Row(key: "h*://h/", "null", .invalidKey, "scheme “h*”"),
        Row(key: "$default", "{}", .reservedKey, "“$defaults”"),
        Row(key: "$include", #""b.json""#, .reservedKey, "reserved"),
        Row(key: "$Version", #""1.0""#, .reservedKey, "“$version”"),
        Row(key: "$version", "1.0", .wrongType, "must be a string", "such as \"1.0\"."),
        Row(key: "$version", "null", .wrongType, "must be a string"),
        Row(key: "$version", #""1""#, .invalidValue, "“1” isn't a version. Write two numbers", "such as \"1.0\"."),
        Row(key: "$version", #""""#, .invalidValue, "isn't a version"),
        Row(key: "$version", #""1.0.0""#, .invalidValue, "isn't a version"),
        Row(key: "$version", #""1.""#, .invalidValue, "isn't a version"),
        Row(key: "$version", #"".1""#, .invalidValue, "isn't a version"),
        Row(key: "$version", #""01.0""#, .invalidValue, "isn't a version"),
        Row(key: "$version", #""1.00""#, .invalidValue, "isn't a version"),
        Row(key: "$version", #""1.x""#, .invalidValue, "isn't a version"),
        Row(key: "$version", #"" 1.0""#, .invalidValue, "isn't a version"),
        Row(key: "$version", #""-1.0""#, .invalidValue, "isn't a version"),
    ]

    @Test("A key that isn't a URL or a match pattern", arguments: keyRows)
    func keys(_ row: Row) throws {
        try expect(row, in: TemporaryFolder())
    }

    /// Keys with a character that can't be seen, and its escape. A schema doesn't know which characters can't be seen.
    static let invisible = [
        ("\u{200B}https://h/a", "200B"), ("\u{FEFF}https://h/*", "FEFF"), ("https\u{AD}://h/a", "AD"),
        ("\u{2060}*://h/*", "2060"), ("\u{3164}h/a", "3164"), ("https:\u{200B}//h/a", "200B"),
        ("\u{2800}//h/a", "2800"),
        ("https://h/a\u{200B}", "200B"), ("https://h/*\u{FEFF}", "FEFF"), ("https://h/a?b=1\u{E0041}", "E0041"),
        ("https://h/a\u{FFA0}", "FFA0"), ("https://h/a\u{34F}", "34F"), ("https://h/👩\u{200D}", "200D"),
    ]

    @Test("An invisible character is shown, and the advice is to remove it", arguments: invisible)
    func namesInvisible(_ key: String, _ escape: String) throws {
        let json = "{\n\"\(key)\": null\n}"
        try expect(
            Row(key: key, "null", .invalidKey, "Remove the invisible character \\u{\(escape)}."),
            in: TemporaryFolder()
        )
        let description = try #require(TemporaryFolder().problems(json).first).description
        #expect(description.hasPrefix("“\(key.printable)”: The key ") && description == description.printable)
        #expect(description.contains("\\u{\(escape)}"))
    }

    @Test(
        "A key may have such characters where they matter",
        arguments: ["https://h/a\u{200C}b", "https://h/👩\u{200D}💻"]
    )
    func mayJoin(_ key: String) throws {
        #expect(try TemporaryFolder().problems("{\"\(key)\": null}").isEmpty)
    }

    static let fieldRows = [
        Row("5", .wrongType, "a file name, an object"),
        Row("[]", .wrongType, "Add a file name or an object"),
        Row("true", .wrongType, "a file name, an object"),
        Row("{}", .noFile, "“file”", "“status”"),
        Row(#"{"comment": "x"}"#, .noFile, "“file”"),
        Row(#"{"file": 5}"#, .wrongType, "“file” must be a string"),
        Row(#"{"file": null}"#, .wrongType, "“file” must be a string"),
        Row(#"{"status": 404, "mimetype": "x"}"#, .unknownField, "“mimetype”", "Did you mean “mimeType”"),
        Row(#"{"status": 404, "fiel": "x"}"#, .unknownField, "Did you mean “file”"),
        Row(#"{"status": 404, "zzzzzzz": 1}"#, .unknownField, "“zzzzzzz”", "Use one of the fields file, mimeType"),
        Row(#"{"status": 404, "mimeType": 1}"#, .wrongType, "“mimeType” must be a string"),
        Row(#"{"status": 404, "mimeType": "png"}"#, .invalidValue, "“png” isn't a MIME type"),
        Row(#"{"status": 404, "mimeType": "text/css; charset=x"}"#, .invalidValue, "isn't a MIME type"),
        Row(#"{"status": 404, "charset": []}"#, .wrongType, "“charset” must be a string"),
        Row(#"{"status": 404, "charset": "utf 8"}"#, .invalidValue, "“utf 8” isn't a charset"),
        Row(#"{"status": "404"}"#, .wrongType, "“status” must be a number"),
        Row(#"{"status": 404.5}"#, .wrongType, "“status” must be a number"),
        Row(#"{"status": 99}"#, .invalidValue, "“status” can't be 99", "from 200 to 599"),
        Row(#"{"status": 100}"#, .invalidValue, "“status” can't be 100"),
        Row(#"{"status": 103, "text": "early"}"#, .invalidValue, "“status” can't be 103"),
        Row(#"{"status": 199, "json": 1}"#, .invalidValue, "“status” can't be 199"),
        Row(#"{"status": 101, "headers": {"A": "x"}}"#, .invalidValue, "“status” can't be 101"),
        Row(#"{"status": 102, "stream": ["a"]}"#, .invalidValue, "“status” can't be 102"),
        Row(#"{"status": 150, "text": "", "delay": 1}"#, .invalidValue, "“status” can't be 150"),
        Row(#"{"status": 600}"#, .invalidValue, "“status” can't be 600", "from 200 to 599"),
        Row(#"{"status": -200}"#, .invalidValue, "“status” can't be -200"),
        Row(#"{"status": 99999999999999999999}"#, .wrongType, "“status” must be a number from 200 to 599"),
        Row(#"{"status": 404, "headers": []}"#, .wrongType, "“headers” must be an object"),
        Row(#"{"status": 404, "headers": {"A": 1}}"#, .wrongType, "“A” must be a string"),
        Row(#"{"status": 404, "headers": {"A B": "x"}}"#, .invalidHeader, "“A B” isn't a header name"),
        Row(#"{"status": 404, "headers": {"": "x"}}"#, .invalidHeader, "“” isn't a header name"),
        Row(#"{"status": 404, "headers": {"A": "x\r\nB: y"}}"#, .invalidHeader, "“A”", "control character"),
        Row(
            #"{"status": 404, "headers": {"Content-Length": "5"}}"#,
            .invalidHeader,
            "“Content-Length” can't be set"
        ),
        Row(#"{"status": 404, "headers": {"content-encoding": "br"}}"#, .invalidHeader, "“content-encoding” can't"),
        Row(
            #"{"status": 404, "headers": {"Transfer-Encoding": "x"}}"#,
            .invalidHeader,
            "“Transfer-Encoding” can't"
        ),
        Row(#"{"status": 404, "headers": {"X-A": "1", "x-a": "2"}}"#, .duplicate, "“x-a”", "“X-A”"),
        Row(#"{"status": 404, "headers": {"X-A": "1", "X-A": "2"}}"#, .duplicate, "“X-A” is given twice"),
        Row(#"{"status": 404, "ignoreQuery": 1}"#, .wrongType, "“ignoreQuery” must be true, false or a list"),
        Row(#"{"status": 404, "ignoreQuery": "utm_*"}"#, .wrongType, "“ignoreQuery” must be true, false or a list"),
        Row(#"{"status": 404, "ignoreQuery": [1]}"#, .wrongType, "“ignoreQuery” must be true, false or a list"),
        Row(#"{"status": 404, "ignoreQuery": ["a*b"]}"#, .invalidValue, "“ignoreQuery”", "*"),
        Row(#"{"status": 404, "ignoreQuery": [""]}"#, .invalidValue, "“ignoreQuery” can't have “”"),
        Row(#"{"status": 404, "use": 1}"#, .wrongType, "“use” must be a string"),
        Row(#"{"status": 404, "use": "whenoffline"}"#, .invalidValue, "Did you mean “whenOffline”"),
        Row(#"{"status": 404, "use": "xyz"}"#, .invalidValue, "“always”, “untilUpdated” or “whenOffline”"),
        Row(#"{"status": 404, "timeout": "1"}"#, .wrongType, "“timeout” must be a number"),
        Row(#"{"status": 404, "timeout": 0}"#, .invalidValue, "“timeout” must be more than 0"),
        Row(#"{"status": 404, "methods": "GET"}"#, .wrongType, "“methods” must be a list"),
        Row(#"{"status": 404, "methods": []}"#, .invalidValue, "“methods” is empty", "at least one"),
        Row(#"{"status": 404, "methods": ["G T"]}"#, .invalidValue, "“G T” isn't an HTTP method"),
        Row(#"{"status": 404, "enabled": "no"}"#, .wrongType, "“enabled” must be true or false"),
        Row(#"{"status": 404, "enabled": 0}"#, .wrongType, "“enabled” must be true or false"),
        Row(#"{"status": 404, "comment": 1}"#, .wrongType, "“comment” must be a string"),
        Row(#"{"status": 404, "status": 404}"#, .duplicate, "“status” is given twice"),
        Row(key: "$defaults", "[]", .wrongType, "must be an object"),
        Row(key: "$defaults", #"{"fiel": "x"}"#, .unknownField, "Did you mean “file”"),
        Row(key: "$defaults", #"{"delay": -1}"#, .invalidValue, "“delay”", "from 0 to 3600"),
    ]

    @Test("A field that's unknown or has a wrong value", arguments: fieldRows)
    func fields(_ row: Row) throws {
        try expect(row, in: TemporaryFolder())
    }

    @Test(
        "A URL with two entries",
        arguments: [
            Row(
                "the same key",
                "{\"https://h/a\": null,\n\"https://h/b\": null,\n\"https://h/a\": null}",
                .duplicate,
                "https://h/a",
                line: 3,
                "given twice",
                "line 1"
            ),
            Row(
                "the same key, escaped",
                "{\"https://h/a\": null,\n\"https:\\/\\/h\\/\\u0061\": null}",
                .duplicate,
                "https://h/a",
                line: 2,
                "given twice",
                "line 1"
            ),
            Row(
                "keys that are equal when normalised",
                "{\"https://h/a\": null,\n\n\"HTTPS://H:443/%61\": null}",
                .duplicate,
                "HTTPS://H:443/%61",
                line: 3,
                "another spelling of “https://h/a”",
                "line 1"
            ),
            Row(
                "queries in another order",
                "{\"https://h/?b=1&a=2\": null,\n\"https://h/?a=2&b=1\": null}",
                .duplicate,
                "https://h/?a=2&b=1",
                line: 2,
                "“https://h/?b=1&a=2”",
                "line 1"
            ),
            Row(
                "patterns that are equal when normalised",
                "{\"https://h/*\": null,\n\"https://H:443/a/../*\": null}",
                .duplicate,
                "https://H:443/a/../*",
                line: 2,
                "“https://h/*”",
                "line 1"
            ),
            Row(
                "$schema twice",
                "{\"$schema\": 1,\n\"$schema\": 2}",
                .duplicate,
                "$schema",
                line: 2,
                "given twice"
            ),
            Row(
                "$version twice",
                "{\"$version\": \"1.0\",\n\"$version\": \"1.0\"}",
                .duplicate,
                "$version",
                line: 2,
                "given twice"
            ),
            Row(
                "$defaults twice",
                "{\"$defaults\": {},\n\"$defaults\": {}}",
                .duplicate,
                "$defaults",
                line: 2,
                "given twice"
            ),
        ]
    )
    func duplicates(_ row: Row) throws {
        try expect(row, in: TemporaryFolder())
    }
}
