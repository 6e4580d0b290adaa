import Guarded
import LocalSubstitution
import LocalSubstitutionTesting
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What XCTest's synchronous methods call.
final class BeginTests: XCTestCase {
    private static let name = "https://shop.example.com/name"

    /// Returns a response without `await`.
    private func text(_ url: String, in session: URLSession = .substituted) throws -> String {
        let url = try XCTUnwrap(URL(string: url))
        let result = Guarded<Result<Data, any Error>?>(nil)
        let ended = DispatchSemaphore(value: 0)
        session.dataTask(with: url) { data, _, error in
            result.withLock { $0 = data.map { .success($0) } ?? .failure(error ?? URLError(.unknown)) }
            ended.signal()
        }.resume()
        ended.wait()
        return String(decoding: try XCTUnwrap(result.withLock { $0 }).get(), as: UTF8.self)
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            XCTFail("it must throw")
            return ""
        } catch {
            return error.localizedDescription
        }
    }

    override func tearDown() {
        // A test that failed may not have ended its substitutions.
        try? TestSubstitutions.end()
    }

    func testSynchronousBody() throws {
        let answer = try withSubstitutions("Fixtures/inner.json") { try text(Self.name) }
        XCTAssertEqual(answer, "inner")
        let line = #line + 2
        let description = message {
            try withSubstitutions([Self.name: .text("a")]) { _ = try? text("https://shop.example.com/nam") }
        }
        XCTAssert(description.hasPrefix("BeginTests.swift:\(line): "), description)
        XCTAssert(description.contains("near miss"), description)
        XCTAssertEqual(
            try withSubstitutions([Self.name: .text("a")], sharedSession: true) {
                try text(Self.name, in: .shared)
            },
            "a"
        )
    }

    func testBeginsAndEnds() throws {
        try TestSubstitutions.begin("Fixtures/inner.json", test: name)
        XCTAssertEqual(try text(Self.name), "inner")
        let session = URLSession.substituted
        try TestSubstitutions.current.add([Self.name: .text("added")])
        XCTAssertEqual(try text(Self.name), "added")
        XCTAssertEqual(try withSubstitutions([Self.name: .text("inside")]) { try text(Self.name) }, "inside")
        XCTAssertEqual(TestSubstitutions.current.requests.map(\.outcome), [.matched, .matched])
        try TestSubstitutions.end()
        for session in [session, .substituted] { XCTAssertThrowsError(try text(Self.name, in: session)) }
        XCTAssert(message { try TestSubstitutions.end() }.contains("No substitutions have begun."))
    }

    func testMistakesInAddedEntriesHaveThePlaceOfTheCall() throws {
        try TestSubstitutions.begin("Fixtures/inner.json", test: name)
        let line = #line + 2
        let description = message {
            try TestSubstitutions.current.add([Self.name: .status(7), "shop.example.com/a": .text("a")])
        }
        XCTAssert(description.hasPrefix("BeginTests.swift:\(line): "), description)
        for part in ["“status” can't be 7", "shop.example.com/a"] { XCTAssert(description.contains(part), description) }
        XCTAssertEqual(try text(Self.name), "inner")
        try TestSubstitutions.end()
        let late = message { try TestSubstitutions.current.add([Self.name: .text("a")]) }
        XCTAssert(late.hasPrefix("BeginTests.swift:\(#line - 1): There are no substitutions here"), late)
    }

    func testIsInForceOnAllThreads() async throws {
        let begun = Task.detached {
            try TestSubstitutions.begin([BeginTests.name: .text("a")], test: "BeginTests.testIsInForceOnAllThreads")
        }
        try await begun.value
        let (body, _) = try await URLSession.substituted.data(from: XCTUnwrap(URL(string: Self.name)))
        XCTAssertEqual(body, Data("a".utf8))
        let count = await Task.detached { TestSubstitutions.current.requests.count }.value
        XCTAssertEqual(count, 1)
        try await Task.detached { try TestSubstitutions.end() }.value
    }

    func testCoversTheSharedSession() throws {
        try TestSubstitutions.begin([Self.name: .text("shared")], test: name, sharedSession: true)
        XCTAssertEqual(try text(Self.name, in: .shared), "shared")
        try TestSubstitutions.end()
    }

    func testEndThrowsWhatIssuesWouldSay() throws {
        let line = #line + 1
        try TestSubstitutions.begin(["http://127.0.0.1:9/name": .text("a")], test: name)
        _ = try? text("http://127.0.0.1:9/nam")
        _ = try? text("http://127.0.0.1:9/name", in: .shared)
        let description = message { try TestSubstitutions.end() }
        XCTAssert(description.hasPrefix("BeginTests.swift:\(line): "), description)
        for part in ["near miss", "BeginTests/testEndThrowsWhatIssuesWouldSay", "Add sharedSession: true"] {
            XCTAssert(description.contains(part), description)
        }
        for word in ["trait", "issue"] { XCTAssertFalse(description.contains(word), description) }
    }

    func testEndNamesRequestsOfAnEarlierSession() throws {
        // What a stored property has.
        let early = URLSession.substituted
        let line = #line + 1
        try TestSubstitutions.begin([Self.name: .text("a")], test: name)
        for _ in 0..<2 {
            let error = message { _ = try text(Self.name, in: early) }
            XCTAssert(error.contains("If you do call begin, this session was made before it"), error)
        }
        XCTAssertEqual(try text(Self.name), "a")
        XCTAssertEqual(
            message { try TestSubstitutions.end() },
            "BeginTests.swift:\(line): GET \(Self.name) failed, because its session was made before TestSubstitutions.begin, for "
                + "example in a stored property or in setUp() async throws. Write “lazy var”, or make the session after begin."
        )
        // Later tests aren't told.
        XCTAssertThrowsError(try text(Self.name, in: early))
        try TestSubstitutions.begin([:], test: name, redacting: { $0.isExcluded = true })
        try TestSubstitutions.end()
    }

    func testEndWaitsForHandlers() throws {
        let blocked = DispatchSemaphore(value: 0)
        defer { blocked.signal() }
        let begun = DispatchSemaphore(value: 0)
        let wait = { @Sendable in _ = blocked.wait(timeout: .distantFuture) }
        try TestSubstitutions.begin(
            [
                Self.name: .handler { _ in
                    begun.signal()
                    wait()
                    return .text("a")
                }
            ],
            test: name
        )
        URLSession.substituted.dataTask(with: try XCTUnwrap(URL(string: Self.name))).resume()
        begun.wait()
        let description = message { try TestSubstitutions.end() }
        XCTAssert(description.contains("was still running a second after the test ended"), description)
    }

    func testEndCancelsHandlers() throws {
        let begun = DispatchSemaphore(value: 0)
        try TestSubstitutions.begin(
            [
                Self.name: .handler { _ in
                    begun.signal()
                    try? await Task.sleep(for: .seconds(600))
                    // The end has to wait for this.
                    for _ in 0..<1_000 { await Task.yield() }
                    return .text("a")
                }
            ],
            test: name
        )
        URLSession.substituted.dataTask(with: try XCTUnwrap(URL(string: Self.name))).resume()
        begun.wait()
        try TestSubstitutions.end()
    }

    func testForgottenEndIsNamedOnce() throws {
        let line = #line + 1
        try TestSubstitutions.begin([Self.name: .text("first")], test: name)
        let session = URLSession.substituted
        _ = try? text("https://shop.example.com/nam")
        let description = message { try TestSubstitutions.begin([Self.name: .text("second")], test: name) }
        XCTAssert(description.contains("that began at BeginTests.swift:\(line) haven't ended"), description)
        XCTAssert(description.contains("near miss"), description)
        XCTAssertThrowsError(try text(Self.name, in: session))
        // XCTest calls `tearDownWithError()` even if `setUpWithError()` has thrown an error.
        try TestSubstitutions.end()
        try TestSubstitutions.begin([Self.name: .text("third")], test: name)
        XCTAssertEqual(try text(Self.name), "third")
        try TestSubstitutions.end()
    }

    func testEndAfterBeginThrewDoesNothing() throws {
        let line = #line + 1
        let description = message { try TestSubstitutions.begin("Fixtures/wrong.json", test: name) }
        XCTAssert(description.hasPrefix("BeginTests.swift:\(line): "), description)
        XCTAssert(description.contains("wrong.json:2: error: "), description)
        try TestSubstitutions.end()
        let end = #line + 1
        let again = message { try TestSubstitutions.end() }
        XCTAssert(again.hasPrefix("BeginTests.swift:\(end): No substitutions have begun."), again)
        let wrong = #line + 1
        let allowed = message { try TestSubstitutions.begin([:], test: name, unmatched: .fail(allowing: ["h/a"])) }
        XCTAssert(allowed.hasPrefix("BeginTests.swift:\(wrong): The allowed URL “h/a” "), allowed)
        try TestSubstitutions.end()
    }
}
