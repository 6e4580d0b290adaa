import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The Swift code of *Your first stubbed test*, as in Snippets.swift. The tests of several steps have one name, so each step is in
// a suite of its own. `TutorialTests` runs those that fail or record in a separate process.

enum Tutorial {
    // snippet: the tutorial's client
    struct User: Decodable, Equatable {
        let login: String
        let name: String
    }

    struct GitHub {
        let session: URLSession
        var server = "https://api.github.com"

        func user(_ login: String) async throws -> User {
            guard let url = URL(string: "\(server)/users/\(login)") else { throw URLError(.badURL) }
            let (body, _) = try await session.data(from: url)
            return try JSONDecoder().decode(User.self, from: body)
        }
    }
    // end

    /// What `TutorialTests` sets: the server to record, and the file beside which recordings are.
    static let server = ProcessInfo.processInfo.environment["LOCAL_SUBSTITUTION_TUTORIAL_SERVER"]
    static let file = ProcessInfo.processInfo.environment["LOCAL_SUBSTITUTION_TUTORIAL_FILE"]

    static let isInChild = ProcessInfo.processInfo.environment["LOCAL_SUBSTITUTION_TESTING_CHILD"] != nil
}

extension Trait where Self == SubstitutionsTrait {
    /// The library's trait, for a test in a file that `TutorialTests` names.
    fileprivate static func substituting(_ entries: KeyValuePairs<String, SubstitutionMap.Answer>) -> Self {
        .substituting(entries, filePath: Tutorial.file ?? #filePath)
    }
}

extension Tutorial {
    @Suite(.enabled(if: isInChild))
    struct WithoutEntries {
        // snippet: the tutorial's test without entries
        @Test(.substituting([:]))
        func userName() async throws {
            let github = GitHub(session: .substituted)
            let user = try await github.user("octocat")
            #expect(user == User(login: "octocat", name: "The Octocat"))
        }
        // end

        /// The client, with the server that `TutorialTests` names.
        private struct GitHub {
            let session: URLSession

            func user(_ login: String) async throws -> User {
                var github = Tutorial.GitHub(session: session)
                if let server = Tutorial.server { github.server = server }
                return try await github.user(login)
            }
        }
    }

    struct WithEntries {
        // snippet: the tutorial's test with an entry
        @Test(
            .substituting([
                "https://api.github.com/users/octocat": .json(["login": "octocat", "name": "The Octocat"])
            ])
        )
        func userName() async throws {
            let github = GitHub(session: .substituted)
            let user = try await github.user("octocat")
            #expect(user == User(login: "octocat", name: "The Octocat"))
        }
        // end

        // snippet: the tutorial's test of a failure
        @Test(
            .substituting([
                "https://api.github.com/users/nobody": .json(["message": "Not Found"]).status(404)
            ])
        )
        func unknownUser() async throws {
            let github = GitHub(session: .substituted)
            await #expect(throws: DecodingError.self) { try await github.user("nobody") }
        }
        // end
    }
}
