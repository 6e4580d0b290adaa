#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@Suite("An HTTP archive as a test's map", .sessions, .timeLimit(.minutes(5)))
struct ArchiveTests {
    @Test("Its entries answer, and those without content are listed once")
    func answers() async throws {
        let child = try await ChildProcess.run("ChildArchive/(answered|scope)\\(")
        #expect(child.ended.isSuperset(of: ["ChildArchive/answered", "ChildArchive/scope"]), "\(child.output)")
        #expect(child.issues.allSatisfy { $0.isWarning }, "\(child.issues)")
        #if compiler(>=6.3)
        let text = try #require(child.issues.first?.text)
        #expect(child.issues.count == 1 && text.contains("1 entry of “session.har” can't be used:"), "\(text)")
        #expect(text.contains("“https://shop.example.com/logo.png”: GET: no body was recorded"), "\(text)")
        #endif
    }

    @Test("An unanswered request's issue says what the archive has of it")
    func unanswered() async throws {
        let issues = try await ChildProcess.run("ChildArchive/unanswered").issues.filter { !$0.isWarning }
        #expect(issues.count == 3, "\(issues)")
        let known = "“session.har” has the URL, but its response can't be used (GET: no body was recorded)."
        #expect(issues.filter { $0.text.contains("/logo.png") }.map { $0.text.contains(known) } == [true], "\(issues)")
        #expect(issues.filter { $0.text.contains("/other") }.map { $0.text.contains(known) } == [false], "\(issues)")
        #expect(issues.count { $0.text.contains("the body's “item” is \"hats\"") } == 1, "\(issues)")
        for issue in issues {
            // The advice mentions content only if the archive's response has none.
            let export = "Export “session.har” again, with content, or record the test."
            #expect(issue.text.contains(export) == issue.text.contains(known), "\(issue)")
            #expect(issue.text.contains("record it:    LOCAL_SUBSTITUTION_RECORD=missing"), "\(issue)")
        }
    }

    @Test("A missing archive can't be recorded")
    func missing() async throws {
        let issues = try await ChildProcess.run("ChildArchive/missing").issues
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        #expect(text.contains("no-such.har") && !text.contains("LOCAL_SUBSTITUTION_RECORD"), "\(text)")
    }

    @Test("Of a test with an archive, what the archive answers isn't recorded", arguments: ["missing", "all"])
    func recording(_ value: String) async throws {
        let child = try await ChildProcess.run(
            "ChildArchive/(answered|scope)\\(",
            environment: ["LOCAL_SUBSTITUTION_RECORD": value]
        )
        let issues = child.issues.filter { !$0.isWarning }
        #expect(issues.count == 2, "\(issues)")
        #expect(issues.allSatisfy { $0.text.contains("No request needed recording.") }, "\(issues)")
    }
}
#endif
