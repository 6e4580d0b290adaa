import LocalSubstitution
import LocalSubstitutionTesting
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class XCTestTests: XCTestCase {
    func testAnswers() async throws {
        try await withSubstitutions("Fixtures/checkout.json") {
            let (body, _) = try await URLSession.substituted.data(for: order())
            XCTAssertEqual(String(decoding: body, as: UTF8.self), "sold out\n")
            XCTAssertEqual(TestSubstitutions.current.requests.count, 1)
        }
    }

    func testReturnsAndThrowsWhatTheBodyDoes() async throws {
        struct Failure: Error {}
        let number = try await withSubstitutions("Fixtures/checkout.json") { 7 }
        XCTAssertEqual(number, 7)
        do {
            try await withSubstitutions("Fixtures/checkout.json") { throw Failure() }
            XCTFail("it must throw")
        } catch is Failure {}
    }

    func testThrowsForWhatNothingAnswers() async throws {
        do {
            try await withSubstitutions("Fixtures/checkout.json") {
                _ = try? await text("https://shop.example.com/price")
            }
            XCTFail("it must throw")
        } catch {
            let description = error.localizedDescription
            XCTAssert(description.contains("GET https://shop.example.com/price"), description)
            XCTAssert(description.contains("--filter '[./]testThrowsForWhatNothingAnswers(\\(|$)'"), description)
        }
    }

    func testExplainsOnceWhatNothingAnswers() async throws {
        do {
            try await withSubstitutions("Fixtures/checkout.json") {
                _ = try await text("https://shop.example.com/price")
            }
            XCTFail("it must throw")
        } catch {
            let description = error.localizedDescription
            XCTAssertEqual(description.components(separatedBy: "near miss").count, 2, description)
            XCTAssert(description.hasPrefix("XCTestTests.swift:"), description)
            let note = "The error of withSubstitutions or TestSubstitutions.end says why."
            XCTAssert(description.contains(note), description)
            for word in ["trait", "issue"] { XCTAssertFalse(description.contains(word), description) }
        }
    }

    func testThrowsForAForgottenSharedSession() async throws {
        let url = "http://127.0.0.1:9/name"
        var head = URLRequest(url: try XCTUnwrap(URL(string: url)))
        head.httpMethod = "HEAD"
        let requests: [(entry: SubstitutionMap.Answer, request: URLRequest)] = [
            (.text("a"), URLRequest(url: try XCTUnwrap(URL(string: url)))), (.text("a"), head),
            (.text("a").methods("POST").when(json: ["id": 7]), try order(url, body: #"{"id": 7}"#)),
            // The body is too long to be read at once, so that the condition isn't checked.
            (.text("a").methods("POST").when(text: "a*"), try order(url, body: String(repeating: "x", count: 70_000))),
        ]
        for (entry, request) in requests {
            let line = #line + 2
            do {
                try await withSubstitutions([url: entry]) {
                    for _ in 0..<2 { _ = try? await URLSession.shared.data(for: request) }
                }
                XCTFail("it must throw")
            } catch {
                let name = "\(request.httpMethod ?? "GET") \(url)"
                XCTAssertEqual(
                    error.localizedDescription,
                    "XCTestTests.swift:\(line): \(name) was made with URLSession.shared, which this call doesn't cover. Add sharedSession: true."
                )
            }
        }
        // What no entry responds to, or the call covers, is no mistake.
        try await withSubstitutions([url: .text("a")]) { _ = try? await text("\(url)/other", in: .shared) }
        try await withSubstitutions([url: .text("a")], sharedSession: true) {
            let name = try await text(url, in: .shared)
            XCTAssertEqual(name, "a")
        }
        // Afterwards, the session isn't watched.
        _ = try? await text(url, in: .shared)
    }

    func testThrowsForAWrongMap() async throws {
        do {
            try await withSubstitutions("Fixtures/wrong.json") { XCTFail("it must not run") }
            XCTFail("it must throw")
        } catch {
            XCTAssert(error.localizedDescription.contains("wrong.json:3: error: "), error.localizedDescription)
            XCTAssert(error.localizedDescription.hasPrefix("XCTestTests.swift:"), error.localizedDescription)
        }
    }

    #if os(Linux)
    /// `RecordingAgainTests` runs these in separate processes.
    func testInChild() async throws {
        try XCTSkipUnless(ChildProcess.isThis, "it runs in a separate process")
        try await withSubstitutions(ChildRecording.map) {
            _ = try await ChildRecording.send("GET", "a")
        }
    }

    func testWithNameInChild() async throws {
        try XCTSkipUnless(ChildProcess.isThis, "it runs in a separate process")
        try await withSubstitutions(ChildRecording.map, test: name) { _ = try await ChildRecording.send("GET", "b") }
    }

    func testBeginInChild() async throws {
        try XCTSkipUnless(ChildProcess.isThis, "it runs in a separate process")
        try TestSubstitutions.begin(
            [:],
            test: name,
            redacting: { $0.body = Data("redacted".utf8) },
            filePath: ChildRecording.map
        )
        _ = try await ChildRecording.send("GET", "c")
        try TestSubstitutions.end()
    }
    #endif
}
