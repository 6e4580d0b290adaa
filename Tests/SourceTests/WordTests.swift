#if os(Linux)
import Foundation
import TestSupport
import Testing

/// The vocabulary of CONTRIBUTING, in the texts that users read and the names that they write.
@Suite("One word for one thing", .values)
struct WordTests {
    /// A word in a sense that another word has.
    struct OldWord: Sendable, CustomTestStringConvertible {
        let pattern: String
        let instead: String

        var testDescription: String { pattern }

        func isIn(_ text: String) -> Bool { text.range(of: pattern, options: .regularExpression) != nil }
    }

    private static let inTexts = [
        OldWord(
            pattern: #"\b(answers|answered|answering|(can't|to|never|always|doesn't|may) answer)\b"#,
            instead: "matches, returns, responds"
        ),
        OldWord(pattern: #"\b([Pp]assed over|[Rr]uled out)\b"#, instead: "skipped"),
        OldWord(pattern: #"\b[Tt]he loader\b"#, instead: "URLSession"),
        OldWord(pattern: #"\b[Cc]ache alone\b"#, instead: "cache only"),
        OldWord(pattern: #"\b[Nn]ewer cop(y|ies)\b"#, instead: "refreshed file"),
        OldWord(pattern: #"\b([Ss]ent|[Pp]assed) on\b"#, instead: "forwarded"),
        OldWord(pattern: #"\b[Pp]ace[sd]?\b"#, instead: "rate"),
        OldWord(pattern: #"\bcan't be seen\b"#, instead: "isn't available"),
        OldWord(pattern: #"\bdoesn't count\b"#, instead: "is ignored"),
    ]

    private static let inNames = [
        OldWord(pattern: "(?i)passedover|ruledout", instead: "skipped"),
        OldWord(pattern: "(?i)exception", instead: "allowed"),
        OldWord(pattern: "(?i)newercop", instead: "refreshed"),
        OldWord(pattern: "(?i)senton|passedon", instead: "forwarded"),
        OldWord(pattern: "(?i)pace(?!r)(?<!space)", instead: "rate"),
        OldWord(pattern: "answered|answers", instead: "matched"),
    ]

    @Test("Texts don't use an old word", arguments: inTexts)
    func texts(_ word: OldWord) throws {
        let found = try Self.sources.get().flatMap { file, source in
            source.strings.filter { word.isIn($0.text) }.map { "\(file):\($0.line): \($0.text)" }
        }
        #expect(found == [], "Write “\(word.instead)”.")
    }

    @Test("Public names don't have an old word", arguments: inNames)
    func names(_ word: OldWord) throws {
        let found = try Self.sources.get().flatMap { file, source in
            source.lines.enumerated().filter { $0.element.contains("public ") && word.isIn(String($0.element)) }
                .map { "\(file):\($0.offset + 1): \($0.element)" }
        }
        #expect(found == [], "Write “\(word.instead)”.")
    }

    @Test(
        "An old word is found in its old sense only",
        arguments: [
            ("“https://h/a” answers only GET", true), ("No entry can't answer", true), ("the answer", false),
            ("a handler's answer isn't allowed", false), ("It was passed over.", true), ("at its pace", true),
            ("a space", false), ("namespace", false), ("The loader asks", true), ("a newer copy of", true),
            ("replace the link with a copy", false),
        ]
    )
    func senses(_ text: String, isOld: Bool) {
        #expect(Self.inTexts.contains { $0.isIn(text) } == isOld)
    }

    @Test("The contents of strings are read, but not comments, code and interpolations")
    func strings() {
        let source = SourceText(
            "let a = \"one \\(f(\"two\")) three\" // \"four\"\nlet b = \"\"\"\n    five\n    \"\"\"\n"
        )
        #expect(source.strings.map(\.text) == ["one ", "two", " three", "\n    five\n    "])
        #expect(source.strings.map(\.line) == [1, 1, 1, 2])
    }

    private static let sources = Result {
        try PackageFolder.swiftFiles(in: "Sources").map {
            (file: $0, source: SourceText(try PackageFolder.text(of: $0)))
        }
    }
}
#endif
