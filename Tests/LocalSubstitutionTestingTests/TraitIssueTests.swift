#if os(Linux) || os(macOS)
import Foundation
import Testing

/// What the issues are that the trait records, in a process in which tests are to fail.
@Suite("Issues of the trait", .timeLimit(.minutes(5)))
struct TraitIssueTests {
    /// One process for all of them.
    private static let child = Task { try await ChildProcess.run("ChildTraits|Shopping|ordering") }

    private static func issues(_ test: String) async throws -> [ChildProcess.Issue] {
        let child = try await child.value
        #expect(child.ended.contains("ChildTraits/\(test)"), "\(child.output)")
        return child.issues(of: "ChildTraits/\(test)")
    }

    @Test(
        "there is none if all is well",
        arguments: ["answered", "failing", "used", "sessionOfOneArgument", "ReplacedWrong/replaced", "OfSuite/idle"]
    )
    func none(_ test: String) async throws {
        #expect(try await Self.issues(test).map(\.description) == [])
    }

    @Test("a request that nothing answers is one at the trait's line, even if the code swallows the error")
    func unmatched() async throws {
        let issues = try await Self.issues("swallowed")
        #expect(issues.map(\.line) == [ChildTraits.swallowedLine, ChildTraits.swallowedLine])
        #expect(issues.allSatisfy { !$0.isWarning })
        let text = try #require(issues.first?.text)
        for part in [
            "GET https://shop.example.com/price\n", "no entry answers this request",
            "“https://shop.example.com/prices” differs only in path",
            "LOCAL_SUBSTITUTION_RECORD=missing swift test --filter ChildTraits/swallowed",
        ] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(issues.last?.text.contains("https://shop.example.com/old") == true)
    }

    @Test(
        "one is in the article, and one in README, word for word",
        arguments: [
            ("Sources/LocalSubstitution/Documentation.docc/InTests.md", "Shopping/prices"), ("README.md", "ordering"),
        ]
    )
    func document(_ path: String, test: String) async throws {
        let child = try await Self.child.value
        let text = try #require(child.issues(of: test).first?.text, "\(child.output)")
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let document = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        let start = try #require(document.range(of: "```\nno entry answers"))
        let block = document[start.lowerBound...].components(separatedBy: "```\n")[1]
        #expect(text.contains(block.trimmingCharacters(in: .newlines)), "\(text)")
    }

    @Test("a wrong map is one with all problems, and the test isn't run")
    func wrong() async throws {
        let issues = try await Self.issues("wrong")
        #expect(issues.map(\.line) == [ChildTraits.wrongLine])
        let text = try #require(issues.first?.text)
        #expect(text.contains("wrong.json:2: error: ") && text.contains("wrong.json:3: error: "), "\(text)")
        #expect(!text.contains("LOCAL_SUBSTITUTION_RECORD"))
    }

    @Test("a missing map is one that says how to record it")
    func missing() async throws {
        let issues = try await Self.issues("missing")
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        #expect(text.contains("LOCAL_SUBSTITUTION_RECORD=missing swift test --filter ChildTraits/missing"), "\(text)")
    }

    @Test("an invalid exception is one")
    func invalidException() async throws {
        let issues = try await Self.issues("invalidException")
        #expect(issues.count == 1)
        #expect(issues.first?.text.contains("h/a") == true)
    }

    @Test("entries that no argument has used are one, if that is asked for")
    func unused() async throws {
        let issues = try await Self.issues("unused")
        #expect(issues.map(\.line) == [ChildTraits.unusedLine])
        let text = try #require(issues.first?.text)
        #expect(text.contains("1 entry has answered no request"), "\(text)")
        #expect(text.contains("“https://shop.example.com/old”, line 4"), "\(text)")
    }

    @Test("entries that no test of a suite has used are one of the suite")
    func unusedInSuite() async throws {
        let child = try await Self.child.value
        let issues = child.issues.filter { $0.test.hasPrefix("ChildTraits/OfSuite") }
        #expect(issues.map(\.test) == ["ChildTraits/OfSuite"])
        let text = try #require(issues.first?.text)
        #expect(text.contains("1 entry has") && text.contains("“https://shop.example.com/name”"), "\(text)")
    }

    @Test("a test with a trait of its own that requests nothing gets a warning")
    func otherSession() async throws {
        let issues = try await Self.issues("otherSession")
        #if compiler(>=6.3)
        #expect(issues.map(\.line) == [ChildTraits.otherSessionLine])
        #expect(issues.first?.isWarning == true)
        #expect(issues.first?.text.contains("URLSession.shared") == true)
        #else
        #expect(issues.isEmpty)
        #endif
    }

    @Test("withSubstitutions records in the test that calls it, at its own line")
    func inside() async throws {
        let issues = try await Self.issues("withSubstitutionsInside")
        #expect(issues.count == 1)
        #expect(issues.first?.text.contains("--filter ChildTraits/withSubstitutionsInside") == true)
    }
}
#endif
