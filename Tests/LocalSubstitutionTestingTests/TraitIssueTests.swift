#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

/// The issues that the trait records, in a process whose tests are meant to fail.
@Suite("The trait's issues", .sessions, .timeLimit(.minutes(5)))
struct TraitIssueTests {
    /// One process runs all of them.
    private static let child = Task { try await ChildProcess.run("ChildTraits|refusedOrder|userName") }

    private static func issues(_ test: String) async throws -> [ChildProcess.Issue] {
        let child = try await child.value
        #expect(child.ended.contains("ChildTraits/\(test)"), "\(child.output)")
        return child.issues(of: "ChildTraits/\(test)")
    }

    @Test(
        "A test without mistakes has no issues",
        arguments: [
            "answered", "failing", "used", "sessionOfOneArgument", "ReplacedWrong/replaced", "OfSuite/idle",
            "failingRequest", "cancelledHandler", "noEntries", "noEntriesOffline", "noEntriesOnline", "otherClient",
            "otherMethod", "otherClientSession", "lookup", "lookupInside",
            "lookupInsideAsync",
        ]
    )
    func none(_ test: String) async throws {
        #expect(try await Self.issues(test).map(\.description) == [])
    }

    @Test("An unanswered request is an issue at the trait's line, even if the code swallows the error")
    func unmatched() async throws {
        let issues = try await Self.issues("swallowed")
        #expect(issues.map(\.line) == [ChildTraits.swallowedLine, ChildTraits.swallowedLine])
        #expect(issues.allSatisfy { !$0.isWarning })
        let text = try #require(issues.first?.text)
        for part in [
            "GET https://shop.example.com/price\n", "No entry matches this request",
            "“https://shop.example.com/prices” differs only in path",
            "LOCAL_SUBSTITUTION_RECORD=missing swift test --filter \(filter("swallowed"))",
        ] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(issues.last?.text.contains("https://shop.example.com/old") == true)
    }

    @Test("With a suite's trait, a test's issues are at the test's line")
    func ofSuite() async throws {
        let issues = try await Self.issues("ShownAtTest/issues")
        let line = ChildTraits.ShownAtTest.line
        #expect(issues.map(\.line) == [line, line], "\(issues)")
        #expect(issues.first?.text.contains("the order has no items") == true, "\(issues)")
        #expect(issues.last?.text.contains("No entry matches this request") == true, "\(issues)")
    }

    @Test("An unmatched request of another client is an issue, too")
    func otherClient() async throws {
        let issues = try await Self.issues("unmatchedOtherClient")
        #expect(issues.map(\.line) == [ChildTraits.otherClientLine])
        let text = try #require(issues.first?.text)
        for part in ["GET https://shop.example.com/price\n", "only in path", "LOCAL_SUBSTITUTION_RECORD=missing"] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test(
        "The issues in the article and in README are quoted word for word",
        arguments: [
            ("Sources/LocalSubstitution/Documentation.docc/StubRequestsInTests.md", "refusedOrder"),
            ("README.md", "userName"),
        ]
    )
    func document(_ path: String, test: String) async throws {
        let child = try await Self.child.value
        let issues = child.issues(of: test)
        // One is the error that the test throws.
        #expect(issues.count == 2, "\(child.output)")
        #expect(issues.count { $0.text.contains("near miss") } == 1, "\(child.output)")
        let quoted = try Quotation.block("No entry matches", in: path)
        // The document's test is in another module.
        let texts = issues.map { $0.text.replacingOccurrences(of: "LocalSubstitutionTestingTests", with: "ShopTests") }
        #expect(texts.contains { $0.contains(quoted) }, "\(child.output)")
    }

    @Test("An invalid map is one issue with all problems, and the test doesn't run")
    func wrong() async throws {
        let issues = try await Self.issues("wrong")
        #expect(issues.map(\.line) == [ChildTraits.wrongLine])
        let text = try #require(issues.first?.text)
        #expect(text.contains("wrong.json:2: error: ") && text.contains("wrong.json:3: error: "), "\(text)")
        #expect(!text.contains("LOCAL_SUBSTITUTION_RECORD"))
    }

    @Test("A missing map is an issue that says how to record it")
    func missing() async throws {
        let issues = try await Self.issues("missing")
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        #expect(text.contains("LOCAL_SUBSTITUTION_RECORD=missing swift test --filter \(filter("missing"))"), "\(text)")
        // Another test's name begins with this one's.
        let pattern = try #require(text.split(separator: "'").last)
        let child = try await ChildProcess.run(String(pattern))
        #expect(child.ended.filter { $0.contains("/") } == ["ChildTraits/missing"])
    }

    private func filter(_ test: String) -> String { #"'^LocalSubstitutionTestingTests\.ChildTraits/\#(test)\(\)'"# }

    @Test(
        "A missing map whose name another one has, or nearly has, is an issue that names the other",
        arguments: ["otherCase", "otherFolder", "misspelled"]
    )
    func nearestMap(_ test: String) async throws {
        let issues = try await Self.issues(test)
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        let suggestion = """
            doesn't exist. Record the test's responses, or use the path of an existing map. Did you mean “../Fixtures/checkout.json”?
              record it:    LOCAL_SUBSTITUTION_RECORD=missing swift test
            """
        #expect(text.contains(suggestion), "\(text)")
    }

    @Test("A missing map that resembles no other is offered to be recorded, beside files that aren't maps")
    func noNearestMap() async throws {
        let text = try #require(try await Self.issues("unlike").first?.text)
        #expect(!text.contains("Did you mean") && text.contains("LOCAL_SUBSTITUTION_RECORD"), "\(text)")
    }

    @Test(
        "A map that isn't in the bundle is an issue that says what to do",
        arguments: [("withExtension", "bundled.json.json"), ("misspelledInBundle", "bundeld.json")]
    )
    func bundle(_ test: String, _ file: String) async throws {
        let issues = try await Self.issues(test)
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        #expect(text.contains("There's no \(file) in the bundle “"), "\(text)")
        #expect(text.contains(Self.bundleFix), "\(text)")
    }

    private static let bundleFix =
        "Add the map and its files to the target's resources; in a package, use .copy and Bundle.module."

    @Test("A map whose files were flattened in the bundle is an issue that says how to copy them")
    func flattened() async throws {
        let issues = try await Self.issues("flattened")
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        for part in ["“shop/name.txt”", "contains the map, but not all of its entries' files", Self.bundleFix] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(!text.contains("LOCAL_SUBSTITUTION_RECORD"), "\(text)")
    }

    @Test("A map that's neither beside the test's file nor in the bundle is an issue that says what to do")
    func nowhere() async throws {
        let issues = try await Self.issues("nowhere")
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        for part in [
            "“../Fixtures/nowhere.json” beside the test's file or in the bundle “", Self.bundleFix,
            "LOCAL_SUBSTITUTION_RECORD=missing swift test --filter \(filter("nowhere"))",
        ] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("A handler that the trait doesn't have is an issue")
    func unknownHandler() async throws {
        let issues = try await Self.issues("unknownHandler")
        #expect(issues.count == 1)
        #expect(issues.first?.text.contains("There's no handler “saveOrder”") == true, "\(issues)")
    }

    @Test(
        "What's wrong with a handler's answer is an issue, even if the test's code ignores the error",
        arguments: [
            ("wrongAnswer", ["The file “no/such.txt” doesn't exist"]), ("failingHandler", ["the order has no items"]),
            (
                "handlerThatAsks",
                [
                    "called response() for GET https://shop.example.com/orders/7, but the request can't use the network. "
                        + "Allow the URL with “unmatched:”.\n  record it:    "
                ]
            ),
        ]
    )
    func handler(_ test: String, _ parts: [String]) async throws {
        let issues = try await Self.issues(test)
        let text = try #require(issues.first?.text)
        for part in parts + ["The handler of the entry “https://shop.example.com/orders/*”"] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(issues.count == 1, "\(issues)")
    }

    @Test(
        "An expectation that fails in a handler is one issue of the test",
        arguments: [
            "expectationInHandler", "expectationInTask", "expectationInGroup", "expectationInFunction",
            "expectationOfAlternative", "expectationOfNamedHandler", "expectationInOwnSession",
            "expectationInOtherClient",
        ]
    )
    func expectationInHandler(_ test: String) async throws {
        let issues = try await Self.issues(test)
        #expect(issues.map { $0.text.contains("/expected") } == [true], "\(issues)")
    }

    @Test("A requirement that fails in a handler is one issue of the test, with no dump")
    func requirementInHandler() async throws {
        let required = try await Self.issues("requirementInHandler")
        // One for each argument.
        #expect(required.count == 2)
        #expect(required.allSatisfy { $0.text.contains("X-Name") && $0.text.count < 200 }, "\(required)")
    }

    @Test("A handler that goes on after its test is an issue that names its entry")
    func handlerThatGoesOn() async throws {
        let issues = try await Self.issues("handlerThatGoesOn")
        #expect(issues.count == 1, "\(issues)")
        let text = try #require(issues.first?.text)
        #expect(
            text.contains("“https://shop.example.com/name” was still running a second after the test ended"),
            "\(text)"
        )
    }

    @Test("A request with URLSession.shared that an entry would have responded to is an issue that says what to add")
    func forgottenSharedSession() async throws {
        let issues = try await Self.issues("forgottenSharedSession")
        // One for each argument.
        #expect(issues.map(\.line) == [ChildTraits.forgottenLine, ChildTraits.forgottenLine], "\(issues)")
        for issue in issues {
            let text = "GET http://127.0.0.1:9/name was made with URLSession.shared, which this trait doesn't cover."
            #expect(issue.text.contains("\(text) Add sharedSession: true."), "\(issue)")
        }
    }

    @Test("Entries in code whose folder is missing are an issue that names an entry and its file")
    func missingFolder() async throws {
        for test in ["noFolder", "missingFolder"] {
            let text = try #require(try await Self.issues(test).first?.text)
            #expect(text.contains("“https://shop.example.com/prices”") && text.contains("“prices.txt”"), "\(text)")
        }
    }

    @Test("No issue shows a credential of a URL, nor offers to record it", arguments: ["secretInQuery", "secretUser"])
    func secret(_ test: String) async throws {
        let issues = try await Self.issues(test)
        #expect(issues.count == 2)
        for issue in issues { #expect(!issue.text.contains(ChildTraits.secret), "\(issue)") }
        let text = try #require(issues.first?.text)
        #expect(text.contains("may be a credential") || text.contains("user info"), "\(text)")
        #expect(!text.contains("LOCAL_SUBSTITUTION_RECORD"), "\(text)")
    }

    @Test("A reason doesn't show a credential either")
    func secretInCondition() async throws {
        let issues = try await Self.issues("secretInCondition")
        for issue in issues { #expect(!issue.text.contains(ChildTraits.secret), "\(issue)") }
        #expect(issues.first?.text.contains("the query's parameter “access_token”") == true, "\(issues)")
    }

    @Test("An issue about a body shows the body, clipped and without credentials")
    func otherBody() async throws {
        let issues = try await Self.issues("otherBody")
        #expect(issues.count == 2)
        let first = try #require(issues.first?.text)
        #expect(first.contains("the body has no “item”"), "\(first)")
        #expect(first.contains("\n  body:         {\"token\": \"redacted\", \"id\": 7}\n"), "\(first)")
        let last = try #require(issues.last?.text)
        #expect(last.contains("the body isn't JSON"), "\(last)")
        #expect(last.contains("\n  body:         " + String(repeating: "x", count: 300) + "…\n"), "\(last)")
    }

    @Test("A miss is explained once: the error that the request throws only names it")
    func once() async throws {
        let issues = try await Self.issues("thrown")
        #expect(issues.count == 2)
        #expect(issues.map { $0.text.contains("near miss") } == [true, false], "\(issues)")
        #expect(issues.last?.text.contains("GET https://shop.example.com/price") == true, "\(issues)")
        #expect(issues.allSatisfy { $0.text.count < 700 })
    }

    @Test("A request that an entry in code has answered too often already can be recorded")
    func usedUp() async throws {
        let issues = try await Self.issues("usedUp")
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        #expect(text.contains("the most that its “times” allows"), "\(text)")
        #expect(text.contains("LOCAL_SUBSTITUTION_RECORD=missing swift test --filter \(filter("usedUp"))"), "\(text)")
    }

    #if os(Linux)
    @Test(
        "An upload task's issue says what to use instead, and suggests an entry if none names the URL",
        arguments: [("upload", true), ("uploadWithCondition", false)]
    )
    func upload(_ test: String, needsEntry: Bool) async throws {
        let text = try #require(try await Self.issues(test).first?.text)
        let reason = "It can't be recorded, because on Linux, Foundation hides an upload task's body. "
        let fix = "Use a data task with httpBody" + (needsEntry ? ", or add an entry by hand." : ".")
        #expect(text.contains(reason + fix), "\(text)")
        #expect(!text.contains("LOCAL_SUBSTITUTION_RECORD"), "\(text)")
    }
    #endif

    @Test("An invalid allowed URL is an issue")
    func invalidAllowedURL() async throws {
        let issues = try await Self.issues("invalidAllowedURL")
        #expect(issues.count == 1)
        #expect(issues.first?.text.contains("h/a") == true)
    }

    @Test("Entries that no argument has used are an issue if that's requested")
    func unused() async throws {
        let issues = try await Self.issues("unused")
        #expect(issues.map(\.line) == [ChildTraits.unusedLine])
        let text = try #require(issues.first?.text)
        #expect(text.contains("1 entry has matched no request"), "\(text)")
        #expect(text.contains("“https://shop.example.com/old”, line 4"), "\(text)")
    }

    @Test(
        "Unused entries are the only issue, whether in a bundle's map or in code",
        arguments: [
            ("unusedInBundle", "“https://shop.example.com/name”"), ("unusedInCode", "“https://shop.example.com/name”"),
            ("unusedWithSecret", "“*://shop.example.com/name?token=redacted&q=*”"),
        ]
    )
    func unusedElsewhere(_ test: String, shown: String) async throws {
        let issues = try await Self.issues(test)
        #expect(issues.count == 1, "\(issues)")
        let text = try #require(issues.first?.text)
        #expect(text.contains("1 entry has matched no request"), "\(text)")
        #expect(text.contains(shown), "\(text)")
        #expect(!text.contains(ChildTraits.secret), "\(text)")
    }

    @Test("Alternatives that no argument has used are listed")
    func unusedAlternatives() async throws {
        let issues = try await Self.issues("unusedAlternatives")
        #expect(issues.count == 1)
        let text = try #require(issues.first?.text)
        #expect(text.contains("1 entry has matched no requests"), "\(text)")
        #expect(text.contains("“https://shop.example.com/name”, alternative 2 of 3"), "\(text)")
    }

    @Test("Entries that no test in a suite has used are an issue of the suite", arguments: [false, true])
    func unusedInSuite(isXcode: Bool) async throws {
        let child = try await ChildProcess.run(
            "ChildTraits/OfSuite",
            selection: .configuration,
            environment: isXcode ? ["XCTestConfigurationFilePath": "/a"] : [:]
        )
        #expect(child.issues.map(\.test) == ["ChildTraits/OfSuite"], "\(child.output)")
        let text = try #require(child.issues.first?.text)
        #expect(text.contains("1 entry has") && text.contains("“https://shop.example.com/name”"), "\(text)")
        #expect(text.contains("If you ran only a part of the suite, ignore this.") == isXcode, "\(text)")
    }

    @Test("An entry that one test of a suite uses is used, even if another adds entries of its own")
    func unusedInSuiteThatAdds() async throws {
        let child = try await ChildProcess.run("ChildTraits/SuiteThatAdds", selection: .configuration)
        #expect(child.issues.count == 1)
        let text = try #require(child.issues.first?.text)
        #expect(text.contains("1 entry has matched no requests"), "\(text)")
        #expect(text.contains("“https://shop.example.com/name”, line 2 of “suite.json”"), "\(text)")
    }

    @Test("If options select or skip tests, a suite's unused entries are no issue, whatever they select")
    func unusedInPartOfSuite() async throws {
        for selection in [ChildProcess.Selection.filter, .configurationAndSkip] {
            let child = try await ChildProcess.run("ChildTraits/OfSuite", selection: selection)
            #expect(child.ended.contains("ChildTraits/OfSuite/one"), "\(child.output)")
            #expect(child.issues.map(\.description) == [])
        }
    }

    @Test("A test that requests nothing gets a warning if it has its own trait")
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
        #expect(issues.first?.text.contains("--filter \(filter("withSubstitutionsInside"))") == true)
    }
}
#endif
