import TestSupport
import Testing

@testable import LocalSubstitutionTesting

@Suite("The arguments of a recorded test", .values)
struct RecordingArgumentTests {
    @Test("Arguments are named as in Swift Testing's messages", arguments: [("a", 1), ("b", 2)])
    func text(_ text: String, _ number: Int) throws {
        let testCase = try #require(Test.Case.current)
        #expect(Recording.argumentsText(of: testCase) == "\"\(text)\", \(number)")
    }

    @Test("If Swift Testing keeps its arguments elsewhere, they're still told apart")
    func elsewhere() {
        struct Case {
            let values: [Int]
        }
        let texts = [1, 2].map { Recording.argumentsText(of: Case(values: [$0])) }
        #expect(texts[0] != texts[1] && !texts[0].isEmpty, "\(texts)")
    }
}
