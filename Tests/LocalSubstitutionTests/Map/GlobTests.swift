import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Wildcards in a text", .values)
struct GlobTests {
    private func match(_ pattern: String, _ text: String) -> [String]? {
        Glob(Array(pattern.utf8)).match(Array(text.utf8)[...])?.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "Each wildcard takes as little as possible, and the last one takes the rest",
        arguments: [
            ("abc", "abc", []), ("", "", []), ("*", "", [""]), ("*", "a/b?c", ["a/b?c"]), ("a*", "a", [""]),
            ("a*", "abc", ["bc"]), ("*c", "abc", ["ab"]), ("a*c", "ac", [""]), ("a*c", "abcbc", ["bcb"]),
            ("*/*", "a/b/c", ["a", "b/c"]), ("*.*", "a.b.c", ["a", "b.c"]), ("**", "ab", ["", "ab"]),
            ("*a*", "bab", ["b", "b"]), ("*aa*b", "aaab", ["", "a"]), ("*ab*ab", "ababab", ["", "ab"]),
            ("a*b*c", "abbcc", ["", "bc"]), ("*aab*", "aaab", ["a", ""]), ("*abab*", "abaabab", ["aba", ""]),
        ]
    )
    func captures(pattern: String, text: String, taken: [String]) {
        #expect(match(pattern, text) == taken)
    }

    @Test(
        "These texts don't match",
        arguments: [
            ("abc", "ab"), ("abc", "abcd"), ("", "a"), ("a*", "ba"), ("*a", "ab"), ("ab*bc", "abc"), ("a*a", "a"),
            ("*a*a", "a"), ("*ab*b", "aab"), ("a*b*c", "acb"), ("*a*b*", "ba"),
        ]
    )
    func noMatch(pattern: String, text: String) {
        #expect(match(pattern, text) == nil)
    }

    @Test(
        "In a header's pattern, an asterisk after a backslash is no wildcard",
        arguments: [
            (#"\*/\*"#, "*/*", true), (#"\*/\*"#, "a/b", false), (#"a\**"#, "a*b", true), (#"a\**"#, "ab", false),
            (#"*\*"#, "b*", true), (#"*\*"#, "b", false), (#"\a*"#, #"\ab"#, true), (#"\\*"#, #"\*"#, true),
            ("*", "", true),
            (#"\"#, #"\"#, true), ("", "", true), (#"é\*é"#, "é*é", true), (#"\*\#u{301}"#, "*\u{301}", true),
        ]
    )
    func escaped(pattern: String, text: String, matches: Bool) {
        let glob = Glob(escaped: pattern)
        #expect(glob.matches(text) == matches)
        #expect(glob.text == pattern)
        let exact = Glob(escaped: Glob.escaped(text.utf8))
        #expect(exact.matches(text) && exact.wildcards == 0 && exact.text == Glob.escaped(text.utf8))
    }

    @Test("A text's own asterisk is an ordinary character")
    func asteriskInText() {
        #expect(match("*b", "*b") == ["*"])
    }

    /// Texts that take hours with backtracking, or with a search that restarts at each byte.
    static let hostile: [(name: String, pattern: String, matches: Bool)] = [
        ("50 wildcards that match", String(repeating: "*a", count: 50), true),
        ("50 wildcards that fail at the last", String(repeating: "*a", count: 50) + "*b*", false),
        ("50 wildcards that fail at the end", String(repeating: "*a", count: 50) + "b", false),
        (
            "a literal of half the text that fails at its last byte",
            "*" + String(repeating: "a", count: 50_000) + "b*", false
        ),
        ("20 long literals", String(repeating: "*" + String(repeating: "a", count: 2_000), count: 20) + "*b*", false),
    ]

    @Test("Matching takes linear time", .timeLimit(.minutes(5)), arguments: hostile)
    func linearTime(name: String, pattern: String, matches: Bool) {
        let glob = Glob(Array(pattern.utf8))
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        var matched: Bool?
        let time = ContinuousClock().measure { matched = glob.match(text[...]) != nil }
        #expect(matched == matches)
        #expect(time < .seconds(5), "\(name)")
    }
}
