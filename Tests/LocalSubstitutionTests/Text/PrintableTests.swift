import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Printable text", .values)
struct PrintableTests {
    @Test(
        "Characters that control a terminal or can't be seen are escaped, and all others stay unchanged",
        arguments: [
            ("", ""), ("plain é 😀 ä\u{301} עברית", "plain é 😀 ä\u{301} עברית"),
            ("👩\u{200D}💻 a\u{A0}b ❤\u{FE0F}", "👩\u{200D}💻 a\u{A0}b ❤\u{FE0F}"),
            ("\u{200B}https \u{FEFF}\u{AD}\u{2060}", #"\u{200B}https \u{FEFF}\u{AD}\u{2060}"#),
            ("\u{3164}\u{115F}\u{1160}\u{FFA0}\u{2800}\u{34F}", #"\u{3164}\u{115F}\u{1160}\u{FFA0}\u{2800}\u{34F}"#),
            ("🏴\u{E0067}\u{E007F}", #"🏴\u{E0067}\u{E007F}"#), ("👩\u{200D} a\u{200D}1", #"👩\u{200D} a\u{200D}1"#),
            ("\u{0}\t\n\r\u{1B}[31m\u{7F}", #"\u{0}\u{9}\u{A}\u{D}\u{1B}[31m\u{7F}"#),
            ("\u{80}\u{85}\u{9B}\u{9F}", #"\u{80}\u{85}\u{9B}\u{9F}"#),
            ("\u{61C}\u{200E}\u{200F}", #"\u{61C}\u{200E}\u{200F}"#),
            ("\u{2028}\u{2029}", #"\u{2028}\u{2029}"#),
            ("\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}", #"\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}"#),
            ("\u{2066}\u{2067}\u{2068}\u{2069}", #"\u{2066}\u{2067}\u{2068}\u{2069}"#),
            ("\r\n", #"\u{D}\u{A}"#), ("e\u{202E}\u{301}", #"e\u{202E}"# + "\u{301}"),
        ]
    )
    func printable(text: String, printable: String) {
        #expect(text.printable.unicodeScalars.elementsEqual(printable.unicodeScalars))
        #expect(text.printable.printable == text.printable)
    }

    @Test("A suggestion differs visibly from what's in the map")
    func suggestion() throws {
        let folder = try TemporaryFolder(files: ["ok.txt"])
        let problem = try #require(folder.problems(#"{ "https://h/a": "\u200Bok.txt" }"#).first)
        #expect(problem.description.contains(#"“\u{200B}ok.txt” doesn't exist. Did you mean “ok.txt”?"#))
    }
}
