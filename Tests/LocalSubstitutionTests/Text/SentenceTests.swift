import Testing

@testable import LocalSubstitution

@Suite("Sentences")
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
}
