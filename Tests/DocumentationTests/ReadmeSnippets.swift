import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// README's Swift code, word for word between `// snippet` and `// end`, as in Snippets.swift.

// snippet: README's client
struct User: Decodable {
    let name: String
}

struct UserClient {
    var session = URLSession.shared

    func user(_ id: Int) async throws -> User {
        let url = URL(string: "https://api.example.com/users")!.appendingPathComponent("\(id)")
        return try JSONDecoder().decode(User.self, from: try await session.data(from: url).0)
    }
}
// end

// snippet: README's test
@Test(.substituting(["https://api.example.com/users/7": .json(["name": "Ada"])]))
func userName() async throws {
    let client = UserClient(session: .substituted)
    #expect(try await client.user(7).name == "Ada")
}
// end

// snippet: README's test of the shared session
@Test(.substituting(["https://api.example.com/users/7": .json(["name": "Ada"])], sharedSession: true))
func userNameFromSharedSession() async throws {
    #expect(try await UserClient().user(7).name == "Ada")
}
// end

// snippet: README's test in XCTest
final class UserTests: XCTestCase {
    func testUserName() async throws {
        try await withSubstitutions(["https://api.example.com/users/7": .json(["name": "Ada"])]) {
            let user = try await UserClient(session: .substituted).user(7)
            XCTAssertEqual(user.name, "Ada")
        }
    }
}
// end

func installInApp() {
    // snippet: README's app
    do {
        try LocalSubstitutionCache(bundle: .main, invalidEntries: .skip).install()
    } catch {
        print("No local files are used: \(error)")
    }
    // end
}
