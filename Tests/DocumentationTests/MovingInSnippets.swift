import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The Swift code of *Moving in*, word for word between `// snippet` and `// end`, as in Snippets.swift. The code of other libraries
// isn't here, since none is a dependency.

// snippet: a client of books
struct BookClient {
    var session = URLSession.shared

    func title(of id: Int) async throws -> String {
        var request = URLRequest(url: URL(string: "https://api.example.com/books/\(id)")!)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, response) = try await session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        return try JSONDecoder().decode([String: String].self, from: data)["title"] ?? ""
    }
}
// end

// MARK: A hand-written URLProtocol

// snippet: a hand-written URLProtocol
final class MockProtocol: URLProtocol {
    nonisolated(unsafe) static var handler: ((URLRequest) throws -> (HTTPURLResponse, Data))?

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        do {
            guard let handler = Self.handler else { throw URLError(.unknown) }
            let (response, data) = try handler(request)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: data)
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    override func stopLoading() {}
}

@Suite(.serialized)
struct TestsWithMockProtocol {
    @Test
    func title() async throws {
        MockProtocol.handler = { request in
            let head = HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
            return (head, Data(#"{"title": "Emma"}"#.utf8))
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [MockProtocol.self]
        let client = BookClient(session: URLSession(configuration: configuration))
        #expect(try await client.title(of: 1) == "Emma")
    }
}
// end

// snippet: without the URLProtocol
@Test(.substituting(["https://api.example.com/books/1": .json(["title": "Emma"])]))
func title() async throws {
    #expect(try await BookClient(session: .substituted).title(of: 1) == "Emma")
}
// end

// snippet: the closure of the URLProtocol
@Test(
    .substituting([
        "https://api.example.com/*": .handler(for: URLRequest.self) { request in
            let head = HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
            return (head, Data(#"{"title": "Emma"}"#.utf8))
        }
    ])
)
func titleFromOldClosure() async throws {
    #expect(try await BookClient(session: .substituted).title(of: 1) == "Emma")
}
// end

// snippet: a real redirect
@Test(
    .substituting([
        "https://api.example.com/books/1": .status(302).headers(["Location": "https://api.example.com/books/2"]),
        "https://api.example.com/books/2": .json(["title": "Emma"]),
    ])
)
func titleAfterRedirect() async throws {
    let url = try #require(URL(string: "https://api.example.com/books/1"))
    let (_, response) = try await URLSession.substituted.data(from: url)
    #expect(response.url?.absoluteString == "https://api.example.com/books/2")
}
// end

// snippet: handlers in the body of tests
@Suite(.substituting([:]))
struct BookTests {
    let client = BookClient(session: .substituted)

    @Test
    func missingBook() async throws {
        try TestSubstitutions.current.add([
            "https://api.example.com/books/*": .handler(for: URLRequest.self) { request in
                #expect(request.value(forHTTPHeaderField: "Accept") == "application/json")
                let head = HTTPURLResponse(url: request.url!, statusCode: 404, httpVersion: nil, headerFields: nil)!
                return (head, Data())
            }
        ])
        await #expect(throws: URLError.self) { try await client.title(of: 1) }
    }
}
// end

// snippet: a base class for XCTest
class SubstitutedTestCase: XCTestCase {
    class var file: String { #filePath }

    override func setUpWithError() throws {
        try TestSubstitutions.begin([:], test: name, filePath: Self.file)
    }

    override func tearDownWithError() throws {
        try TestSubstitutions.end()
    }
}

final class LibraryTests: SubstitutedTestCase {
    override class var file: String { #filePath }

    func testTitle() async throws {
        try TestSubstitutions.current.add(["https://api.example.com/books/1": .json(["title": "Emma"])])
        let title = try await BookClient(session: .substituted).title(of: 1)
        XCTAssertEqual(title, "Emma")
    }
}
// end

// MARK: Mocker

// snippet: without Mocker
@Test(.substituting(["https://api.example.com/books/1": .json(["title": "Emma"]).delay(0.1)]))
func titleAfterDelay() async throws {
    #expect(try await BookClient(session: .substituted).title(of: 1) == "Emma")
    let sent = try #require(TestSubstitutions.current.requests.first?.request)
    #expect(sent.value(forHTTPHeaderField: "Accept") == "application/json")
}
// end

// snippet: without a second register
@Test(.substituting(["https://api.example.com/books/1": [.status(401).times(1), .json(["title": "Emma"])]]))
func titleOfSecondTry() async throws {
    let client = BookClient(session: .substituted)
    await #expect(throws: URLError.self) { try await client.title(of: 1) }
    #expect(try await client.title(of: 1) == "Emma")
}
// end

// MARK: OHHTTPStubs

// snippet: without OHHTTPStubs
@Test(
    .substituting(
        ["https://api.example.com/books/*": .file("book.json").status(200).delay(0.1).bytesPerSecond(400_000)],
        resources: "Fixtures/Resources"
    )
)
func titleFromFile() async throws {
    #expect(try await BookClient(session: .substituted).title(of: 1) == "Emma")
}
// end

// MARK: Recorders

// snippet: a recorder's archive
@Test(.substituting("Fixtures/Replays/title.har"))
func titleFromArchive() async throws {
    #expect(try await BookClient(session: .substituted).title(of: 1) == "Emma")
}
// end
