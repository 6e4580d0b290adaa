import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Sentences", .values)
struct SentenceTests {
    @Test(
        "A text gets a period unless it ends in punctuation",
        arguments: [
            ("No such file", "No such file."), ("Done.", "Done."), ("Really?", "Really?"), ("Stop!", "Stop!"),
            ("and so on…", "and so on…"), ("It failed. (error 512.)", "It failed. (error 512.)"),
            ("It failed (error 512)", "It failed (error 512)."), ("", ""),
        ]
    )
    func period(_ text: String, _ sentence: String) {
        #expect(text.sentence == sentence)
    }

    @Test(
        "A list has commas, and a word before its last item",
        arguments: [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
    )
    func list(_ texts: [String], _ list: String) {
        #expect(texts.listed() == list)
    }

    @Test(
        "A number has a comma between groups of three digits",
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567"), (1.5, "1.5"), (2, "2"),
            (1_500.25, "1,500.25"), (-0.5, "-0.5"), (1e300, "1e+300"),
        ] as [(Double, String)]
    )
    func grouped(_ number: Double, _ text: String) {
        #expect(number.grouped == text)
        if let whole = Int(exactly: number) { #expect(whole.grouped == text) }
    }

    @Test("A count has the singular only for 1")
    func counted() {
        #expect([0, 1, 1_200].map { $0.counted("entry", "entries") } == ["0 entries", "1 entry", "1,200 entries"])
    }
}
