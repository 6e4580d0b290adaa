import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The JSON scanner", .values)
struct JSONScannerTests {
    private func members(_ text: String) throws -> [JSONScanner.Member] {
        try JSONScanner(Array(text.utf8)).members()
    }

    @Test("Each member's key, line and kind are reported, in order")
    func order() throws {
        let found = try members(
            "\n{\"a\": \"text\",\r\n\"b\":\n null, \"c\": [1,\n2],\n\"d\": {\"x\":\n1}, \"e\": true}\n"
        )
        #expect(found.map(\.key) == ["a", "b", "c", "d", "e"])
        #expect(found.map(\.line) == [2, 3, 4, 6, 7])
        #expect(found.map(\.kind) == [.string, .null, .array, .object, .bool])
    }

    @Test("Keys that are given twice are kept")
    func duplicates() throws {
        #expect(try members(#"{"a": 1, "a": 2, "\u0061": 3}"#).map(\.key) == ["a", "a", "a"])
    }

    @Test("An empty object is accepted, with white space around it", arguments: ["{}", " \t\r\n{ \n} \n"])
    func empty(text: String) throws {
        #expect(try members(text).isEmpty)
    }

    @Test(
        "Escapes are decoded",
        arguments: [
            (#"plain é 😀"#, "plain é 😀"), (#"\"\\\/"#, #""\/"#), (#"\b\f\n\r\t"#, "\u{8}\u{C}\n\r\t"),
            (#"\u00e9\u00E9"#, "éé"), (#"\ud83d\uDE00"#, "😀"), (#"a\u0000b"#, "a\u{0}b"), (#"é\n😀"#, "é\n😀"),
            ("\u{7F}", "\u{7F}"),
        ]
    )
    func escapes(written: String, meant: String) throws {
        let member = try #require(try members("{\"\(written)\": \"\(written)\"}").first)
        #expect(member.key == meant)
        #expect(member.text == meant)
    }

    @Test(
        "The bytes of a value are returned",
        arguments: ["0", "-0", "10.25", "1e5", "-1.5E-3", "2e+2", "true", "false", "[]", "[ 1, {\"a\": [null]} ]"]
    )
    func values(text: String) throws {
        let json = "{\"a\":\(text)}"
        let member = try #require(try members(json).first)
        #expect(member.text == nil)
        #expect(String(decoding: Array(json.utf8)[member.range], as: UTF8.self) == text)
    }

    @Test("An object inside a text is read, with the text's line numbers")
    func inside() throws {
        let text = Array("xxx{\"a\": 1,\n\"b\": 2}yyy".utf8)
        let scanner = JSONScanner(text, in: 3..<text.count - 3, line: 7)
        #expect(try scanner.members().map(\.line) == [7, 8])
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let text: String
        let line: Int
        let column: Int
        let message: String

        init(_ text: String, _ line: Int, _ column: Int, _ message: String) {
            self.text = text
            self.line = line
            self.column = column
            self.message = message
        }

        var testDescription: String { text.debugDescription }
    }

    private static let comment =
        "has a comment, which JSON doesn't allow. Remove it, or use an entry's field “comment”."

    @Test(
        "The place where a text stops being JSON is reported, with the reason",
        arguments: [
            Refused("", 1, 1, "is empty"),
            Refused(" \n\n ", 3, 2, "is empty"),
            Refused("{", 1, 2, "ends inside an object"),
            Refused("{\"a\"", 1, 5, "needs a colon"),
            Refused("{\"a\" 1}", 1, 6, "needs a colon after the key “a”"),
            Refused("{\"a\":", 1, 6, "ends where a value is expected"),
            Refused("{\"a\":1", 1, 7, "needs a comma or }"),
            Refused("{\"a\":1,}", 1, 7, "has a comma before }. Remove it."),
            Refused("{\"a\":1 ,\n}", 1, 8, "has a comma before }. Remove it."),
            Refused("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "needs a comma or }"),
            Refused("{'a': 1}", 1, 2, "needs a key in double quotes"),
            Refused("{a: 1}", 1, 2, "needs a key in double quotes"),
            Refused("{\"a\": 1} x", 1, 10, "text after its end"),
            Refused("{\"a\": 1}\u{0}", 1, 9, "text after its end"),
            Refused("{\"a\": [1, 2}", 1, 12, "needs a comma or ]"),
            Refused("{\"a\": [1,]}", 1, 9, "has a comma before ]. Remove it."),
            Refused("{\"a\": nul}", 1, 7, "needs a JSON value"),
            Refused("{\"a\": True}", 1, 7, "needs a JSON value"),
            Refused("{\"a\": NaN}", 1, 7, "needs a JSON value"),
            Refused("{\"a\": // b\n1}", 1, 7, comment),
            Refused("// a\n{}", 1, 1, comment),
            Refused("{ // a\n\"a\": 1}", 1, 3, comment),
            Refused("{\"a\" /* b */: 1}", 1, 6, comment),
            Refused("{\"a\": 1 // b\n}", 1, 9, comment),
            Refused("{\"a\": 1, /* b */}", 1, 10, comment),
            Refused("{\"a\": [/* b */ 1]}", 1, 8, comment),
            Refused("{\"a\": 1}\n// b", 2, 1, comment),
            Refused("{\"a\": -}", 1, 7, "needs a JSON value"),
            Refused("{\"a\": +1}", 1, 7, "needs a JSON value"),
            Refused("{\"a\": 01}", 1, 8, "needs a comma or }"),
            Refused("{\"a\": 1.}", 1, 9, "digit after the decimal point"),
            Refused("{\"a\": 1e}", 1, 9, "digit in the exponent"),
            Refused("{\"a\": 1e-00010}", 1, 10, "exponent of more than 4 digits"),
            Refused("{\"a\": \"b", 1, 9, "ends inside a string"),
            Refused("{\"a\": \"b\\", 1, 9, "ends inside a string"),
            Refused("{\"a\": \"\\n", 1, 10, "ends inside a string"),
            Refused("{\"a\": \"\\x\"}", 1, 8, "unknown escape"),
            Refused("{\"a\": \"\\u12G4\"}", 1, 8, "four hexadecimal digits"),
            Refused("{\"a\": \"\\u12", 1, 8, "four hexadecimal digits"),
            Refused("{\"a\": \"\\ud800\"}", 1, 8, "half of a surrogate pair"),
            Refused("{\"a\": \"\\udc00\\ud800\"}", 1, 8, "half of a surrogate pair"),
            Refused("{\"a\": \"\\ud800\\u0041\"}", 1, 8, "half of a surrogate pair"),
            Refused("{\"a\": \"line\nbreak\"}", 1, 12, "control character"),
            Refused("{\"a\": \"\u{1F}\"}", 1, 8, "control character"),
            Refused("{\"a\": \"\\n\u{1F}\"}", 1, 10, "control character"),
            Refused("{\"é😀\": x}", 1, 8, "needs a JSON value"),
        ]
    )
    func refusals(_ refused: Refused) throws {
        let error = try #require(throws: Complaint.self) { try members(refused.text) }
        let (line, column) = error.position(in: Array(refused.text.utf8))
        #expect("\(line):\(column)" == "\(refused.line):\(refused.column)")
        #expect(error.description.contains(refused.message), "\(error)")
        #expect(error.kind != JSONCursor.notAnObject)
    }

    @Test(
        "A text that's valid JSON but not an object is reported as such",
        arguments: ["[]", "\"a\"", "5", " null", "x"]
    )
    func otherJSON(text: String) throws {
        #expect(try #require(throws: Complaint.self) { try members(text) }.kind == JSONCursor.notAnObject)
    }

    @Test("The byte that isn't UTF-8 is found", arguments: [[], Array("\\n".utf8)])
    func invalidUTF8(before: [UInt8]) throws {
        let scanner = JSONScanner(Array("{\"é".utf8) + before + [0xFF] + Array("\": 1}".utf8))
        let error = try #require(throws: Complaint.self) { try scanner.members() }
        #expect(error.offset == 4 + before.count)
        #expect(error.description.contains("UTF-8"))
    }

    @Test(
        "Nesting is read up to a limit, and rejected beyond it, however much there is",
        arguments: [("[", "]"), ("{\"a\":", "}")]
    )
    func depth(opening: String, closing: String) throws {
        func nested(_ count: Int) -> String {
            "{\"a\":" + String(repeating: opening, count: count) + "1" + String(repeating: closing, count: count) + "}"
        }
        #expect(try members(nested(JSONCursor.deepest - 1)).count == 1)
        for count in [JSONCursor.deepest, 500_000] {
            let error = try #require(throws: Complaint.self) { try members(nested(count)) }
            #expect(error.description.contains("nested more than"))
        }
    }
}
