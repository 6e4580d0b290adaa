import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("JSON values that are part of another one", .values)
struct JSONValueTests {
    private func value(_ text: String) throws -> JSONValue {
        try Array(text.utf8).withUnsafeBufferPointer { try JSONValue($0) }
    }

    private func number(_ text: String) -> JSONValue { .number(text) }

    struct Row: Sendable, CustomTestStringConvertible {
        let part: String
        let whole: String
        /// The path of the difference; `nil` if the value is a part of the other one.
        let path: String?

        init(_ part: String, of whole: String, differsAt path: String? = nil) {
            (self.part, self.whole, self.path) = (part, whole, path)
        }

        var testDescription: String { "\(part) of \(whole)" }
    }

    @Test(
        arguments: [
            Row("{}", of: #"{"a": 1}"#), Row("{}", of: "[]", differsAt: ""), Row("[]", of: "[]"),
            Row("null", of: "null"),
            Row(#"{"a": 1}"#, of: #"{"b": 2, "a": 1}"#), Row(#"{"a": 1}"#, of: #"{"b": 2}"#, differsAt: "a"),
            Row(#"{"a": {"b": [1, {"c": 2}]}}"#, of: #"{"a": {"b": [1, {"c": 2, "d": 3}], "e": 4}}"#),
            Row(#"{"a": {"b": [1, {"c": 2}]}}"#, of: #"{"a": {"b": [1, {"c": 3}]}}"#, differsAt: "a.b[1].c"),
            Row("[1]", of: "[1, 2]", differsAt: ""), Row("[1, 2]", of: "[2, 1]", differsAt: "[0]"),
            Row(#"{"a": null}"#, of: #"{"a": null}"#), Row(#"{"a": null}"#, of: "{}", differsAt: "a"),
            Row("true", of: "true"), Row("true", of: "1", differsAt: ""), Row("false", of: "null", differsAt: ""),
            Row(#""1""#, of: "1", differsAt: ""), Row(#""é""#, of: #""\u00e9""#),
            Row(#""é""#, of: #""e\u0301""#, differsAt: ""), Row(#"{"é": 1}"#, of: #"{"e\u0301": 1}"#, differsAt: "é"),
            Row(#"{"a": 2}"#, of: #"{"a": 1, "a": 2}"#), Row(#"{"a": 1}"#, of: #"{"a": 1, "a": 2}"#, differsAt: "a"),
        ]
    )
    func parts(_ row: Row) throws {
        #expect(try value(row.part).difference(from: value(row.whole))?.path == row.path)
    }

    @Test(
        "Numbers are equal as decimals",
        arguments: [
            ["1", "1.0", "10e-1", "0.1e1", "1e0", "1E+00", "0.0000001e7"],
            ["0", "-0", "0.0", "0e9999"],
            ["-1.50", "-15e-1"], ["9007199254740993"], ["9007199254740992"], ["0.1"], ["0.10000000000000001"],
            ["1e9999", "10e9998", "100000e9994"], ["-1e9999"], ["1e-9999", "10e-10000", "0.1e-9998"],
        ]
    )
    func numbers(_ equal: [String]) {
        let others = ["2", "10", "-2", "0.5", "1e9998", "1e-9998"]
        for first in equal {
            for second in equal { #expect(number(first) == number(second), "\(first) \(second)") }
            for other in others { #expect(number(first) != number(other), "\(first) \(other)") }
        }
    }

    @Test("Equal values have equal hashes, and a table tells different objects apart")
    func hashes() throws {
        let equal = [#"{"a": 1, "b": {"c": [2, {}]}}"#, #"{"b": {"c": [2.0, {}]}, "a": 3, "a": 10e-1}"#]
        #expect(Set(try equal.map(value)).count == 1)
        #expect(Set(try equal.map { try value($0).hashValue }).count == 1)
        let different = ["1", "2"].flatMap { [#"{"a": \#($0)}"#, #"[{"a": {"b": \#($0)}}]"#] }
        #expect(Set(try different.map { try value($0).hashValue }).count == different.count)
    }

    @Test("Numbers differ even if Double makes them equal")
    func precision() {
        #expect(number("9007199254740993") != number("9007199254740992"))
        #expect(number("0.1") != number("0.10000000000000001"))
        #expect(number("1e999") != number("1e1000"))
        #expect(number("1") != number("-1"))
        #expect(number("1e1000") != number("1e-1000"))
    }

    @Test(arguments: ["", "{", "[1,]", "nul", "1 2", #"{"a" 1}"#, "01", "1e10000", #""\ud800""#, "\"\u{1}\""])
    func wrong(_ text: String) {
        #expect(throws: Complaint.self) { try value(text) }
    }

    @Test("Nesting ends at a limit", arguments: [(64, false), (65, true), (10_000, true), (1_000_000, true)])
    func depth(_ count: Int, _ isTooDeep: Bool) throws {
        // Empty lists don't count.
        let text = String(repeating: "[", count: count) + "1" + String(repeating: "]", count: count)
        do throws(Complaint) {
            _ = try Array(text.utf8).withUnsafeBufferPointer { bytes throws(Complaint) in
                try JSONValue(bytes)
            }
            #expect(!isTooDeep)
        } catch {
            #expect(error.kind == JSONCursor.tooDeep && isTooDeep)
            #expect(error.description.contains("64"))
        }
    }
}
