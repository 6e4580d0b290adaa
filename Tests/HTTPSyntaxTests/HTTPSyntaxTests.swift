import HTTPSyntax
import TestSupport
import Testing

@Suite("The grammar of HTTP", .values)
struct HTTPSyntaxTests {
    @Test(
        "A token has letters, digits and some punctuation",
        arguments: [
            ("Content-Type", true), ("!#$%&'*+-.^_`|~09AZaz", true), ("", false), ("a b", false), ("a:", false),
            ("(a)", false), ("a/b", false), ("é", false), ("a\n", false), ("a\u{7F}", false),
        ]
    )
    func token(text: String, isToken: Bool) {
        #expect(HTTPSyntax.isToken(text) == isToken)
    }

    @Test(
        "A MIME type is two tokens",
        arguments: [
            ("text/html", true), ("image/svg+xml", true), ("text", false), ("/html", false), ("text/", false),
            ("a/b/c", false), ("text/html; charset=utf-8", false),
        ]
    )
    func mimeType(text: String, isMIMEType: Bool) {
        #expect(HTTPSyntax.isMIMEType(text) == isMIMEType)
    }

    @Test(
        "A header's value has no control characters but tabs",
        arguments: [("", true), ("a\tb é", true), ("a\rb", false), ("a\n", false), ("\u{0}", false), ("\u{7F}", false)]
    )
    func fieldValue(text: String, isValue: Bool) {
        #expect(HTTPSyntax.isFieldValue(text.utf8) == isValue)
    }

    @Test(
        "A list has elements between commas, without the white space around them",
        arguments: [
            ("a", ["a"]), ("a,b", ["a", "b"]), (" a b\t,\tc=\"d ", ["a b", "c=\"d"]), (",a, ,b,", ["a", "b"]), ("", []),
            (" , ", []),
        ]
    )
    func elements(list: String, elements: [String]) {
        #expect(HTTPSyntax.elements(of: list).map(String.init) == elements)
        #expect(HTTPSyntax.lowercasedElements(of: list) == elements)
    }

    @Test(
        "A comma in a quoted string separates elements only if they can't have quoted strings",
        arguments: [
            (true, ["a;b=\"c, d\"", "e"]), (false, ["a;b=\"c", "d\"", "e"]),
        ]
    )
    func quotes(_ quotes: Bool, elements: [String]) {
        #expect(HTTPSyntax.elements(of: "a;b=\"c, d\", e", quotes: quotes).map(String.init) == elements)
    }

    @Test(
        "Only ASCII letters of elements become lowercase",
        arguments: [(nil, []), ("Close, \u{212A}eep", ["close", "\u{212A}eep"])] as [(String?, [String])]
    )
    func lowercased(list: String?, elements: [String]) {
        #expect(HTTPSyntax.lowercasedElements(of: list) == elements)
    }

    @Test(
        "Parameters follow a value, without the white space around names and values",
        arguments: [
            ("text/html", []), ("text/html; charset=UTF-8;a", ["charset=UTF-8", "a=nil"]),
            ("a;b\t=\t\"c d\" ; ;e=;=f;g=h=i", ["b=\"c d\"", "e=nil", "g=h=i"]),
        ]
    )
    func parameters(value: String, parameters: [String]) {
        #expect(HTTPSyntax.parameters(of: value).map { "\($0.name)=\($0.value ?? "nil")" } == parameters)
    }

    @Test(
        "A Cache-Control has directives, with or without values",
        arguments: [
            ("", [:]), ("No-Store", ["no-store": ""]), ("=no-store", [:]),
            ("max-age = 5, private=\"X\",", ["max-age": "5", "private": "\"x\""]),
        ]
    )
    func directives(control: String, directives: [String: String]) {
        #expect(HTTPSyntax.directives(of: control) == directives)
    }

    @Test(
        "A Content-Length is a number, also if it's repeated",
        arguments: [
            ("0", 0), ("12", 12), ("5, 5", 5), ("5,5 ,\t5", 5), ("5, 6", nil), ("5,", nil), (",5", nil), ("", nil),
            ("+5", nil), ("-5", nil), ("5 5", nil), ("٥", nil), ("99999999999999999999", nil),
        ] as [(String, Int?)]
    )
    func length(value: String, length: Int?) {
        #expect(HTTPSyntax.length(value) == length)
    }

    @Test(
        "Names of headers are equal if only the case of ASCII letters differs",
        arguments: [
            ("Content-Type", "content-TYPE", true), ("", "", true), ("a", "ab", false), ("a-b", "a_b", false),
            ("[", "{", false), ("K", "\u{212A}", false),
        ]
    )
    func sameHeader(one: String, other: String, isSame: Bool) {
        #expect(one.isSameHeader(as: other) == isSame)
        #expect([one: "1"].contains(headerIn: [other]) == isSame)
    }

    @Test("Setting a header removes other spellings of its name")
    func header() {
        var headers = ["content-type": "a", "CONTENT-TYPE": "b", "X": "c"]
        headers[header: "Content-Type"] = "d"
        #expect(headers == ["Content-Type": "d", "X": "c"])
        #expect(headers[header: "CONTENT-type"] == "d")
        headers[header: "x"] = nil
        #expect(headers == ["Content-Type": "d"])
    }

    @Test(
        "The status determines whether there's a body",
        arguments: [(100, false), (199, false), (200, true), (204, false), (205, false), (304, false), (404, true)]
    )
    func body(status: Int, hasBody: Bool) {
        #expect(HTTPSyntax.hasBody(status: status) == hasBody)
    }
}
